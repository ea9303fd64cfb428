/* SPDX-License-Identifier: GPL-2.0-only */
/* report_text.h - prints the record of `lttctl report` as text, on one screen. Pure. */
#ifndef CTL_PRINT_REPORT_TEXT_H
#define CTL_PRINT_REPORT_TEXT_H

#include <json-c/json.h>
#include <stdio.h>

void report_text(FILE *out, struct json_object *record);
/** The cell of a place that allocates: places with equal ones share a row. Return: allocated. */
char *report_text_site(struct json_object *site);

#endif
