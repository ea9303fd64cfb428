/* SPDX-License-Identifier: GPL-2.0-only */
/* functions.h - aggregates that SQLite has not: p50(X), p90, p99, p999, quantile(X, Q), hist(X). */
#ifndef CTL_QUERY_FUNCTIONS_H
#define CTL_QUERY_FUNCTIONS_H

#include "table.h"

/** The numbers of a group, all zero: none, and the part of them that do not exceed the result.
 *  @failed: the memory of the query is used up. @reals: not all are integers. */
struct query_numbers {
	double *at;
	uint64_t nr, size;
	double part;
	bool failed, reals;
};

void query_numbers_add(struct query *query, struct query_numbers *numbers, double number);
/** The number of the smallest rank that has this part of all at or below it. @numbers: one or more,
 *  which are put into another order. */
double query_numbers_quantile(struct query_numbers *numbers, double part);
void query_numbers_fini(struct query *query, struct query_numbers *numbers);

/** Return: 0, or the code in @err. */
int query_functions_register(struct query *query, struct err *err) MUST_CHECK;

#endif
