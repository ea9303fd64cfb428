/* SPDX-License-Identifier: GPL-2.0-only */
#include "latency_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "function.h"
#include "json.h"
#include "table.h"
#include "text.h"

#define BAR 40u /* columns of the longest one */

static void latency_text_heads(struct table *table, const char *const *heads)
{
	for (; *heads; heads++)
		table_cell(table, "%s", *heads);
}

/* Of a function, briefly. */
static void latency_text_name(struct table *table, struct json_object *record,
			      struct json_object *o)
{
	bool is_function = strcmp(json_str(record, "kind"), "functions") == 0;
	char *name AUTO_FREE = is_function ? function_name(json_str(o, "name"), 256) :
					     xstrdup(json_str(o, "name"));

	table_cell(table, "%s", name);
}

static void latency_text_groups(FILE *out, struct json_object *record)
{
	static const char *const heads[] = { "COUNT", "TOTAL", "P50",  "P90", "P99",
					     "P99.9", "MAX",   "NAME", NULL };
	static const char *const call_heads[] = { "CALLS", "ERRORS", "TOTAL", "P50", "P90",
						  "P99",   "MAX",    "NAME",  NULL };
	struct table table = { .columns = "rrrrrrrl" };
	bool calls = strcmp(json_str(record, "kind"), "syscalls") == 0;

	latency_text_heads(&table, calls ? call_heads : heads);
	for (size_t i = 0; i < json_len(record, "groups"); i++) {
		struct json_object *o = json_at(record, "groups", i);

		table_form(&table, o, "[{?lossy_spans}~]{count:n}");
		if (calls)
			table_form(&table, o, "{failed:n}");
		table_form(&table, o, "[{?lossy_spans}~]{total_ns:T}");
		table_form(&table, o, "{p50_ns:T}");
		table_form(&table, o, "{p90_ns:T}");
		table_form(&table, o, "[{?lossy_spans}~]{p99_ns:T}");
		if (!calls)
			table_form(&table, o, "[{?lossy_spans}~]{p999_ns:T}");
		table_form(&table, o, "[{?lossy_spans}~]{max_ns:T}");
		latency_text_name(&table, record, o);
	}
	table_print(out, &table);
	if (json_num(record, "all_groups") > json_len(record, "groups"))
		fprintf(out, "  ... and %" PRIu64 " more; --top=N shows N\n",
			json_num(record, "all_groups") - json_len(record, "groups"));
}

static void latency_text_histogram(FILE *out, struct json_object *group)
{
	struct table table = { .columns = "rrl" };
	uint64_t most = 1;
	char bar[BAR + 1];

	memset(bar, '#', BAR);
	bar[BAR] = '\0';
	for (size_t i = 0; i < json_len(group, "histogram"); i++)
		most = MAX(most, json_num(json_at(group, "histogram", i), "count"));
	table_cell(&table, "FROM");
	table_cell(&table, "COUNT");
	table_cell(&table, "%s", "");
	for (size_t i = 0; i < json_len(group, "histogram"); i++) {
		struct json_object *o = json_at(group, "histogram", i);
		uint64_t count = json_num(o, "count");
		double length = (double)count / (double)most * BAR;

		table_form(&table, o, "{at_least_ns:T}");
		table_form(&table, o, "{count:n}");
		table_cell(&table, "%.*s", (int)(length + 0.999), bar);
	}
	fputc('\n', out);
	table_print(out, &table);
}

/* NAME[TID] */
static void latency_text_thread(struct table *table, struct json_object *o)
{
	if (json_get(o, "tid"))
		table_cell(table, "%.40s[%" PRIu64 "]", json_str(o, "thread"), json_num(o, "tid"));
	else
		table_cell(table, "%.40s", json_str(o, "thread"));
}

/* 1.200 ms on a CPU, 3.000 us waiting for one, 2.000 ms asleep, most in futex */
#define PARTS_FORM                                                  \
	"[{?running_ns}{running_ns:T}][{!running_ns}0 ns] on a CPU" \
	"[, {?runnable_ns}{runnable_ns:T} waiting for one]"         \
	"[, {?asleep_ns}{asleep_ns:T} asleep[, most in {asleep_in?}]]"

/* As --begin and --end take it. */
static void latency_text_time(struct table *table, uint64_t ns)
{
	table_cell(table, "+%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

static void latency_text_slowest(FILE *out, struct json_object *record)
{
	static const char *const heads[] = { "DURATION", "BEGIN", "END", "THREAD", "NAME", NULL };
	struct table table = { .columns = "rrrll" };
	uint64_t origin_ns = json_num(record, "origin_ns");

	latency_text_heads(&table, heads);
	for (size_t i = 0; i < json_len(record, "slowest"); i++) {
		struct json_object *o = json_at(record, "slowest", i);
		uint64_t ns = json_num(o, "from_ns") - origin_ns;

		table_form(&table, o, "[{?lossy}~]{duration_ns:T}");
		latency_text_time(&table, ns);
		latency_text_time(&table, ns + json_num(o, "duration_ns"));
		latency_text_thread(&table, o);
		if (json_get(o, "running_ns"))
			table_form(&table, o, "{name}: " PARTS_FORM);
		else
			latency_text_name(&table, record, o);
	}
	fputs("\nThe slowest:\n", out);
	table_print(out, &table);
	if (json_len(record, "slowest"))
		text_form(out, json_at(record, "slowest", 0),
			  "\nThe events of the first (of another one: with its BEGIN, END and "
			  "thread):\n  {view_command}\n");
}

void latency_text(FILE *out, struct json_object *record)
{
	latency_text_groups(out, record);
	if (json_num(record, "all_groups") == 1)
		latency_text_histogram(out, json_at(record, "groups", 0));
	latency_text_slowest(out, record);
}
