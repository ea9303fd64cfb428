/* SPDX-License-Identifier: GPL-2.0-only */
/* export.c - lttctl export --format FORMAT [SESSION | DIR]: write a trace in the format of another
 * tool. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analyse/symbol/names.h"
#include "analyse/symbol/objects.h"
#include "base/mem.h"
#include "base/str.h"
#include "ctl/export/counters.h"
#include "ctl/export/export.h"
#include "ctl/export/parquet/parquet.h"
#include "ctl/options.h"
#include "ctl/trace/outfile.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "ctl/query/run.h"
#include "ctl/query/store.h"
#include "ctl/symbol/symbols.h"
#include "ctl/trace/viewing.h"
#include "read/event.h"
#include "show/columns.h"
#include "show/show.h"

static struct {
	char *format, *output, *trace_path, *counters;
} opt;

static struct show_options chosen;

#define FORMATS "perfetto, chrome, speedscope, folded, csv, json, parquet or sqlite"

static const struct poptOption options[] = {
	OPTION_TEXT("format", 0, &opt.format, FORMATS, "FORMAT"),
	OPTION_TEXT("output", 'o', &opt.output, "write to this file; default: standard output",
		    "FILE|DIR"),
	OPTION_TEXT("events", 0, &chosen.events, "only events with such names", "PATTERN[,...]"),
	OPTION_TEXT("limit", 'n', &chosen.limit, "at most this number of events", "N"),
	OPTION_FLAG("statedump", 0, &chosen.statedump, "events of state dumps, too"),
	OPTION_TEXT("pair", 0, &chosen.pair,
		    "such events are a slice; with KEY: those of an equal field",
		    "BEGIN,END[,KEY][;...]"),
	OPTION_TEXT("counter", 0, &opt.counters, "the field of such events is a line",
		    "EVENT,FIELD[;...]"),
	OPTION_TEXT("columns", 0, &chosen.columns, "of csv, as for 'lttctl view'", "NAME[,...]"),
	OPTION_TEXT("trace-path", 0, &opt.trace_path, "read the traces below this directory",
		    "DIR"),
	OPTIONS_SELECTION(chosen),
	POPT_TABLEEND,
};

/* --- formats ---------------------------------------------------------------------------------- */

int export_next(const struct exporting *exporting, struct event *event)
{
	return event_next(exporting->view, exporting->select, event);
}

static int export_printed(const struct exporting *exporting, const struct view_style *style)
{
	return view_print(exporting->view, exporting->select, style, exporting->file);
}

int export_json(const struct exporting *exporting)
{
	const struct view_style style = { .format = VIEW_JSON };

	return export_printed(exporting, &style);
}

int export_csv(const struct exporting *exporting)
{
	const struct view_style style = { .table = exporting->columns };

	return export_printed(exporting, &style);
}

int export_parquet(const struct exporting *exporting)
{
	return parquet_write_view(exporting->view, exporting->select, exporting->dir_fd);
}

/** Kinds of formats. */
enum {
	EXPORT_SLICES = 1,    /* a time line */
	EXPORT_STACKS = 2,    /* call stacks with values */
	EXPORT_BINARY = 4,    /* it is not for a terminal */
	EXPORT_DIRECTORY = 8, /* of several files */
};

/**
 * struct export_format
 * @write: NULL: it is written by statements of SQL.
 * @opens: that opens it; NULL: any program. @kind: EXPORT_*.
 */
static const struct export_format {
	const char *name;
	int (*write)(const struct exporting *exporting);
	const char *opens;
	unsigned int kind;
} formats[] = {
	{ "perfetto", export_perfetto, "https://ui.perfetto.dev, or trace_processor",
	  EXPORT_SLICES | EXPORT_BINARY },
	{ "chrome", export_chrome, "chrome://tracing, https://ui.perfetto.dev or speedscope",
	  EXPORT_SLICES },
	{ "speedscope", export_speedscope, "https://www.speedscope.app", EXPORT_STACKS },
	{ "folded", export_folded, "flamegraph.pl or inferno", EXPORT_STACKS },
	{ "csv", export_csv, NULL, 0 },
	{ "json", export_json, NULL, 0 },
	{ "parquet", export_parquet, "DuckDB, ClickHouse or Spark",
	  EXPORT_BINARY | EXPORT_DIRECTORY },
	{ "sqlite", NULL, "sqlite3", EXPORT_BINARY },
};

static const struct export_format *format;

static const struct export_format *export_verb_format(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

/* --- options ---------------------------------------------------------------------------------- */

/* The first option that is not for the format; NULL: there is none. */
static const char *export_verb_unfit(void)
{
	const struct {
		bool given, fits;
		const char *name;
	} all[] = {
		{ opt.counters, format->kind & EXPORT_SLICES, "counter" },
		{ chosen.pair, format->kind & EXPORT_SLICES, "pair" },
		{ chosen.columns, format->write == export_csv, "columns" },
		{ chosen.limit, format->write, "limit" },
		{ chosen.statedump, format->write, "statedump" },
		{ show_selects(&chosen), format->write, "events or --where" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].given && !all[i].fits)
			return all[i].name;
	return NULL;
}

static int export_verb_check_format(struct err *err)
{
	const char *unfit;

	if (!opt.format)
		return err_set(err, ERR_INVALID, "--format is missing: " FORMATS);
	format = export_verb_format(opt.format);
	if (!format)
		return err_set(err, ERR_INVALID, "--format=%s: " FORMATS, opt.format);
	unfit = export_verb_unfit();
	if (unfit)
		return err_set(err, ERR_INVALID, "--%s: not with --format=%s%s", unfit,
			       format->name,
			       format->write ? "" : ", which has all of a trace: select by SQL");
	if (!opt.output && (!format->write || (format->kind & EXPORT_DIRECTORY)))
		return err_set(err, ERR_INVALID, "--format=%s needs a %s", format->name,
			       format->kind & EXPORT_DIRECTORY ? "directory: -o DIR" :
								 "file: -o FILE");
	if (!opt.output && (format->kind & EXPORT_BINARY) && isatty(STDOUT_FILENO))
		return err_set(err, ERR_INVALID,
			       "--format=%s is not for a terminal: use -o FILE or a pipe",
			       format->name);
	return 0;
}

static int export_verb_check_counters(struct err *err)
{
	struct counters *counters = counters_new(opt.counters);

	if (!counters)
		return err_set(err, ERR_INVALID,
			       "--counter=%s: EVENT,FIELD is expected, several separated by ';'",
			       opt.counters);
	counters_free(counters);
	return 0;
}

static enum status export_verb_check(struct ctl *ctl)
{
	if (ctl->nr_operands > 1)
		err_set(&ctl->err, ERR_INVALID,
			"one session or directory can be exported at a time");
	else if (opt.trace_path && operand(ctl, 0))
		err_set(&ctl->err, ERR_INVALID, "a session and --trace-path exclude each other");
	else if (ctl->json && !opt.output)
		err_set(&ctl->err, ERR_INVALID,
			"--json: the answer and the trace can't both go to standard output; use "
			"-o FILE");
	else if (export_verb_check_format(&ctl->err) == 0 &&
		 export_verb_check_counters(&ctl->err) == 0)
		(void)!show_check(&chosen, &ctl->err);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void export_verb_warn(void *priv, const char *sentence)
{
	print_warning(priv, "%s", sentence);
}

/* Losses are part of the trace; the formats have no place for them. */
static void export_verb_report(struct ctl *ctl, const struct view_summary *sum)
{
	char nr[TEXT_BYTES];

	if (sum->where_never)
		print_warning(ctl, "--where can't hold for any event of this trace: %s",
			      sum->where_never);
	else if (!sum->events)
		print_note(ctl, "%s",
			   show_selects(&chosen) ? "no event of this trace matches the options" :
						   "this trace has no events");
	if (sum->lost || sum->lost_before || sum->lost_buffers)
		print_warning(ctl,
			      "%s event%s were lost when the trace was recorded; %s",
			      text_count(nr, sum->lost + sum->lost_before),
			      text_plural(sum->lost + sum->lost_before),
			      format->kind & EXPORT_DIRECTORY ?
				      "the dataset \"losses\" has their numbers" :
				      "the output does not show where");
}

static void export_verb_answer(struct ctl *ctl, const char *path, uint64_t events)
{
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "path", path);
	json_set_str(ctl->record, "format", format->name);
	if (opt.output)
		json_set_str(ctl->record, "output", opt.output);
	json_set_num(ctl->record, "events", events);
}

static int export_verb_conclude(struct ctl *ctl, struct view *view, const char *path,
				struct outfile *out, enum show_result *ret)
{
	const struct view_summary *sum;
	int r;

	view_check_files(view);
	r = view_summary(view, &sum);
	if (r < 0)
		return err_errno(&ctl->err, ERR_OUTPUT, -r, "can't read the trace");
	if (!sum->events && !show_selects(&chosen) && (sum->problems || sum->skipped_bytes))
		return err_set(&ctl->err, ERR_OUTPUT,
			       "no event of this trace can be read; %s is not written",
			       opt.output ? opt.output : "nothing");
	if (outfile_commit(out, &ctl->err) != 0)
		return ctl->err.code;
	export_verb_report(ctl, sum);
	export_verb_answer(ctl, path, sum->events);
	*ret = show_verdict(sum);
	return 0;
}

static int export_verb_columns(struct exporting *exporting, struct err *err)
{
	char *unknown AUTO_FREE = NULL;

	if (format->write != export_csv)
		return 0;
	if (columns_new(chosen.columns, true, false, &exporting->columns, err) != 0)
		return err->code;
	unknown = columns_unknown(exporting->columns, exporting->view);
	return unknown ? err_set(err, ERR_INVALID, "%s", unknown) : 0;
}

static int export_verb_open(struct exporting *exporting, struct outfile *out, struct err *err)
{
	int ret = (format->kind & EXPORT_DIRECTORY ? outfile_open_dir : outfile_open)(
		out, opt.output, err);

	exporting->file = out->file;
	exporting->dir_fd = out->dir_fd;
	return ret;
}

static int export_verb_read(struct ctl *ctl, struct exporting *exporting, const char *path,
			    enum show_result *ret)
{
	struct view_select select;
	struct outfile out = { 0 };
	int r;

	exporting->select = &select;
	if (export_verb_columns(exporting, &ctl->err) != 0 ||
	    show_select(exporting->view, path, &chosen, exporting->pairs, &select, &ctl->err) !=
		    0 ||
	    show_origin(path, false, &exporting->origin_ns, &ctl->err) != 0 ||
	    export_verb_open(exporting, &out, &ctl->err) != 0)
		return ctl->err.code;
	r = format->write(exporting);
	if (r == -EPIPE && !opt.output) /* its reader has enough */
		r = 0;
	if (r == -ENODATA)
		err_set(&ctl->err, ERR_NO_EVENT,
			"no stack in %s%s: lttctl record --wrap=cyg-profile records functions, "
			"--wrap=pthread waits and --wrap=libc allocations",
			path, show_selects(&chosen) ? " matches the options" : "");
	else if (r)
		err_errno(&ctl->err, ERR_OUTPUT, -r, "can't write %s",
			  opt.output ? opt.output : "standard output");
	else
		(void)!export_verb_conclude(ctl, exporting->view, path, &out, ret);
	outfile_drop(&out);
	return ctl->err.code;
}

static int export_verb_events(struct ctl *ctl, const char *path, enum show_result *ret)
{
	bool named = format->kind & (EXPORT_SLICES | EXPORT_STACKS);
	struct symbols *symbols = named ? symbols_new(&chosen, path) : NULL;
	const struct view_host host = { .name = symbols ? symbols_name : NULL,
					.names_priv = symbols };
	struct names names = { .host = &host };
	struct exporting exporting = { .counters = opt.counters };

	if (named && show_objects(path, false, &names.objects, &ctl->err) == 0)
		exporting.names = &names;
	if (format->kind & EXPORT_SLICES) {
		exporting.pairs = pairs_new(chosen.pair, NULL, 0);
		pairs_by_suffix(exporting.pairs, NULL);
	}
	if (!ctl->err.code &&
	    show_open(path, false, export_verb_warn, ctl, &exporting.view, &ctl->err) == 0)
		(void)!export_verb_read(ctl, &exporting, path, ret);
	columns_free(exporting.columns);
	view_free(exporting.view);
	pairs_free(exporting.pairs);
	objects_free(names.objects);
	symbols_free(symbols);
	return ctl->err.code;
}

#define DATABASE_MEMORY (UINT64_C(256) << 20) /* for rows that are kept */

static int export_verb_database(struct ctl *ctl, const char *path, enum show_result *ret)
{
	struct query *query = query_new(path, DATABASE_MEMORY, export_verb_warn, ctl, &ctl->err);
	struct outfile out = { 0 };
	uint64_t events = 0;

	if (query && outfile_open_named(&out, opt.output, &ctl->err) == 0 &&
	    query_store(query, out.temp, &events, &ctl->err) == 0)
		(void)!outfile_commit(&out, &ctl->err);
	outfile_drop(&out);
	if (query && !ctl->err.code) {
		export_verb_answer(ctl, path, events);
		*ret = query->problems ? SHOW_DAMAGED : query->lost ? SHOW_LOST : SHOW_DONE;
		if (query->lost)
			print_warning(ctl, "events were lost when the trace was recorded: table "
					   "\"losses\"");
	}
	query_free(query);
	return ctl->err.code;
}

static enum status export_verb_run(struct ctl *ctl)
{
	char *path AUTO_FREE =
		opt.trace_path ? xstrdup(opt.trace_path) : viewing_path(ctl, operand(ctl, 0));
	enum show_result verdict = SHOW_FAILED;

	if (!path)
		return STATUS_ERROR;
	viewing_note_snapshots(ctl, path);
	if ((format->write ? export_verb_events : export_verb_database)(ctl, path, &verdict) != 0)
		return STATUS_ERROR;
	return (enum status)show_exit_status(verdict);
}

static void export_verb_text(FILE *to, struct json_object *record)
{
	char nr[TEXT_BYTES];

	if (opt.output)
		fprintf(to, "%s event%s of %s: %s%s%s\n",
			text_count(nr, json_num(record, "events")),
			text_plural(json_num(record, "events")), json_str(record, "path"),
			opt.output, format->opens ? "; open it with " : "",
			format->opens ? format->opens : "");
}

const struct verb verb_export = {
	.name = "export",
	.operands = "[SESSION | DIR]",
	.help = "Write a trace in the format of another tool: Perfetto, Parquet, SQLite",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.max_operands = 1,
	.check = export_verb_check,
	.run = export_verb_run,
	.text = export_verb_text,
};
