/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text.h - a record as a line of text, byte for byte as `lttctl view --clock-gmt` prints it
 * (src/show/text.c). Pure; process context.
 */
#ifndef KMOD_TRACE_TEXT_H
#define KMOD_TRACE_TEXT_H

#include "line.h"
#include "merge.h"

/** struct text_clock - the time of clock value v is @base_ns + v / @hz seconds since 1970. @hz is
 *  not 0. */
struct text_clock {
	u64 hz;
	s64 base_ns;
};

/**
 * struct text_printer - prints records, the oldest first.
 * @host: name of the machine, borrowed.
 * @any: a line was printed; @last_ns: its time.
 * @task_width: columns of the widest process and thread so far.
 */
struct text_printer {
	struct text_clock clock;
	const char *host;
	bool any;
	s64 last_ns;
	u32 task_width;
};

/** Current relation of a ring set's clock (enum ltt_clock_kind) and the time of day. */
void text_clock_now(u32 kind, struct text_clock *ret);

/** Write the line of a record. It may be written several times: text_printed() follows once. */
void text_print(struct text_printer *printer, const struct merged *merged, struct line *line);
void text_printed(struct text_printer *printer, const struct merged *merged);

#endif
