/* SPDX-License-Identifier: GPL-2.0-only */
#include "show.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/symbol/names.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"
#include "read/clock/guest.h"
#include "read/live/live.h"
#include "read/pairs.h"
#include "read/live/tail.h"
#include "columns.h"
#include "screen.h"

/** A trace that is shown. */
struct show {
	const char *path; /* NULL: of a live session */
	bool grows;	  /* it is being recorded */
	const struct show_options *options;
	const struct view_host *host;
	struct view_select selection;
	struct view *view;
	struct pairs *pairs;   /* NULL: no durations are printed */
	struct columns *columns; /* NULL: the events are lines, or JSON */
	struct names names;    /* without objects: addresses are not named */
	struct guests *guests; /* NULL: there are none */
};

typedef void (*show_say_fn)(void *priv, const char *sentence);

static void PRINTF(3, 4) show_say(const struct show *show, show_say_fn say, const char *fmt, ...)
{
	char *sentence AUTO_FREE = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&sentence, fmt, args) < 0)
		sentence = NULL;
	va_end(args);
	if (sentence)
		say(show->host->priv, sentence);
}

#define SHOW_WARN(show, ...) show_say(show, (show)->host->warn, __VA_ARGS__)
#define SHOW_NOTE(show, ...) show_say(show, (show)->host->note, __VA_ARGS__)

/* --- options ------------------------------------------------------------------------ */

/* @text: NULL: leaves @ret. */
static int check_number(const char *option, const char *text, uint64_t *ret, struct err *err)
{
	if (!text || (parse_u64(text, ret) == 0 && *ret))
		return 0;
	return err_set(err, ERR_INVALID, "--%s=%s: this is not a number of events", option, text);
}

#define SHOW_JOBS_MOST 1024u

/* @text: NULL: leaves @ret. */
static int show_check_jobs(const char *text, uint64_t *ret, struct err *err)
{
	if (!text || (parse_u64(text, ret) == 0 && *ret && *ret <= SHOW_JOBS_MOST))
		return 0;
	return err_set(err, ERR_INVALID, "--threads=%s: a number from 1 to %u", text,
		       SHOW_JOBS_MOST);
}

/* By default, as many as the process may use CPUs. */
static unsigned int show_jobs(const struct show_options *options)
{
	uint64_t jobs = 1;
	cpu_set_t cpus;

	if (!options->jobs && sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		jobs = (uint64_t)CPU_COUNT(&cpus);
	(void)!show_check_jobs(options->jobs, &jobs, &(struct err){ 0 });
	return (unsigned int)jobs;
}

static bool is_color(const char *when)
{
	return strcmp(when, "auto") == 0 || strcmp(when, "always") == 0 ||
	       strcmp(when, "never") == 0;
}

static bool show_sorts(const struct show_options *options)
{
	return options->longest || (options->sort && strcmp(options->sort, "duration") == 0);
}

static int check_order(const struct show_options *options, struct err *err)
{
	uint64_t nr;

	if (options->sort && strcmp(options->sort, "time") != 0 && !show_sorts(options))
		return err_set(err, ERR_INVALID, "--sort=%s: time or duration", options->sort);
	if (options->longest && options->limit)
		return err_set(err, ERR_INVALID,
			       "--longest has the number of events; leave --limit out");
	if (show_sorts(options) && options->summary)
		return err_set(err, ERR_INVALID, "--%s: --summary shows no events",
			       options->longest ? "longest" : "sort");
	return check_number("longest", options->longest, &nr, err);
}

/* Without a duration there is no output. */
static bool asks_for_durations(const struct show_options *options)
{
	return show_sorts(options) || (options->where && view_where_has_duration(options->where));
}

static bool show_has_table(const struct show_options *options)
{
	return options->columns || options->csv;
}

static int show_make_columns(const struct show_options *options, struct columns **ret,
			     struct err *err)
{
	return columns_new(options->columns, options->csv, options->delta, ret, err);
}

static int show_check_columns(const struct show_options *options, struct err *err)
{
	const char *name = options->columns ? "columns" : "csv";
	struct columns *columns;

	if (!show_has_table(options))
		return 0;
	if (options->json || options->summary)
		return err_set(err, ERR_INVALID, "--%s and --%s exclude each other", name,
			       options->json ? "json" : "summary");
	if (show_make_columns(options, &columns, err) != 0)
		return err->code;
	columns_free(columns);
	return 0;
}

int show_check(const struct show_options *options, struct err *err)
{
	uint64_t limit, jobs;
	char why[1024];

	if (check_number("limit", options->limit, &limit, err) != 0 ||
	    show_check_jobs(options->jobs, &jobs, err) != 0 ||
	    check_order(options, err) != 0)
		return err->code;
	if (options->color && !is_color(options->color))
		return err_set(err, ERR_INVALID, "--color=%s: auto, always or never",
			       options->color);
	if (show_check_columns(options, err) != 0)
		return err->code;
	if (options->pair) {
		struct pairs *pairs = pairs_new(options->pair, why, sizeof(why));

		if (!pairs)
			return err_set(err, ERR_INVALID, "--pair=%s: %s", options->pair, why);
		pairs_free(pairs);
	}
	for (char **word = options->guests; word && *word; word++)
		if (guest_check_word(*word, err) != 0)
			return err->code;
	if (options->where && view_check_where(options->where, why, sizeof(why)) != 0)
		return err_set(err, ERR_INVALID, "--where: %s", why);
	return 0;
}

bool show_has_colors(int fd)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	return !(no && *no) && term && strcmp(term, "dumb") != 0 && screen_has(fd);
}

static bool use_color(const char *when)
{
	if (when && strcmp(when, "auto") != 0)
		return strcmp(when, "always") == 0;
	return show_has_colors(STDOUT_FILENO);
}

int show_origin(const char *path, bool relay_clock, int64_t *ret_ns, struct err *err)
{
	const struct view_select first = { .hidden = VIEW_STATEDUMP, .limit = 1 };
	const struct view_summary *summary;
	struct view *view;
	int rc;

	if (show_open(path, relay_clock, NULL, NULL, &view, err) != 0)
		return err->code;
	rc = view_scan(view, &first);
	if (rc == 0)
		rc = view_summary(view, &summary);
	if (rc == 0)
		*ret_ns = summary->first_ns;
	view_free(view);
	return rc ? err_errno(err, ERR_OUTPUT, -rc, "can't read %s", path) : 0;
}

/* +SECONDS[.frac], as reports have them. */
static int show_take_offset(const char *text, const char *path, bool relay_clock, int64_t *ret_ns,
			    struct err *err)
{
	int64_t origin_ns;
	char *end;
	double s = strtod(text + 1, &end);

	if (text[1] < '0' || text[1] > '9' || *end || s > INT32_MAX)
		return err_set(err, ERR_INVALID, "'%s' is not a time; +SECONDS[.frac] is", text);
	if (show_origin(path, relay_clock, &origin_ns, err) != 0)
		return err->code;
	*ret_ns = origin_ns + (int64_t)(s * 1e9 + 0.5);
	return 0;
}

static int show_take_time(struct view *view, const char *path, const struct show_options *options,
			  const char *text, int64_t *ret_ns, struct err *err)
{
	if (!text)
		return 0;
	if (*text == '+')
		return show_take_offset(text, path, options->relay_clock, ret_ns, err);
	if (view_parse_time(view, text, options->gmt, ret_ns) == 0)
		return 0;
	return err_set(err, ERR_INVALID,
		       "'%s' is not a time; HH:MM[:SS[.frac]], YYYY-MM-DD[ HH:MM[:SS[.frac]]], "
		       "seconds since 1970 and +SECONDS since the first event are",
		       text);
}

static int show_take_times(struct view *view, const char *path, const struct show_options *options,
			   struct view_select *ret, struct err *err)
{
	ret->has_begin = options->begin;
	ret->has_end = options->end;
	if (show_take_time(view, path, options, options->begin, &ret->begin_ns, err) != 0)
		return err->code;
	return show_take_time(view, path, options, options->end, &ret->end_ns, err);
}

int show_times(const char *path, const struct show_options *options, struct view_select *ret,
	       struct err *err)
{
	struct view *view = NULL;

	*ret = (struct view_select){ 0 };
	if (!path || show_open(path, options->relay_clock, NULL, NULL, &view, err) == 0)
		(void)!show_take_times(view, path, options, ret, err);
	view_free(view);
	return err->code;
}

/* Patterns may name events of state dumps. */
int show_select(struct view *view, const char *path, const struct show_options *options,
		struct pairs *pairs, struct view_select *ret, struct err *err)
{
	*ret = (struct view_select){
		.names = options->events,
		.processes = options->processes,
		.threads = options->threads,
		.pairs = pairs,
		.where = options->where,
	};
	if (!options->statedump && !options->events)
		ret->hidden = VIEW_STATEDUMP;
	if (!pairs && options->where && view_where_has_duration(options->where))
		return err_set(err, ERR_INVALID,
			       "--where: $duration is known to 'lttctl view' alone");
	if (check_number("limit", options->longest ? options->longest : options->limit, &ret->limit,
			 err) != 0)
		return err->code;
	return show_take_times(view, path, options, ret, err);
}

bool show_selects(const struct show_options *options)
{
	return options->events || options->processes || options->threads || options->where ||
	       options->begin || options->end;
}

/* --- after the events ----------------------------------------------------------------- */

/* Empty output, and events that the output lacks, get a sentence. */
static void note_missing(const struct show *show, const struct view_summary *summary)
{
	char buf[TEXT_BYTES];

	if (summary->hidden)
		SHOW_NOTE(show, "%s event%s of state dumps %s not shown; --statedump shows %s",
			  text_count(buf, summary->hidden), text_plural(summary->hidden),
			  summary->hidden == 1 ? "is" : "are",
			  summary->hidden == 1 ? "it" : "them");
	else if (summary->where_never)
		SHOW_WARN(show, "--where can't hold for any event of this trace: %s",
			  summary->where_never);
	else if (!summary->events)
		SHOW_NOTE(show, "%s",
			  show_selects(show->options) ?
				  "no event of this trace matches the options" :
				  "this trace has no events");
	if (summary->without_task)
		SHOW_NOTE(show,
			  "%s event%s without the contexts vpid, vtid and procname (of the kernel: "
			  "pid, tid and procname) %s not shown; 'lttctl record' and 'lttctl "
			  "add-context' add them",
			  text_count(buf, summary->without_task),
			  text_plural(summary->without_task),
			  summary->without_task == 1 ? "is" : "are");
}

static void note_named_pairs(const struct show *show)
{
	const struct pairs_named *named;
	char buf[TEXT_BYTES];

	for (uint32_t i = 0; (named = pairs_named(show->pairs, i)); i++) {
		if (!named->begins || !named->ends)
			SHOW_NOTE(show, "--pair: none of these events is '%s'%s%s%s",
				  named->begins ? named->end : named->begin,
				  named->begins || named->ends ? "" : ", and none '",
				  named->begins || named->ends ? "" : named->end,
				  named->begins || named->ends ? "" : "'");
		if (named->keyless)
			SHOW_NOTE(
				show,
				"--pair: %s event%s '%s' or '%s' %s no field '%s' that is a number "
				"or a text; no duration is known",
				text_count(buf, named->keyless), text_plural(named->keyless),
				named->begin, named->end, named->keyless == 1 ? "has" : "have",
				named->key);
	}
}

/* Pairs that are not whole. */
static void note_pairs(const struct show *show)
{
	struct pairs_rest rest = pairs_left(show->pairs);
	char buf[TEXT_BYTES];

	if (rest.open)
		SHOW_NOTE(show, "%s entr%s without an exit among these events",
			  text_count(buf, rest.open), rest.open == 1 ? "y is" : "ies are");
	if (rest.alone)
		SHOW_NOTE(show,
			  "%s exit%s without an entry among these events; no duration is known",
			  text_count(buf, rest.alone), rest.alone == 1 ? " is" : "s are");
	if (rest.forgotten)
		SHOW_NOTE(show,
			  "%s entr%s forgotten, as %u later ones were open; no duration is known",
			  text_count(buf, rest.forgotten),
			  rest.forgotten == 1 ? "y was" : "ies were", PAIRS_OPEN_MOST);
	if (rest.lossy)
		SHOW_NOTE(
			show,
			"events were lost during %s of the durations; these may be those of other "
			"entries",
			text_count(buf, rest.lossy));
	if (rest.nowhere)
		SHOW_NOTE(show,
			  "%s event%s of pairs %s no thread (context vtid, of the kernel: tid); no "
			  "duration is known",
			  text_count(buf, rest.nowhere), text_plural(rest.nowhere),
			  rest.nowhere == 1 ? "has" : "have");
	if (!rest.ended && asks_for_durations(show->options))
		SHOW_NOTE(show, "no event has a duration: of the selected ones none ends a system "
				"call, a function or a pair that --pair names");
	note_named_pairs(show);
}

static void note_names(const struct show *show)
{
	char buf[TEXT_BYTES];

	if (show->names.unknown)
		SHOW_NOTE(
			show,
			"addresses of %s event%s have no names: the trace has no state dump of the "
			"process, or the event has no context vpid",
			text_count(buf, show->names.unknown), text_plural(show->names.unknown));
}

/* Of a trace that is stored it is an error before the events. */
static void note_columns(const struct show *show)
{
	char *unknown AUTO_FREE = show->columns ? columns_unknown(show->columns, show->view) : NULL;

	if (unknown)
		show->host->warn(show->host->priv, unknown);
}

static void note_guest_faults(const struct show *show, const struct guest *guest)
{
	const struct guests *guests = show->guests;
	bool assumed = false;

	for (size_t i = 0; i < guest->nr_vcpus; i++)
		assumed = assumed || guest->vcpus[i].assumed;
	if (guest->any && guests->begin_ns <= guests->end_ns &&
	    (guest->last_ns < guests->begin_ns || guest->first_ns > guests->end_ns))
		SHOW_WARN(show,
			  "--guest=%s: all times of the guest are outside of those of its host; "
			  "the trace is of another time, or that of another guest",
			  guest->word);
	if (guest->differ && guest->unmatched)
		SHOW_WARN(
			show,
			"--guest=%s: the counters of its virtual CPUs differ, and the host's trace "
			"has no virtual CPU %" PRId32 "; times of this CPU may be wrong",
			guest->word, (int32_t)guest->unmatched_cpu);
	if (guest->lost_scales)
		SHOW_WARN(show,
			  "--guest=%s: the counter was changed more than %u times; later times are "
			  "wrong",
			  guest->word, GUEST_SCALES_MAX);
	if (guest->went_back)
		SHOW_WARN(show,
			  "--guest=%s: the counter of the guest or of its host went back while it "
			  "was traced; times after this may be wrong",
			  guest->word);
	if (assumed)
		SHOW_NOTE(
			show,
			"--guest=%s: the scaling of its counter is not recorded, so there is none; "
			"'lttctl regenerate statedump' on the host records it",
			guest->word);
}

static void note_guests(const struct show *show)
{
	char buf[TEXT_BYTES];

	for (size_t i = 0; show->guests && i < show->guests->nr; i++) {
		const struct guest *guest = &show->guests->guests[i];

		SHOW_NOTE(show,
			  "times of guest %" PRIu64 " (%s) are by its host's clock, with an "
			  "uncertainty of %s ns",
			  guest->pid, guest->dir, text_count(buf, guest->uncertainty_ns));
		note_guest_faults(show, guest);
	}
}

/* Packets without one event to show are no empty trace. */
static bool is_unreadable(const struct show *show, const struct view_summary *summary)
{
	uint64_t held = summary->skipped_bytes + summary->problems;

	for (size_t i = 0; i < summary->nr_streams; i++)
		held += summary->streams[i].events;
	return held && !summary->events && !summary->hidden && !show_selects(show->options);
}

static void warn_conflicts(const struct show *show, const struct view_summary *summary)
{
	for (size_t i = 0; i < summary->nr_conflicts; i++)
		SHOW_WARN(show,
			  "marker '%s' of process %" PRIu32 " was not recorded: its format is "
			  "\"%s\", but \"%s\" is recorded under this name",
			  summary->conflicts[i].name, summary->conflicts[i].pid,
			  summary->conflicts[i].refused, summary->conflicts[i].armed);
}

char *show_lost_buffers(const char *name, uint64_t nr)
{
	char buf[TEXT_BYTES];

	return xasprintf(
		"%s: %s buffer%s lost, with an unknown number of events: a consumer daemon died, "
		"and its successor did not find the memory of the buffer (run ltt-sessiond under a "
		"service manager, which stores it, too) or could not continue the files of the "
		"trace",
		name, text_count(buf, nr), nr == 1 ? " is" : "s are");
}

/* Packets have one count for all full buffers, also where nothing could be written. */
static const char *lost_why(enum view_lost cause)
{
	return cause == VIEW_LOST_FULL ?
		       "buffer full, also where the disk was slow or could not be written" :
		       view_lost_name(cause);
}

static void warn_losses(const struct show *show, const struct view_summary *summary)
{
	char buf[TEXT_BYTES];

	for (size_t i = 0; i < VIEW_NR_LOST; i++)
		if (summary->lost_by[i])
			SHOW_WARN(show,
				  "%s event%s of this trace were lost when it was recorded: %s",
				  text_count(buf, summary->lost_by[i]),
				  text_plural(summary->lost_by[i]), lost_why((enum view_lost)i));
	if (summary->lost_before && show->path)
		SHOW_WARN(show,
			  "%s event%s were lost before the end of the oldest packet; older ones "
			  "have been discarded",
			  text_count(buf, summary->lost_before), text_plural(summary->lost_before));
	warn_conflicts(show, summary);
	if (summary->lost_buffers) {
		char *sentence AUTO_FREE = show_lost_buffers("this trace", summary->lost_buffers);

		show->host->warn(show->host->priv, sentence);
	}
}

/* A closed pipe is no error. */
static enum show_result show_failure(int rc, struct err *err)
{
	if (rc == -EPIPE)
		return SHOW_DONE;
	err_errno(err, ERR_OUTPUT, -rc, "can't show the trace");
	return SHOW_FAILED;
}

enum show_result show_verdict(const struct view_summary *summary)
{
	if (summary->problems)
		return SHOW_DAMAGED;
	if (summary->where_never || summary->relay_clock_unknown)
		return SHOW_WARNING;
	return summary->lost || summary->lost_before || summary->lost_buffers ? SHOW_LOST :
										SHOW_DONE;
}

int show_exit_status(enum show_result result)
{
	static const int statuses[] = {
		[SHOW_DONE] = 0,    [SHOW_FAILED] = 1, [SHOW_DAMAGED] = 3,
		[SHOW_WARNING] = 4, [SHOW_LOST] = 6,
	};

	return statuses[result];
}

/* Losses and damage are reported after the events, so that they are noticed. */
static enum show_result show_conclude(const struct show *show, struct view_style *style,
				      struct err *err)
{
	const struct view_summary *summary;
	char buf[TEXT_BYTES];
	bool unreadable;
	int rc;

	if (show->path)
		view_check_files(show->view);
	if (view_summary(show->view, &summary) != 0)
		return SHOW_DONE;
	unreadable = show->path && is_unreadable(show, summary);
	style->status = show_exit_status(show_verdict(summary));
	if (show->options->summary && !(unreadable && show->options->json)) {
		rc = view_summary_print(summary, style, stdout);
		if (rc != 0)
			return show_failure(rc, err);
	} else if (!show->options->summary) {
		if (!unreadable)
			note_missing(show, summary);
		if (show->pairs)
			note_pairs(show);
		note_names(show);
		note_columns(show);
		warn_losses(show, summary);
	}
	note_guests(show);
	if (unreadable) {
		err_set(err, ERR_OUTPUT,
			"no event of this trace can be read, but it has %s bytes of streams",
			text_count(buf, summary->bytes));
		return SHOW_FAILED;
	}
	return show_verdict(summary);
}

/* --- all of it -------------------------------------------------------------------------- */

/* A live session may declare more at any time. */
static int show_check_names(const struct show *show, struct err *err)
{
	char *unknown AUTO_FREE =
		show->columns && !show->grows ? columns_unknown(show->columns, show->view) : NULL;

	return unknown ? err_set(err, ERR_INVALID, "%s", unknown) : 0;
}

static enum show_result show_events(struct show *show, struct err *err)
{
	const struct show_options *options = show->options;
	struct view_style style = {
		.format = options->json ? VIEW_JSON : VIEW_TEXT,
		.color = !options->json && use_color(options->color),
		.clock_seconds = options->seconds,
		.clock_date = options->date,
		.clock_gmt = options->gmt,
		.loglevel = options->loglevel,
		.tasks = !options->raw,
		.brief = screen_has(STDOUT_FILENO),
		.columns = screen_columns(STDOUT_FILENO),
		.delta = options->delta,
		.table = show->columns,
		.names = show->names.objects ? &show->names : NULL,
		.threads = show_jobs(options),
	};
	int rc;

	if (show_check_names(show, err) != 0 ||
	    show_select(show->view, show->path, options, show->pairs, &show->selection, err) != 0)
		return SHOW_FAILED;
	if (show_sorts(options)) {
		style.longest = show->selection.limit ? show->selection.limit : UINT64_MAX;
		show->selection.limit = 0;
	}
	rc = options->summary ? view_scan(show->view, &show->selection) :
				view_print(show->view, &show->selection, &style, stdout);
	if (rc == 0)
		return show_conclude(show, &style, err);
	return show_failure(rc, err);
}

int show_open(const char *path, bool relay_clock, view_report_fn report, void *priv,
	      struct view **ret, struct err *err)
{
	int rc = (relay_clock ? view_open_relay : view_open)(path, report, priv, ret);

	return rc ? view_open_failed(path, rc, err) : 0;
}

int show_objects(const char *path, bool relay_clock, struct objects **ret, struct err *err)
{
	struct view *view;
	int rc;

	if (show_open(path, relay_clock, NULL, NULL, &view, err) != 0)
		return err->code;
	rc = objects_read(view, ret);
	view_free(view);
	return rc ? err_errno(err, ERR_OUTPUT, -rc, "can't read %s", path) : 0;
}

/* The options are checked. */
static void show_make_parts(struct show *show)
{
	const struct show_options *options = show->options;
	struct err ignored = { 0 };

	if (show_has_table(options))
		(void)!show_make_columns(options, &show->columns, &ignored);
	if (options->durations || options->pair || asks_for_durations(options) ||
	    (show->columns && columns_have_duration(show->columns)))
		show->pairs = pairs_new(options->pair, NULL, 0);
}

static int open_with_guests(struct show *show, const char *path, struct err *err)
{
	const struct show_options *options = show->options;
	const struct view_host *host = show->host;
	int rc;

	if (!options->guests && options->relay_clock)
		return show_open(path, true, host->warn, host->priv, &show->view, err);
	if (!options->guests) {
		rc = view_open_to_print(path, host->warn, host->priv, &show->view);
		return rc ? view_open_failed(path, rc, err) : 0;
	}
	if (guests_open(path, options->relay_clock, options->guests, &show->guests, err) != 0)
		return err->code;
	rc = view_open_guests(path, options->relay_clock, show->guests, host->warn, host->priv,
			      &show->view);
	if (rc && show->guests->err.code)
		*err = show->guests->err;
	else if (rc)
		view_open_failed(path, rc, err);
	if (rc)
		guests_free(show->guests);
	return rc ? err->code : 0;
}

enum show_result show_live(const struct live_session *session, const struct show_options *options,
			   const struct view_host *host, struct err *err)
{
	struct show show = { .grows = true, .options = options, .host = host };
	enum show_result result = SHOW_FAILED;
	int rc = view_open_live(session, host->warn, host->priv, &show.view);

	if (rc) {
		if (rc == -ENOENT)
			err_set(err, ERR_NO_SESSION, "the relay does not have this live session");
		else
			err_errno(err, ERR_OUTPUT, -rc, "can't follow the live session");
		return SHOW_FAILED;
	}
	show_make_parts(&show);
	result = show_events(&show, err);
	pairs_free(show.pairs);
	columns_free(show.columns);
	view_free(show.view);
	return result;
}

enum show_result show_growing(const char *path, const struct tail_session *session,
			      const struct show_options *options, const struct view_host *host,
			      struct err *err)
{
	struct show show = {
		.path = path, .grows = true, .options = options, .host = host
	};
	enum show_result result = SHOW_FAILED;
	int rc = view_open_tail(path, session, host->warn, host->priv, &show.view);

	if (rc) {
		view_open_failed(path, rc, err);
		return SHOW_FAILED;
	}
	show_make_parts(&show);
	result = show_events(&show, err);
	pairs_free(show.pairs);
	columns_free(show.columns);
	view_free(show.view);
	return result;
}

enum show_result show_trace(const char *path, const struct show_options *options,
			    const struct view_host *host, struct err *err)
{
	struct show show = { .path = path, .options = options, .host = host, .names.host = host };
	enum show_result result = SHOW_FAILED;

	if (options->symbols && !host->name) {
		err_set(err, ERR_UNSUPPORTED,
			"--symbols: this program can't name addresses; use lttctl view --symbols");
		return SHOW_FAILED;
	}
	if (open_with_guests(&show, path, err) != 0)
		return SHOW_FAILED;
	show_make_parts(&show);
	if (!options->symbols ||
	    show_objects(path, options->relay_clock, &show.names.objects, err) == 0)
		result = show_events(&show, err);
	objects_free(show.names.objects);
	pairs_free(show.pairs);
	columns_free(show.columns);
	view_free(show.view);
	guests_free(show.guests);
	return result;
}
