/* SPDX-License-Identifier: GPL-2.0-only */
/* brief.h - functions that last so briefly that recording them is most of their time. */
#ifndef CTL_RECORD_BRIEF_H
#define CTL_RECORD_BRIEF_H

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>

#define BRIEF_NS 50u

/**
 * brief_find() - of the first calls in a trace, those that call nothing and last less than
 * BRIEF_NS, without the time that recording takes.
 * @bytes: size of the trace.
 * Return: {count, brief_count, function, file}, with the function of most of them; NULL: less than
 * a third of the calls are such, or the trace is too large to be examined.
 */
struct json_object *brief_find(const char *trace, uint64_t bytes);
/** Print it, and the remedies. */
void brief_explain(FILE *out, struct json_object *brief);

#endif
