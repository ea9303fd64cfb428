/* SPDX-License-Identifier: GPL-2.0-only */
/* latency_text.h - prints the record of `lttctl latency` as text. Pure. */
#ifndef CTL_PRINT_LATENCY_TEXT_H
#define CTL_PRINT_LATENCY_TEXT_H

#include <json-c/json.h>
#include <stdio.h>

void latency_text(FILE *out, struct json_object *record);

#endif
