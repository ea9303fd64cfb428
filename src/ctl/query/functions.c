/* SPDX-License-Identifier: GPL-2.0-only */
#include "functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/histogram.h"
#include "base/macros.h"

static const struct sqlite *functions_sql; /* one query runs in a process */

/** The numbers of a group, and the part of them that do not exceed the result. */
struct query_numbers {
	double *at;
	uint64_t nr, size;
	double part;
	bool failed, reals;
};

static void query_numbers_add(struct query *query, struct query_numbers *numbers, double number)
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

static int query_compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Of the smallest rank that has this part of the numbers at or below it. */
static void query_quantile_result(sqlite3_context *context, struct query_numbers *numbers,
				  double part)
{
	uint64_t rank = (uint64_t)(part * (double)numbers->nr + (1 - 1e-9)); /* rounded up */

	rank = MIN(MAX(rank, UINT64_C(1)), numbers->nr);
	qsort(numbers->at, numbers->nr, sizeof(*numbers->at), query_compare_numbers);
	if (numbers->reals)
		functions_sql->sqlite3_result_double(context, numbers->at[rank - 1]);
	else
		functions_sql->sqlite3_result_int64(context, (int64_t)numbers->at[rank - 1]);
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
	query->memory.used -= numbers->size * sizeof(*numbers->at);
	free(numbers->at);
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
