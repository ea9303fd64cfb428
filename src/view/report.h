/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - the faults of a trace, as its viewer reports them. One reporter
 * belongs to each view; after REPORT_MAX sentences it only counts.
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

/** Control bytes that the trace put into the sentence are replaced by '?'. */
void report(struct reporter *reporter, const char *fmt, ...) PRINTF(2, 3);

/** The same for information that is not a problem: it is not counted. */
void report_note(struct reporter *reporter, const char *fmt, ...) PRINTF(2, 3);

#endif
