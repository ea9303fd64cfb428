/* SPDX-License-Identifier: GPL-2.0-only */
/* view.c - lttctl view [SESSION | DIR]: print a trace as text, its streams merged by time. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/own.h"
#include "ctl/live.h"
#include "ctl/live_text.h"
#include "ctl/loss.h"
#include "ctl/options.h"
#include "ctl/print.h"
#include "ctl/text.h"
#include "view/view.h"
#include "ctl/viewing.h"

static struct {
	char *viewer, *trace_path, *begin, *end, *events, *processes, *threads, *where, *limit,
		*color, *in_tunnel;
	int seconds, date, gmt, loglevel, raw, statedump, relay_clock, summary, live, wait,
		clear_text;
} opt;

static struct view_select selection;

static const struct poptOption options[] = {
	OPTION_TEXT("trace-path", 't', &opt.trace_path, "view what is below this directory", "DIR"),
	OPTION_TEXT("viewer", 'e', &opt.viewer, "run this program on the trace instead", "READER"),
	OPTION_FLAG("live", 0, &opt.live, "follow a live session, by its name or net:// URL"),
	OPTION_FLAG("clear-text", 0, &opt.clear_text,
		    "with --live: follow one at another machine without TLS"),
	OPTION_FLAG("wait", 0, &opt.wait, "with --live: wait until the session exists"),
	{ "in-tunnel", 0, POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, &opt.in_tunnel, 0, NULL,
	  NULL },
	OPTION_TEXT("events", 0, &opt.events, "only events with such names", "PATTERN[,...]"),
	OPTION_TEXT("process", 0, &opt.processes, "only events of these processes",
		    "NAME|PID[,...]"),
	OPTION_TEXT("thread", 0, &opt.threads, "only events of these threads", "NAME|TID[,...]"),
	OPTION_TEXT("where", 0, &opt.where, "only events for which it holds", "EXPRESSION"),
	OPTION_FLAG("statedump", 0, &opt.statedump, "events of state dumps, too"),
	OPTION_TEXT("begin", 0, &opt.begin, "from this time on", "TIME"),
	OPTION_TEXT("end", 0, &opt.end, "up to this time", "TIME"),
	OPTION_TEXT("limit", 0, &opt.limit, "at most this number of events", "N"),
	OPTION_FLAG("summary", 0, &opt.summary, "only a summary of the events"),
	OPTION_FLAG("clock-seconds", 0, &opt.seconds, "times as seconds since 1970"),
	OPTION_FLAG("clock-date", 0, &opt.date, "times with their date"),
	OPTION_FLAG("clock-gmt", 0, &opt.gmt, "times in UTC"),
	OPTION_FLAG("relay-clock", 0, &opt.relay_clock,
		    "times by the clock of the relay that stored the traces"),
	OPTION_FLAG("loglevel", 0, &opt.loglevel, "show each event's log level"),
	OPTION_FLAG("raw", 0, &opt.raw, "process and thread as fields, as babeltrace2 prints them"),
	OPTION_TEXT("color", 0, &opt.color, "auto (default), always or never", "WHEN"),
	POPT_TABLEEND,
};

static void view_verb_cleanup_view(struct view **view)
{
	view_free(*view);
}

/* @before: words in front of the viewer's, ends with NULL. Return: allocated; NULL: ctl->err is
 * set. */
static char **viewer_command(struct ctl *ctl, const char *const *before, const char *viewer,
			     const char *path)
{
	static const char **words; /* one command in each run of this program */
	size_t nr = 0, nr_before = 0;
	char **argv;
	int argc = 0;

	if (poptParseArgvString(viewer, &argc, &words) != 0 || argc == 0) {
		err_set(&ctl->err, ERR_INVALID, "--viewer='%s' is not a command", viewer);
		return NULL;
	}
	while (before[nr_before])
		nr_before++;
	argv = xalloc((nr_before + (size_t)argc + 2) * sizeof(*argv));
	for (; nr < nr_before; nr++)
		argv[nr] = (char *)before[nr];
	memcpy(argv + nr, words, (size_t)argc * sizeof(*argv));
	argv[nr + (size_t)argc] = (char *)path;
	return argv;
}

/* Does not return if it works. */
static enum status run_viewer(struct ctl *ctl, const char *const *before, const char *viewer,
			      const char *path)
{
	char **argv AUTO_FREE = viewer_command(ctl, before, viewer, path);

	if (!argv)
		return STATUS_ERROR;
	signal(SIGPIPE, ctl->sigpipe);
	execvp(argv[0], argv);
	err_errno(&ctl->err, ERR_INVALID, errno, "the viewer '%s' can't be run", argv[0]);
	return STATUS_ERROR;
}

#define LIVE_VIEWER "babeltrace2 --input-format=lttng-live"

static enum status run_live_viewer(struct ctl *ctl, const char *const *before, const char *url)
{
	char **argv AUTO_FREE = NULL;
	int status;

	if (opt.viewer || opt.raw)
		return run_viewer(ctl, before, opt.viewer ? opt.viewer : LIVE_VIEWER, url);
	argv = viewer_command(ctl, before, LIVE_VIEWER, url);
	status = argv ? live_text_run(argv, ctl->sigpipe, &ctl->err) : -1;
	return status < 0 ? STATUS_ERROR : (enum status)status;
}

static bool use_color(void)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	if (opt.color && strcmp(opt.color, "auto") != 0)
		return strcmp(opt.color, "always") == 0;
	if (no && *no)
		return false;
	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static int check_words(struct ctl *ctl)
{
	char why[1024];

	if (opt.trace_path && operand(ctl, 0))
		return err_set(&ctl->err, ERR_INVALID,
			       "a session and --trace-path exclude each other");
	if (opt.limit && (parse_u64(opt.limit, &selection.limit) != 0 || !selection.limit))
		return err_set(&ctl->err, ERR_INVALID, "--limit=%s: this is not a number of events",
			       opt.limit);
	if (opt.color && strcmp(opt.color, "auto") != 0 && strcmp(opt.color, "always") != 0 &&
	    strcmp(opt.color, "never") != 0)
		return err_set(&ctl->err, ERR_INVALID, "--color=%s: auto, always or never",
			       opt.color);
	selection.names = opt.events;
	selection.processes = opt.processes;
	selection.threads = opt.threads;
	selection.where = opt.where;
	if (opt.where && view_check_where(opt.where, why, sizeof(why)) != 0)
		return err_set(&ctl->err, ERR_INVALID, "--where: %s", why);
	return 0;
}

#define WAIT_MOST_MS 1000

/* A viewer ends in silence where there is nothing to follow. @live: the session. */
static int find_live(struct ctl *ctl, const struct live_url *live)
{
	int wait_ms = 50;

	while (live_find(live, &ctl->err) != 0) {
		if (!opt.wait)
			return ctl->err.code;
		if (wait_ms == 50)
			print_note(ctl, "%s; waiting for it", ctl->err.text);
		ctl->err = (struct err){ 0 };
		poll(NULL, 0, wait_ms);
		wait_ms = MIN(2 * wait_ms, WAIT_MOST_MS);
	}
	return 0;
}

/* Viewers can't speak TLS: ltt-tunnel does it for this verb, which it runs once more. */
static enum status run_by_tls(struct ctl *ctl, const char *url)
{
	AUTO_FREE char *tunnel = own_program("ltt-tunnel"), *self = own_program("lttctl");
	const char *argv[13] = { tunnel, url, self, "view", "--live", "--in-tunnel", url };
	int argc = 7;

	if (ctl->quiet)
		argv[argc++] = "--quiet";
	if (opt.wait)
		argv[argc++] = "--wait";
	if (opt.raw)
		argv[argc++] = "--raw";
	if (opt.viewer) {
		argv[argc++] = "--viewer";
		argv[argc++] = opt.viewer;
	}
	argv[argc] = NULL;
	signal(SIGPIPE, ctl->sigpipe);
	execvp(argv[0], (char **)argv);
	err_errno(&ctl->err, ERR_INVALID, errno, "'%s' can't be run", argv[0]);
	return STATUS_ERROR;
}

/* The user's own program needs the tunnel's address; other output has the relay's. */
static enum status list_live(struct ctl *ctl, const struct live_url *live)
{
	uint32_t nr;

	if (live_list(live, opt.in_tunnel ? "tls://" : "net://", stdout, &nr, &ctl->err) != 0)
		return STATUS_ERROR;
	if (!nr)
		print_note(ctl, "the relay at %s has no live session that you may follow",
			   live->shown);
	return STATUS_OK;
}

/* The built-in reader reads files; live streams are read by babeltrace2. It ends when
 * its relay does, so it follows a session through ltt-tunnel, too. */
static enum status run_live(struct ctl *ctl)
{
	AUTO_FREE char *url = viewing_live(ctl, operand(ctl, 0), opt.clear_text);
	AUTO_FREE char *tunnel = own_program("ltt-tunnel");
	const char *by_itself[] = { NULL }, *by_tunnel[] = { tunnel, url, NULL };
	struct live_url live;

	if (!url)
		return STATUS_ERROR;
	if (strncmp(url, "tls://", 6) == 0)
		return run_by_tls(ctl, url);
	if (live_url_parse(url, opt.in_tunnel, &live) != 0 || (!live.session && opt.viewer))
		return run_viewer(ctl, by_itself, opt.viewer ? opt.viewer : LIVE_VIEWER, url);
	if (!live.session)
		return list_live(ctl, &live);
	if (find_live(ctl, &live) != 0)
		return STATUS_ERROR;
	if (opt.in_tunnel)
		return run_live_viewer(ctl, by_itself, url);
	return run_live_viewer(ctl, by_tunnel, NULL);
}

static int check_live(struct ctl *ctl)
{
	if (!opt.live || !(opt.trace_path || opt.begin || opt.end || opt.events || opt.processes ||
			   opt.threads || opt.where || opt.limit || opt.statedump ||
			   opt.relay_clock || opt.color || opt.seconds || opt.date || opt.gmt ||
			   opt.loglevel || opt.summary || ctl->json))
		return 0;
	return err_set(&ctl->err, ERR_INVALID,
		       "with --live babeltrace2 prints, and has options of its own: "
		       "--viewer='babeltrace2 --input-format=lttng-live --clock-gmt'");
}

static enum status view_verb_check(struct ctl *ctl)
{
	if (opt.wait && !opt.live) {
		err_set(&ctl->err, ERR_INVALID, "--wait: only with --live");
		return STATUS_ERROR;
	}
	if (check_live(ctl) != 0)
		return STATUS_ERROR;
	return check_words(ctl) == 0 ? STATUS_OK : STATUS_ERROR;
}

static int take_time(struct ctl *ctl, struct view *view, const char *text, bool *ret_has,
		     int64_t *ret_ns)
{
	if (!text)
		return 0;
	*ret_has = true;
	if (view_parse_time(view, text, opt.gmt, ret_ns) == 0)
		return 0;
	return err_set(&ctl->err, ERR_INVALID,
		       "'%s' is not a time; HH:MM[:SS[.frac]], YYYY-MM-DD[ HH:MM[:SS[.frac]]] or "
		       "seconds since 1970 are",
		       text);
}

static void view_verb_report(void *priv, const char *sentence)
{
	print_warning(priv, "%s", sentence);
}

static bool is_chosen(void)
{
	return selection.names || selection.processes || selection.threads || selection.where ||
	       selection.has_begin || selection.has_end;
}

/* Empty output, and events that the output lacks, get a sentence. */
static void note_missing(struct ctl *ctl, const struct view_summary *summary)
{
	char buf[TEXT_BYTES];

	if (summary->hidden)
		print_note(ctl, "%s event%s of state dumps %s not shown; --statedump shows %s",
			   text_count(buf, summary->hidden), text_plural(summary->hidden),
			   summary->hidden == 1 ? "is" : "are",
			   summary->hidden == 1 ? "it" : "them");
	else if (summary->where_never)
		print_warning(ctl, "--where can't hold for any event of this trace: %s",
			      summary->where_never);
	else if (!summary->events)
		print_note(ctl, is_chosen() ? "no event of this trace matches the options" :
					      "this trace has no events");
	if (summary->without_task)
		print_note(
			ctl,
			"%s event%s without the contexts vpid, vtid and procname (of the kernel: "
			"pid, tid and procname) %s not shown; 'lttctl record' and 'lttctl "
			"add-context' add them",
			text_count(buf, summary->without_task), text_plural(summary->without_task),
			summary->without_task == 1 ? "is" : "are");
}

/* Packets without one event to show are no empty trace. */
static bool is_unreadable(const struct view_summary *summary)
{
	uint64_t held = summary->skipped_bytes + summary->problems;

	for (size_t i = 0; i < summary->nr_streams; i++)
		held += summary->streams[i].events;
	return held && !summary->events && !summary->hidden && !is_chosen();
}

static void warn_conflicts(struct ctl *ctl, const struct view_summary *summary)
{
	for (size_t i = 0; i < summary->nr_conflicts; i++)
		print_warning(ctl,
			      "marker '%s' of process %" PRIu32 " was not recorded: its format is "
			      "\"%s\", but \"%s\" is recorded under this name",
			      summary->conflicts[i].name, summary->conflicts[i].pid,
			      summary->conflicts[i].refused, summary->conflicts[i].armed);
}

/* Losses and damage are reported after the events, so that they are noticed. */
static enum status view_verb_conclude(struct ctl *ctl, struct view *view,
				      const struct view_style *style)
{
	const struct view_summary *summary;
	char buf[TEXT_BYTES];

	if (view_summary(view, &summary) != 0)
		return STATUS_OK;
	if (opt.summary && view_summary_print(summary, style, stdout) != 0)
		return STATUS_OK; /* main.c reports errors of stdout */
	if (!opt.summary && !is_unreadable(summary))
		note_missing(ctl, summary);
	for (size_t i = 0; i < VIEW_NR_LOST && !opt.summary; i++)
		if (summary->lost_by[i])
			print_warning(ctl,
				      "%s event%s of this trace were lost when it was recorded: "
				      "%s",
				      text_count(buf, summary->lost_by[i]),
				      text_plural(summary->lost_by[i]),
				      view_lost_name((enum view_lost)i));
	if (summary->lost_before && !opt.summary)
		print_warning(ctl,
			      "%s event%s were lost before the end of the oldest packet; older "
			      "ones have been discarded",
			      text_count(buf, summary->lost_before),
			      text_plural(summary->lost_before));
	if (!opt.summary)
		warn_conflicts(ctl, summary);
	if (!opt.summary)
		(void)loss_unknown(ctl, "this trace", summary->lost_buffers);
	if (is_unreadable(summary)) {
		err_set(&ctl->err, ERR_OUTPUT,
			"no event of this trace can be read, but it has %s bytes of streams",
			text_count(buf, summary->bytes));
		return STATUS_ERROR;
	}
	return summary->problems || summary->where_never ? STATUS_WARNING : STATUS_OK;
}

static enum status view_verb_show(struct ctl *ctl, struct view *view)
{
	struct view_style style = {
		.format = ctl->json ? VIEW_JSON : VIEW_TEXT,
		.color = !ctl->json && use_color(),
		.clock_seconds = opt.seconds,
		.clock_date = opt.date,
		.clock_gmt = opt.gmt,
		.loglevel = opt.loglevel,
		.tasks = !opt.raw,
	};
	int rc;

	if (take_time(ctl, view, opt.begin, &selection.has_begin, &selection.begin_ns) != 0 ||
	    take_time(ctl, view, opt.end, &selection.has_end, &selection.end_ns) != 0)
		return STATUS_ERROR;
	/* A summary counts all that was recorded; patterns may name events of state dumps. */
	if (!opt.statedump && !opt.summary && !opt.events)
		selection.hidden = VIEW_STATEDUMP;
	rc = opt.summary ? view_scan(view, &selection) :
			   view_print(view, &selection, &style, stdout);
	if (rc == 0)
		return view_verb_conclude(ctl, view, &style);
	if (rc == -EPIPE)
		return STATUS_OK;
	err_errno(&ctl->err, ERR_OUTPUT, -rc, "can't show the trace");
	return STATUS_ERROR;
}

static enum status view_verb_run(struct ctl *ctl)
{
	struct view *view CLEANUP(view_verb_cleanup_view) = NULL;
	char *path AUTO_FREE = NULL;

	if (opt.live)
		return run_live(ctl);
	path = opt.trace_path ? xstrdup(opt.trace_path) : viewing_path(ctl, operand(ctl, 0));
	if (!path)
		return STATUS_ERROR;
	if (!operand(ctl, 0) && !opt.trace_path)
		print_verbose(ctl, "showing %s", path);
	if (opt.viewer)
		return run_viewer(ctl, (const char *const[]){ NULL }, opt.viewer, path);
	if (viewing_open(ctl, path, opt.relay_clock, view_verb_report, &view) != 0)
		return STATUS_ERROR;
	return view_verb_show(ctl, view);
}

const struct verb verb_view = {
	.name = "view",
	.operands = "[SESSION | DIR]",
	.help = "Show a trace as text; the last one if none is named",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.max_operands = 1,
	.prints_itself = true,
	.check = view_verb_check,
	.run = view_verb_run,
};
