/* SPDX-License-Identifier: GPL-2.0-only */
/* why_text.h - prints the record of `lttctl why` as text. Pure. */
#ifndef CTL_PRINT_WHY_TEXT_H
#define CTL_PRINT_WHY_TEXT_H

#include <json-c/json.h>
#include <stdio.h>

void why_text(FILE *out, struct json_object *record);

#endif
