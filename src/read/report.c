/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"

#include <stdarg.h>
#include <time.h>

/* Names in a sentence may come from the trace: nothing but plain text passes. */
static void make_printable(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f ||
		    ((unsigned char)*s >= 0x80 && (unsigned char)*s < 0xa0 && s[-1] == '\xc2'))
			*s = '?';
}

/* Behind a byte that make_printable() reads. */
static void view_report_print(struct reporter *reporter, const char *fmt, va_list args)
{
	char text[1025] = "";

	if (!reporter->fn)
		return;
	vsnprintf(text + 1, sizeof(text) - 1, fmt, args);
	make_printable(text + 1);
	reporter->fn(reporter->priv, text + 1);
}

void report(struct reporter *reporter, const char *fmt, ...)
{
	va_list args;

	if (reporter->count++ >= REPORT_MAX)
		return;
	va_start(args, fmt);
	view_report_print(reporter, fmt, args);
	va_end(args);
	if (reporter->count == REPORT_MAX && reporter->fn)
		reporter->fn(reporter->priv, "further problems are only counted");
}

void report_note(struct reporter *reporter, const char *fmt, ...)
{
	va_list args;

	if (reporter->notes++ >= REPORT_MAX)
		return;
	va_start(args, fmt);
	view_report_print(reporter, fmt, args);
	va_end(args);
}

#define PROGRESS_FIRST_NS 1000000000u
#define PROGRESS_NS 200000000u

static struct {
	view_progress_fn fn;
	void *priv;
} progress;

void view_on_progress(view_progress_fn fn, void *priv)
{
	progress.fn = fn;
	progress.priv = priv;
}

void report_read(struct reporter *reporter, uint64_t bytes)
{
	struct timespec ts;
	uint64_t now_ns;

	reporter->read += bytes;
	if (!progress.fn || clock_gettime(CLOCK_MONOTONIC, &ts) != 0)
		return;
	now_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	if (!reporter->next_ns)
		reporter->next_ns = now_ns + PROGRESS_FIRST_NS;
	if (now_ns < reporter->next_ns)
		return;
	reporter->next_ns = now_ns + PROGRESS_NS;
	progress.fn(progress.priv, (unsigned int)(100 * MIN(reporter->read, reporter->bytes) /
						  MAX(reporter->bytes, 1u)));
}
