/* SPDX-License-Identifier: GPL-2.0-only */
/* view.c - lttctl view [SESSION | DIR]: print a trace as text, its streams merged by time. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/trace/fetched.h"
#include "ctl/trace/live.h"
#include "ctl/options.h"
#include "ctl/own.h"
#include "ctl/print/print.h"
#include "ctl/symbol/symbols.h"
#include "ctl/trace/tailing.h"
#include "ctl/trace/viewing.h"
#include "read/live/live.h"
#include "show/screen.h"
#include "show/show.h"

static struct {
	char *viewer, *trace_path, *in_tunnel;
	int live, follow, wait, from_start, clear_text;
} opt;

static struct show_options show;

static const struct poptOption options[] = {
	OPTION_TEXT("trace-path", 't', &opt.trace_path, "view what is below this directory", "DIR"),
	OPTION_TEXT("viewer", 'e', &opt.viewer, "run this program on the trace instead", "READER"),
	OPTION_FLAG("live", 0, &opt.live, "follow a live session, by its name or net:// URL"),
	OPTION_FLAG("follow", 0, &opt.follow,
		    "go on while the trace is being written, until its session stops"),
	OPTION_FLAG("clear-text", 0, &opt.clear_text,
		    "with --live: follow one at another machine without TLS"),
	OPTION_FLAG("from-start", 0, &opt.from_start,
		    "with --live: with the events that the relay has already"),
	OPTION_FLAG("wait", 0, &opt.wait, "with --live: wait until the session exists"),
	{ "in-tunnel", 0, POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, &opt.in_tunnel, 0, NULL,
	  NULL },
#define SHOW_TEXT(member, name, letter, text, what) \
	OPTION_TEXT(name, letter, &show.member, text, what),
#define SHOW_ALIAS SHOW_TEXT
#define SHOW_FLAG(member, name, text) OPTION_FLAG(name, 0, &show.member, text),
#define SHOW_LIST(member, name, text, what) OPTION_LIST_OF(name, 0, &show.member, text, what),
#include "show/show.def"
	POPT_TABLEEND,
};

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

/* ltt-tunnel speaks TLS, and goes on where it was when the relay is restarted: it runs this verb
 * once more, with the address at which it listens as the last word. */
static enum status run_in_tunnel(struct ctl *ctl, const char *url)
{
	AUTO_FREE char *tunnel = own_program("ltt-tunnel"), *self = own_program("lttctl");
	const char **argv AUTO_FREE = NULL;
	size_t nr = 0, words = 0;

	while (ctl->argv[words])
		words++;
	argv = xalloc((words + 12) * sizeof(*argv));
	argv[nr++] = tunnel;
	argv[nr++] = url;
	argv[nr++] = self;
	if (ctl->quiet)
		argv[nr++] = "--quiet";
	if (ctl->json)
		argv[nr++] = "--json";
	argv[nr++] = "view";
	argv[nr++] = "--in-tunnel";
	argv[nr++] = url;
	for (size_t i = 1; i < words; i++)
		argv[nr++] = ctl->argv[i];
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

static volatile sig_atomic_t live_stop;

static void live_on_signal(int signo)
{
	(void)signo;
	live_stop = 1;
}

/* The events so far are shown, and the notes about them. */
static void live_catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction stop = { .sa_handler = live_on_signal };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct sigaction before;

		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &stop, NULL);
	}
}

static void view_verb_warn(void *priv, const char *sentence)
{
	print_warning(priv, "%s", sentence);
}

static void view_verb_note(void *priv, const char *sentence)
{
	print_note(priv, "%s", sentence);
}

static enum status show_session(struct ctl *ctl, const struct live_url *live)
{
	const struct view_host host = {
		.warn = view_verb_warn,
		.note = view_verb_note,
		.priv = ctl,
	};
	struct live_session session = { .fd = -1 };

	if (live_connect_to(live, &session, &ctl->err) != 0) {
		close_fd(session.fd);
		return STATUS_ERROR;
	}
	session.stop = &live_stop;
	session.from_begin = opt.from_start;
	live_catch_signals();
	return (enum status)show_exit_status(show_live(&session, &show, &host, &ctl->err));
}

/* The tunnel's address is the last word. */
static enum status run_live(struct ctl *ctl)
{
	const char *word = ctl->nr_operands ? operand(ctl, ctl->nr_operands - 1) : NULL;
	AUTO_FREE char *url = viewing_live(ctl, word, opt.clear_text);
	AUTO_FREE char *tunnel = own_program("ltt-tunnel");
	const char *by_itself[] = { NULL }, *by_tunnel[] = { tunnel, url, NULL };
	struct live_url live;

	if (!url)
		return STATUS_ERROR;
	if (strncmp(url, "tls://", 6) == 0)
		return run_in_tunnel(ctl, url);
	if (live_url_parse(url, opt.in_tunnel, &live) != 0) {
		err_set(&ctl->err, ERR_INVALID,
			"'%s' is no live session: net://RELAY[:PORT]/host/HOST/SESSION", url);
		return STATUS_ERROR;
	}
	if (!live.session && opt.viewer)
		return run_viewer(ctl, by_itself, opt.viewer, url);
	if (!live.session)
		return list_live(ctl, &live);
	if (find_live(ctl, &live) != 0)
		return STATUS_ERROR;
	if (opt.viewer && opt.in_tunnel)
		return run_viewer(ctl, by_itself, opt.viewer, url);
	if (opt.viewer)
		return run_viewer(ctl, by_tunnel, opt.viewer, NULL);
	return opt.in_tunnel ? show_session(ctl, &live) : run_in_tunnel(ctl, url);
}

/* The first option that needs a trace which is whole; NULL: there is none. */
static const char *needs_whole_trace(void)
{
	const struct {
		bool given;
		const char *name;
	} all[] = {
		{ opt.live && opt.trace_path, "trace-path" },
		{ opt.live && show.begin, "begin" },
		{ opt.live && show.end, "end" },
		{ opt.follow && opt.viewer, "viewer" },
		{ show.symbols, "symbols" },
		{ show.summary, "summary" },
		{ show.relay_clock, "relay-clock" },
		{ show.guests, "guest" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].given)
			return all[i].name;
	return NULL;
}

static enum status view_verb_check(struct ctl *ctl)
{
	show.json = ctl->json;
	if (opt.wait && !opt.live)
		err_set(&ctl->err, ERR_INVALID, "--wait: only with --live");
	else if (opt.from_start && !opt.live)
		err_set(&ctl->err, ERR_INVALID, "--from-start: only with --live");
	else if (opt.live && opt.follow)
		err_set(&ctl->err, ERR_INVALID, "--live and --follow exclude each other");
	else if ((opt.live || opt.follow) && needs_whole_trace())
		err_set(&ctl->err, ERR_INVALID,
			"--%s: not with --%s, as it needs all of a trace; view the trace when "
			"the session has ended",
			needs_whole_trace(), opt.live ? "live" : "follow");
	else if (ctl->nr_operands > 1 && !opt.in_tunnel)
		err_set(&ctl->err, ERR_INVALID, "one session or directory can be viewed at a time");
	else if (opt.trace_path && operand(ctl, 0))
		err_set(&ctl->err, ERR_INVALID, "a session and --trace-path exclude each other");
	else
		(void)!show_check(&show, &ctl->err);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

static enum status view_verb_show(struct ctl *ctl, const char *path)
{
	struct symbols *symbols = show.symbols ? symbols_new(&show, path) : NULL;
	const struct view_host host = {
		.warn = view_verb_warn,
		.note = view_verb_note,
		.priv = ctl,
		.name = symbols ? symbols_name : NULL,
		.names_priv = symbols,
	};
	enum show_result result;

	if (!show.summary && !ctl->json && !ctl->no_pager)
		screen_page();
	if (!show.summary && screen_has(STDOUT_FILENO)) /* the events show it */
		print_reading(NULL);
	result = show_trace(path, &show, &host, &ctl->err);
	ctl->answers = ctl->answers && result == SHOW_FAILED;
	if (symbols && result != SHOW_FAILED && !show.summary)
		symbols_report(symbols, ctl);
	symbols_free(symbols);
	return (enum status)show_exit_status(result);
}

static enum status view_verb_follow(struct ctl *ctl, const char *path)
{
	const struct view_host host = {
		.warn = view_verb_warn,
		.note = view_verb_note,
		.priv = ctl,
	};
	struct tailing tailing;
	const struct tail_session session = {
		.cut = tailing_cut,
		.priv = &tailing,
		.stop = &live_stop,
	};
	enum show_result result;

	if (tailing_begin(ctl, path, &tailing) != 0)
		return STATUS_ERROR;
	if (!tailing.session) {
		print_note(ctl, "no session writes %s now: this is all of it", path);
		return view_verb_show(ctl, path);
	}
	live_catch_signals();
	result = show_growing(path, &session, &show, &host, &ctl->err);
	tailing_end(&tailing);
	return (enum status)show_exit_status(result);
}

/* Names, clocks and sums of a whole trace. */
static bool needs_other_times(void)
{
	return show.symbols || show.summary || show.relay_clock || show.guests;
}

/* Of an archived session, the packets with events of a time are fetched; for the rest all of it. */
static char *view_verb_path(struct ctl *ctl)
{
	const char *word = operand(ctl, 0);

	if (opt.trace_path)
		return xstrdup(opt.trace_path);
	if (word && fetched_is_url(word) && (show.begin || show.end) && !opt.viewer &&
	    !needs_other_times())
		return fetched_part(ctl, word, &show);
	return viewing_path(ctl, word);
}

static enum status view_verb_run(struct ctl *ctl)
{
	char *path AUTO_FREE = NULL;

	if (opt.live)
		return run_live(ctl);
	ctl->answers = show.summary;
	path = view_verb_path(ctl);
	if (!path)
		return STATUS_ERROR;
	viewing_note_snapshots(ctl, path);
	if (!operand(ctl, 0) && !opt.trace_path)
		print_verbose(ctl, "showing %s", path);
	if (opt.viewer)
		return run_viewer(ctl, (const char *const[]){ NULL }, opt.viewer, path);
	return opt.follow ? view_verb_follow(ctl, path) : view_verb_show(ctl, path);
}

const struct verb verb_view = {
	.name = "view",
	.operands = "[SESSION | DIR]",
	.help = "Show a trace as text; the last one if none is named",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.max_operands = 2, /* see run_in_tunnel() */
	.prints_itself = true,
	.check = view_verb_check,
	.run = view_verb_run,
};
