/* SPDX-License-Identifier: GPL-2.0-only */
#include "data.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "read/event.h"
#include "series.h"
#include "text.h"

/* --- numbers ---------------------------------------------------------------------------------- */

static void data_pack_events(const struct collect *collect, struct pack *pack)
{
	const struct collect_event *all = collect->cells ? collect->kept : collect->events;
	uint64_t nr = collect->cells ? collect->nr_kept : collect->nr_events;
	int64_t last_ns = collect->first_ns;

	for (uint64_t i = 0; i < nr; i++) {
		pack_signed(pack, (int64_t)((uint64_t)all[i].ns - (uint64_t)last_ns));
		last_ns = all[i].ns;
	}
	for (uint64_t i = 0; i < nr; i++)
		pack_number(pack, all[i].row);
	for (uint64_t i = 0; i < nr; i++)
		pack_number(pack, all[i].cpu == COLLECT_ROWS_MOST ? 0 : all[i].cpu + 1u);
	for (uint64_t i = 0; i < nr; i++)
		pack_number(pack, all[i].class);
}

static void data_pack_spans(const struct collect *collect, struct pack *pack)
{
	const struct collect_span *all = collect->spans;
	int64_t last_ns = collect->first_ns;

	for (uint32_t i = 0; i < collect->nr_spans; i++) {
		pack_signed(pack, (int64_t)((uint64_t)all[i].from_ns - (uint64_t)last_ns));
		last_ns = all[i].from_ns;
	}
	for (uint32_t i = 0; i < collect->nr_spans; i++)
		pack_number(pack, all[i].ns);
	for (uint32_t i = 0; i < collect->nr_spans; i++)
		pack_number(pack, all[i].row);
	for (uint32_t i = 0; i < collect->nr_spans; i++)
		pack_number(pack, all[i].name);
	for (uint32_t i = 0; i < collect->nr_spans; i++)
		pack_number(pack, 8u * all[i].failed + 4u * all[i].lossy + all[i].state);
}

static void data_pack_cells(const struct collect *collect, struct pack *pack)
{
	uint32_t nr;
	struct collect_cell *all AUTO_FREE = collect_cells(collect, &nr);
	uint32_t last = 0;

	for (uint32_t i = 0; i < nr; i++)
		pack_number(pack, all[i].key >> 48);
	for (uint32_t i = 0; i < nr; i++)
		pack_number(pack, all[i].key >> 32 & UINT16_MAX);
	for (uint32_t i = 0; i < nr; i++) {
		pack_signed(pack, (int64_t)(uint32_t)all[i].key - (int64_t)last);
		last = (uint32_t)all[i].key;
	}
	for (uint32_t i = 0; i < nr; i++)
		pack_number(pack, all[i].count);
}

/* Return: whether there is less now. */
static bool data_shrink(struct collect *collect)
{
	if (collect->nr_spans > COLLECT_SPANS_MOST / 8)
		collect_drop_spans(collect);
	else if (!collect->cells)
		collect_fold(collect);
	else if (!collect_coarsen(collect) && collect->nr_spans)
		collect_drop_spans(collect);
	else if (!collect->nr_spans)
		return false;
	return true;
}

struct pack *data_pack(struct collect *collect, size_t most, struct err *err)
{
	struct pack *pack;

	while ((pack = pack_new(err))) {
		collect_sort(collect);
		data_pack_events(collect, pack);
		data_pack_spans(collect, pack);
		if (collect->cells)
			data_pack_cells(collect, pack);
		if (pack_end(pack) <= most || !data_shrink(collect))
			break;
		pack_free(pack);
	}
	return pack;
}

/* --- names ------------------------------------------------------------------------------------ */

/* [kind, parent, number, events, label, host] */
static void data_print_row(const struct html_page *page, const struct collect_row *row, FILE *out)
{
	const struct overview_thread *thread = row->key;
	const struct overview_process *process = row->key;
	const struct source *source = NULL;
	const char *label = "", *host = NULL;

	if (row->kind == COLLECT_THREAD) {
		label = thread->name;
	} else if (row->kind == COLLECT_CPU) {
		source = row->key;
	} else if (row->key == page->collect) {
		label = "(unknown thread)";
	} else {
		label = process->name;
		source = process->source;
	}
	fprintf(out, "[%d,%u,%" PRIu64 ",%" PRIu64 ",%d,", row->kind, row->parent, row->number,
		row->events, row->more);
	html_json_part(out, label, page->name_bytes);
	if (source)
		host = trace_class_env(source->tc, "hostname");
	if (host) {
		putc(',', out);
		html_json_part(out, host, page->name_bytes);
	}
	putc(']', out);
}

static void data_print_rows(const struct html_page *page, FILE *out)
{
	for (uint32_t i = 0; i < page->collect->nr_rows; i++) {
		fputs(i ? ",\n" : "\n", out);
		data_print_row(page, &page->collect->rows[i], out);
	}
}

static void data_print_strings(const struct html_page *page, FILE *out, const char *key,
			       const char *const *all, uint32_t nr)
{
	fprintf(out, ",\n\"%s\":[", key);
	for (uint32_t i = 0; i < nr; i++) {
		fputs(i ? "," : "", out);
		html_json_part(out, all[i], page->name_bytes);
	}
	putc(']', out);
}

/* In the order of their numbers; latency_sort() has changed it. */
static void data_print_span_names(const struct html_page *page, FILE *out)
{
	const struct latency *latency = page->collect->latency;
	const char *names[COLLECT_NAMES_MOST] = { 0 };
	uint32_t nr = MIN(latency->nr_groups, COLLECT_NAMES_MOST);

	for (uint32_t i = 0; i < latency->nr_groups; i++)
		if (latency->groups[i]->number < nr)
			names[latency->groups[i]->number] = latency->groups[i]->label;
	if (nr == COLLECT_NAMES_MOST)
		names[nr - 1] = "(other names)";
	data_print_strings(page, out, "names", names, nr);
}

/* [time, least, largest value from then on] */
static void data_print_point(const struct html_page *page, FILE *out, int64_t ns, double low,
			     double high)
{
	fprintf(out, "[%" PRIu64 ",%.17g,%.17g]", event_ns_between(page->collect->first_ns, ns),
		low, high);
}

static void data_print_series(const struct html_page *page, const struct series *series, FILE *out)
{
	fputs("{\"name\":", out);
	html_json(out, series->name);
	fputs(",\"unit\":\"\",\"points\":[", out);
	for (uint32_t i = 0; i < series->nr; i++) {
		fputs(i ? "," : "", out);
		data_print_point(page, out, series->points[i].ns, series->points[i].low,
				 series->points[i].high);
	}
	fputs("]}", out);
}

/* Of a part of the time, the bytes at its end are known, which may be more than the fewest. */
static void data_print_memory(const struct html_page *page, FILE *out)
{
	const struct allocations *all = page->overview->allocations;

	fputs("{\"name\":\"Memory in use\",\"unit\":\"bytes\",\"points\":[", out);
	for (uint32_t i = 0; i < all->nr_samples; i++) {
		fputs(i ? "," : "", out);
		data_print_point(page, out, all->samples_from_ns + (int64_t)(i * all->sample_ns),
				 (double)all->samples[i].live_bytes,
				 (double)all->samples[i].most_bytes);
	}
	fputs("]}", out);
}

static void data_print_lines(const struct html_page *page, FILE *out)
{
	const struct series_set *set = page->collect->series;
	bool has_memory = page->overview->allocations->nr_samples > 0;

	fputs(",\n\"lines\":[", out);
	if (has_memory)
		data_print_memory(page, out);
	for (uint32_t i = 0; i < set->nr; i++) {
		fputs(i || has_memory ? ",\n" : "", out);
		data_print_series(page, &set->all[i], out);
	}
	putc(']', out);
}

void data_print_names(const struct html_page *page, FILE *out)
{
	const struct collect *collect = page->collect;

	fprintf(out,
		"{\"version\":1,\"begin_ns\":\"%" PRId64 "\",\"span_ns\":%" PRIu64
		",\"events\":%" PRIu64,
		collect->first_ns, event_ns_between(collect->first_ns, collect->last_ns),
		collect->nr_events);
	fprintf(out,
		",\"nr_events\":%" PRIu64 ",\"nr_spans\":%u,\"nr_cells\":%u,\"bucket_ns\":%" PRIu64,
		collect->cells ? collect->nr_kept : collect->nr_events, collect->nr_spans,
		collect->cells ? collect->nr_cells : 0,
		collect->cells ? UINT64_C(1) << collect->bucket_bits : 0);
	fprintf(out, ",\"left_out_spans\":%" PRIu64 ",\"all_spans\":%" PRIu64 ",\n\"losses\":[",
		collect->left_out_spans, collect->left_out_spans + collect->nr_spans);
	for (uint32_t i = 0; i < collect->nr_losses; i++)
		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
			event_ns_between(collect->first_ns, collect->losses[i].from_ns),
			event_ns_between(collect->first_ns, collect->losses[i].to_ns));
	fputs("],\n\"rows\":[", out);
	data_print_rows(page, out);
	putc(']', out);
	data_print_strings(page, out, "classes", collect->classes, collect->nr_classes);
	data_print_span_names(page, out);
	data_print_strings(page, out, "calls", collect->calls, collect->nr_calls);
	data_print_lines(page, out);
	fprintf(out, ",\n\"graphs\":%s", page->graphs ? page->graphs : "[]");
	fputs("}", out);
}
