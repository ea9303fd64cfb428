/* SPDX-License-Identifier: GPL-2.0-only */
/* wrap.h - the wrapper libraries, which are preloaded to trace unmodified programs. */
#ifndef CTL_RECORD_WRAP_H
#define CTL_RECORD_WRAP_H

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>

#include "ctl/ctl.h"

/**
 * wrap_environment() - "LD_PRELOAD=..." for a list of wrappers ("libc,pthread"; NULL: none), with
 * libltt in front, and the libraries of the current value behind them; allocated.
 * NULL: ctl->err is set.
 */
char *wrap_environment(struct ctl *ctl, const char *program, const char *list);
#define WRAP_DEPTH_VARIABLE "LTT_CALL_SITE"
#define WRAP_DEPTH 8u
#define WRAP_DEPTH_MOST 16u

/** The number of calls that wrappers record with an event. @depth: of the user; NULL: WRAP_DEPTH.
 *  Return: "LTT_CALL_SITE=..."; allocated. NULL: ctl->err is set. */
char *wrap_depth_environment(struct ctl *ctl, const char *depth);
/** Whether the program starts with wrappers: one that has another C library than glibc does not. */
bool wrap_can_load(const char *program);
/** "ASAN_OPTIONS=..." with the current value, so that gcc's AddressSanitizer accepts libraries before
 *  its own; allocated. NULL: the user has chosen that. */
char *wrap_sanitizer_environment(void);
/**
 * wrap_find_uncalled() - the wrappers of a list that have recorded no event, an array of names.
 * @events: the patterns of the recorded events, or NULL: all.
 * @trace, @bytes: the trace's directory and size.
 * A wrapper whose events can't match @events is not among them; none is if the trace can't be read.
 */
struct json_object *wrap_find_uncalled(const char *list, const char *events, const char *trace,
				       uint64_t bytes);
/** Print why the program can't have called a wrapper, and a remedy. */
void wrap_explain_uncalled(FILE *out, const char *program, const char *wrapper);

#endif
