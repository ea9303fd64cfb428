/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verb.h - declares the verbs of lttctl. Each has a separate file, verb/NAME.c. A verb sends
 * requests to the daemon and returns a record (a JSON object) and a status; main.c prints the
 * record, as text through the verb's printer or as it is with --json. One verb runs in a
 * process, in its only thread.
 */
#ifndef CTL_VERB_H
#define CTL_VERB_H

#include <json-c/json.h>
#include <popt.h>
#include <stdbool.h>
#include <stdio.h>

#include "libctl/daemon.h"

/** Exit statuses: those of LTTng, and one addition. */
enum status {
	STATUS_OK = 0,
	STATUS_ERROR = 1,
	STATUS_UNDEFINED = 2, /* no such verb or option */
	STATUS_FATAL = 3,
	STATUS_WARNING = 4, /* done before, or only in part */
	STATUS_UNSUPPORTED = 5,
	STATUS_LOST = 6, /* done, but events were lost */
};

struct ctl;
struct ltt_ctl;

enum verb_daemon {
	DAEMON_NEEDED,	/* fails if no daemon runs */
	DAEMON_STARTED, /* starts a daemon if none runs */
	DAEMON_WELCOME, /* works without a daemon, too: client may be NULL */
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
	bool prints_itself;  /* also with --json */
	bool text_on_stderr;
	/** Of each OPTION_EACH, in their order: its number, its argument or NULL. */
	enum status (*option)(struct ctl *ctl, int number, const char *argument);
	enum status (*check)(struct ctl *ctl); /* of the arguments, before connecting */
	enum status (*run)(struct ctl *ctl);
	void (*text)(FILE *out, struct json_object *record);
};

/** All verbs, NULL at the end, in the order of the help. */
extern const struct verb *const verbs[];
const struct verb *verb_find(const char *name);
/** Why a verb of LTTng is not supported yet, as a sentence; NULL for any other word. */
const char *verb_later(const char *name);
/** Print all of these, as `NAME: SENTENCE`. */
void verb_list_later(FILE *out);

/**
 * struct ctl - one run of lttctl.
 * @err: why the verb failed; main.c prints it.
 * @record: what the verb returns; NULL is an empty one.
 * @warnings: array of sentences that were printed.
 * @general, @words: the results of popt; they own the operands.
 * @sigpipe: the disposition of SIGPIPE at the start, for programs that lttctl runs.
 */
struct ctl {
	const struct verb *verb;
	struct daemon_request request;
	const char *relayd_path; /* NULL: find it */
	bool quiet;
	bool json;
	bool printed; /* the verb has printed its answer itself */
	int verbose;
	const char *const *operands;
	unsigned int nr_operands;
	struct client *client;
	struct ltt_ctl *library; /* see library.h */
	struct err err;
	struct json_object *record;
	struct json_object *warnings;
	poptContext general;
	poptContext words;
	void (*sigpipe)(int);
};

/** The n-th operand, or NULL. */
static inline const char *operand(const struct ctl *ctl, unsigned int n)
{
	return n < ctl->nr_operands ? ctl->operands[n] : NULL;
}

/** Connect (or not), according to @how. Return: 0 or the code in ctl->err. */
int ctl_connect(struct ctl *ctl, enum verb_daemon how) MUST_CHECK;

#endif
