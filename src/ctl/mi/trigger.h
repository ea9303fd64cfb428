/* SPDX-License-Identifier: GPL-2.0-only */
/* trigger.h - triggers as elements; see row.h. Pure. */
#ifndef CTL_MI_TRIGGER_H
#define CTL_MI_TRIGGER_H

#include <json-c/json.h>
#include <stdbool.h>

/** A trigger of json_trigger(). @listed: with the counts of actions that failed. Return: NULL:
 *  LTTng has no such condition. Actions that it has not are left out. */
struct json_object *mi_trigger(struct json_object *trigger, bool listed);

#endif
