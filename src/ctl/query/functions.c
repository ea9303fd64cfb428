/* SPDX-License-Identifier: GPL-2.0-only */
#include "functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/histogram.h"
#include "base/macros.h"

static const struct sqlite *functions_sql; /* one query runs in a process */

void query_numbers_add(struct query *query, struct query_numbers *numbers, double number)
{
	uint64_t size = numbers->size ? numbers->size * 2 : 64;
	uint64_t more = (size - numbers->size) * sizeof(*numbers->at);
	double *at;

	if (numbers->nr == numbers->size) {
		if (query->memory.used + more > query->memory.most)
			numbers->failed = true;
		at = numbers->failed ? NULL : realloc(numbers->at, size * sizeof(*at));
		numbers->failed = !at;
		if (!at)
			return;
		query->memory.used += more;
		numbers->at = at;
		numbers->size = size;
	}
	numbers->at[numbers->nr++] = number;
}

/* NULL is no number of the group, as in SQLite's own functions. */
static void query_quantile_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const struct sqlite *sql = functions_sql;
	struct query_numbers *numbers = sql->sqlite3_aggregate_context(context, sizeof(*numbers));
	int type = sql->sqlite3_value_type(argv[0]);

	if (!numbers || numbers->failed || type == SQLITE_NULL)
		return;
	if (argc == 2)
		numbers->part = sql->sqlite3_value_double(argv[1]);
	numbers->reals |= type != SQLITE_INTEGER;
	query_numbers_add(sql->sqlite3_user_data(context), numbers,
			  sql->sqlite3_value_double(argv[0]));
}

static void query_swap_numbers(double *a, double *b)
{
	double number = *a;

	*a = *b;
	*b = number;
}

/* The middle one of three goes to the begin; one of them is anywhere, so that no order is bad. */
static void query_choose_pivot(double *at, uint64_t nr, uint64_t random)
{
	double *middle = at + random % nr, *last = at + nr - 1;

	if (*middle < *at)
		query_swap_numbers(middle, at);
	if (*last < *at)
		query_swap_numbers(last, at);
	if (*last < *middle)
		query_swap_numbers(last, middle);
	query_swap_numbers(at, middle);
}

/* Of three parts, those below, at and above a pivot, one has the number: none is sorted. */
static double query_select(double *at, uint64_t nr, uint64_t rank)
{
	uint64_t random = nr;

	while (nr > 1) {
		uint64_t below = 0, above = nr;
		double pivot;

		random = random * 6364136223846793005u + 1442695040888963407u;
		query_choose_pivot(at, nr, random >> 33);
		pivot = at[0];
		for (uint64_t i = 0; i < above;) {
			if (at[i] < pivot)
				query_swap_numbers(&at[i++], &at[below++]);
			else if (at[i] > pivot)
				query_swap_numbers(&at[i], &at[--above]);
			else
				i++;
		}
		if (rank >= below && rank < above)
			return pivot;
		nr = rank < below ? below : nr - above;
		at = rank < below ? at : at + above;
		rank = rank < below ? rank : rank - above;
	}
	return *at;
}

double query_numbers_quantile(struct query_numbers *numbers, double part)
{
	uint64_t rank = (uint64_t)(part * (double)numbers->nr + (1 - 1e-9)); /* rounded up */

	return query_select(numbers->at, numbers->nr,
			    MIN(MAX(rank, UINT64_C(1)), numbers->nr) - 1);
}

void query_numbers_fini(struct query *query, struct query_numbers *numbers)
{
	query->memory.used -= numbers->size * sizeof(*numbers->at);
	free(numbers->at);
}

static void query_quantile_result(sqlite3_context *context, struct query_numbers *numbers,
				  double part)
{
	double number = query_numbers_quantile(numbers, part);

	if (numbers->reals)
		functions_sql->sqlite3_result_double(context, number);
	else
		functions_sql->sqlite3_result_int64(context, (int64_t)number);
}

static void query_quantile_end(sqlite3_context *context, double part)
{
	const struct sqlite *sql = functions_sql;
	struct query *query = sql->sqlite3_user_data(context);
	struct query_numbers *numbers = sql->sqlite3_aggregate_context(context, sizeof(*numbers));

	if (!numbers || !numbers->nr) {
		sql->sqlite3_result_null(context);
		return;
	}
	part = part < 0 ? numbers->part : part;
	if (numbers->failed)
		sql->sqlite3_result_error(context, "quantiles need more than --memory", -1);
	else if (!(part >= 0 && part <= 1))
		sql->sqlite3_result_error(context, "quantile(X, Q): Q is from 0 to 1", -1);
	else
		query_quantile_result(context, numbers, part);
	query_numbers_fini(query, numbers);
}

static void query_end_p50(sqlite3_context *context)
{
	query_quantile_end(context, 0.5);
}

static void query_end_p90(sqlite3_context *context)
{
	query_quantile_end(context, 0.9);
}

static void query_end_p99(sqlite3_context *context)
{
	query_quantile_end(context, 0.99);
}

static void query_end_p999(sqlite3_context *context)
{
	query_quantile_end(context, 0.999);
}

static void query_end_quantile(sqlite3_context *context)
{
	query_quantile_end(context, -1);
}

/* --- histograms ---------------------------------------------------------------------------- */

static void query_hist_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const struct sqlite *sql = functions_sql;
	struct histogram *histogram = sql->sqlite3_aggregate_context(context, sizeof(*histogram));
	int64_t value = sql->sqlite3_value_int64(argv[0]);

	(void)argc;
	if (histogram && sql->sqlite3_value_type(argv[0]) != SQLITE_NULL)
		histogram_add(histogram, value > 0 ? (uint64_t)value : 0);
}

/* [[FROM,COUNT],...] */
static void query_hist_end(sqlite3_context *context)
{
	const struct sqlite *sql = functions_sql;
	struct histogram *histogram = sql->sqlite3_aggregate_context(context, sizeof(*histogram));
	char text[64 * 48];
	size_t used = 0;

	if (!histogram || !histogram->count) {
		sql->sqlite3_result_null(context);
		return;
	}
	for (unsigned int power = 0; power < 64; power++) {
		uint64_t count = histogram_of_power(histogram, power);

		if (count)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%s[%" PRIu64 ",%" PRIu64 "]", used ? "," : "[",
						 power ? UINT64_C(1) << power : 0, count);
	}
	text[used++] = ']';
	sql->sqlite3_result_text(context, text, (int)used, SQLITE_TRANSIENT);
	histogram_fini(histogram);
}

int query_functions_register(struct query *query, struct err *err)
{
	static const struct {
		const char *name;
		int arguments;
		void (*step)(sqlite3_context *context, int argc, sqlite3_value **argv);
		void (*end)(sqlite3_context *context);
	} all[] = {
		{ "p50", 1, query_quantile_step, query_end_p50 },
		{ "p90", 1, query_quantile_step, query_end_p90 },
		{ "p99", 1, query_quantile_step, query_end_p99 },
		{ "p999", 1, query_quantile_step, query_end_p999 },
		{ "quantile", 2, query_quantile_step, query_end_quantile },
		{ "hist", 1, query_hist_step, query_hist_end },
	};

	functions_sql = query->sql;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (query->sql->sqlite3_create_function_v2(query->db, all[i].name, all[i].arguments,
							   SQLITE_UTF8 | SQLITE_DETERMINISTIC,
							   query, NULL, all[i].step, all[i].end,
							   NULL) != SQLITE_OK)
			return err_set(err, ERR_INTERNAL, "SQLite refuses the function %s(): %s",
				       all[i].name, query->sql->sqlite3_errmsg(query->db));
	return 0;
}
