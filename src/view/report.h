/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - reports the faults of a trace. Each view has a reporter; after REPORT_MAX
 * sentences it only counts.
 */
#ifndef VIEW_REPORT_H
#define VIEW_REPORT_H

#include "base/macros.h"
#include "view.h"

#define REPORT_MAX 50

struct reporter {
	view_report_fn fn;
	void *priv;
	uint64_t count;
	uint64_t notes;
};

/** Report a fault. Control bytes in the sentence, which come from the trace, are replaced by
 *  '?'. */
void report(struct reporter *reporter, const char *fmt, ...) PRINTF(2, 3);

/** The same for information that is not a problem: it is not counted. */
void report_note(struct reporter *reporter, const char *fmt, ...) PRINTF(2, 3);

#endif
