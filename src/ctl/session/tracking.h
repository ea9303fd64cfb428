/* SPDX-License-Identifier: GPL-2.0-only */
/* tracking.h - common implementation of lttctl track and lttctl untrack. */
#ifndef CTL_SESSION_TRACKING_H
#define CTL_SESSION_TRACKING_H

#include "ctl/ctl.h"

extern const struct poptOption tracking_options[];
/** Handle an option: a kind of ids, and a list of them. */
enum status tracking_option(struct ctl *ctl, int number, const char *argument);
enum status tracking_check(struct ctl *ctl);
/** Add the ids to the session's tracker, or remove them. */
enum status tracking_run(struct ctl *ctl, bool add);
void tracking_text(FILE *out, struct json_object *record);

/** Print an array of tracked ids: "pid 1, 2", "uid none". */
void tracking_print(FILE *out, struct json_object *tracker);

#endif
