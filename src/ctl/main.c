/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main.c - lttctl: general options, the verb, its result on stdout, errors on stderr, the exit
 * status.
 */
#include "main.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "base/stdfds.h"
#include "connect.h"
#include "help.h"
#include "ctl/mi/mi.h"
#include "options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "show/screen.h"

static struct {
	char *group;
	char *sessiond_path, *relayd_path;
	char *mi;
	int no_sessiond, no_pager;
	int quiet;
} opt;

const struct poptOption options_general[] = {
	OPTION_TEXT("group", 'g', &opt.group, "group that may use a daemon started here", "GROUP"),
	OPTION_FLAG("no-sessiond", 'n', &opt.no_sessiond, "never start a session daemon"),
	OPTION_TEXT("sessiond-path", 0, &opt.sessiond_path, "session daemon to start", "PATH"),
	OPTION_FLAG("no-pager", 0, &opt.no_pager, "print long output without a pager"),
	OPTION_FLAG("quiet", 'q', &opt.quiet, "print nothing at all"),
	{ .longName = "verbose",
	  .shortName = 'v',
	  .val = OPTION_VERBOSE,
	  .descrip = "log what is done" },
	{ .longName = "json", .val = OPTION_JSON, .descrip = "answer with a JSON object" },
	{ .longName = "mi",
	  .shortName = 'm',
	  .argInfo = POPT_ARG_STRING,
	  .arg = &opt.mi,
	  .val = OPTION_MI,
	  .descrip = "output for programs; TYPE is xml, as of LTTng, or json",
	  .argDescrip = "TYPE" },
	{ .longName = "version",
	  .shortName = 'V',
	  .val = OPTION_VERSION,
	  .descrip = "print the version" },
	{ .longName = "help", .shortName = 'h', .val = OPTION_HELP, .descrip = "print this" },
	{ .longName = "list-options", .val = OPTION_LIST, .descrip = "list the options" },
	{ .longName = "list-commands", .val = OPTION_LIST_COMMANDS, .descrip = "list the verbs" },
	{ .longName = "list-missing",
	  .val = OPTION_LIST_MISSING,
	  .descrip = "list the verbs and options of LTTng that are not there yet" },
	OPTION_TEXT("relayd-path", 0, &opt.relayd_path, "relay to start for live sessions", "PATH"),
	POPT_TABLEEND,
};

/* @described: with the line that the help has, behind a tab. */
static void list_commands(bool described)
{
	for (size_t i = 0; verbs[i]; i++)
		printf("%s%s%s\n", verbs[i]->name, described ? "\t" : "",
		       described ? verbs[i]->help : "");
}

static void list_missing(void)
{
	verb_list_later(stdout);
	for (size_t i = 0; verbs[i]; i++)
		if (verbs[i]->options)
			options_list_missing(stdout, verbs[i]->name, verbs[i]->options);
}

static enum status take_mi(struct ctl *ctl)
{
	ctl->mi = strcmp(opt.mi, "xml") == 0;
	if (ctl->mi || strcmp(opt.mi, "json") == 0) {
		ctl->json = true;
		return STATUS_OK;
	}
	err_set(&ctl->err, ERR_INVALID, "--mi=%s: this is not xml or json", opt.mi);
	return STATUS_UNDEFINED;
}

enum status main_take_option(struct ctl *ctl, int value, bool *ret_done)
{
	if (value >= OPTION_LATER)
		return options_not_yet(ctl, options_general, value);
	switch (value) {
	case OPTION_VERBOSE:
		ctl->verbose++;
		return STATUS_OK;
	case OPTION_JSON:
		ctl->json = true;
		ctl->mi = false;
		return STATUS_OK;
	case OPTION_MI:
		return take_mi(ctl);
	case OPTION_VERSION:
		puts("lttctl " LTT_VERSION);
		break;
	case OPTION_HELP:
		help_general(stdout);
		break;
	case OPTION_LIST:
		options_list(stdout, options_general, ctl->verbose);
		break;
	case OPTION_LIST_MISSING:
		list_missing();
		break;
	default:
		list_commands(ctl->verbose);
	}
	*ret_done = true;
	return STATUS_OK;
}

void main_take_values(struct ctl *ctl)
{
	ctl->quiet = opt.quiet;
	ctl->sessiond_path = opt.sessiond_path;
	ctl->relayd_path = opt.relayd_path;
	ctl->group = opt.group;
	ctl->no_sessiond = opt.no_sessiond;
	ctl->no_pager = opt.no_pager;
}

static enum status unknown_verb(struct ctl *ctl, const char *name)
{
	const char *sentence = verb_later(name);
	const char *near;

	if (sentence) {
		err_set(&ctl->err, ERR_UNSUPPORTED, "%s: %s", name, sentence);
		return STATUS_UNSUPPORTED;
	}
	sentence = verb_elsewhere(name);
	near = verb_near(name);
	if (sentence)
		err_set(&ctl->err, ERR_UNKNOWN_COMMAND, "there is no verb '%s': %s", name, sentence);
	else if (near)
		err_set(&ctl->err, ERR_UNKNOWN_COMMAND, "unknown verb '%s'; did you mean '%s'?",
			name, near);
	else
		err_set(&ctl->err, ERR_UNKNOWN_COMMAND,
			"unknown verb '%s'; 'lttctl --help' lists them", name);
	return STATUS_UNDEFINED;
}

/* General options, then the verb. The rest of the words, the verb included, goes to @ret_words. */
static enum status parse_general(struct ctl *ctl, int argc, char **argv, const char ***ret_words,
				 bool *ret_done)
{
	static const struct poptOption none[] = { POPT_TABLEEND };
	poptContext pc = poptGetContext(NULL, argc, (const char **)argv, options_general,
					POPT_CONTEXT_POSIXMEHARDER);
	enum status status = STATUS_OK;
	int value = 0;

	while (status == STATUS_OK && !*ret_done && (value = poptGetNextOpt(pc)) > 0)
		status = main_take_option(ctl, value, ret_done);
	ctl->general = pc;
	main_take_values(ctl);
	if (status != STATUS_OK || *ret_done)
		return status;
	if (value < -1)
		return options_bad(ctl, pc, value, options_general, none);
	status = options_check(ctl, options_general);
	if (status != STATUS_OK)
		return status;
	*ret_words = poptGetArgs(pc);
	if (*ret_words && **ret_words)
		return STATUS_OK;
	if (ctl->json) { /* called by a program: the output has the usual form */
		err_set(&ctl->err, ERR_INVALID, "missing verb; 'lttctl --help' lists them");
		return STATUS_ERROR;
	}
	help_general(stderr);
	*ret_done = true;
	return STATUS_ERROR;
}

static enum status ctl_run_verb(struct ctl *ctl, const char **words, bool *ret_done)
{
	enum status status;
	int argc = 0;

	while (words[argc])
		argc++;
	ctl->verb = verb_find(words[0]);
	if (!ctl->verb)
		return unknown_verb(ctl, words[0]);
	status = options_verb(ctl, argc, words, ret_done);
	if (status == STATUS_OK && !*ret_done && ctl->mi)
		status = mi_check(ctl);
	if (status == STATUS_OK && !*ret_done && ctl->verb->check)
		status = ctl->verb->check(ctl);
	if (status != STATUS_OK || *ret_done)
		return status;
	if (ctl_connect(ctl, ctl->verb->daemon) != 0)
		return STATUS_ERROR;
	if (ctl->mi)
		mi_begin(ctl);
	return ctl->verb->run(ctl);
}

/* Failures that have a status of their own, whichever verb met them. */
static enum status final_status(const struct ctl *ctl, enum status status)
{
	if (ctl->err.code == ERR_UNSUPPORTED && status == STATUS_ERROR)
		return STATUS_UNSUPPORTED;
	return status;
}

static const char *error_name(enum err_code code)
{
	static const char *const names[] = {
		[ERR_INTERNAL] = "internal",
		[ERR_BAD_MESSAGE] = "bad-message",
		[ERR_UNKNOWN_COMMAND] = "unknown-command",
		[ERR_DENIED] = "denied",
		[ERR_INVALID] = "invalid",
		[ERR_NO_SESSION] = "no-session",
		[ERR_SESSION_EXISTS] = "session-exists",
		[ERR_NO_CHANNEL] = "no-channel",
		[ERR_CHANNEL_EXISTS] = "channel-exists",
		[ERR_NO_EVENT] = "no-event",
		[ERR_EVENT_EXISTS] = "event-exists",
		[ERR_STATE] = "state",
		[ERR_NO_MEMORY] = "no-memory",
		[ERR_OUTPUT] = "output",
		[ERR_NO_DAEMON] = "no-daemon",
		[ERR_UNSUPPORTED] = "unsupported",
		[ERR_CONSUMER] = "consumer",
		[ERR_BUSY] = "busy",
		[ERR_LIMIT] = "limit",
		[ERR_NO_ANSWER] = "no-answer",
		[ERR_INTERRUPTED] = "interrupted",
	};

	return (size_t)code < ARRAY_SIZE(names) && names[code] ? names[code] : "unknown";
}

static void ctl_print_json(struct ctl *ctl, enum status status)
{
	struct json_object *answer AUTO_RECORD = json_object_new_object();

	json_set_str(answer, "verb", ctl->verb ? ctl->verb->name : "");
	json_set_num(answer, "status", status);
	json_set_bool(answer, "success", !ctl->err.code);
	if (ctl->err.code) {
		struct json_object *error = json_object_new_object();
		char *text AUTO_FREE = text_escape(ctl->err.text); /* as on standard error */

		json_set_str(error, "code", error_name(ctl->err.code));
		json_set_str(error, "text", text);
		json_set(answer, "error", error);
	}
	if (ctl->warnings)
		json_set(answer, "warnings", TAKE(ctl->warnings));
	json_set(answer, "result", TAKE(ctl->record));
	text_json(stdout, answer);
}

static enum status ctl_print_mi(struct ctl *ctl, enum status status)
{
	return mi_print(ctl, status) != 0 && status == STATUS_OK ? STATUS_ERROR : status;
}

static void ctl_print_text(struct ctl *ctl)
{
	struct json_object *printable AUTO_RECORD = NULL;

	if (!ctl->record || !ctl->verb || ctl->quiet)
		return;
	printable = text_printable(ctl->record);
	if (ctl->verb->paged && !ctl->no_pager)
		screen_page();
	if (ctl->verb->text)
		ctl->verb->text(ctl->verb->text_on_stderr ? stderr : stdout, printable);
	else if (ctl->verb->form && json_get(printable, "sessions"))
		text_forms(stdout, printable, "sessions", ctl->verb->form);
	else if (ctl->verb->form)
		text_form(stdout, printable, ctl->verb->form);
}

/* A closed pipe is no error. Anything else is: the output is incomplete. */
static enum status finish_output(struct ctl *ctl, enum status status)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE || errno == 0)
		return status;
	print_error(ctl, "can't write the answer: %s", strerror(errno));
	return status == STATUS_OK ? STATUS_ERROR : status;
}

static enum status leave_pager(struct ctl *ctl, enum status status)
{
	const char *command = screen_page_end((int)status);

	if (!command)
		return status;
	print_error(ctl, "the pager '%s' can't be run; --no-pager prints without one", command);
	return STATUS_ERROR;
}

int main(int argc, char **argv)
{
	struct ctl ctl = { .sigpipe = signal(SIGPIPE, SIG_IGN) };
	const char **words = NULL;
	bool done = false;
	enum status status;

	stdfds_open();
	ctl.library = ltt_ctl_new();
	if (!ctl.library) {
		print_error(&ctl, "out of memory");
		return STATUS_ERROR;
	}
	print_reading(&ctl);
	status = parse_general(&ctl, argc, argv, &words, &done);
	if (status == STATUS_OK && !done)
		status = ctl_run_verb(&ctl, words, &done);
	status = final_status(&ctl, status);
	print_waiting_end();
	if (!done && ctl.mi)
		status = ctl_print_mi(&ctl, status);
	else if (!done && ctl.json && !ctl.printed &&
		 (!ctl.verb || !ctl.verb->prints_itself || ctl.answers))
		ctl_print_json(&ctl, status);
	else
		ctl_print_text(&ctl);
	status = finish_output(&ctl, status);
	if (ctl.err.code) {
		print_error(&ctl, "%s", ctl.err.text);
		print_below_error(&ctl);
	}
	status = leave_pager(&ctl, status);
	ltt_ctl_free(ctl.library);
	json_object_put(ctl.record);
	json_object_put(ctl.warnings);
	poptFreeContext(ctl.words);
	poptFreeContext(ctl.general);
	return (int)status;
}
