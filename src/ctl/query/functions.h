/* SPDX-License-Identifier: GPL-2.0-only */
/* functions.h - aggregates that SQLite has not: p50(X), p90, p99, p999, quantile(X, Q), hist(X). */
#ifndef CTL_QUERY_FUNCTIONS_H
#define CTL_QUERY_FUNCTIONS_H

#include "table.h"

/** Return: 0, or the code in @err. */
int query_functions_register(struct query *query, struct err *err) MUST_CHECK;

#endif
