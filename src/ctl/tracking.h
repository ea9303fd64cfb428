/* SPDX-License-Identifier: GPL-2.0-only */
/* tracking.h - what lttctl track and lttctl untrack share: all but their names. */
#ifndef CTL_TRACKING_H
#define CTL_TRACKING_H

#include "verb.h"

extern const struct poptOption tracking_options[];
/** A kind of ids, and ids of it. */
enum status tracking_option(struct ctl *ctl, int number, const char *argument);
enum status tracking_check(struct ctl *ctl);
/** Record events of these, too; or no more. */
enum status tracking_run(struct ctl *ctl, bool add);
void tracking_text(FILE *out, struct json_object *record);

/** Print an array of tracked ids: "pid 1, 2", "uid none". */
void tracking_print(FILE *out, struct json_object *tracker);

#endif
