/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * html.h - writes a trace as one page (HTML) that a browser opens without a server or a network:
 * tables that are readable without scripts, and a time line that the page's script draws. Its size
 * is bounded.
 *
 * The data of the time line are numbers (pack.h) in this order, all of each column: of events, the
 * time since the one before (signed), row, row of the CPU + 1, class; of spans, begin likewise,
 * duration, row, name, 8 * failed + 4 * lossy + state; of buckets, row, class, bucket less the one
 * before (signed), events. Times are in ns since the begin. Their counts and all names are in the
 * JSON beside them.
 */
#ifndef CTL_HTML_HTML_H
#define CTL_HTML_HTML_H

#include <json-c/json.h>

#include "analyse/flame.h"
#include "analyse/overview.h"
#include "base/err.h"
#include "collect.h"
#include "read/view.h"

/** struct html_page - after the trace was read. @flame: its stacks; NULL: it has none.
 *  @record: of `report`. @path: of the trace.
 *  @bytes: of the file, a result. */
struct html_page {
	const struct overview *overview;
	const struct view_summary *sum;
	struct collect *collect;
	struct flame *flame;
	struct json_object *record;
	const char *path;
	uint64_t bytes;
	/* of html.c */
	struct calls_node calls; /* of all threads */
	char *graphs;
	size_t name_bytes; /* of each name: its beginning */
};

/** html_write() - write @file (outfile.h): it is whole, or as it was. Return: 0 or the
 *  code in @err. */
int html_write(struct html_page *page, const char *file, struct err *err) MUST_CHECK;

#endif
