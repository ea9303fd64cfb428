/* SPDX-License-Identifier: GPL-2.0-only */
#include "html.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "ctl/print/text.h"
#include "data.h"
#include "gen/page.h"
#include "read/event.h"
#include "text.h"

#define BYTES_MOST (7800u << 10) /* of a file */
#define PACK_LEAST (2u << 20)	 /* of these at least for the time line */
#define ROWS_MOST 500u		 /* of a table */

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
		uint64_t at = event_ns_between(page->collect->first_ns, slow->span.from_ns);
		char seconds[64];

		snprintf(seconds, sizeof(seconds), "+%" PRIu64 ".%09" PRIu64, at / 1000000000,
			 at % 1000000000);
		fprintf(out, "<tr data-at=%" PRIu64 " data-ns=%" PRIu64 " data-row=%u>", at,
			slow->span.ns, slow->span.mark);
		html_cell_time(out, slow->span.ns);
		html_cell(out, slow->name);
		html_cell_number(out, at, seconds);
		html_cell(out, slow->procname);
		if (slow->span.has_tid)
			fprintf(out, "<td class=n data-v=%" PRIu64 ">%" PRIu64, slow->span.tid,
				slow->span.tid);
		else
			fputs("<td>", out);
		fprintf(out, "<td class=n data-v=%" PRIu64 ">%" PRIu64 "\n", slow->span.cpu,
			slow->span.cpu);
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
		fprintf(out, "<td class=n data-v=%" PRIu64 ">%" PRIu64, all[i]->tid, all[i]->tid);
		html_cell(out, process->name);
		if (process->has_pid)
			fprintf(out, "<td class=n data-v=%" PRIu64 ">%" PRIu64, process->pid,
				process->pid);
		else
			fputs("<td>", out);
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

static void html_tables(const struct html_page *page, FILE *out)
{
	html_events(page, out);
	html_durations(page, out);
	html_slowest(page, out);
	html_threads(page, out);
	html_losses(page, out);
}

/* --- the head --------------------------------------------------------------------------------- */

static void html_fact(FILE *out, const char *class, const char *name, const char *value)
{
	fprintf(out, "<div%s><dt>%s<dd>", class, name);
	html_text(out, value);
	fputs("</div>\n", out);
}

static void html_fact_count(FILE *out, const char *name, uint64_t count)
{
	char buf[TEXT_BYTES];

	html_fact(out, "", name, text_count(buf, count));
}

static void html_fact_begin(FILE *out, int64_t ns)
{
	time_t seconds = (time_t)seconds_of(ns);
	struct tm tm;
	char text[64] = "?";

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	html_fact(out, "", "Begin", text);
}

static void html_fact_hosts(FILE *out, const struct overview *overview)
{
	const char *host = NULL;
	unsigned int nr = 0;

	for (const struct overview_process *p = overview->processes; p; p = p->next) {
		const char *other = trace_class_env(p->source->tc, "hostname");

		if (other && (!host || strcmp(host, other) != 0)) {
			host = other;
			nr++;
		}
	}
	if (host)
		html_fact(out, "", nr == 1 ? "Host" : "Hosts, the last", host);
}

static void html_facts(const struct html_page *page, FILE *out)
{
	const struct overview *overview = page->overview;
	const struct view_summary *sum = page->sum;
	char buf[TEXT_BYTES];
	uint64_t ns = event_ns_between(overview->first_ns, overview->last_ns);

	html_fact_count(out, "Events", overview->events);
	html_fact(out, sum->lost ? " class=bad" : "", "Lost", text_count(buf, sum->lost));
	if (overview->events) {
		html_fact(out, "", "Duration", text_duration(buf, ns));
		html_fact_begin(out, overview->first_ns);
	}
	html_fact_hosts(out, overview);
	html_fact_count(out, "Processes", overview->nr_processes);
	html_fact_count(out, "Threads", overview->nr_threads);
	if (overview->nr_cpus)
		html_fact_count(out, "CPUs", overview->nr_cpus);
	if (sum->problems)
		html_fact(out, " class=bad", "Problems", text_count(buf, sum->problems));
}

/* --- the template ----------------------------------------------------------------------------- */

static void html_title(const struct html_page *page, FILE *out)
{
	html_text(out, page->path);
}

static void html_style(const struct html_page *page, FILE *out)
{
	(void)page;
	fwrite(style_css, 1, sizeof(style_css), out);
}

static void html_script(const struct html_page *page, FILE *out)
{
	(void)page;
	fwrite(app_js, 1, sizeof(app_js), out);
}

/* The parts of page.html between double braces. The numbers are packed when the size of all else is
 * known: their part is the last one. */
static const struct html_part {
	const char *mark;
	void (*print)(const struct html_page *page, FILE *out);
} parts[] = {
	{ "{{title}}", html_title },	   { "{{style}}", html_style },
	{ "{{facts}}", html_facts },	   { "{{tables}}", html_tables },
	{ "{{names}}", data_print_names }, { "{{script}}", html_script },
};

#define NUMBERS "{{numbers}}"

static const struct html_part *html_part_at(const char *at)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strncmp(at, parts[i].mark, strlen(parts[i].mark)) == 0)
			return &parts[i];
	return NULL;
}

static void html_print(const struct html_page *page, const struct pack *pack, FILE *out)
{
	char *template AUTO_FREE = xasprintf("%.*s", (int)sizeof(page_html), page_html);

	for (const char *at = template; *at;) {
		const char *mark = strstr(at, "{{");
		const struct html_part *part = mark ? html_part_at(mark) : NULL;

		fwrite(at, 1, mark ? (size_t)(mark - at) : strlen(at), out);
		if (part)
			part->print(page, out);
		else if (mark && pack)
			pack_print(pack, out);
		at = mark ? strstr(mark, "}}") + 2 : "";
	}
}

/* Return: bytes of the page without the numbers. */
static size_t html_measure(const struct html_page *page)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return 0;
	html_print(page, NULL, out);
	fclose(out);
	free(text);
	return len;
}

static int html_write_to(struct html_page *page, const char *path, int flags,
			 const struct pack *pack)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
	int error;

	if (!out)
		return errno;
	errno = 0;
	html_print(page, pack, out);
	page->bytes = (uint64_t)MAX(ftello(out), 0);
	fflush(out);
	error = ferror(out) ? (errno ? errno : EIO) : 0;
	if (fclose(out) != 0 && !error)
		error = errno;
	return error;
}

/* The file that a link names is replaced, and not the link. */
static int html_replace(struct html_page *page, const char *file, const struct pack *pack)
{
	char *place AUTO_FREE = realpath(file, NULL);
	char *new AUTO_FREE = xasprintf("%s.%d.new", place ? place : file, (int)getpid());
	int error = html_write_to(page, new, O_EXCL | O_NOFOLLOW, pack);

	if (!error && rename(new, place ? place : file) != 0)
		error = errno;
	if (error && error != EEXIST)
		unlink(new);
	return error;
}

static int html_write_packed(struct html_page *page, const char *file, const struct pack *pack)
{
	struct stat st;

	if (stat(file, &st) == 0 && !S_ISREG(st.st_mode)) /* a terminal, a pipe */
		return html_write_to(page, file, 0, pack);
	return html_replace(page, file, pack);
}

int html_write(struct html_page *page, const char *file, struct err *err)
{
	struct pack *pack;
	size_t others;
	int error;

	latency_sort(page->collect->latency);
	others = html_measure(page);
	pack = data_pack(page->collect,
			 others < BYTES_MOST - PACK_LEAST ? BYTES_MOST - others : PACK_LEAST, err);
	if (!pack)
		return err->code;
	error = html_write_packed(page, file, pack);
	pack_free(pack);
	return error ? err_errno(err, ERR_OUTPUT, error, "can't write %s", file) : 0;
}
