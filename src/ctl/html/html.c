/* SPDX-License-Identifier: GPL-2.0-only */
#include "html.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "ctl/trace/outfile.h"
#include "ctl/print/text.h"
#include "data.h"
#include "gen/page.h"
#include "graphs.h"
#include "read/event.h"
#include "tables.h"
#include "text.h"

#define BYTES_MOST (7800u << 10) /* of a file */
#define PACK_LEAST (2u << 20)	 /* of these at least for the time line */
#define NAME_BYTES_LEAST 12u

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
	if (page->name_bytes < HTML_TEXT_BYTES)
		html_fact_count(out, "Names are too many: bytes shown of each", page->name_bytes);
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

static int html_write_packed(struct html_page *page, const char *file, const struct pack *pack,
			     struct err *err)
{
	struct outfile out;

	if (outfile_open(&out, file, err) != 0)
		return err->code;
	errno = 0;
	html_print(page, pack, out.file);
	page->bytes = (uint64_t)MAX(ftello(out.file), 0);
	return outfile_commit(&out, err);
}

static void html_take_stacks(struct html_page *page)
{
	if (!page->flame)
		return;
	flame_end(page->flame);
	if (page->flame->calls)
		calls_merge(page->flame->calls, &page->calls);
	page->graphs = graphs_text(page->flame);
}

int html_write(struct html_page *page, const char *file, struct err *err)
{
	struct pack *pack;
	size_t others;

	latency_sort(page->collect->latency);
	html_take_stacks(page);
	page->name_bytes = HTML_TEXT_BYTES;
	while ((others = html_measure(page)) > BYTES_MOST - PACK_LEAST &&
	       page->name_bytes > NAME_BYTES_LEAST)
		page->name_bytes /= 2;
	pack = data_pack(page->collect,
			 others < BYTES_MOST - PACK_LEAST ? BYTES_MOST - others : PACK_LEAST, err);
	if (pack)
		(void)!html_write_packed(page, file, pack, err);
	pack_free(pack);
	free(page->graphs);
	return err->code;
}
