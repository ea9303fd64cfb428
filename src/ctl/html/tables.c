/* SPDX-License-Identifier: GPL-2.0-only */
#include "tables.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/symbol/demangle.h"
#include "base/mem.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "read/event.h"
#include "text.h"

#define NAME_BYTES 256u
#define CALLS_MOST 1000u /* rows of the call tree */

/* --- cells ------------------------------------------------------------------------------------ */

static void html_cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	html_text(out, text);
}

/* @value: by which the page's script sorts. */
static void html_cell_number(FILE *out, uint64_t value, const char *text)
{
	fprintf(out, "<td class=n data-v=%" PRIu64 ">%s", value, text);
}

static void html_cell_count(FILE *out, uint64_t count)
{
	char buf[TEXT_BYTES];

	html_cell_number(out, count, text_count(buf, count));
}

/* Of a thread or process, without commas. */
static void html_cell_id(FILE *out, bool known, uint64_t id)
{
	char buf[TEXT_BYTES] = "";

	if (known)
		snprintf(buf, sizeof(buf), "%" PRIu64, id);
	html_cell_number(out, id, buf);
}

/* Since the first event. */
static void html_cell_at(const struct html_page *page, FILE *out, int64_t ns)
{
	uint64_t at = event_ns_between(page->collect->first_ns, ns);
	char seconds[64];

	snprintf(seconds, sizeof(seconds), "+%" PRIu64 ".%09" PRIu64, at / 1000000000,
		 at % 1000000000);
	html_cell_number(out, at, seconds);
}

static void html_cell_time(FILE *out, uint64_t ns)
{
	char buf[TEXT_BYTES];

	html_cell_number(out, ns, text_time(buf, ns));
}

/* A part of a whole, with a bar. */
static void html_cell_share(FILE *out, uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	fprintf(out,
		"<td class=bar data-v=%" PRIu64
		"><i style=\"width:%.2f%%\"></i><b>%.1f&#8201;%%</b>",
		part, percent, percent);
}

static void html_begin_table(FILE *out, const char *id, const char *title, uint64_t nr,
			     const char *heads)
{
	char buf[TEXT_BYTES];

	fprintf(out,
		"<section id=%s><h2>%s <small>%s</small></h2>\n"
		"<div class=scroll><table><thead><tr>%s"
		"</tr></thead><tbody>\n",
		id, title, text_count(buf, nr), heads);
}

static void html_end_table(FILE *out, uint64_t shown, uint64_t nr)
{
	char buf[TEXT_BYTES];

	fputs("</tbody></table></div>", out);
	if (nr > shown)
		fprintf(out, "<p class=more>and %s more</p>", text_count(buf, nr - shown));
	fputs("</section>\n", out);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void html_events(const struct html_page *page, FILE *out)
{
	size_t nr;
	struct overview_name *names AUTO_FREE = overview_names(page->overview, &nr);

	if (!nr)
		return;
	html_begin_table(out, "events", "Events", nr, "<th>Event<th class=n>Events<th>Share");
	for (size_t i = 0; i < nr && i < ROWS_MOST; i++) {
		fputs("<tr>", out);
		html_cell(out, names[i].name);
		html_cell_count(out, names[i].events);
		html_cell_share(out, names[i].events, page->overview->events);
		putc('\n', out);
	}
	html_end_table(out, ROWS_MOST, nr);
}

/* Bars of the powers of two, as a picture. */
static void html_cell_histogram(FILE *out, const struct histogram *histogram)
{
	uint64_t most = 1;
	unsigned int first = 64, last = 0;

	for (unsigned int power = 0; power < 64; power++) {
		uint64_t count = histogram_of_power(histogram, power);

		most = MAX(most, count);
		first = count ? MIN(first, power) : first;
		last = count ? power : last;
	}
	fputs("<td><svg class=histogram width=128 height=24>", out);
	for (unsigned int power = first; power <= last; power++) {
		uint64_t count = histogram_of_power(histogram, power);
		double height = count ? MAX(1.0, 23.0 * (double)count / (double)most) : 0;
		unsigned int width = last - first < 15 ? 8 : 2;
		char from[TEXT_BYTES], nr[TEXT_BYTES];

		if (!count)
			continue;
		fprintf(out,
			"<rect x=%u y=%.1f width=%u height=%.1f><title>from %s: %s</title></rect>",
			(power - first) * width, 24 - height, width - 1, height,
			text_time(from, UINT64_C(1) << power), text_count(nr, count));
	}
	fputs("</svg>", out);
}

static void html_durations(const struct html_page *page, FILE *out)
{
	const struct latency *latency = page->collect->latency;

	if (!latency->nr_groups)
		return;
	html_begin_table(out, "durations", "Durations", latency->nr_groups,
			 "<th>Name<th class=n>Count<th class=n>Total<th class=n>p50<th class=n>p90"
			 "<th class=n>p99<th class=n>Longest<th class=n>Failed<th>Histogram");
	for (uint32_t i = 0; i < latency->nr_groups && i < ROWS_MOST; i++) {
		const struct histogram *histogram = &latency->groups[i]->histogram;

		fputs("<tr>", out);
		html_cell(out, latency->groups[i]->label);
		html_cell_count(out, histogram->count);
		html_cell_time(out, histogram->total);
		html_cell_time(out, histogram_quantile(histogram, 500));
		html_cell_time(out, histogram_quantile(histogram, 900));
		html_cell_time(out, histogram_quantile(histogram, 990));
		html_cell_time(out, histogram->most);
		html_cell_count(out, latency->groups[i]->failed);
		html_cell_histogram(out, histogram);
		putc('\n', out);
	}
	html_end_table(out, ROWS_MOST, latency->nr_groups);
}

static void html_slowest(const struct html_page *page, FILE *out)
{
	const struct latency *latency = page->collect->latency;

	if (!latency->nr_slowest)
		return;
	html_begin_table(out, "slowest", "Slowest", latency->nr_slowest,
			 "<th class=n>Duration<th>Name<th class=n>At<th>Thread<th class=n>Number"
			 "<th class=n>CPU");
	for (uint32_t i = 0; i < latency->nr_slowest; i++) {
		const struct latency_slow *slow = &latency->slowest[i];

		fprintf(out, "<tr data-at=%" PRIu64 " data-ns=%" PRIu64 " data-row=%u>",
			event_ns_between(page->collect->first_ns, slow->span.from_ns),
			slow->span.ns, slow->span.mark);
		html_cell_time(out, slow->span.ns);
		html_cell(out, slow->name);
		html_cell_at(page, out, slow->span.from_ns);
		html_cell(out, slow->procname);
		html_cell_id(out, slow->span.has_tid, slow->span.tid);
		html_cell_id(out, true, slow->span.cpu);
		putc('\n', out);
	}
	html_end_table(out, latency->nr_slowest, latency->nr_slowest);
}

static void html_threads(const struct html_page *page, FILE *out)
{
	size_t nr;
	const struct overview_thread **all AUTO_FREE =
		overview_busiest_threads(page->overview, &nr);

	if (!nr)
		return;
	html_begin_table(out, "threads", "Threads", nr,
			 "<th>Thread<th class=n>Number<th>Process<th class=n>Number"
			 "<th class=n>Events<th>Share");
	for (size_t i = 0; i < nr && i < ROWS_MOST; i++) {
		const struct overview_process *process = all[i]->process;

		fputs("<tr>", out);
		html_cell(out, all[i]->name);
		html_cell_id(out, true, all[i]->tid);
		html_cell(out, process->name);
		html_cell_id(out, process->has_pid, process->pid);
		html_cell_count(out, all[i]->events);
		html_cell_share(out, all[i]->events, page->overview->events);
		putc('\n', out);
	}
	html_end_table(out, ROWS_MOST, nr);
}

static void html_losses(const struct html_page *page, FILE *out)
{
	const struct view_summary *sum = page->sum;
	uint64_t nr = 0;

	for (size_t i = 0; i < sum->nr_streams; i++)
		for (int cause = 0; cause < VIEW_NR_LOST; cause++)
			nr += sum->streams[i].lost[cause] > 0;
	if (!nr)
		return;
	html_begin_table(out, "losses", "Losses", nr,
			 "<th>Stream<th>Cause<th class=n>Lost<th class=n>Recorded");
	for (size_t i = 0, shown = 0; i < sum->nr_streams; i++) {
		for (int cause = 0; cause < VIEW_NR_LOST; cause++) {
			if (!sum->streams[i].lost[cause] || shown++ >= ROWS_MOST)
				continue;
			fputs("<tr>", out);
			html_cell(out, sum->streams[i].name);
			html_cell(out, view_lost_name((enum view_lost)cause));
			html_cell_count(out, sum->streams[i].lost[cause]);
			html_cell_count(out, sum->streams[i].events);
			putc('\n', out);
		}
	}
	html_end_table(out, ROWS_MOST, nr);
}

/* --- of the record of `report` -------------------------------------------------------------- */

static void html_cell_place(FILE *out, struct json_object *place)
{
	const char *file = json_str(place, "file"), *slash = strrchr(file, '/');
	char name[NAME_BYTES];

	fputs("<td>", out);
	if (!place)
		return;
	demangle_brief(json_str(place, "name"), name, sizeof(name));
	html_text(out, name);
	if (!*file)
		return;
	fputs(" <small>", out);
	html_text(out, slash ? slash + 1 : file);
	fprintf(out, ":%" PRIu64 "</small>", json_num(place, "line"));
}

static void html_cell_task(FILE *out, struct json_object *o)
{
	fputs("<td>", out);
	html_text(out, json_str(o, "thread"));
	if (json_get(o, "tid"))
		fprintf(out, " <small>%" PRIu64 "</small>", json_num(o, "tid"));
}

static void html_cell_lock(FILE *out, struct json_object *o)
{
	if (json_get(o, "mutex_place"))
		html_cell_place(out, json_get(o, "mutex_place"));
	else
		fprintf(out, "<td>0x%" PRIx64, json_num(o, "mutex"));
	fprintf(out, " <small>%s</small>", json_str(o, "kind"));
}

static void html_wait_row(const struct html_page *page, FILE *out, struct json_object *wait)
{
	struct json_object *holder = json_get(wait, "holder");

	html_cell_time(out, json_num(wait, "duration_ns"));
	html_cell_at(page, out, (int64_t)json_num(wait, "from_ns"));
	html_cell_task(out, wait);
	html_cell_place(out, json_get(wait, "place"));
	html_cell_lock(out, wait);
	html_cell_task(out, holder);
	html_cell_place(out, json_get(holder, "place"));
}

static void html_mutex_row(const struct html_page *page, FILE *out, struct json_object *mutex)
{
	struct json_object *longest = json_get(mutex, "longest");

	(void)page;
	html_cell_lock(out, mutex);
	html_cell_count(out, json_num(mutex, "acquired"));
	html_cell_count(out, json_num(mutex, "waited"));
	html_cell_time(out, json_num(mutex, "wait_ns"));
	html_cell_time(out, json_num(longest, "duration_ns"));
	html_cell_task(out, longest);
}

static void html_site_row(const struct html_page *page, FILE *out, struct json_object *site)
{
	struct json_object *longest = json_get(site, "longest");

	(void)page;
	html_cell_place(out, json_get(site, "place"));
	html_cell(out, json_str(site, "function"));
	html_cell_count(out, json_num(site, "count"));
	html_cell_time(out, json_num(site, "wait_ns"));
	html_cell_time(out, json_num(longest, "duration_ns"));
	html_cell_task(out, longest);
}

static void html_allocation_row(const struct html_page *page, FILE *out, struct json_object *site)
{
	(void)page;
	html_cell_place(out, json_get(site, "place"));
	html_cell(out, json_str(site, "function"));
	html_cell_count(out, json_num(site, "count"));
	html_cell_count(out, json_num(site, "bytes"));
	html_cell_count(out, json_num(site, "live"));
	html_cell_count(out, json_num(site, "live_bytes"));
}

static const struct {
	const char *part, *rows, *all; /* keys of the record; @all: of the number of rows */
	const char *id, *title, *heads;
	void (*row)(const struct html_page *page, FILE *out, struct json_object *o);
} lists[] = {
	{ "locks", "waits", "waited", "waits", "Waits for locks",
	  "<th class=n>Duration<th class=n>At<th>Thread<th>Called in<th>Lock<th>Held by<th>Locked in",
	  html_wait_row },
	{ "locks", "mutexes", "waited_mutexes", "locks", "Locks",
	  "<th>Lock<th class=n>Acquired<th class=n>Waits<th class=n>Total<th class=n>Longest hold<th>By",
	  html_mutex_row },
	{ "other_waits", "sites", "all_sites", "others", "Other waits",
	  "<th>Waits in<th>Function<th class=n>Calls<th class=n>Total<th class=n>Longest<th>Thread",
	  html_site_row },
	{ "allocations", "largest", "all_sites", "allocations", "Allocations",
	  "<th>Allocated by<th>Function<th class=n>Calls<th class=n>Bytes<th class=n>Never freed"
	  "<th class=n>Bytes of these",
	  html_allocation_row },
};

static void html_lists(const struct html_page *page, FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct json_object *part = json_get(page->record, lists[i].part);
		size_t nr = json_len(part, lists[i].rows);
		uint64_t all = MAX(json_num(part, lists[i].all), nr);

		if (!nr)
			continue;
		html_begin_table(out, lists[i].id, lists[i].title, all, lists[i].heads);
		for (size_t row = 0; row < nr && row < ROWS_MOST; row++) {
			fputs("<tr>", out);
			lists[i].row(page, out, json_at(part, lists[i].rows, row));
			putc('\n', out);
		}
		html_end_table(out, ROWS_MOST, all);
	}
}

/* --- of functions ----------------------------------------------------------------------------- */

static void html_cell_sum(FILE *out, const struct calls_sum *sum)
{
	html_cell_count(out, sum->calls);
	html_cell_time(out, sum->total_ns);
	html_cell_time(out, sum->self_ns);
}

#define CALLS_HEADS "<th>Function<th class=n>Calls<th class=n>Time<th class=n>Self<th>Share"

static void html_functions(const struct html_page *page, FILE *out)
{
	const struct calls *calls = page->flame ? page->flame->calls : NULL;
	struct calls_function **all AUTO_FREE = NULL;
	size_t nr = 0;

	if (calls)
		all = calls_flat(calls, &nr);
	if (!nr)
		return;
	html_begin_table(out, "functions", "Functions", nr, CALLS_HEADS);
	for (size_t i = 0; i < nr && i < ROWS_MOST; i++) {
		fputs("<tr>", out);
		html_cell(out, all[i]->label);
		html_cell_sum(out, &all[i]->sum);
		html_cell_share(out, all[i]->sum.self_ns, page->calls.sum.total_ns);
		putc('\n', out);
	}
	html_end_table(out, ROWS_MOST, nr);
}

/* @left: rows that may still be printed. Recursion is bounded by CALLS_TREE_DEPTH. */
static void html_calls_below(const struct html_page *page, FILE *out,
			     const struct calls_node *parent, uint64_t least_ns, uint64_t *left)
{
	for (const struct calls_node *node = parent->first; node; node = node->next) {
		if (node->sum.total_ns < least_ns || !*left)
			continue;
		--*left;
		fprintf(out, "<tr data-depth=%u><td style=\"padding-left:%upx\">", node->depth,
			10 + 14 * (node->depth - 1));
		html_text(out, node->function->label);
		html_cell_sum(out, &node->sum);
		html_cell_share(out, node->sum.total_ns, page->calls.sum.total_ns);
		putc('\n', out);
		html_calls_below(page, out, node, least_ns, left);
	}
}

static void html_calls(const struct html_page *page, FILE *out)
{
	const struct calls_node *root = &page->calls;
	uint64_t nr = calls_count(root), left = CALLS_MOST;

	if (!nr)
		return;
	html_begin_table(out, "calls", "Call tree", nr, CALLS_HEADS);
	html_calls_below(page, out, root, calls_least(root, CALLS_MOST), &left);
	html_end_table(out, CALLS_MOST, nr);
}

void html_tables(const struct html_page *page, FILE *out)
{
	html_events(page, out);
	html_durations(page, out);
	html_slowest(page, out);
	html_functions(page, out);
	html_calls(page, out);
	html_lists(page, out);
	html_threads(page, out);
	html_losses(page, out);
}
