/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * settings.h - the settings of ltt-crash, in /etc/ltt/crash.conf: text, a `key=value` a line, which
 * root alone may write and all users may read.
 */
#ifndef CTL_CRASH_SETTINGS_H
#define CTL_CRASH_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define CRASH_KEEP 20u
#define CRASH_AT_MOST 12u
#define CRASH_MOST 1000u /* of both */

/**
 * struct crash_settings - @pattern: core_pattern with ltt-crash; @previous: before. Both allocated;
 * NULL: not installed.
 * @keep: snapshots for each user. @at_most: of each program in @period_us.
 */
struct crash_settings {
	char *pattern, *previous;
	uint64_t keep;
	uint64_t at_most;
	uint64_t period_us;
};

/** Return: whether the file is there; else the settings are the defaults. */
bool crash_settings_read(struct crash_settings *ret);
int crash_settings_write(const struct crash_settings *settings, struct err *err) MUST_CHECK;
/** Remove the file. */
void crash_settings_remove(void);
void crash_settings_fini(struct crash_settings *settings);

/** Parse "12/h", "3/10m". Return: 0, or -EINVAL. */
int crash_settings_parse_rate(const char *text, struct crash_settings *ret) MUST_CHECK;
int crash_settings_parse_keep(const char *text, struct crash_settings *ret) MUST_CHECK;
/** "12 in 1 h"; allocated. */
char *crash_settings_rate(const struct crash_settings *settings);
/** Replace a file that root alone may write, by one of mode 0644. */
int crash_settings_put(const char *path, const char *text, struct err *err) MUST_CHECK;

#endif
