/* SPDX-License-Identifier: GPL-2.0-only */
#include "report_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "color.h"
#include "function.h"
#include "json.h"
#include "read/view.h"
#include "table.h"
#include "text.h"

#define TASK_BYTES 96u
#define NAME_BYTES 80u
#define LOCK_BYTES 61u
#define CALLERS_SHOWN 2u
#define PLOT_ROWS 20u
#define PLOT_BAR 40u /* columns of the longest one */

static void report_text_print_time(FILE *out, int64_t ns, const char *format)
{
	time_t s = (time_t)(ns / 1000000000);
	char text[64] = "";
	struct tm tm;

	if (localtime_r(&s, &tm))
		strftime(text, sizeof(text), format, &tm);
	fprintf(out, "%s.%06u", text, ns > 0 ? (unsigned int)(ns % 1000000000 / 1000) : 0);
}

/* Since the first event, rounded down: `view --begin` then shows the event at this time. */
static const char *report_text_since(char buf[TEXT_BYTES], struct json_object *record, uint64_t ns)
{
	uint64_t origin_ns = json_num(record, "origin_ns");

	ns = ns > origin_ns ? ns - origin_ns : 0;
	snprintf(buf, TEXT_BYTES, "+%" PRIu64 ".%06" PRIu64, ns / 1000000000,
		 ns % 1000000000 / 1000);
	return buf;
}

/* NAME[PID:TID], as lttctl view prints it. */
static const char *report_text_task(char buf[TASK_BYTES], struct json_object *o)
{
	char pid[TEXT_BYTES] = "?";

	if (json_get(o, "pid"))
		snprintf(pid, sizeof(pid), "%" PRIu64, json_num(o, "pid"));
	if (json_get(o, "tid"))
		snprintf(buf, TASK_BYTES, "%.40s[%s:%" PRIu64 "]", json_str(o, "thread"), pid,
			 json_num(o, "tid"));
	else
		snprintf(buf, TASK_BYTES, "%.40s[%s]", json_str(o, "process"), pid);
	return buf;
}

/* Functions of libc that call main() and those of threads. */
static bool begins_thread(const char *function)
{
	return !strncmp(function, "__libc_start", strlen("__libc_start")) ||
	       !strcmp(function, "start_thread");
}

/* NAME  FILE:LINE <- CALLER <- CALLER; allocated. */
static char *report_text_where(struct json_object *place)
{
	const char *file = json_str(place, "file"), *slash = strrchr(file, '/');
	char *name AUTO_FREE = function_name(json_str(place, "name"), NAME_BYTES), *where = NULL;
	size_t len;
	FILE *out = open_memstream(&where, &len);

	fputs(name, out);
	if (*file)
		fprintf(out, "  %.60s:%u", slash ? slash + 1 : file,
			(unsigned int)json_num(place, "line"));
	for (size_t i = 0; i < json_len(place, "callers") && i < CALLERS_SHOWN; i++) {
		const char *caller = json_str(json_at(place, "callers", i), "name");
		char *brief AUTO_FREE = NULL;

		if (begins_thread(caller))
			break;
		brief = function_name(caller, NAME_BYTES);
		fprintf(out, " <- %s", brief);
	}
	fclose(out);
	return where;
}

static void report_text_print_head(FILE *out, struct json_object *record)
{
	uint64_t events = json_num(record, "events"), begin_ns = json_num(record, "begin_ns");
	uint64_t ns = json_num(record, "end_ns") - begin_ns;
	char nr[TEXT_BYTES], time[TEXT_BYTES];

	text_form(out, record, "trace:   {path}[, recorded on {hosts?}]");
	if (events) {
		fprintf(out, "\ntime:    ");
		report_text_print_time(out, (int64_t)begin_ns, "%Y-%m-%d %H:%M:%S");
		fprintf(out, " to ");
		report_text_print_time(out, (int64_t)(begin_ns + ns), "%H:%M:%S");
		fprintf(out, ", %s", text_time(time, ns));
	}
	text_form(out, record, "\nevents:  {events:n}");
	if (ns)
		fprintf(out, ", %s a second",
			text_count(nr, (uint64_t)((double)events * 1e9 / (double)ns)));
	text_form(out, record,
		  "[; and {state_dump:n?} of state dumps]\nfrom:    {all_processes} process"
		  "[{all_processes=1}|es], {all_threads} thread{all_threads:s}, "
		  "{cpus} CPU{cpus:s}, {nr_streams} stream{nr_streams:s}\n");
}

static void report_text_print_others(FILE *out, uint64_t all, size_t shown)
{
	char nr[TEXT_BYTES];

	if (all > shown)
		fprintf(out, "  and %s other%s\n", text_count(nr, all - shown),
			text_plural(all - shown));
}

/* @name: of a row; @all: key of the number of rows. */
static void report_text_print_counts(FILE *out, struct json_object *record, const char *key,
				     const char *all, const char *title)
{
	struct table table = { .columns = "rrrl" };
	double events = (double)json_num(record, "events");
	double s = (double)(json_num(record, "end_ns") - json_num(record, "begin_ns")) / 1e9;
	size_t rows = json_len(record, key);

	if (!rows)
		return;
	table_cell(&table, "EVENTS");
	table_cell(&table, "SHARE");
	table_cell(&table, "A SECOND");
	table_cell(&table, "%s", title);
	for (size_t i = 0; i < rows; i++) {
		struct json_object *o = json_at(record, key, i);
		double nr = (double)json_num(o, "events");
		char count[TEXT_BYTES], rate[TEXT_BYTES], task[TASK_BYTES];

		table_cell(&table, "%s", text_count(count, json_num(o, "events")));
		table_cell(&table, "%.1f %%", events > 0 ? 100 * nr / events : 0.0);
		table_cell(&table, "%s", s > 0 ? text_count(rate, (uint64_t)(nr / s + 0.5)) : "");
		if (json_get(o, "name"))
			table_cell(&table, "%.70s", json_str(o, "name"));
		else
			table_cell(&table, "%s", report_text_task(task, o));
	}
	fputc('\n', out);
	table_print(out, &table);
	report_text_print_others(out, json_num(record, all), rows);
}

/* --- locks ------------------------------------------------------------------------ */

static char *report_text_mutex_name(struct json_object *o)
{
	struct json_object *place = json_get(o, "mutex_place");
	const char *kind = json_str(o, "kind");
	bool is_mutex = strcmp(kind, "mutex") == 0;
	char *name AUTO_FREE = place ? function_name(json_str(place, "name"), LOCK_BYTES) :
				       xasprintf("0x%" PRIx64, json_num(o, "mutex"));

	return xasprintf("%s%s%s", is_mutex ? "" : kind, is_mutex ? "" : " ", name);
}

static void report_text_hold_row(struct table *table, struct json_object *record,
				 struct json_object *wait)
{
	struct json_object *hold = json_get(wait, "holder");
	char since[TEXT_BYTES], task[TASK_BYTES], nr[TEXT_BYTES], held[TEXT_BYTES];
	char *where AUTO_FREE = report_text_where(json_get(hold, "place"));
	char holds[4 * TEXT_BYTES] = "";

	table_form(table, hold, "[{?uncertain}~]{duration_ns:T}");
	table_cell(table, "%s", report_text_since(since, record, json_num(hold, "from_ns")));
	table_cell(table, "%s by %s", json_flag(hold, "shared") ? "read" : "held",
		   report_text_task(task, hold));
	if (json_num(wait, "holds") > 1)
		snprintf(holds, sizeof(holds), "%slongest of %s holds, %s of the wait",
			 *where ? ", " : "", text_count(nr, json_num(wait, "holds")),
			 text_time(held, json_num(wait, "held_ns")));
	table_cell(table, "%s%s", where, holds);
}

static void report_text_wait_row(struct table *table, struct json_object *record,
				 struct json_object *wait)
{
	char since[TEXT_BYTES], task[TASK_BYTES];
	char *where AUTO_FREE = report_text_where(json_get(wait, "place"));
	char *mutex AUTO_FREE = report_text_mutex_name(wait);

	table_form(table, wait, "[{?lossy}~]{duration_ns:T}");
	table_cell(table, "%s", report_text_since(since, record, json_num(wait, "from_ns")));
	table_cell(table, "%s", report_text_task(task, wait));
	table_cell(table, "%s%sfor %s%s%s", where, *where ? ", " : "",
		   mutex,
		   json_flag(wait, "open") ? ", up to the end" : "",
		   json_get(wait, "holder") ? "" : "; no holder is known");
}

static bool report_text_is_same_hold(struct json_object *a, struct json_object *b)
{
	struct json_object *x = json_get(a, "holder"), *y = json_get(b, "holder");

	return x && y && json_num(x, "tid") == json_num(y, "tid") &&
	       json_num(x, "from_ns") == json_num(y, "from_ns") &&
	       json_num(a, "mutex") == json_num(b, "mutex");
}

/* Several threads may have waited for one hold. */
static void report_text_print_waits(FILE *out, struct json_object *record,
				    struct json_object *locks)
{
	struct table table = { .columns = "rrll" };
	size_t nr = json_len(locks, "waits");

	if (!nr)
		return;
	table_cell(&table, "TIME");
	table_cell(&table, "AT (S)");
	table_cell(&table, "WAITING THREAD");
	table_cell(&table, "CALLED IN");
	for (size_t i = 0; i < nr; i++) {
		struct json_object *wait = json_at(locks, "waits", i);

		report_text_wait_row(&table, record, wait);
		if (json_get(wait, "holder") &&
		    !(i + 1 < nr &&
		      report_text_is_same_hold(wait, json_at(locks, "waits", i + 1))))
			report_text_hold_row(&table, record, wait);
	}
	table_print(out, &table);
}

static void report_text_print_mutexes(FILE *out, struct json_object *locks)
{
	static const char *const heads[] = { "WAITS", "IN TOTAL", "LONGEST HOLD", "LOCK",
					     "HELD BY" };
	struct table table = { .columns = "rrrll" };
	size_t nr = json_len(locks, "mutexes");

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&table, "%s", heads[i]);
	for (size_t i = 0; i < nr; i++) {
		struct json_object *o = json_at(locks, "mutexes", i);
		struct json_object *longest = json_get(o, "longest");
		char *name AUTO_FREE = report_text_mutex_name(o);
		char task[TASK_BYTES];

		table_form(&table, o, "{waited:n}");
		table_form(&table, o, "[{?lossy}~]{wait_ns:T}");
		table_form(&table, o, "[{?longest.uncertain}~]{longest.duration_ns:T}");
		table_cell(&table, "%s", name);
		table_cell(&table, "%s", longest ? report_text_task(task, longest) : "");
	}
	table_print(out, &table);
	report_text_print_others(out, json_num(locks, "waited_mutexes"), nr);
}

static void report_text_print_locks(FILE *out, struct json_object *record)
{
	struct json_object *locks = json_get(record, "locks");

	if (!locks) {
		fprintf(out, "\nlocks: not recorded; record with --wrap=pthread\n");
		return;
	}
	text_form(out, locks,
		  "\nlocks: {acquired:n} acquisition{acquired:s} of {all_mutexes:n} "
		  "lock{all_mutexes:s}; [{waited:n?} had to wait, {wait_ns:T} in total; "
		  "the longest:|none had to wait]\n");
	report_text_print_waits(out, record, locks);
	if (json_num(locks, "waited_mutexes") > 1)
		report_text_print_mutexes(out, locks);
}

/* --- other waits ------------------------------------------------------------------ */

static void report_text_waits_row(struct table *table, struct json_object *record,
				  struct json_object *site)
{
	struct json_object *longest = json_get(site, "longest");
	char *where AUTO_FREE = report_text_where(json_get(site, "place"));
	char since[TEXT_BYTES], task[TASK_BYTES];

	table_form(table, site, "{count:n}");
	table_form(table, site, "[{?lossy}~]{wait_ns:T}");
	table_form(table, site, "[{?lossy}~]{longest.duration_ns:T}");
	table_cell(table, "%s", report_text_since(since, record, json_num(longest, "from_ns")));
	table_cell(table, "%s", report_text_task(task, longest));
	table_cell(table, "%s%s%s%s%s", json_str(site, "function"), *where ? " in " : "", where,
		   json_num(site, "timed_out") ? ", with a timeout" : "",
		   json_num(site, "not_ended") ? ", up to the end" : "");
}

static void report_text_print_other_waits(FILE *out, struct json_object *record)
{
	static const char *const heads[] = { "CALLS",  "IN TOTAL", "LONGEST",
					     "AT (S)", "THREAD",   "WAITS IN" };
	struct json_object *waits = json_get(record, "other_waits");
	size_t nr = json_len(waits, "sites");
	struct table table = { .columns = "rrrrll" };

	if (!nr)
		return;
	text_form(out, waits, "\nother waits: {count:n} call{count:s}, {wait_ns:T} in total:\n");
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&table, "%s", heads[i]);
	for (size_t i = 0; i < nr; i++)
		report_text_waits_row(&table, record, json_at(waits, "sites", i));
	table_print(out, &table);
	report_text_print_others(out, json_num(waits, "all_sites"), nr);
}

/* --- allocations ------------------------------------------------------------------ */

/* Sites that are shown as the same: their calls came from other lines. */
struct site_row {
	uint64_t calls, bytes;
	bool lossy;
	char *label;
};

enum sites_shown { SITES_ALL, SITES_LEAKS, SITES_PEAK };

char *report_text_site(struct json_object *site)
{
	char *where AUTO_FREE = report_text_where(json_get(site, "place"));

	return xasprintf("%s%s%s", json_str(site, "function"), *where ? " in " : "", where);
}

/* Return: the number of rows. */
static size_t report_text_add_site(struct site_row *rows, size_t nr, struct json_object *site,
				   enum sites_shown shown)
{
	static const char *const counts[] = { "count", "live", "peak" };
	static const char *const bytes[] = { "bytes", "live_bytes", "peak_bytes" };
	char *label AUTO_FREE = report_text_site(site);
	size_t i = 0;

	while (i < nr && strcmp(rows[i].label, label) != 0)
		i++;
	if (i == nr)
		rows[i] = (struct site_row){ .label = TAKE(label) };
	rows[i].calls += json_num(site, counts[shown]);
	rows[i].bytes += json_num(site, bytes[shown]);
	rows[i].lossy |= json_flag(site, "lossy");
	return MAX(nr, i + 1);
}

static int report_text_compare_bytes(const void *a, const void *b)
{
	uint64_t x = ((const struct site_row *)a)->bytes, y = ((const struct site_row *)b)->bytes;

	return x > y ? -1 : x < y;
}

static int report_text_compare_calls(const void *a, const void *b)
{
	uint64_t x = ((const struct site_row *)a)->calls, y = ((const struct site_row *)b)->calls;

	return x > y ? -1 : x < y;
}

static void report_text_site_row(struct table *table, struct site_row *row)
{
	char *label AUTO_FREE = row->label;
	const char *mark = row->lossy ? "~" : "";
	char calls[TEXT_BYTES], bytes[TEXT_BYTES];

	table_cell(table, "%s%s", mark, text_count(calls, row->calls));
	table_cell(table, "%s%s", mark, text_count(bytes, row->bytes));
	table_cell(table, "%s", label);
}

static void report_text_print_sites(FILE *out, struct json_object *allocations,
				    enum sites_shown which)
{
	static const char *const keys[] = { "largest", "leaks", "peak_sites" };
	static const char *const all[] = { "all_sites", "all_leaks", "all_peak_sites" };
	struct table table = { .columns = "rrl" };
	size_t nr = json_len(allocations, keys[which]), shown = 0;
	AUTO_FREE struct site_row *rows = NULL;

	if (!nr)
		return;
	rows = xalloc(nr * sizeof(*rows));
	if (which == SITES_ALL) {
		table_cell(&table, "CALLS");
		table_cell(&table, "BYTES");
		table_cell(&table, "ALLOCATED BY");
	}
	for (size_t i = 0; i < nr; i++)
		shown = report_text_add_site(rows, shown, json_at(allocations, keys[which], i),
					     which);
	qsort(rows, shown, sizeof(*rows), report_text_compare_bytes);
	for (size_t i = 0; i < shown; i++)
		report_text_site_row(&table, &rows[i]);
	table_print(out, &table);
	report_text_print_others(out, json_num(allocations, all[which]), nr);
}

static bool report_text_has(struct json_object *array, struct json_object *site)
{
	for (size_t i = 0; i < json_object_array_length(array); i++)
		if (json_object_equal(json_object_array_get_idx(array, i), site))
			return true;
	return false;
}

/* Sites with many calls that are not among those with the most bytes. */
static void report_text_print_frequent(FILE *out, struct json_object *allocations)
{
	struct table table = { .columns = "rrl" };
	AUTO_FREE struct site_row *rows = xalloc((json_len(allocations, "sites") + 1) * sizeof(*rows));
	size_t shown = 0;

	for (size_t i = 0; i < json_len(allocations, "sites"); i++) {
		struct json_object *site = json_at(allocations, "sites", i);

		if (report_text_has(json_get(allocations, "largest"), site))
			continue;
		shown = report_text_add_site(rows, shown, site, SITES_ALL);
	}
	if (shown)
		fprintf(out, "of the others, with the most calls:\n");
	qsort(rows, shown, sizeof(*rows), report_text_compare_calls);
	for (size_t i = 0; i < shown; i++)
		report_text_site_row(&table, &rows[i]);
	table_print(out, &table);
}

/* The most bytes in a row's time. */
static void report_text_print_plot(FILE *out, struct json_object *record,
				   struct json_object *memory)
{
	struct table table = { .columns = "rrl" };
	size_t nr = json_len(memory, "samples"), each = (nr + PLOT_ROWS - 1) / PLOT_ROWS;
	uint64_t from_ns = json_num(memory, "from_ns"), sample_ns = json_num(memory, "sample_ns");
	double most =
		(double)MAX(json_num(json_get(record, "allocations"), "most_bytes"), (uint64_t)1);
	char since[TEXT_BYTES], size[TEXT_BYTES], bar[PLOT_BAR + 1];

	memset(bar, '#', PLOT_BAR);
	bar[PLOT_BAR] = '\0';
	table_cell(&table, "FROM (S)");
	table_cell(&table, "IN USE");
	table_cell(&table, "%s", "");
	for (size_t i = 0; i < nr; i += each) {
		uint64_t bytes = 0;

		for (size_t k = i; k < i + each && k < nr; k++)
			bytes = MAX(bytes, json_num(json_at(memory, "samples", k), "most_bytes"));
		table_cell(&table, "%s", report_text_since(since, record, from_ns + i * sample_ns));
		table_cell(&table, "%s", text_size(size, bytes));
		table_cell(&table, "%.*s", (int)((double)bytes / most * PLOT_BAR + 0.999), bar);
	}
	table_print(out, &table);
	fputs("in use at the peak:\n", out);
}

static void report_text_print_allocations(FILE *out, struct json_object *record)
{
	struct json_object *o = json_get(record, "allocations");
	char since[TEXT_BYTES];

	if (!o) {
		fprintf(out, "%sallocations: not recorded; record with --wrap=libc\n",
			json_get(record, "locks") ? "\n" : "");
		return;
	}
	text_form(out, o,
		  "\nallocations: {count:n} of {bytes:b}; at most {most_bytes:b} at a time");
	fprintf(out, ", at %s s", report_text_since(since, record, json_num(o, "most_ns")));
	text_form(out, o, "[; {failed:n?} failed]\n");
	if (json_get(o, "over_time")) {
		report_text_print_plot(out, record, json_get(o, "over_time"));
		report_text_print_sites(out, json_get(o, "over_time"), SITES_PEAK);
	} else {
		report_text_print_sites(out, o, SITES_ALL);
		report_text_print_frequent(out, o);
	}
	text_form(out, o,
		  "[never freed: {live:n?} of {live_bytes:b}:\n|all of it was freed\n]");
	report_text_print_sites(out, o, SITES_LEAKS);
}

/* --- samples ----------------------------------------------------------------------- */

static void report_text_print_samples(FILE *out, struct json_object *record)
{
	struct json_object *o = json_get(record, "on_cpu");
	struct table table = { .columns = "rrrl" };
	double cpu_ns = (double)json_num(o, "cpu_ns");
	char self[TEXT_BYTES], total[TEXT_BYTES];

	if (!o)
		return;
	fprintf(out, "\non a CPU, by samples: %s; the functions with the most of it:\n",
		text_time(total, json_num(o, "cpu_ns")));
	table_cell(&table, "ITSELF");
	table_cell(&table, "SHARE");
	table_cell(&table, "AND CALLED");
	table_cell(&table, "FUNCTION");
	for (size_t i = 0; i < json_len(o, "functions"); i++) {
		struct json_object *row = json_at(o, "functions", i);
		char *where AUTO_FREE = report_text_where(row);

		table_cell(&table, "%s", text_time(self, json_num(row, "self_ns")));
		table_cell(&table, "%.1f %%", 100 * (double)json_num(row, "self_ns") / cpu_ns);
		table_cell(&table, "%s", text_time(total, json_num(row, "total_ns")));
		table_cell(&table, "%s", where);
	}
	table_print(out, &table);
	report_text_print_others(out, json_num(o, "all_functions"), json_len(o, "functions"));
}

/* --- gaps and losses -------------------------------------------------------------- */

static void report_text_print_gap(FILE *out, struct json_object *record)
{
	struct json_object *gap = json_get(record, "gap");
	char ns[TEXT_BYTES], since[TEXT_BYTES], task[TASK_BYTES];

	if (!gap)
		return;
	fprintf(out, "\nlongest time without an event: %s, at %s s",
		text_time(ns, json_num(gap, "duration_ns")),
		report_text_since(since, record, json_num(gap, "from_ns")));
	for (int i = 0; i < 2; i++) {
		struct json_object *end = json_get(gap, i ? "behind" : "before");

		fprintf(out, "\n  %s %.60s", i ? "before" : "after ", json_str(end, "event"));
		if (json_get(end, "tid"))
			fprintf(out, " of %s", report_text_task(task, end));
	}
	fputc('\n', out);
}

static void report_text_print_lost(FILE *out, struct json_object *o)
{
	struct json_object *by_cause = json_get(o, "lost_by_cause");
	const char *comma = " (";
	char nr[TEXT_BYTES];

	fprintf(out, "%slost%s: %s event%s", color_on(out, COLOR_BAD), color_off(out),
		text_count(nr, json_num(o, "lost") + json_num(o, "lost_before")),
		text_plural(json_num(o, "lost") + json_num(o, "lost_before")));
	for (int i = 0; i < VIEW_NR_LOST; i++) {
		uint64_t lost = json_num(by_cause, view_lost_key((enum view_lost)i));

		if (!lost)
			continue;
		fprintf(out, "%s%s: %s", comma, view_lost_name((enum view_lost)i),
			text_count(nr, lost));
		comma = ", ";
	}
	fprintf(out, "%s; times and counts marked with ~ lack some\n", comma[0] == ',' ? ")" : "");
	text_forms(out, o, "streams", "  {lost:n} of {trace}/{name}\n");
	report_text_print_others(out, json_num(o, "all_streams"), json_len(o, "streams"));
}

static void report_text_bad(FILE *out, struct json_object *o, const char *word, const char *form)
{
	fprintf(out, "%s%s%s", color_on(out, COLOR_BAD), word, color_off(out));
	text_form(out, o, form);
}

static void report_text_print_losses(FILE *out, struct json_object *record)
{
	struct json_object *o = json_get(record, "losses");

	if (json_num(o, "lost") || json_num(o, "lost_before"))
		report_text_print_lost(out, o);
	if (json_num(o, "lost_buffers"))
		report_text_bad(out, o, "lost",
				": {lost_buffers:n} buffer{lost_buffers:s}, with an unknown number "
				"of events\n");
	text_form(out, o, "[not sampled: {not_sampled:n?} event{not_sampled:s}, by the rules\n]");
	if (json_num(o, "damaged_packets") || json_num(o, "missing_packets"))
		report_text_bad(out, o, "damaged",
				": {damaged_packets:n} packet{damaged_packets:s}; "
				"missing: {missing_packets:n}\n");
	text_form(out, o,
		  "[left out: {skipped_bytes:n?} byte{skipped_bytes:s} that can't be read\n]");
	if (!json_num(o, "lost") && !json_num(o, "lost_before") &&
	    !json_num(o, "lost_buffers") && !json_num(o, "skipped_bytes") &&
	    !json_num(o, "problems"))
		fprintf(out, "%sno event was lost%s, and no packet is damaged\n",
			color_on(out, COLOR_GOOD), color_off(out));
}

void report_text(FILE *out, struct json_object *record)
{
	if (json_get(record, "output")) {
		text_form(out, record, "The report is in {output}, {output_bytes:b}; open it with a browser\n");
		return;
	}
	report_text_print_head(out, record);
	if (json_get(json_get(record, "allocations"), "over_time")) {
		report_text_print_allocations(out, record);
		report_text_print_losses(out, record);
		return;
	}
	report_text_print_counts(out, record, "names", "all_names", "EVENT");
	if (json_num(record, "all_processes") > 1)
		report_text_print_counts(out, record, "processes", "all_processes", "PROCESS");
	report_text_print_counts(out, record, "threads", "all_threads", "THREAD");
	if (json_num(record, "events")) {
		report_text_print_samples(out, record);
		report_text_print_locks(out, record);
		report_text_print_other_waits(out, record);
		report_text_print_allocations(out, record);
	}
	report_text_print_gap(out, record);
	report_text_print_losses(out, record);
	fprintf(out, "\nmore:\n");
	text_forms(out, record, "more", "  {}\n");
}
