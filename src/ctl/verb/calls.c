/* SPDX-License-Identifier: GPL-2.0-only */
/* calls.c - lttctl calls [SESSION | DIR]: the call trees of a trace, with counts and times. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/calls.h"
#include "analyse/symbol/objects.h"
#include "base/mem.h"
#include "base/str.h"
#include "ctl/options.h"
#include "ctl/print/function.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/table.h"
#include "ctl/print/text.h"
#include "ctl/symbol/symbols.h"
#include "ctl/trace/viewing.h"
#include "read/event.h"
#include "show/show.h"

static struct {
	char *trace_path, *top;
	int flat, graph;
} opt;

static struct show_options chosen;

static uint64_t top; /* 0: all */

static const struct poptOption options[] = {
	OPTION_TEXT("trace-path", 0, &opt.trace_path, "read the traces below this directory",
		    "DIR"),
	OPTION_FLAG("flat", 0, &opt.flat, "a list of the functions"),
	OPTION_FLAG("graph", 0, &opt.graph, "one tree of all threads"),
	OPTION_TEXT("top", 'n', &opt.top, "only this number of functions, or of lines of a tree",
		    "N"),
	OPTION_WHOLE_NAMES,
	OPTIONS_SELECTION(chosen),
	POPT_TABLEEND,
};

static enum status calls_verb_check(struct ctl *ctl)
{
	if (opt.trace_path && operand(ctl, 0))
		err_set(&ctl->err, ERR_INVALID, "a session and --trace-path exclude each other");
	else if (opt.flat && opt.graph)
		err_set(&ctl->err, ERR_INVALID, "--flat and --graph exclude each other");
	else if (opt.top && (parse_u64(opt.top, &top) != 0 || !top))
		err_set(&ctl->err, ERR_INVALID, "--top=%s: this is not a number of functions",
			opt.top);
	else
		(void)!show_check(&chosen, &ctl->err);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

/* --- the record ----------------------------------------------------------------------------- */

static struct json_object *calls_verb_record(const struct calls_function *function,
					     const struct calls_sum *sum)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "function", function->label);
	json_set_str(o, "object", function->object ? function->object : "");
	if (function->symbol.file) {
		json_set_str(o, "file", function->symbol.file);
		json_set_num(o, "line", function->symbol.line);
	}
	json_set_num(o, "count", sum->calls);
	JSON_COPY(o, sum, total_ns, self_ns);
	json_set_num(o, "lossy_calls", sum->lossy);
	return o;
}

/* @left: lines that may still be made; a caller comes before the functions that it calls. */
static struct json_object *calls_verb_tree(const struct calls_node *parent, uint64_t least_ns,
					   uint64_t *left)
{
	struct json_object *all = json_object_new_array();

	for (const struct calls_node *node = parent->first; node; node = node->next) {
		struct json_object *o;

		if (node->sum.total_ns < least_ns || (top && !*left))
			continue;
		*left -= top > 0;
		o = calls_verb_record(node->function, &node->sum);
		json_set(o, "calls", calls_verb_tree(node, least_ns, left));
		json_object_array_add(all, o);
	}
	return all;
}

static struct json_object *calls_verb_lines(const struct calls_node *root)
{
	uint64_t left = top;

	return calls_verb_tree(root, calls_least(root, top), &left);
}

static void calls_verb_add_threads(struct json_object *record, const struct calls *calls)
{
	json_set(record, "threads", json_object_new_array());
	for (const struct calls_thread *thread = calls->threads; thread; thread = thread->next) {
		struct json_object *o = json_object_new_object();

		json_set_str(o, "process", thread->procname);
		if (thread->has_pid)
			json_set_num(o, "pid", thread->pid);
		JSON_COPY(o, thread, tid);
		json_set_num(o, "total_ns", thread->root.sum.total_ns);
		json_set(o, "calls", calls_verb_lines(&thread->root));
		json_append(record, "threads", o);
	}
}

static void calls_verb_add_functions(struct json_object *record, const struct calls *calls)
{
	size_t nr;
	struct calls_function **all AUTO_FREE = calls_flat(calls, &nr);

	json_set(record, "functions", json_object_new_array());
	for (size_t i = 0; i < nr && (!top || i < top); i++)
		json_append(record, "functions", calls_verb_record(all[i], &all[i]->sum));
}

static struct json_object *calls_verb_result(struct calls *calls, const char *path)
{
	struct json_object *record = json_object_new_object();
	struct calls_node root = { 0 };

	json_set_str(record, "path", path);
	json_set_num(record, "open_calls", calls->open);
	JSON_COPY(record, calls, left, alone, stacks);
	if (opt.flat) {
		calls_verb_add_functions(record, calls);
	} else if (opt.graph) {
		calls_merge(calls, &root);
		json_set(record, "calls", calls_verb_lines(&root));
	} else {
		calls_verb_add_threads(record, calls);
	}
	return record;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void calls_verb_warn(void *priv, const char *sentence)
{
	print_warning(priv, "%s", sentence);
}

static void calls_verb_note(struct ctl *ctl, const struct calls *calls,
			    const struct view_summary *sum)
{
	char nr[TEXT_BYTES];

	if (calls->open)
		print_note(ctl,
			   "%s call%s had not returned; the time is up to the last event of the "
			   "thread",
			   text_count(nr, calls->open), text_plural(calls->open));
	if (calls->left)
		print_note(
			ctl,
			"%s call%s ended without an exit (longjmp(), an exception or a loss); the "
			"time is up to the caller's exit",
			text_count(nr, calls->left), text_plural(calls->left));
	if (calls->alone)
		print_note(ctl, "%s exit%s without an entry: the call began before, or was lost",
			   text_count(nr, calls->alone), calls->alone == 1 ? " is" : "s are");
	if (calls->deep)
		print_note(ctl,
			   "%s call%s deeper than %u in a tree; the list of --flat has them, up to "
			   "a depth of %u with their times",
			   text_count(nr, calls->deep), calls->deep == 1 ? " is" : "s are",
			   CALLS_TREE_DEPTH, CALLS_STACK_DEPTH);
	if (calls->nowhere)
		print_note(ctl, "%s event%s without a thread (context vtid) left out",
			   text_count(nr, calls->nowhere), calls->nowhere == 1 ? " is" : "s are");
	if (sum->lost || sum->lost_before || sum->lost_buffers)
		print_warning(ctl,
			      "%s event%s were lost when the trace was recorded; counts and times "
			      "are what is left, and those marked with ~ lack some",
			      text_count(nr, sum->lost + sum->lost_before),
			      text_plural(sum->lost + sum->lost_before));
}

/* There is no event: damage that the reports before have named is the reason if no other one is
 * left, and may be one if some are. */
static int calls_verb_refuse(struct ctl *ctl, const struct view_summary *sum, const char *path)
{
	if (viewing_refuse(sum, path, &ctl->err) != 0)
		return ctl->err.code;
	return err_set(&ctl->err, ERR_NO_EVENT,
		       show_selects(&chosen) ?
			       "no entry of a function in %s matches the options%s" :
			       "no entry of a function is in %s; compile the program with "
			       "-finstrument-functions and use lttctl record --wrap=cyg-profile%s",
		       path, sum->problems ? "; some of its events can't be read" : "");
}

static int calls_verb_read(struct ctl *ctl, struct view *view, struct calls *calls,
			   const char *path, enum show_result *ret)
{
	struct view_select select;
	const struct view_summary *sum;
	struct event event;
	uint64_t nr = 0;
	int r;

	if (show_select(view, path, &chosen, NULL, &select, &ctl->err) != 0)
		return ctl->err.code;
	select.names = CALLS_EVENTS;
	for (; (r = event_next(view, &select, &event)) > 0; nr++)
		calls_take(calls, &event);
	if (r == 0)
		r = view_summary(view, &sum);
	if (r < 0)
		return err_errno(&ctl->err, ERR_OUTPUT, -r, "can't read %s", path);
	if (!nr)
		return calls_verb_refuse(ctl, sum, path);
	calls_end(calls);
	calls_verb_note(ctl, calls, sum);
	*ret = show_verdict(sum);
	return 0;
}

static enum status calls_verb_run(struct ctl *ctl)
{
	char *path AUTO_FREE =
		opt.trace_path ? xstrdup(opt.trace_path) : viewing_path(ctl, operand(ctl, 0));
	const struct view_host host = { .name = symbols_name,
					.names_priv = symbols_new(&chosen, path) };
	struct objects *objects = NULL;
	struct calls *calls = NULL;
	enum show_result verdict = SHOW_FAILED;
	struct view *view = NULL;

	if (path)
		viewing_note_snapshots(ctl, path);
	if (path && show_objects(path, false, &objects, &ctl->err) == 0 &&
	    show_open(path, false, calls_verb_warn, ctl, &view, &ctl->err) == 0) {
		calls = calls_new(objects, &host);
		if (calls_verb_read(ctl, view, calls, path, &verdict) == 0) {
			ctl->record = calls_verb_result(calls, path);
			symbols_report(host.names_priv, ctl);
		}
	}
	calls_free(calls);
	view_free(view);
	objects_free(objects);
	symbols_free(host.names_priv);
	return ctl->err.code ? STATUS_ERROR : (enum status)show_exit_status(verdict);
}

/* --- text ------------------------------------------------------------------------------------ */

static void calls_verb_row(struct table *table, struct json_object *o, int depth)
{
	const char *file = json_str(o, "file"), *slash = strrchr(file, '/');
	char *function AUTO_FREE = function_name(json_str(o, "function"), 256);

	table_form(table, o, "[{?lossy_calls}~]{total_ns:T}");
	table_form(table, o, "[{?lossy_calls}~]{self_ns:T}");
	table_form(table, o, "{count:n}");
	if (*file)
		table_cell(table, "%*s%s  %s:%u", 2 * depth, "", function,
			   slash ? slash + 1 : file, (unsigned int)json_num(o, "line"));
	else
		table_cell(table, "%*s%s", 2 * depth, "", function);
}

static void calls_verb_rows(struct table *table, struct json_object *parent, const char *key,
			    int depth)
{
	for (size_t i = 0; i < json_len(parent, key); i++) {
		struct json_object *o = json_at(parent, key, i);

		calls_verb_row(table, o, depth);
		calls_verb_rows(table, o, "calls", depth + 1);
	}
}

static void calls_verb_table(FILE *out, struct json_object *parent, const char *key)
{
	static const char *const heads[] = { "TOTAL", "SELF", "CALLS", "FUNCTION" };
	struct table table = { .columns = "rrrl" };

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&table, "%s", heads[i]);
	calls_verb_rows(&table, parent, key, 0);
	table_print(out, &table);
}

static void calls_verb_text(FILE *out, struct json_object *record)
{
	if (json_get(record, "functions"))
		calls_verb_table(out, record, "functions");
	if (json_get(record, "calls"))
		calls_verb_table(out, record, "calls");
	for (size_t i = 0; i < json_len(record, "threads"); i++) {
		struct json_object *thread = json_at(record, "threads", i);

		fputs(i ? "\n" : "", out);
		text_form(out, thread, "{process} ([process {pid?}, ]thread {tid}): {total_ns:T}\n");
		calls_verb_table(out, thread, "calls");
	}
}

const struct verb verb_calls = {
	.name = "calls",
	.operands = "[SESSION | DIR]",
	.help = "Show the functions that a program has called, with counts and times",
	.options = options,
	.paged = true,
	.daemon = DAEMON_WELCOME,
	.max_operands = 1,
	.check = calls_verb_check,
	.run = calls_verb_run,
	.text = calls_verb_text,
};
