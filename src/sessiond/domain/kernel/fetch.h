/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fetch.h - parser of the option --fetch: additional values to record at a place in the kernel, in
 * the syntax of ftrace's kprobe_events: registers, arguments, the stack, memory, texts. Pure.
 */
#ifndef DOMAIN_KERNEL_FETCH_H
#define DOMAIN_KERNEL_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ltt_kmod.h"
#include "trace/layout.h"
#include "base/macros.h"

#define FETCH_NAME_MAX 64u
#define FETCH_TEXT_BYTES 256u /* most bytes of a recorded text, with its NUL */

/** struct kernel_fetch - one value. @at_return: available at the return of a function;
 *  @at_entry: at its first instruction only. */
struct kernel_fetch {
	char name[FETCH_NAME_MAX];
	bool is_signed;
	bool at_entry, at_return;
	uint8_t base;
	struct ltt_kmod_arg arg;
};

/**
 * kernel_fetch_parse() - parse words of the form [NAME=]VALUE[:TYPE], separated by blanks.
 * @ret: LTT_KMOD_ARGS_MAX elements.
 * Return: number of values; or negative, with @err set.
 */
int kernel_fetch_parse(const char *text, struct kernel_fetch *ret, struct err *err) MUST_CHECK;

/** Append the field of a value to @layout. Return: false if it is full. */
bool kernel_fetch_describe(const struct kernel_fetch *fetch, struct layout *layout);

#endif
