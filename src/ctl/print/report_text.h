/* SPDX-License-Identifier: GPL-2.0-only */
/* report_text.h - prints the record of `lttctl report` as text, on one screen. Pure. */
#ifndef CTL_PRINT_REPORT_TEXT_H
#define CTL_PRINT_REPORT_TEXT_H

#include <json-c/json.h>
#include <stdio.h>

void report_text(FILE *out, struct json_object *record);

#endif
