/* SPDX-License-Identifier: GPL-2.0-only */
/* flame.c - lttctl flame [SESSION | DIR]: a flame graph of a trace: of functions, call stacks,
 * waits or allocated memory. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analyse/flame.h"
#include "analyse/symbol/objects.h"
#include "base/mem.h"
#include "ctl/options.h"
#include "ctl/trace/outfile.h"
#include "ctl/print/flame.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "ctl/symbol/symbols.h"
#include "ctl/trace/viewing.h"
#include "read/event.h"
#include "show/show.h"

static struct {
	char *trace_path, *of, *output;
	int folded;
} opt;

static struct show_options chosen;

static enum flame_kind kind = FLAME_ANY;

static const struct poptOption options[] = {
	OPTION_TEXT(
		"of", 0, &opt.of,
		"functions, samples, kernel-stacks, user-stacks, waits or memory; default: the "
		"first that the trace has",
		"KIND"),
	OPTION_FLAG("folded", 0, &opt.folded, "lines \"a;b;c N\", not a picture"),
	OPTION_TEXT("output", 'o', &opt.output, "write this file, not standard output", "FILE"),
	OPTION_TEXT("trace-path", 0, &opt.trace_path, "read the traces below this directory",
		    "DIR"),
	OPTION_TEXT("events", 'e', &chosen.events, "only events with such names", "PATTERN[,...]"),
	OPTIONS_SELECTION(chosen),
	POPT_TABLEEND,
};

/** Titles, and how the events are recorded. @hue: of the colours. */
static const struct {
	const char *title, *missing;
	unsigned int hue;
} flame_verb_kinds[] = {
	[FLAME_FUNCTIONS] = { "time in functions",
			      "no entry of a function is in %s; compile the program with "
			      "-finstrument-functions and use lttctl record --wrap=cyg-profile",
			      10 },
	[FLAME_SAMPLES] = { "time on a CPU, by samples",
			    "no sample is in %s; lttctl record --sample=997 takes them", 0 },
	[FLAME_KERNEL_STACKS] = { "call stacks of the kernel",
				  "no event in %s has a call stack of the kernel; use lttctl "
				  "add-context --kernel --type=callstack-kernel",
				  25 },
	[FLAME_USER_STACKS] = { "call stacks of programs",
				"no event in %s has a call stack of a program; use lttctl "
				"add-context --kernel --type=callstack-user",
				40 },
	[FLAME_WAITS] = { "waits of threads",
			  "no wait of a thread is in %s; lttctl record --wrap=pthread records them",
			  195 },
	[FLAME_MEMORY] = { "allocated memory",
			   "no allocation is in %s; lttctl record --wrap=libc records them", 95 },
	[FLAME_ANY] = { "",
			"no stack is in %s: lttctl record --wrap=cyg-profile records functions, "
			"--wrap=pthread waits, --wrap=libc allocations, --sample=997 samples, and "
			"lttctl add-context --kernel --type=callstack-kernel stacks of the kernel" },
};

static bool flame_verb_is_kind(const char *word)
{
	for (int i = 0; i < FLAME_NR; i++) {
		if (strcmp(word, flame_name((enum flame_kind)i)) != 0)
			continue;
		kind = (enum flame_kind)i;
		return true;
	}
	return false;
}

static enum status flame_verb_check(struct ctl *ctl)
{
	if (opt.trace_path && operand(ctl, 0))
		err_set(&ctl->err, ERR_INVALID, "a session and --trace-path exclude each other");
	else if (opt.of && !flame_verb_is_kind(opt.of))
		err_set(&ctl->err, ERR_INVALID,
			"--of=%s: this is none of functions, samples, kernel-stacks, user-stacks, "
			"waits and memory",
			opt.of);
	else if (!opt.output && ctl->json)
		err_set(&ctl->err, ERR_INVALID,
			"--json describes the output, which needs a file: use -o FILE");
	else if (!opt.output && !opt.folded && isatty(STDOUT_FILENO))
		err_set(&ctl->err, ERR_INVALID,
			"a picture can't be shown on a terminal; use -o FILE, as in 'lttctl flame -o "
			"flame.svg', or --folded");
	else
		(void)!show_check(&chosen, &ctl->err);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

/* --- the output ----------------------------------------------------------------------------- */

static void flame_verb_svg(FILE *out, const struct stacks *stacks, enum flame_kind of,
			   struct json_object *record)
{
	char *title AUTO_FREE =
		xasprintf("%s: %s", json_str(record, "path"), flame_verb_kinds[of].title);
	const struct flame_picture picture = {
		.title = title,
		.unit = flame_unit(of),
		.hue = flame_verb_kinds[of].hue,
	};

	json_set_num(record, "not_drawn", flame_svg(out, stacks, &picture));
}

static int flame_verb_write(struct ctl *ctl, const struct stacks *stacks, enum flame_kind of,
			    struct json_object *record)
{
	struct outfile out;

	if (outfile_open(&out, opt.output, &ctl->err) != 0)
		return ctl->err.code;
	if (opt.folded)
		flame_folded(out.file, stacks);
	else
		flame_verb_svg(out.file, stacks, of, record);
	if (opt.output) /* main() reports failures of standard output */
		return outfile_commit(&out, &ctl->err);
	outfile_drop(&out);
	return 0;
}

static uint64_t flame_verb_count(const struct stacks *stacks)
{
	const struct stacks_node *node = NULL;
	uint64_t nr = 0;

	while ((node = stacks_next(stacks, node)))
		nr += node->self > 0;
	return nr;
}

static struct json_object *flame_verb_record(const struct stacks *stacks, enum flame_kind of,
					     const char *path)
{
	struct json_object *record = json_object_new_object();

	json_set_str(record, "path", path);
	json_set_str(record, "output", opt.output ? opt.output : "");
	json_set_str(record, "format", opt.folded ? "folded" : "svg");
	json_set_str(record, "of", flame_name(of));
	json_set_str(record, "unit", flame_unit(of));
	json_set_num(record, "total", stacks->root.total);
	json_set_num(record, "stacks", flame_verb_count(stacks));
	json_set_num(record, "depth", stacks->deepest);
	JSON_COPY(record, stacks, left_out, nr_left_out, nr_cut);
	return record;
}

static void flame_verb_text(FILE *out, struct json_object *record)
{
	char total[64];

	flame_value(total, sizeof(total), json_num(record, "total"), json_str(record, "unit"));
	fprintf(out, "%s: %s", json_str(record, "output"), total);
	text_form(out, record,
		  " of {of} in {stacks:n} stack{stacks:s}, {depth} deep[; {not_drawn:n?} frame"
		  "{not_drawn:s} too small to be drawn]\n");
}

/* --- reading ---------------------------------------------------------------------------------- */

static void flame_verb_warn(void *priv, const char *sentence)
{
	print_warning(priv, "%s", sentence);
}

/* Kinds that the trace has besides the one that is shown. */
static void flame_verb_note_others(struct ctl *ctl, const struct flame *flame, enum flame_kind of)
{
	for (int i = of + 1; i < FLAME_NR; i++)
		if (flame_has(flame, (enum flame_kind)i))
			print_note(ctl, "the trace also has %s: use --of=%s",
				   flame_verb_kinds[i].title, flame_name((enum flame_kind)i));
}

static void flame_verb_note(struct ctl *ctl, const struct flame *flame, const struct stacks *stacks,
			    const struct view_summary *sum)
{
	const struct calls *calls = flame->calls;
	const struct overview *overview = flame->overview;
	char nr[TEXT_BYTES];
	uint64_t left_out = overview ? overview->left_out + overview->locks->left_out +
					       overview->waits->left_out :
				       0;

	if (calls && calls->deep)
		print_note(ctl, "%s call%s deeper than %u and left out",
			   text_count(nr, calls->deep), calls->deep == 1 ? " is" : "s are",
			   CALLS_TREE_DEPTH);
	if (calls && calls->nowhere)
		print_note(ctl, "%s event%s without a thread (context vtid) left out",
			   text_count(nr, calls->nowhere), calls->nowhere == 1 ? " is" : "s are");
	if (left_out)
		print_note(ctl,
			   "%s event%s of threads, locks or places beyond the first 65,536 left "
			   "out",
			   text_count(nr, left_out), left_out == 1 ? " is" : "s are");
	if (stacks->nr_left_out)
		print_warning(ctl,
			      "%s of the stacks are left out: there are more than %u different "
			      "calls; select fewer events, as with --process or --begin",
			      text_count(nr, stacks->nr_left_out), stacks->nodes_most);
	if (stacks->nr_cut)
		print_note(ctl, "%s stack%s deeper than %u and cut", text_count(nr, stacks->nr_cut),
			   stacks->nr_cut == 1 ? " is" : "s are", STACKS_DEPTH_MOST);
	if (sum->lost || sum->lost_before || sum->lost_buffers)
		print_warning(
			ctl,
			"%s event%s were lost when the trace was recorded; the values are what "
			"is left",
			text_count(nr, sum->lost + sum->lost_before),
			text_plural(sum->lost + sum->lost_before));
}

static int flame_verb_refuse(struct ctl *ctl, const struct view_summary *sum, const char *path)
{
	if (viewing_refuse(sum, path, &ctl->err) != 0)
		return ctl->err.code;
	if (show_selects(&chosen))
		return err_set(&ctl->err, ERR_NO_EVENT, "no stack in %s matches the options%s%s",
			       path, sum->where_never ? ": " : "",
			       sum->where_never ? sum->where_never : "");
	return err_set(&ctl->err, ERR_NO_EVENT, flame_verb_kinds[kind].missing, path);
}

static int flame_verb_finish(struct ctl *ctl, struct flame *flame, const struct view_summary *sum,
			     const char *path)
{
	struct json_object *record AUTO_RECORD = NULL;
	struct stacks *stacks = NULL;
	enum flame_kind of = flame_finish(flame, &stacks);

	if (of == FLAME_NR)
		return flame_verb_refuse(ctl, sum, path);
	record = flame_verb_record(stacks, of, path);
	if (flame_verb_write(ctl, stacks, of, record) == 0) {
		flame_verb_note(ctl, flame, stacks, sum);
		flame_verb_note_others(ctl, flame, of);
		if (opt.output)
			ctl->record = TAKE(record);
	}
	stacks_free(stacks);
	return ctl->err.code;
}

static int flame_verb_read(struct ctl *ctl, struct view *view, struct flame *flame,
			   const char *path, enum show_result *ret)
{
	const struct view_summary *sum;
	struct view_select select;
	struct event event;
	int r;

	if (show_select(view, path, &chosen, NULL, &select, &ctl->err) != 0)
		return ctl->err.code;
	if (!select.names)
		select.names = flame_events(kind);
	select.threads = NULL; /* others hold locks */
	while ((r = event_next(view, &select, &event)) > 0)
		flame_take(flame, &event);
	if (r == 0)
		r = view_summary(view, &sum);
	if (r < 0)
		return err_errno(&ctl->err, ERR_OUTPUT, -r, "can't read %s", path);
	*ret = show_verdict(sum);
	return flame_verb_finish(ctl, flame, sum, path);
}

static enum status flame_verb_run(struct ctl *ctl)
{
	char *path AUTO_FREE =
		opt.trace_path ? xstrdup(opt.trace_path) : viewing_path(ctl, operand(ctl, 0));
	const struct view_host host = { .name = symbols_name,
					.names_priv = symbols_new(&chosen, path) };
	enum show_result verdict = SHOW_FAILED;
	struct objects *objects = NULL;
	struct flame *flame = NULL;
	struct view *view = NULL;

	if (path)
		viewing_note_snapshots(ctl, path);
	if (path && show_objects(path, false, &objects, &ctl->err) == 0 &&
	    show_open(path, false, flame_verb_warn, ctl, &view, &ctl->err) == 0) {
		flame = flame_new(kind, objects, &host, chosen.threads);
		if (flame_verb_read(ctl, view, flame, path, &verdict) == 0)
			symbols_report(host.names_priv, ctl);
	}
	flame_free(flame);
	view_free(view);
	objects_free(objects);
	symbols_free(host.names_priv);
	return ctl->err.code ? STATUS_ERROR : (enum status)show_exit_status(verdict);
}

const struct verb verb_flame = {
	.name = "flame",
	.operands = "[SESSION | DIR]",
	.help = "Draw a flame graph: of functions, call stacks, waits or allocations",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.max_operands = 1,
	.check = flame_verb_check,
	.run = flame_verb_run,
	.text = flame_verb_text,
};
