/* SPDX-License-Identifier: GPL-2.0-only */
/* show.h - a session with its channels and rules: fetched, and as text. */
#ifndef CTL_PRINT_SHOW_H
#define CTL_PRINT_SHOW_H

#include "ctl/ctl.h"

/** Return: 0 and a record for json_object_put(), or the code in @err. */
int show_fetch(struct ctl *ctl, const char *session, struct json_object **ret,
	       struct err *err) MUST_CHECK;
/** Print the text of `status`: the session, and a table of channels. */
void show_status(FILE *out, struct json_object *session);
/** The same, and the attributes of each channel. */
void show_details(FILE *out, struct json_object *session);
/** Whether the session's counters are missing, although the daemon supports them. */
bool show_lacks_figures(struct ctl *ctl, struct json_object *session);
/** Warn of the session's losses, conflicts and outputs that fail. Return: STATUS_WARNING
 *  if its counters are not known. */
enum status show_warnings(struct ctl *ctl, struct json_object *session);

#endif
