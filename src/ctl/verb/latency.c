/* SPDX-License-Identifier: GPL-2.0-only */
/* latency.c - lttctl latency [NAME | BEGIN END] [SESSION | DIR]: how long things took, by the
 * events of a trace: number, quantiles, histogram, and the slowest ones. `lttctl why` explains
 * these. */
#include "latency.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/calls.h"
#include "analyse/critical.h"
#include "analyse/disk.h"
#include "analyse/latency.h"
#include "analyse/symbol/objects.h"
#include "analyse/parts.h"
#include "analyse/sched.h"
#include "analyse/states.h"
#include "base/mem.h"
#include "base/str.h"
#include "ctl/options.h"
#include "ctl/print/function.h"
#include "ctl/print/json.h"
#include "ctl/print/latency_text.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "ctl/symbol/symbols.h"
#include "ctl/trace/viewing.h"
#include "read/event.h"
#include "show/show.h"

#define SLOWEST 10u
#define EXPLAINED 3u
#define ROWS_MOST 1000u

static struct {
	char *trace_path, *by, *group_by, *top;
} opt;

static struct show_options chosen;

static uint64_t top = SLOWEST;

static bool explains; /* `why`: each of the slowest with its critical path */

const struct poptOption latency_options[] = {
	OPTION_TEXT("by", 0, &opt.by, "begin and end have this field in common, not the thread",
		    "FIELD"),
	OPTION_TEXT("group-by", 'g', &opt.group_by,
		    "a row for each value: thread, process, cpu, name or a field of the events",
		    "KEY"),
	OPTION_TEXT("top", 'n', &opt.top, "rows of each list; default: 10, of why: 3", "N"),
	OPTION_TEXT("trace-path", 0, &opt.trace_path, "read the traces below this directory",
		    "DIR"),
	OPTION_WHOLE_NAMES,
	OPTIONS_SELECTION(chosen),
	POPT_TABLEEND,
};

/* --- the operands ------------------------------------------------------------------------- */

enum latency_kind {
	LATENCY_ALL,   /* all pairs of events by their names */
	LATENCY_NAMED, /* those of one name */
	LATENCY_PAIR,  /* two events that the user names */
	LATENCY_CALLS,
	LATENCY_LOCKS,
	LATENCY_FUNCTIONS,
	LATENCY_RUNQUEUE,
	LATENCY_DISK,
};

/** Ready names; in JSON, too. @events: that are read. */
static const struct {
	const char *name;
	const char *events;
	const char *missing; /* how they are recorded */
} kinds[] = {
	[LATENCY_ALL] = { "pairs", PAIRS_SUFFIX_EVENTS "," PAIRS_CALL_EVENTS,
			  "name two events: lttctl latency BEGIN END" },
	[LATENCY_NAMED] = { "name" },
	[LATENCY_PAIR] = { "pair" },
	[LATENCY_CALLS] = { "syscalls", PAIRS_CALL_EVENTS,
			    "'lttctl record -k -- PROGRAM' records system calls" },
	[LATENCY_LOCKS] = { "locks", "*_pthread:*_req,*_pthread:*_acq",
			    "'lttctl record --wrap=pthread -- PROGRAM' records locks" },
	[LATENCY_FUNCTIONS] = { "functions", CALLS_EVENTS,
				"compile the program with -finstrument-functions and use lttctl "
				"record --wrap=cyg-profile" },
	[LATENCY_RUNQUEUE] = { "run-queue", SCHED_EVENTS,
			       "'lttctl record -k -- PROGRAM' records the scheduler" },
	[LATENCY_DISK] = { "disk", DISK_EVENTS,
			   "'lttctl record -k -e \"block_rq_*\" -- PROGRAM' records requests" },
};

/** The spans that are measured, after the operands were read. @begin: NAME or BEGIN. */
static struct {
	enum latency_kind kind;
	const char *begin, *end, *trace;
	enum span_grouping grouping;
} asked;

static bool latency_verb_is_ready(const char *word)
{
	for (int kind = LATENCY_CALLS; kind <= LATENCY_DISK; kind++) {
		if (strcmp(word, kinds[kind].name) != 0)
			continue;
		asked.kind = (enum latency_kind)kind;
		return true;
	}
	return false;
}

static enum span_grouping latency_verb_grouping(void)
{
	static const char *const words[] = {
		[SPAN_BY_NAME] = "name",       [SPAN_BY_FIELD] = "",  [SPAN_BY_THREAD] = "thread",
		[SPAN_BY_PROCESS] = "process", [SPAN_BY_CPU] = "cpu",
	};

	for (size_t i = 0; opt.group_by && i < ARRAY_SIZE(words); i++)
		if (strcmp(opt.group_by, words[i]) == 0)
			return (enum span_grouping)i;
	if (opt.group_by)
		return SPAN_BY_FIELD;
	return asked.kind == LATENCY_RUNQUEUE ? SPAN_BY_THREAD : SPAN_BY_NAME;
}

/* Requests to disks are those of no thread, and waits for a CPU are seen by the thread before.
 * Calls of functions are found with those that they are in. */
static int latency_verb_check_kind(struct err *err)
{
	if (asked.kind < LATENCY_FUNCTIONS)
		return 0;
	if (asked.kind != LATENCY_FUNCTIONS &&
	    (chosen.processes || (chosen.threads && asked.kind == LATENCY_DISK)))
		return err_set(err, ERR_INVALID, "--%s: the events of '%s' are not those of the %s",
			       chosen.processes ? "process" : "thread", kinds[asked.kind].name,
			       chosen.processes ? "process" : "thread");
	if (chosen.where || opt.by || asked.grouping == SPAN_BY_FIELD)
		return err_set(err, ERR_INVALID, "--%s: only for pairs of events; '%s' is none",
			       chosen.where ? "where" :
			       opt.by	    ? "by" :
					      "group-by",
			       kinds[asked.kind].name);
	return 0;
}

enum status latency_verb_check(struct ctl *ctl)
{
	if (operand(ctl, 0) && latency_verb_is_ready(operand(ctl, 0)) && ctl->nr_operands > 2)
		err_set(&ctl->err, ERR_INVALID, "one session or directory can be read at a time");
	else if (opt.top && (parse_u64(opt.top, &top) != 0 || !top || top > ROWS_MOST))
		err_set(&ctl->err, ERR_INVALID, "--top=%s: this is not a number of rows, 1 to %u",
			opt.top, ROWS_MOST);
	else if (opt.by && !*opt.by)
		err_set(&ctl->err, ERR_INVALID, "--by: the name of a field is missing");
	else if (ctl->nr_operands > (opt.trace_path ? 2u : 3u))
		err_set(&ctl->err, ERR_INVALID, "a session and --trace-path exclude each other");
	asked.grouping = latency_verb_grouping();
	if (!ctl->err.code && latency_verb_check_kind(&ctl->err) == 0)
		(void)!show_check(&chosen, &ctl->err);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

/* Whether the last operand is a trace; names of events mostly have a colon. */
static char *latency_verb_try_trace(struct ctl *ctl, const char *word)
{
	char *path = viewing_path(ctl, word);

	if (!path)
		ctl->err = (struct err){ 0 };
	return path;
}

/* Return: the path of the trace; allocated; NULL with ctl->err set. */
static char *latency_verb_operands(struct ctl *ctl)
{
	unsigned int nr = ctl->nr_operands;
	char *path = opt.trace_path ? xstrdup(opt.trace_path) : NULL;

	if (!path && nr == 3) {
		path = viewing_path(ctl, operand(ctl, --nr));
		if (!path)
			return NULL;
	} else if (!path && nr) {
		bool is_ready = asked.kind != LATENCY_ALL;

		if (is_ready && nr == 2)
			path = viewing_path(ctl, operand(ctl, --nr));
		else if (!is_ready && (path = latency_verb_try_trace(ctl, operand(ctl, nr - 1))))
			nr--;
		if (is_ready && !path && ctl->err.code)
			return NULL;
	}
	asked.trace = path && !opt.trace_path ? operand(ctl, nr) : NULL;
	if (asked.kind == LATENCY_ALL && nr) {
		asked.kind = nr > 1 ? LATENCY_PAIR : LATENCY_NAMED;
		asked.begin = operand(ctl, 0);
		asked.end = operand(ctl, 1);
	}
	return path ? path : viewing_path(ctl, NULL);
}

/* --- spans ---------------------------------------------------------------------------------- */

/** The reading of a trace. @ungrouped: spans whose events have no field to group them by.
 *  @returned: calls of functions that are measured.
 *  @pair: name of the spans between two events that the user named. */
struct latency_reading {
	struct latency *latency;
	struct pairs *pairs;
	struct states *states;
	struct disk *disk;
	struct symbols *symbols;
	struct objects *objects;
	struct view_host host;
	struct calls *calls;
	uint64_t ungrouped, returned;
	char *pair;
	char *names; /* of the events that are read; allocated */
};

static uint32_t latency_verb_mark(void *priv, const struct event *event)
{
	struct latency_reading *reading = priv;
	char label[SPAN_LABEL_BYTES];
	struct latency_group *group;

	if (!span_field_label(label, event, opt.group_by))
		return 0;
	group = latency_group_of(reading->latency, label);
	return group ? group->number + 1 : 0;
}

static void latency_verb_take(struct latency_reading *reading, const struct span *span)
{
	char label[SPAN_LABEL_BYTES];

	span_label(label, span, asked.grouping);
	latency_take(reading->latency, latency_group_of(reading->latency, label), span);
}

/* The field at the begin, else at the end. */
static void latency_verb_take_by_field(struct latency_reading *reading, const struct event *event,
				       const struct span *span)
{
	struct latency *latency = reading->latency;
	char label[SPAN_LABEL_BYTES];

	if (span->mark)
		latency_take(latency, latency->groups[span->mark - 1], span);
	else if (span_field_label(label, event, opt.group_by))
		latency_take(latency, latency_group_of(latency, label), span);
	else
		reading->ungrouped++;
}

/* The name, or the part behind its provider. */
static bool latency_verb_is_named(const char *name)
{
	const char *colon = strchr(name, ':');

	return asked.kind != LATENCY_NAMED || glob_match(asked.begin, name) ||
	       (colon && glob_match(asked.begin, colon + 1));
}

static void latency_verb_take_pair(struct latency_reading *reading, const struct event *event)
{
	struct span span;

	if (!event->took || event->took->kind == PAIRS_FUNCTION || event->took->kind == PAIRS_FAST)
		return;
	span_of_pair(&span, event);
	if (reading->pair)
		span.name = reading->pair;
	if (!latency_verb_is_named(span.name))
		return;
	if (asked.grouping == SPAN_BY_FIELD)
		latency_verb_take_by_field(reading, event, &span);
	else
		latency_verb_take(reading, &span);
}

static void latency_verb_take_span(void *priv, const struct span *span)
{
	latency_verb_take(priv, span);
}

static void latency_verb_take_state(void *priv, const struct states_row *row)
{
	const struct span *span = &row->span;
	char number[TEXT_BYTES], name[64];

	snprintf(number, sizeof(number), "%" PRIu64, span->tid);
	snprintf(name, sizeof(name), "%.*s", (int)span->procname_len,
		 span->procname ? span->procname : "");
	if (row->state != STATES_RUNNABLE)
		return;
	if (chosen.threads && !glob_match_list(chosen.threads, number) &&
	    !glob_match_list(chosen.threads, name))
		return;
	latency_verb_take(priv, span);
}

static void latency_verb_take_call(void *priv, const struct calls_call *call)
{
	struct latency_reading *reading = priv;

	if (!latency_verb_is_named(call->span.name))
		return;
	reading->returned++;
	latency_verb_take(reading, &call->span);
}

/* --- reading ---------------------------------------------------------------------------------- */

static char *latency_verb_names(void)
{
	const char *name = asked.begin;

	if (asked.kind == LATENCY_PAIR)
		return xasprintf("%s,%s", name, asked.end);
	if (asked.kind == LATENCY_NAMED)
		return xasprintf("%s_*,*:%s_*,syscall_entry_%s,syscall_exit_%s,"
				 "compat_syscall_entry_%s,compat_syscall_exit_%s",
				 name, name, name, name, name, name);
	return xstrdup(kinds[asked.kind].events);
}

static int latency_verb_begin(struct latency_reading *reading, struct err *err)
{
	char *spec AUTO_FREE = NULL;
	char why[256];

	reading->latency = latency_new((uint32_t)top);
	reading->names = latency_verb_names();
	if (asked.kind == LATENCY_RUNQUEUE) {
		reading->states = states_new(latency_verb_take_state, reading);
		return 0;
	}
	if (asked.kind == LATENCY_DISK) {
		reading->disk = disk_new(latency_verb_take_span, reading);
		return 0;
	}
	if (asked.kind == LATENCY_FUNCTIONS)
		return 0;
	if (asked.kind == LATENCY_PAIR) {
		spec = xasprintf("%s,%s%s%s", asked.begin, asked.end, opt.by ? "," : "",
				 opt.by ? opt.by : "");
		reading->pair = xasprintf("%s..%s", asked.begin, asked.end);
	}
	if (spec && (strpbrk(asked.begin, ",;*") || strpbrk(asked.end, ",;*")))
		return err_set(err, ERR_INVALID, "'%s' and '%s': use the names of two events",
			       asked.begin, asked.end);
	reading->pairs = pairs_new(spec, why, sizeof(why));
	if (!reading->pairs)
		return err_set(err, ERR_INVALID, "'%s' and '%s': %s", asked.begin, asked.end, why);
	if (!spec)
		pairs_by_suffix(reading->pairs, opt.by);
	if (asked.grouping == SPAN_BY_FIELD)
		pairs_on_begin(reading->pairs, latency_verb_mark, reading);
	return 0;
}

/* A name may be that of a function, too. */
static bool latency_verb_wants_calls(const struct view *view)
{
	return asked.kind == LATENCY_FUNCTIONS ||
	       (asked.kind == LATENCY_NAMED && !chosen.where && !opt.by &&
		asked.grouping != SPAN_BY_FIELD && view_declares(view, CALLS_EVENTS));
}

static int latency_verb_begin_calls(struct latency_reading *reading, const struct view *view,
				    const char *path, struct err *err)
{
	char *names = reading->names;

	if (!latency_verb_wants_calls(view))
		return 0;
	if (show_objects(path, false, &reading->objects, err) != 0)
		return err->code;
	reading->symbols = symbols_new(&chosen, path);
	reading->host.name = symbols_name;
	reading->host.names_priv = reading->symbols;
	reading->calls = calls_new(reading->objects, &reading->host);
	calls_on_return(reading->calls, latency_verb_take_call, reading);
	reading->names = xasprintf("%s," CALLS_EVENTS, names);
	free(names);
	return 0;
}

static void latency_verb_end(struct latency_reading *reading)
{
	latency_free(reading->latency);
	pairs_free(reading->pairs);
	states_free(reading->states);
	disk_free(reading->disk);
	calls_free(reading->calls);
	objects_free(reading->objects);
	symbols_free(reading->symbols);
	free(reading->names);
	free(reading->pair);
}

static void latency_verb_warn(void *priv, const char *sentence)
{
	print_warning(priv, "%s", sentence);
}

static void latency_verb_event(struct latency_reading *reading, const struct event *event)
{
	if (reading->states)
		states_take(reading->states, event);
	else if (reading->disk)
		disk_take(reading->disk, event);
	else if (reading->calls && glob_match_list(CALLS_EVENTS, event->ec->name))
		calls_take(reading->calls, event);
	else
		latency_verb_take_pair(reading, event);
}

/* There is no span: damage that the reports before have named may be the reason. */
static int latency_verb_refuse(struct err *err, const struct view_summary *sum, const char *path)
{
	const char *missing = kinds[asked.kind].missing;
	const char *rest = sum->problems ? "; some of its events can't be read" : "";

	if (viewing_refuse(sum, path, err) != 0)
		return err->code;
	if (sum->where_never)
		return err_set(err, ERR_NO_EVENT, "--where: %s", sum->where_never);
	if (show_selects(&chosen))
		return err_set(err, ERR_NO_EVENT, "nothing that %s has matches the options%s", path,
			       rest);
	if (asked.kind == LATENCY_NAMED)
		return err_set(err, ERR_NO_EVENT,
			       "there is neither a session nor a directory '%s', and %s has no "
			       "system call and no function of this name and no events '%s_begin' "
			       "and '%s_end'%s",
			       asked.begin, path, asked.begin, asked.begin, rest);
	if (asked.kind == LATENCY_PAIR)
		return err_set(err, ERR_NO_EVENT,
			       "%s has no event '%s' that an event '%s' of the same %s follows%s",
			       path, asked.begin, asked.end, opt.by ? opt.by : "thread", rest);
	return err_set(err, ERR_NO_EVENT, "%s has no events of '%s' that begin and end; %s%s", path,
		       kinds[asked.kind].name, missing, rest);
}

/* Calls that have not returned, also those that longjmp() or an exception left. */
static uint64_t latency_verb_open_calls(const struct latency_reading *reading)
{
	uint64_t nr = 0;

	for (const struct calls_function *f = reading->calls->functions; f; f = f->next)
		nr += latency_verb_is_named(f->label) ? f->sum.calls : 0;
	return nr - reading->returned;
}

static struct pairs_rest latency_verb_rest(const struct latency_reading *reading)
{
	struct pairs_rest rest = { 0 };

	if (reading->pairs)
		rest = pairs_left(reading->pairs);
	else if (reading->states)
		rest.open = states_waiting(reading->states);
	else if (reading->disk)
		rest.open = disk_open(reading->disk, &rest.alone);
	else
		rest = (struct pairs_rest){ .alone = reading->calls->alone,
					    .nowhere = reading->calls->nowhere };
	if (reading->calls)
		rest.open += latency_verb_open_calls(reading);
	return rest;
}

/* --- the record ------------------------------------------------------------------------- */

static struct json_object *latency_verb_ranges(const struct histogram *histogram)
{
	struct json_object *all = json_object_new_array();
	unsigned int first = 64, last = 0;

	for (unsigned int power = 0; power < 64; power++) {
		if (!histogram_of_power(histogram, power))
			continue;
		first = MIN(first, power);
		last = power;
	}
	for (unsigned int power = first; power <= last; power++) {
		struct json_object *o = json_object_new_object();

		json_set_num(o, "at_least_ns", power ? UINT64_C(1) << power : 0);
		json_set_num(o, "count", histogram_of_power(histogram, power));
		json_object_array_add(all, o);
	}
	return all;
}

static struct json_object *latency_verb_group(const struct latency_group *group)
{
	const struct histogram *histogram = &group->histogram;
	struct json_object *o = json_object_new_object();

	json_set_str(o, "name", group->label);
	JSON_COPY(o, histogram, count);
	JSON_COPY(o, group, failed);
	json_set_num(o, "lossy_spans", group->lossy);
	json_set_num(o, "total_ns", histogram->total);
	json_set_num(o, "min_ns", histogram->least);
	json_set_num(o, "p50_ns", histogram_quantile(histogram, 500));
	json_set_num(o, "p90_ns", histogram_quantile(histogram, 900));
	json_set_num(o, "p99_ns", histogram_quantile(histogram, 990));
	json_set_num(o, "p999_ns", histogram_quantile(histogram, 999));
	json_set_num(o, "max_ns", histogram->most);
	json_set(o, "histogram", latency_verb_ranges(histogram));
	return o;
}

/* The command that shows the events of one span. */
static char *latency_verb_command(const struct latency_slow *slow, int64_t origin_ns,
				  const char *path)
{
	uint64_t from_ns = event_ns_between(origin_ns, slow->span.from_ns);
	uint64_t until_ns = from_ns + slow->span.ns;
	bool by_thread = slow->span.has_tid && asked.kind != LATENCY_RUNQUEUE && !opt.by;
	char thread[TEXT_BYTES + 16] = "";
	char *word AUTO_FREE = asked.trace || opt.trace_path ? text_shell_word(path) : NULL;

	if (by_thread)
		snprintf(thread, sizeof(thread), " --thread=%" PRIu64, slow->span.tid);
	return xasprintf("lttctl view --begin=+%" PRIu64 ".%09" PRIu64 " --end=+%" PRIu64
			 ".%09" PRIu64 "%s%s%s",
			 from_ns / 1000000000, from_ns % 1000000000, until_ns / 1000000000,
			 until_ns % 1000000000, thread, word ? " " : "", word ? word : "");
}

static void latency_verb_set_parts(struct json_object *o, const struct parts *parts)
{
	const struct parts_call *call = parts_longest(parts);

	json_set_num(o, "running_ns", parts->ns[PARTS_RUNNING]);
	json_set_num(o, "runnable_ns", parts->ns[PARTS_RUNNABLE]);
	json_set_num(o, "asleep_ns", parts->ns[PARTS_ASLEEP]);
	if (call) {
		json_set_str(o, "asleep_in", call->name);
		json_set_num(o, "asleep_in_ns", call->asleep_ns);
	}
}

static void latency_verb_set_thread(struct json_object *o, const char *key,
				    const struct critical_thread *thread)
{
	struct json_object *t;

	if (!thread)
		return;
	t = json_object_new_object();
	json_set_str(t, "name", thread->name);
	if (thread->has_pid)
		json_set_num(t, "pid", thread->pid);
	json_set_num(t, "tid", thread->tid);
	json_set(o, key, t);
}

static void latency_verb_set_path(struct json_object *o, const struct critical_path *path)
{
	json_set_num(o, "explained_ns", path->ns - path->left_out_ns);
	json_set_bool(o, "is_cut", path->is_cut);
	json_set(o, "causes", json_object_new_array());
	for (uint32_t i = 0; i < path->nr_parts; i++) {
		const struct critical_part *part = &path->parts[i];
		struct json_object *cause = json_object_new_object();

		json_set_str(cause, "kind", critical_kind_name(part->kind));
		json_set_num(cause, "cause_ns", part->ns);
		latency_verb_set_thread(cause, "in_thread", part->thread);
		if (part->call)
			json_set_str(cause, "call", part->call);
		latency_verb_set_thread(cause, "cpu_had", part->other);
		json_set_bool(cause, "is_awaited", part->waited_in);
		if (part->waited_in && *part->waited_in)
			json_set_str(cause, "waited_in", part->waited_in);
		json_append(o, "causes", cause);
	}
}

static void latency_verb_explain_one(struct json_object *o, const struct latency_slow *slow,
				     struct view *view, struct view_select *select)
{
	struct critical *critical = critical_new(select->begin_ns, select->end_ns);
	struct critical_path *path = xalloc(sizeof(*path));
	struct event event;

	select->end_ns = MIN(select->end_ns, INT64_MAX - CRITICAL_AFTER_NS) + CRITICAL_AFTER_NS;
	while (event_next(view, select, &event) > 0)
		critical_take(critical, &event);
	critical_find(critical, slow->span.tid, path);
	latency_verb_set_path(o, path);
	critical_free(critical);
	free(path);
}

static void latency_verb_divide_one(struct json_object *o, const struct latency_slow *slow,
				    struct view *view, struct view_select *select)
{
	struct parts parts;
	struct event event;

	parts_begin(&parts, slow->span.tid, select->begin_ns);
	while (event_next(view, select, &event) > 0)
		parts_take(&parts, &event);
	parts_end(&parts, select->end_ns);
	latency_verb_set_parts(o, &parts);
}

/* By a reading of the time of this span alone. A failure is no error: the parts are missing. */
static void latency_verb_add_parts(struct json_object *o, const struct latency_slow *slow,
				   const char *path)
{
	struct view_select select = {
		.has_begin = true,
		.has_end = true,
		.begin_ns = slow->span.from_ns,
		.end_ns = slow->span.from_ns + (int64_t)slow->span.ns,
		.names = SCHED_EVENTS "," SCHED_CALLS "," CRITICAL_INTERRUPTS,
	};
	struct view *view;
	struct err err = { 0 };

	if (show_open(path, false, NULL, NULL, &view, &err) != 0)
		return;
	(explains ? latency_verb_explain_one : latency_verb_divide_one)(o, slow, view, &select);
	view_free(view);
}

static struct json_object *latency_verb_slow(const struct latency_slow *slow, int64_t origin_ns,
					     bool with_parts, const char *path)
{
	struct json_object *o = json_object_new_object();
	char *command AUTO_FREE = latency_verb_command(slow, origin_ns, path);

	json_set_str(o, "name", slow->name);
	json_set_str(o, "group", slow->group->label);
	json_set_num(o, "duration_ns", slow->span.ns);
	json_set_time(o, "from_ns", slow->span.from_ns);
	json_set_str(o, "thread", slow->procname);
	if (slow->span.has_pid)
		json_set_num(o, "pid", slow->span.pid);
	if (slow->span.has_tid)
		json_set_num(o, "tid", slow->span.tid);
	json_set_num(o, "cpu", slow->span.cpu);
	json_set_bool(o, "lossy", slow->span.lossy);
	json_set_str(o, "view_command", command);
	if (with_parts && slow->span.has_tid)
		latency_verb_add_parts(o, slow, path);
	return o;
}

static void latency_verb_record(struct json_object *record, const struct latency *latency,
				int64_t origin_ns, bool with_parts, const char *path)
{
	uint64_t spans = 0, groups = 0;

	json_set(record, "groups", json_object_new_array());
	for (uint32_t i = 0; i < latency->nr_groups; i++) {
		const struct latency_group *group = latency->groups[i];

		if (!group->histogram.count)
			continue;
		spans += group->histogram.count;
		if (groups++ < top)
			json_append(record, "groups", latency_verb_group(group));
	}
	json_set_num(record, "spans", spans);
	json_set_num(record, "all_groups", groups);
	json_set(record, "slowest", json_object_new_array());
	for (uint32_t i = 0; i < latency->nr_slowest; i++)
		json_append(record, "slowest",
			    latency_verb_slow(&latency->slowest[i], origin_ns, with_parts, path));
}

/* --- notes ------------------------------------------------------------------------------ */

static void latency_verb_note(struct ctl *ctl, const struct latency_reading *reading,
			      const struct pairs_rest *rest, const struct view_summary *sum)
{
	char nr[TEXT_BYTES];

	if (rest->open + rest->forgotten)
		print_note(ctl, "%s without an end: not counted",
			   text_count(nr, rest->open + rest->forgotten));
	if (rest->alone)
		print_note(ctl, "%s without a begin: not counted", text_count(nr, rest->alone));
	if (rest->nowhere)
		print_note(ctl, "%s event%s without %s: not counted", text_count(nr, rest->nowhere),
			   text_plural(rest->nowhere),
			   opt.by ? "the field of --by" :
				    "a thread (context vtid, of the kernel: tid)");
	if (reading->ungrouped)
		print_note(ctl, "%s without a field '%s': not counted",
			   text_count(nr, reading->ungrouped), opt.group_by);
	if (reading->latency->left_out)
		print_note(ctl, "%s of groups beyond the first %u: not counted",
			   text_count(nr, reading->latency->left_out), LATENCY_GROUPS_MOST);
	if (sum->lost || sum->lost_before || sum->lost_buffers)
		print_warning(
			ctl,
			"%s event%s were lost when the trace was recorded; rows marked with ~ "
			"have durations with losses in between",
			text_count(nr, sum->lost + sum->lost_before),
			text_plural(sum->lost + sum->lost_before));
}

static int latency_verb_read(struct ctl *ctl, struct view *view, struct latency_reading *reading,
			     const char *path, enum show_result *ret)
{
	struct view_select select;
	const struct view_summary *sum;
	struct pairs_rest rest;
	struct event event;
	int64_t origin_ns;
	int r;

	if (explains && !view_declares(view, "sched_switch"))
		return err_set(&ctl->err, ERR_NO_EVENT,
			       "%s has no events of the scheduler, by which a cause is found; "
			       "'lttctl record -k -- PROGRAM' records them",
			       path);
	if (show_select(view, path, &chosen, reading->pairs, &select, &ctl->err) != 0 ||
	    show_origin(path, false, &origin_ns, &ctl->err) != 0)
		return ctl->err.code;
	select.names = reading->names;
	if (reading->states)
		select.threads = NULL;
	while ((r = event_next(view, &select, &event)) > 0)
		latency_verb_event(reading, &event);
	if (r == 0)
		r = view_summary(view, &sum);
	if (r < 0)
		return err_errno(&ctl->err, ERR_OUTPUT, -r, "can't read %s", path);
	if (!reading->latency->nr_slowest && !reading->ungrouped)
		return latency_verb_refuse(&ctl->err, sum, path);
	rest = latency_verb_rest(reading);
	latency_sort(reading->latency);
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "path", path);
	json_set_str(ctl->record, "kind", kinds[asked.kind].name);
	json_set_time(ctl->record, "origin_ns", origin_ns);
	json_set_num(ctl->record, "open_spans", rest.open);
	JSON_COPY(ctl->record, &rest, alone, forgotten, nowhere);
	latency_verb_record(
		ctl->record, reading->latency, origin_ns,
		(reading->pairs || reading->calls) && view_declares(view, "sched_switch"), path);
	latency_verb_note(ctl, reading, &rest, sum);
	if (reading->symbols)
		symbols_report(reading->symbols, ctl);
	*ret = show_verdict(sum);
	return 0;
}

static enum status latency_verb_run(struct ctl *ctl)
{
	char *path AUTO_FREE = latency_verb_operands(ctl);
	struct latency_reading reading = { 0 };
	enum show_result verdict = SHOW_FAILED;
	struct view *view = NULL;

	if (!path)
		return STATUS_ERROR;
	viewing_note_snapshots(ctl, path);
	if (latency_verb_begin(&reading, &ctl->err) == 0 &&
	    show_open(path, false, latency_verb_warn, ctl, &view, &ctl->err) == 0 &&
	    latency_verb_begin_calls(&reading, view, path, &ctl->err) == 0)
		(void)!latency_verb_read(ctl, view, &reading, path, &verdict);
	latency_verb_end(&reading);
	view_free(view);
	return ctl->err.code ? STATUS_ERROR : (enum status)show_exit_status(verdict);
}

enum status latency_verb_explain(struct ctl *ctl)
{
	explains = true;
	if (!opt.top)
		top = EXPLAINED;
	return latency_verb_run(ctl);
}

const struct verb verb_latency = {
	.name = "latency",
	.operands = "[NAME | BEGIN END] [SESSION | DIR]",
	.help = "Show how long things took: quantiles, a histogram, and the slowest",
	.options = latency_options,
	.paged = true,
	.daemon = DAEMON_WELCOME,
	.max_operands = 3,
	.check = latency_verb_check,
	.run = latency_verb_run,
	.text = latency_text,
};
