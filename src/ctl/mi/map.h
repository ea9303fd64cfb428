/* SPDX-License-Identifier: GPL-2.0-only */
/* map.h - values of map channels as elements; see row.h. Pure. */
#ifndef CTL_MI_MAP_H
#define CTL_MI_MAP_H

#include <json-c/json.h>

/** The tables of the record of show-maps: one for each channel, or, where values have an owner or a
 *  part, for each of these. */
struct json_object *mi_map_tables(struct json_object *record);

#endif
