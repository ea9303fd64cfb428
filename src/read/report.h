/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report.h - reports the faults of a trace. Each view has a reporter; after REPORT_MAX
 * sentences it only counts.
 */
#ifndef READ_REPORT_H
#define READ_REPORT_H

#include "base/macros.h"
#include "view.h"

#define REPORT_MAX 50

/** struct reporter - @bytes: of the files; @read: of the packets that were read or skipped.
 *  @next_ns: of the next call of view_on_progress()'s function, by CLOCK_MONOTONIC; 0: there was
 *  none. */
struct reporter {
	view_report_fn fn;
	void *priv;
	uint64_t count;
	uint64_t notes;
	uint64_t bytes;
	uint64_t read;
	uint64_t next_ns;
};

/** Report a fault. Control bytes in the sentence, which come from the trace, are replaced by
 *  '?'. */
void report(struct reporter *reporter, const char *fmt, ...) PRINTF(2, 3);

/** The same for information that is not a problem: it is not counted. */
void report_note(struct reporter *reporter, const char *fmt, ...) PRINTF(2, 3);

/** Count @bytes of files as read, and report the progress where it takes long. */
void report_read(struct reporter *reporter, uint64_t bytes);

#endif
