/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ctl.h - a run of lttctl, and a verb. Each verb has a separate file, verb/NAME.c. It sends
 * requests to the daemon and returns a record (a JSON object) and a status; main.c prints the
 * record, as text through the verb's printer or as it is with --json. One verb runs in a
 * process, in its only thread.
 */
#ifndef CTL_CTL_H
#define CTL_CTL_H

#include <json-c/json.h>
#include <popt.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "proto/enums.h"

/** Exit statuses: those of LTTng, and two that it has not; lttctl(1) lists them. */
enum status {
	STATUS_OK = 0,
	STATUS_ERROR = 1,
	STATUS_UNDEFINED = 2, /* no such verb or option */
	STATUS_DAMAGED = 3, /* the trace is */
	STATUS_WARNING = 4, /* done before, or only in part */
	STATUS_UNSUPPORTED = 5,
	STATUS_LOST = 6, /* done, but events were lost */
};

struct ctl;
struct ltt_ctl;

enum verb_daemon {
	DAEMON_NEEDED,	/* fails if no daemon runs */
	DAEMON_STARTED, /* starts a daemon if none runs */
	DAEMON_WELCOME, /* works without one, too; see ctl_is_unreached() */
	DAEMON_UNUSED,
};

struct verb {
	const char *name;
	const char *operands; /* for the usage */
	const char *help;     /* one line */
	const struct poptOption *options;
	enum verb_daemon daemon;
	unsigned int max_operands;
	bool command_behind; /* the first operand ends the options; any number may follow */
	bool prints_itself;  /* the verb prints its results, also with --json */
	bool text_on_stderr;
	bool paged; /* its text may be long */
	/** Called for each OPTION_EACH, in their order. @argument: may be NULL. */
	enum status (*option)(struct ctl *ctl, int number, const char *argument);
	enum status (*check)(struct ctl *ctl); /* checks the arguments, before connecting */
	enum status (*run)(struct ctl *ctl);
	/** Print the record as text; NULL: by @form, if there is one. */
	void (*text)(FILE *out, struct json_object *record);
	/** See text_form(): of the record, or of each of its "sessions", if it has these. */
	const char *form;
};

/** All verbs, NULL at the end, in the order of the help. */
extern const struct verb *const verbs[];
const struct verb *verb_find(const char *name);
/** The title of the group of verbs that begins with this one; NULL: it is none's first. */
const char *verb_group(const struct verb *verb);
/** The verb that was probably meant: that of a common word, or the one with the nearest name; NULL:
 *  there is none. */
const char *verb_near(const char *name);
/** For a verb of another tool: how its purpose is reached here; NULL: unknown. */
const char *verb_elsewhere(const char *name);
/** Likewise for an option of another tool: its letter or name, with the dashes. */
const char *verb_option_elsewhere(const char *verb, const char *option);
/** The reason why a verb of LTTng is not supported yet, a sentence; NULL for any other word. */
const char *verb_later(const char *name);
/** Print all verbs that are not supported yet, as `NAME: SENTENCE`. */
void verb_list_later(FILE *out);

/**
 * struct ctl - one run of lttctl.
 * @err: the reason why the verb failed; main.c prints it.
 * @unreached: the reason why a verb with DAEMON_WELCOME has no connection.
 * @lost: the reason why there is no longer a connection.
 * @record: the verb's result; NULL is an empty one.
 * @warnings: array of sentences that were printed.
 * @general, @words: the results of popt; they own the operands.
 * @sigpipe: the disposition of SIGPIPE at the start, for programs that lttctl runs.
 */
struct ctl {
	const struct verb *verb;
	const char *sessiond_path, *relayd_path; /* programs to start; NULL: search them */
	const char *group; /* argument of --group for a daemon that is started; NULL: none */
	const int *
		interrupt; /* descriptor that is readable when lttctl was interrupted; NULL: none */
	bool no_sessiond;  /* start no session daemon, not even the successor of a killed one */
	bool no_pager;
	bool quiet;
	bool json;
	bool mi; /* with json: the answer is a document of LTTng's machine interface */
	bool answers; /* a verb that prints its results has printed none: it failed */
	bool printed; /* the verb has printed its results */
	bool loading; /* the daemon was loading saved sessions when it listed them */
	int verbose;
	const char *const *operands;
	unsigned int nr_operands;
	struct ltt_ctl *library; /* connected or not; see connect.h */
	struct err err, unreached, lost;
	char *below_error; /* lines to print below it; harmless, allocated; NULL: none */
	struct json_object *record;
	struct json_object *warnings;
	const char *const *argv; /* the verb and the words behind it */
	poptContext general;
	poptContext words;
	void (*sigpipe)(int);
};

/** The n-th operand, or NULL. */
static inline const char *operand(const struct ctl *ctl, unsigned int n)
{
	return n < ctl->nr_operands ? ctl->operands[n] : NULL;
}

#endif
