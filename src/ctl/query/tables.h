/* SPDX-License-Identifier: GPL-2.0-only */
/* tables.h - the tables of analyses: spans, system calls, functions, states of threads, requests to
 * disks, page faults, locks, processes, and the streams of the trace with their losses. Each is
 * filled by one reading, when it is first used, and sorted by time. */
#ifndef CTL_QUERY_TABLES_H
#define CTL_QUERY_TABLES_H

#include "table.h"

/** @view: of the trace. */
void query_analyses_add(struct query *query, const struct view *view);

#endif
