/* SPDX-License-Identifier: GPL-2.0-only */
/* report.c - lttctl report [SESSION | DIR]: a trace on one screen: events, processes and threads,
 * waits for locks, allocations, losses, and the commands that show more; or as a page. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/calls.h"
#include "analyse/flame.h"
#include "analyse/symbol/objects.h"
#include "analyse/overview.h"
#include "analyse/sched.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/str.h"
#include "ctl/export/counters.h"
#include "ctl/html/html.h"
#include "ctl/html/series.h"
#include "ctl/options.h"
#include "ctl/print/function.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/report_text.h"
#include "ctl/print/text.h"
#include "ctl/symbol/symbols.h"
#include "ctl/trace/viewing.h"
#include "read/event.h"
#include "show/show.h"

#define ROWS 5u
#define ROWS_MOST 1000u
#define ROWS_OF_PAGE 200u
#define SITES_NAMED 512u /* at least, of which rows are made; the largest ones */

static struct {
	char *trace_path, *top, *output, *counters;
	int memory;
} opt;

static struct show_options chosen;

static uint64_t top = ROWS;
static struct symbols *shown;

static struct series_set *lines; /* of the page; they are its collection's */

static const struct poptOption options[] = {
	OPTION_TEXT("trace-path", 0, &opt.trace_path, "read the traces below this directory",
		    "DIR"),
	OPTION_TEXT("top", 'n', &opt.top, "rows of each list; default: 5", "N"),
	OPTION_TEXT("output", 'o', &opt.output, "write a page for a browser", "FILE.html"),
	OPTION_TEXT("counter", 0, &opt.counters, "the field of such events is a line of the page",
		    "EVENT,FIELD[;...]"),
	OPTION_FLAG("memory", 0, &opt.memory, "the memory in use over time, and at its peak"),
	OPTION_TEXT("events", 'e', &chosen.events, "only events with such names", "PATTERN[,...]"),
	OPTION_WHOLE_NAMES,
	OPTIONS_SELECTION(chosen),
	POPT_TABLEEND,
};

static enum status report_verb_check(struct ctl *ctl)
{
	if (opt.trace_path && operand(ctl, 0))
		err_set(&ctl->err, ERR_INVALID, "a session and --trace-path exclude each other");
	else if (opt.top && (parse_u64(opt.top, &top) != 0 || !top || top > ROWS_MOST))
		err_set(&ctl->err, ERR_INVALID, "--top=%s: this is not a number of rows, 1 to %u",
			opt.top, ROWS_MOST);
	else if (opt.counters && !opt.output)
		err_set(&ctl->err, ERR_INVALID, "--counter is for a page: use -o FILE.html");
	else if (opt.output && !(lines = series_new(opt.counters)))
		err_set(&ctl->err, ERR_INVALID,
			"--counter=%s: EVENT,FIELD is expected, up to %u separated by ';'",
			opt.counters, SERIES_MOST);
	else
		(void)!show_check(&chosen, &ctl->err);
	if (opt.output && !opt.top)
		top = ROWS_OF_PAGE;
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

/* --- the record: events ------------------------------------------------------------------- */

static struct json_object *report_verb_process(const struct overview_process *process)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "process", process->name);
	if (process->has_pid)
		json_set_num(o, "pid", process->pid);
	return o;
}

static struct json_object *report_verb_thread(const struct overview_thread *thread)
{
	struct json_object *o = report_verb_process(thread->process);

	json_set_str(o, "thread", thread->name);
	JSON_COPY(o, thread, tid);
	return o;
}

static void report_verb_add_names(struct json_object *record, const struct overview *overview)
{
	size_t nr;
	struct overview_name *names AUTO_FREE = overview_names(overview, &nr);

	json_set_num(record, "all_names", nr);
	json_set(record, "names", json_object_new_array());
	for (size_t i = 0; i < nr && i < top; i++) {
		struct json_object *o = json_object_new_object();

		json_set_str(o, "name", names[i].name);
		json_set_num(o, "events", names[i].events);
		json_append(record, "names", o);
	}
}

static void report_verb_add_tasks(struct json_object *record, const struct overview *overview)
{
	size_t nr;
	const struct overview_process **processes AUTO_FREE =
		overview_busiest_processes(overview, &nr);
	const struct overview_thread **threads AUTO_FREE = NULL;
	struct json_object *o;

	json_set_num(record, "all_processes", nr);
	json_set(record, "processes", json_object_new_array());
	for (size_t i = 0; i < nr && i < top; i++) {
		json_append(record, "processes", o = report_verb_process(processes[i]));
		json_set_num(o, "events", processes[i]->events);
		json_set_num(o, "nr_threads", processes[i]->nr_threads);
	}
	threads = overview_busiest_threads(overview, &nr);
	json_set_num(record, "all_threads", nr);
	json_set(record, "threads", json_object_new_array());
	for (size_t i = 0; i < nr && i < top; i++) {
		json_append(record, "threads", o = report_verb_thread(threads[i]));
		json_set_num(o, "events", threads[i]->events);
	}
}

static struct json_object *report_verb_end(const struct overview_end *end)
{
	struct json_object *o =
		end->thread ? report_verb_thread(end->thread) : json_object_new_object();

	json_set_str(o, "event", end->ec->name);
	return o;
}

static void report_verb_add_gap(struct json_object *record, const struct overview *overview)
{
	struct json_object *o;

	if (!overview->gap_ns)
		return;
	json_set(record, "gap", o = json_object_new_object());
	json_set_num(o, "duration_ns", overview->gap_ns);
	json_set_time(o, "from_ns", overview->gap_from_ns);
	json_set(o, "before", report_verb_end(&overview->gap_before));
	json_set(o, "behind", report_verb_end(&overview->gap_behind));
}

static bool report_verb_has_host(struct json_object *hosts, const char *host)
{
	for (size_t i = 0; i < json_object_array_length(hosts); i++)
		if (strcmp(json_object_get_string(json_object_array_get_idx(hosts, i)), host) == 0)
			return true;
	return false;
}

/* --- the record: locks, other waits and allocations ----------------------------------------- */

static void report_verb_set_line(struct json_object *o, const struct symbol_inline *frame)
{
	if (!frame->file)
		return;
	JSON_COPY(o, frame, file, line);
}

static struct json_object *report_verb_caller(const struct symbol_inline *frame)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "name", frame->function);
	report_verb_set_line(o, frame);
	return o;
}

static void report_verb_append_caller(struct json_object *place,
				      const struct symbol_inline *frame)
{
	if (!json_get(place, "callers"))
		json_set(place, "callers", json_object_new_array());
	json_append(place, "callers", report_verb_caller(frame));
}

/* Frames of @site from @from on. */
static void report_verb_add_callers(struct json_object *place, const struct callsite *site,
				    uint32_t from)
{
	struct symbol_inline frame;

	for (uint32_t i = from; callsites_frame(site, i, &frame); i++)
		report_verb_append_caller(place, &frame);
}

static void report_verb_add_caller(struct json_object *place, struct callsites *sites,
				   struct callsite *site)
{
	struct symbol_inline unnamed = { .function = callsites_label(sites, site, true) };

	if (site->symbol.function)
		report_verb_add_callers(place, site, 0);
	else
		report_verb_append_caller(place, &unnamed);
}

/* The place of a call, or of data. */
static void report_verb_set_place(struct json_object *o, const char *key, struct callsites *sites,
				  struct callsite *site, bool is_code)
{
	struct json_object *place;
	struct symbol_inline frame;

	if (!site)
		return;
	json_set(o, key, place = json_object_new_object());
	json_set_str(place, "name", callsites_label(sites, site, is_code));
	json_set_str(place, "object", site->object ? site->object->path : "");
	if (is_code && callsites_frame(site, 0, &frame)) {
		report_verb_set_line(place, &frame);
		report_verb_add_callers(place, site, 1);
	}
}

static struct callsite *report_verb_frame(const struct callchain *chain, uint32_t nr)
{
	return nr ? chain->callers[nr - 1] : chain->place;
}

static bool report_verb_has_name(struct callsites *sites, struct callsite *site)
{
	struct symbol_inline frame;

	callsites_label(sites, site, true);
	return callsites_frame(site, 0, &frame);
}

/* The first place whose function is no servant. Functions without a name that a servant in the same
 * file calls are its own; one that calls a servant is no better than that one, unless it has a
 * caller with a name. */
static uint32_t report_verb_first(struct callsites *sites, const struct callchain *chain)
{
	const struct callsite *unnamed = NULL;
	uint32_t first = 0, nr = 0;

	for (; nr <= chain->nr_callers; nr++) {
		struct callsite *site = report_verb_frame(chain, nr);
		bool has_name = report_verb_has_name(sites, site);

		if ((has_name && !callsites_serves(site)) ||
		    (unnamed && unnamed->object != site->object))
			break;
		unnamed = has_name ? NULL : site;
		if (has_name)
			first = nr + 1;
	}
	if (first > chain->nr_callers) /* all serve */
		return 0;
	return first && nr > chain->nr_callers ? first - 1 : first;
}

static void report_verb_set_chain(struct json_object *o, struct callsites *sites,
				  const struct callchain *chain)
{
	uint32_t nr;

	if (!chain)
		return;
	nr = report_verb_first(sites, chain);
	report_verb_set_place(o, "place", sites, report_verb_frame(chain, nr), true);
	while (nr++ < chain->nr_callers)
		report_verb_add_caller(json_get(o, "place"), sites, report_verb_frame(chain, nr));
}

static struct json_object *report_verb_hold(const struct locks_hold *hold, struct callsites *sites)
{
	struct json_object *o = report_verb_thread(hold->thread);

	json_set_time(o, "from_ns", hold->from_ns);
	json_set_num(o, "duration_ns", hold->ns);
	JSON_COPY(o, hold, uncertain, shared);
	report_verb_set_chain(o, sites, hold->chain);
	return o;
}

static struct json_object *report_verb_wait(const struct locks_wait *wait, struct callsites *sites)
{
	struct json_object *o = report_verb_thread(wait->thread);

	json_set_time(o, "from_ns", wait->from_ns);
	json_set_num(o, "duration_ns", wait->ns);
	JSON_COPY(o, wait, lossy, open);
	json_set_str(o, "kind", locks_kind_name(wait->mutex->kind));
	json_set_num(o, "mutex", wait->mutex->address);
	report_verb_set_place(o, "mutex_place", sites, wait->mutex->place, false);
	report_verb_set_chain(o, sites, wait->chain);
	JSON_COPY(o, wait, holds, held_ns);
	if (wait->holder.thread)
		json_set(o, "holder", report_verb_hold(&wait->holder, sites));
	return o;
}

static struct json_object *report_verb_mutex(const struct locks_mutex *mutex,
					     struct callsites *sites)
{
	struct json_object *o = report_verb_process(mutex->process);

	json_set_str(o, "kind", locks_kind_name(mutex->kind));
	json_set_num(o, "mutex", mutex->address);
	report_verb_set_place(o, "mutex_place", sites, mutex->place, false);
	JSON_COPY(o, mutex, acquired, waited, wait_ns, lossy);
	if (mutex->longest.thread)
		json_set(o, "longest", report_verb_hold(&mutex->longest, sites));
	return o;
}

static void report_verb_add_locks(struct json_object *record, const struct overview *overview)
{
	const struct locks *locks = overview->locks;
	const struct locks_mutex **mutexes AUTO_FREE = NULL;
	struct json_object *o;
	size_t nr;

	if (!locks->nr_mutexes)
		return;
	mutexes = locks_busiest(locks, &nr);
	json_set(record, "locks", o = json_object_new_object());
	JSON_COPY(o, locks, acquired, waited, wait_ns);
	json_set_num(o, "all_mutexes", locks->nr_mutexes);
	JSON_COPY(o, locks, left_out, unexplained);
	json_set(o, "waits", json_object_new_array());
	for (uint32_t i = 0; i < locks->nr_waits; i++)
		json_append(o, "waits", report_verb_wait(&locks->waits[i], overview->callsites));
	json_set_num(o, "waited_mutexes", nr);
	json_set(o, "mutexes", json_object_new_array());
	for (size_t i = 0; i < nr && i < top; i++)
		json_append(o, "mutexes", report_verb_mutex(mutexes[i], overview->callsites));
}

static struct json_object *report_verb_waits_site(const struct waits_site *site,
						  struct callsites *sites)
{
	struct json_object *o = json_object_new_object(), *longest;

	json_set_str(o, "function", waits_name(site->kind));
	report_verb_set_chain(o, sites, site->chain);
	json_set_num(o, "count", site->calls);
	json_set_num(o, "not_ended", site->open);
	JSON_COPY(o, site, timed_out, wait_ns, lossy);
	json_set(o, "longest", longest = report_verb_thread(site->thread));
	json_set_time(longest, "from_ns", site->from_ns);
	json_set_num(longest, "duration_ns", site->longest_ns);
	return o;
}

static void report_verb_add_waits(struct json_object *record, const struct overview *overview)
{
	const struct waits *waits = overview->waits;
	size_t nr;
	const struct waits_site **sites AUTO_FREE = waits_longest(waits, &nr);
	struct json_object *o;

	if (!nr)
		return;
	json_set(record, "other_waits", o = json_object_new_object());
	json_set_num(o, "count", waits->calls);
	JSON_COPY(o, waits, wait_ns, left_out);
	json_set_num(o, "all_sites", nr);
	json_set(o, "sites", json_object_new_array());
	for (size_t i = 0; i < nr && i < top; i++)
		json_append(o, "sites", report_verb_waits_site(sites[i], overview->callsites));
}

static struct json_object *report_verb_site(const struct allocations_site *site,
					    const struct overview *overview,
					    enum allocations_order order)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "function", allocations_name(site->action));
	report_verb_set_chain(o, overview->callsites, site->chain);
	json_set_num(o, "count", site->calls);
	JSON_COPY(o, site, bytes, live, live_bytes);
	if (order == ALLOCATIONS_BY_PEAK)
		JSON_COPY(o, site, peak, peak_bytes);
	JSON_COPY(o, site, lossy);
	return o;
}

static uint64_t report_verb_amount(const struct allocations_site *site,
				   enum allocations_order order)
{
	return order == ALLOCATIONS_BY_LIVE  ? site->live_bytes :
	       order == ALLOCATIONS_BY_PEAK  ? site->peak_bytes :
	       order == ALLOCATIONS_BY_BYTES ? site->bytes :
					       site->calls;
}

/** Sites that differ only beyond the columns of a row, as in the callers of a thread's function. */
struct report_row {
	struct idmap_node node;
	char *label;
	uint64_t amount;
	uint32_t nr_sites;
	bool is_listed;
};

static struct report_row *report_verb_row(struct idmap *map, struct json_object *site)
{
	char *label AUTO_FREE = report_text_site(site);
	uint64_t hash = idmap_hash_text(label);
	struct idmap_node *node = idmap_find(map, hash);
	struct report_row *row;

	for (; node; node = idmap_next(map, node)) {
		row = container_of(node, struct report_row, node);
		if (strcmp(row->label, label) == 0)
			return row;
	}
	row = xalloc(sizeof(*row));
	row->label = TAKE(label);
	idmap_add(map, &row->node, hash);
	return row;
}

static int report_verb_compare_rows(const void *a, const void *b)
{
	uint64_t x = (*(struct report_row *const *)a)->amount;
	uint64_t y = (*(struct report_row *const *)b)->amount;

	return x > y ? -1 : x < y;
}

/* All sites of the @top rows with the most, in the order of the sites. */
static void report_verb_list_sites(struct json_object *o, const char *key,
				   const struct overview *overview, enum allocations_order order,
				   const struct allocations_site **sites, size_t nr)
{
	struct report_row **rows AUTO_FREE = xalloc((nr + 1) * sizeof(*rows));
	struct report_row **row_of AUTO_FREE = xalloc((nr + 1) * sizeof(*row_of));
	struct json_object **all AUTO_FREE = xalloc((nr + 1) * sizeof(*all));
	size_t nr_rows = 0;
	struct idmap map;

	idmap_init(&map);
	for (size_t i = 0; i < nr; i++) {
		all[i] = report_verb_site(sites[i], overview, order);
		row_of[i] = report_verb_row(&map, all[i]);
		if (!row_of[i]->nr_sites++)
			rows[nr_rows++] = row_of[i];
		row_of[i]->amount += report_verb_amount(sites[i], order);
	}
	idmap_fini(&map);
	qsort(rows, nr_rows, sizeof(*rows), report_verb_compare_rows);
	for (size_t i = 0; i < nr_rows && i < top; i++)
		rows[i]->is_listed = true;
	for (size_t i = 0; i < nr; i++) {
		if (row_of[i]->is_listed)
			json_append(o, key, all[i]);
		else
			json_object_put(all[i]);
	}
	for (size_t i = 0; i < nr_rows; i++) {
		free(rows[i]->label);
		free(rows[i]);
	}
}

static void report_verb_add_sites(struct json_object *o, const char *key,
				  const struct overview *overview, enum allocations_order order)
{
	size_t nr;
	const struct allocations_site **sites AUTO_FREE =
		allocations_sorted(overview->allocations, order, &nr);

	json_set_num(o,
		     order == ALLOCATIONS_BY_LIVE ? "all_leaks" :
		     order == ALLOCATIONS_BY_PEAK ? "all_peak_sites" :
						    "all_sites",
		     nr);
	json_set(o, key, json_object_new_array());
	report_verb_list_sites(o, key, overview, order, sites, MIN(nr, MAX(4 * top, SITES_NAMED)));
}

/* Before the others, most of which are not shown: objects without symbols are reported by these. */
static void report_verb_name_first(const struct overview *overview)
{
	for (enum allocations_order order = 0; order <= ALLOCATIONS_BY_PEAK; order++) {
		size_t nr;
		const struct allocations_site **sites AUTO_FREE =
			allocations_sorted(overview->allocations, order, &nr);

		if (order == ALLOCATIONS_BY_PEAK && !opt.memory)
			break;
		for (size_t i = 0; i < nr && i < top; i++)
			json_object_put(report_verb_site(sites[i], overview, order));
	}
}

static void report_verb_add_memory(struct json_object *allocations, const struct overview *overview)
{
	const struct allocations *all = overview->allocations;
	struct json_object *o = json_object_new_object(), *sample;

	json_set(allocations, "over_time", o);
	json_set_time(o, "from_ns", all->samples_from_ns);
	JSON_COPY(o, all, sample_ns);
	json_set(o, "samples", json_object_new_array());
	for (uint32_t i = 0; i < all->nr_samples; i++) {
		json_append(o, "samples", sample = json_object_new_object());
		JSON_COPY(sample, &all->samples[i], most_bytes, live_bytes);
	}
	report_verb_add_sites(o, "peak_sites", overview, ALLOCATIONS_BY_PEAK);
}

static void report_verb_add_allocations(struct json_object *record, const struct overview *overview)
{
	const struct allocations *all = overview->allocations;
	struct json_object *o;

	if (!all->calls && !all->frees && !all->failed)
		return;
	json_set(record, "allocations", o = json_object_new_object());
	json_set_num(o, "count", all->calls);
	JSON_COPY(o, all, bytes, frees, unknown_frees, failed, live, live_bytes, most_bytes);
	json_set_time(o, "most_ns", all->most_ns);
	JSON_COPY(o, all, left_out);
	report_verb_name_first(overview);
	symbols_count(shown, false);
	report_verb_add_sites(o, "largest", overview, ALLOCATIONS_BY_BYTES);
	report_verb_add_sites(o, "sites", overview, ALLOCATIONS_BY_CALLS);
	report_verb_add_sites(o, "leaks", overview, ALLOCATIONS_BY_LIVE);
	if (opt.memory)
		report_verb_add_memory(o, overview);
	symbols_count(shown, true);
}

static void report_verb_add_samples(struct json_object *record, const struct stacks *samples)
{
	struct stacks_function *functions AUTO_FREE = NULL;
	struct json_object *o, *row;
	size_t nr;

	if (!samples)
		return;
	functions = stacks_functions(samples, 2, &nr); /* below the process */
	json_set(record, "on_cpu", o = json_object_new_object());
	json_set_num(o, "cpu_ns", samples->root.total);
	json_set_num(o, "all_functions", nr);
	json_set(o, "functions", json_object_new_array());
	for (size_t i = 0; i < nr && i < top; i++) {
		json_append(o, "functions", row = json_object_new_object());
		json_set_str(row, "name", functions[i].frame->name);
		if (functions[i].frame->file)
			JSON_COPY(row, functions[i].frame, file, line);
		json_set_num(row, "self_ns", functions[i].self);
		json_set_num(row, "total_ns", functions[i].total);
	}
}

/* --- the record: losses, and commands ------------------------------------------------------- */

static uint64_t report_verb_lost_of(const struct view_stream *stream)
{
	uint64_t sum = 0;

	for (int i = 0; i < VIEW_NR_LOST; i++)
		sum += stream->lost[i];
	return sum;
}

static int report_verb_compare_streams(const void *a, const void *b)
{
	uint64_t x = report_verb_lost_of(*(const struct view_stream *const *)a);
	uint64_t y = report_verb_lost_of(*(const struct view_stream *const *)b);

	return x > y ? -1 : x < y;
}

static void report_verb_add_streams(struct json_object *o, const struct view_summary *sum)
{
	const struct view_stream **all AUTO_FREE = xalloc((sum->nr_streams + 1) * sizeof(*all));
	size_t nr = 0;

	for (size_t i = 0; i < sum->nr_streams; i++)
		if (report_verb_lost_of(&sum->streams[i]))
			all[nr++] = &sum->streams[i];
	qsort(all, nr, sizeof(*all), report_verb_compare_streams);
	json_set_num(o, "all_streams", nr);
	json_set(o, "streams", json_object_new_array());
	for (size_t i = 0; i < nr && i < top; i++) {
		struct json_object *stream = json_object_new_object();

		json_set_str(stream, "trace", all[i]->trace);
		json_set_str(stream, "name", all[i]->name);
		json_set_num(stream, "events", all[i]->events);
		json_set_num(stream, "lost", report_verb_lost_of(all[i]));
		json_append(o, "streams", stream);
	}
}

static void report_verb_add_losses(struct json_object *record, const struct view_summary *sum)
{
	struct json_object *o = json_object_new_object(), *causes = json_object_new_object();

	json_set(record, "losses", o);
	JSON_COPY(o, sum, lost);
	json_set(o, "lost_by_cause", causes);
	for (int i = 0; i < VIEW_NR_LOST; i++)
		json_set_num(causes, view_lost_key((enum view_lost)i), sum->lost_by[i]);
	JSON_COPY(o, sum, lost_before, lost_buffers, not_sampled, damaged_packets, damaged_events);
	json_set_num(o, "missing_packets", sum->lost_packets);
	JSON_COPY(o, sum, skipped_bytes, problems);
	report_verb_add_streams(o, sum);
}

/* As a word of the shell that is no option; allocated. */
static char *report_verb_quoted(const char *path)
{
	AUTO_FREE char *operand = xasprintf("%s%s", path[0] == '-' ? "./" : "", path);

	return text_shell_word(operand);
}

static void PRINTF(2, 3) report_verb_append_text(struct json_object *all, const char *fmt, ...)
{
	char *text AUTO_FREE = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	json_object_array_add(all, json_object_new_string(text ? text : ""));
}

/* The first name of an event with this end; NULL: none. */
static const char *report_verb_named(const struct view_summary *sum, const char *end)
{
	for (size_t i = 0; i < sum->nr_names; i++) {
		size_t len = strlen(sum->names[i].name);

		if (len >= strlen(end) && strcmp(sum->names[i].name + len - strlen(end), end) == 0)
			return sum->names[i].name;
	}
	return NULL;
}

static bool report_verb_has_calls(const struct view_summary *sum)
{
	for (size_t i = 0; i < sum->nr_names; i++)
		if (glob_match_list(CALLS_EVENTS, sum->names[i].name))
			return true;
	return false;
}

static void report_verb_add_more(struct json_object *record, const struct view_summary *sum)
{
	char *path AUTO_FREE = report_verb_quoted(json_str(record, "path"));
	struct json_object *all = json_object_new_array();
	const char *request = report_verb_named(sum, "_pthread:pthread_mutex_lock_req");
	const char *acquired = report_verb_named(sum, "_pthread:pthread_mutex_lock_acq");

	json_set(record, "more", all);
	if (request && acquired)
		report_verb_append_text(all, "lttctl view --pair=%s,%s %s", request, acquired,
					path);
	if (json_get(record, "on_cpu"))
		report_verb_append_text(all, "lttctl flame -o flame.svg %s", path);
	if (json_get(record, "allocations"))
		report_verb_append_text(all, "lttctl view --symbols --events='*_libc:*' %s", path);
	if (json_get(record, "allocations") && !opt.memory)
		report_verb_append_text(all, "lttctl report --memory %s", path);
	if (report_verb_has_calls(sum))
		report_verb_append_text(all, "lttctl calls %s", path);
	if (sum->lost || sum->lost_before || sum->lost_buffers || sum->problems)
		report_verb_append_text(all, "lttctl verify %s", path);
	report_verb_append_text(all, "lttctl view %s", path);
}

static struct json_object *report_verb_hosts(const struct overview *overview)
{
	struct json_object *hosts = json_object_new_array();
	const struct overview_process *process = overview->processes;

	for (; process; process = process->next) {
		const char *host = trace_class_env(process->source->tc, "hostname");

		if (host && !report_verb_has_host(hosts, host))
			json_object_array_add(hosts, json_object_new_string(host));
	}
	return hosts;
}

static struct json_object *report_verb_record(const struct overview *overview,
					      const struct stacks *samples,
					      const struct view_summary *sum, const char *path)
{
	struct json_object *record = json_object_new_object();

	json_set_str(record, "path", path);
	json_set(record, "hosts", report_verb_hosts(overview));
	JSON_COPY(record, overview, events, state_dump);
	json_set_time(record, "begin_ns", overview->first_ns);
	json_set_time(record, "end_ns", overview->last_ns);
	JSON_COPY(record, sum, nr_streams);
	json_set_num(record, "cpus", overview->nr_cpus);
	JSON_COPY(record, overview, no_thread, left_out);
	report_verb_add_names(record, overview);
	report_verb_add_tasks(record, overview);
	report_verb_add_gap(record, overview);
	report_verb_add_samples(record, samples);
	report_verb_add_locks(record, overview);
	report_verb_add_waits(record, overview);
	report_verb_add_allocations(record, overview);
	report_verb_add_losses(record, sum);
	report_verb_add_more(record, sum);
	return record;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void report_verb_warn(void *priv, const char *sentence)
{
	print_warning(priv, "%s", sentence);
}

/** The parts of a page; NULL: none is written. @flame: also for samples without a page; or NULL. */
struct report_page {
	struct collect *collect;
	struct flame *flame;
	struct pairs *pairs;
};

/* Return: 0; or the code in ctl->err: there is nothing to report on. */
static int report_verb_refuse(struct ctl *ctl, const struct overview *overview,
			      const struct view_summary *sum, const char *path)
{
	if (viewing_refuse(sum, path, &ctl->err) != 0)
		return ctl->err.code;
	if (!overview->events && !overview->state_dump && show_selects(&chosen))
		return err_set(&ctl->err, ERR_NO_EVENT, "no event in %s matches the options%s%s",
			       path, sum->where_never ? ": " : "",
			       sum->where_never ? sum->where_never : "");
	return 0;
}

static void report_verb_note(struct ctl *ctl, const struct overview *overview,
			     const struct view_summary *sum)
{
	uint64_t without_task = sum->without_task + overview->names.nr_unknown;
	char nr[TEXT_BYTES];

	if (!overview->events)
		print_note(ctl, "this trace has no events%s",
			   overview->state_dump ? " but those of state dumps" : "");
	if (without_task)
		print_note(
			ctl,
			"%s event%s without the contexts vpid, vtid and procname (of the kernel: "
			"pid, tid and procname) left out",
			text_count(nr, without_task), without_task == 1 ? " is" : "s are");
	if (overview->left_out)
		print_note(ctl, "%s event%s of threads or processes beyond the first %u left out",
			   text_count(nr, overview->left_out),
			   overview->left_out == 1 ? " is" : "s are", OVERVIEW_TASKS_MOST);
	if (overview->locks->left_out)
		print_note(ctl, "%s event%s of mutexes beyond the first %u left out",
			   text_count(nr, overview->locks->left_out),
			   overview->locks->left_out == 1 ? " is" : "s are", LOCKS_MUTEXES_MOST);
	if (overview->allocations->left_out)
		print_note(ctl,
			   "%s allocation%s made while %u were in use; these are not among those "
			   "that were never freed",
			   text_count(nr, overview->allocations->left_out),
			   overview->allocations->left_out == 1 ? " was" : "s were",
			   ALLOCATIONS_BLOCKS_MOST);
}

static void report_verb_take(struct overview *overview, const struct report_page *page,
			     const struct event *event)
{
	uint64_t events = overview->events;

	overview_take(overview, event);
	if (overview->events == events)
		return;
	if (page->collect)
		collect_take(page->collect, event, overview->last.thread);
	if (page->flame && (page->flame->calls || flame_has_contexts(page->flame)))
		flame_take(page->flame, event);
}

static bool report_verb_needs_fields(const char *name)
{
	return overview_needs_fields(name) || glob_match(FLAME_SAMPLED, name) ||
	       (opt.output && glob_match_list(CALLS_EVENTS "," SCHED_EVENTS, name)) ||
	       (lines && counters_have(lines->counters, name));
}

/* The page in place of the record. */
static int report_verb_write(struct ctl *ctl, struct overview *overview,
			     const struct report_page *parts, const struct view_summary *sum,
			     const char *path)
{
	struct html_page page = {
		.overview = overview,
		.sum = sum,
		.collect = parts->collect,
		.flame = parts->flame,
		.record = ctl->record,
		.path = path,
	};

	if (html_write(&page, opt.output, &ctl->err) != 0)
		return ctl->err.code;
	json_set_str(ctl->record, "output", opt.output);
	json_set_num(ctl->record, "output_bytes", page.bytes);
	return 0;
}

static int report_verb_read(struct ctl *ctl, struct view *view, struct overview *overview,
			    const struct report_page *page, const char *path, enum show_result *ret)
{
	const struct view_summary *sum;
	struct view_select select;
	struct event event;
	int64_t origin_ns = 0;
	int r;

	if (show_select(view, path, &chosen, page->pairs, &select, &ctl->err) != 0 ||
	    (show_selects(&chosen) && show_origin(path, false, &origin_ns, &ctl->err) != 0))
		return ctl->err.code;
	select.hidden = NULL;  /* state dumps name things */
	select.threads = NULL; /* others hold mutexes */
	select.needs_fields = report_verb_needs_fields;
	select.tasks_only = !page->flame || !flame_has_contexts(page->flame);
	select.brief = !page->collect && !page->flame && !select.processes;
	while ((r = event_next(view, &select, &event)) > 0) {
		const uint8_t *task;
		size_t len;

		if (select.brief) {
			task = event_task_bytes(view, &len);
			if (overview_take_known(overview, &event, task, len))
				continue;
			r = event_decode(view, &select, &event);
			if (r < 0)
				break;
			if (!r)
				continue;
		}
		report_verb_take(overview, page, &event);
	}
	if (r == 0)
		view_check_files(view);
	if (r == 0)
		r = view_summary(view, &sum);
	if (r < 0)
		return err_errno(&ctl->err, ERR_OUTPUT, -r, "can't read %s", path);
	if (report_verb_refuse(ctl, overview, sum, path) != 0)
		return ctl->err.code;
	overview_finish(overview);
	ctl->record = report_verb_record(overview, page->flame ? flame_samples(page->flame) : NULL,
					 sum, path);
	json_set_time(ctl->record, "origin_ns", origin_ns ? origin_ns : overview->first_ns);
	if (page->collect && report_verb_write(ctl, overview, page, sum, path) != 0)
		return ctl->err.code;
	report_verb_note(ctl, overview, sum);
	*ret = show_verdict(sum);
	return 0;
}

static enum status report_verb_run(struct ctl *ctl)
{
	char *path AUTO_FREE =
		opt.trace_path ? xstrdup(opt.trace_path) : viewing_path(ctl, operand(ctl, 0));
	const struct view_host host = { .name = symbols_name,
					.names_priv = shown = symbols_new(&chosen, path) };
	struct objects *objects = NULL;
	struct overview *overview = NULL;
	struct report_page page = { 0 };
	enum show_result verdict = SHOW_FAILED;
	struct view *view = NULL;

	if (opt.output) {
		page.collect = collect_new(lines);
		page.pairs = pairs_new(NULL, NULL, 0);
		pairs_by_suffix(page.pairs, NULL);
	}
	if (path)
		viewing_note_snapshots(ctl, path);
	if (path && show_open(path, false, report_verb_warn, ctl, &view, &ctl->err) == 0 &&
	    ((!overview_needs_objects(view) && !view_declares(view, FLAME_SAMPLED) &&
	      !(opt.output && flame_needs_objects(view))) ||
	     show_objects(path, false, &objects, &ctl->err) == 0)) {
		overview = overview_new(objects, &host, chosen.threads, (uint32_t)top);
		if (opt.output)
			page.flame = flame_new_beside(overview, view, objects, &host);
		else if (view_declares(view, FLAME_SAMPLED))
			page.flame = flame_new(FLAME_SAMPLES, objects, &host, chosen.threads);
		if (report_verb_read(ctl, view, overview, &page, path, &verdict) == 0)
			symbols_report(host.names_priv, ctl);
	}
	collect_free(page.collect);
	flame_free(page.flame);
	overview_free(overview);
	pairs_free(page.pairs);
	view_free(view);
	objects_free(objects);
	symbols_free(host.names_priv);
	if (ctl->err.code)
		return STATUS_ERROR;
	return (enum status)show_exit_status(verdict);
}

const struct verb verb_report = {
	.name = "report",
	.operands = "[SESSION | DIR]",
	.help = "Show a trace on one screen: events, waits for locks, allocations, losses",
	.options = options,
	.paged = true,
	.daemon = DAEMON_WELCOME,
	.max_operands = 1,
	.check = report_verb_check,
	.run = report_verb_run,
	.text = report_text,
};
