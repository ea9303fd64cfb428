/* SPDX-License-Identifier: GPL-2.0-only */
#include "options.h"

#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum {
	OPT_VERBOSE = 1,
	OPT_VERSION,
	OPT_HELP,
	OPT_QUOTA,
	OPT_EXIT_IDLE,
	OPT_FORMAT,
	OPT_LTTNG = 100,
};

#define CONFIG "there is no configuration file; give the options on the command line"
#define PROBES "all probes are in one module, ltt"
#define SOCKETS "the sockets are in the runtime directory, which LTT_RUNDIR sets"
#define CONSUMER "there is one ltt-consumerd; set its path with --consumerd-path"
#define CONSUMER_LIBRARY "ltt-consumerd needs no libraries of its own"
#define CONSUMER_SOCKET "ltt-consumerd inherits its sockets, which have no paths"
#define AGENT "messages of loggers are recorded through libltt, without a port"
#define NOTIFIER "triggers are not there yet"
#define VERBOSE "use -vv: ltt-consumerd then logs more, too"
#define LIST "see --help"
#define FORMAT_VARIABLE "LTT_SESSIOND_DEFAULT_TRACE_FORMAT"

/* clang-format off */
#define LTTNG(nr, name, letter, sentence)                                                   \
	[nr] = { name, letter, POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL | POPT_ARGFLAG_DOC_HIDDEN, \
		 NULL, OPT_LTTNG + (nr), sentence, NULL }

/* Options of lttng-sessiond that have no meaning here. */
static const struct poptOption lttng_options[] = {
	LTTNG(0, "config", 'f', CONFIG),
	LTTNG(1, "kmod-probes", 0, PROBES),
	LTTNG(2, "extra-kmod-probes", 0, PROBES),
	LTTNG(3, "apps-sock", 'a', SOCKETS),
	LTTNG(4, "client-sock", 'c', SOCKETS),
	LTTNG(5, "consumerd32-path", 0, CONSUMER),
	LTTNG(6, "consumerd64-path", 0, CONSUMER),
	LTTNG(7, "consumerd32-libdir", 0, CONSUMER_LIBRARY),
	LTTNG(8, "consumerd64-libdir", 0, CONSUMER_LIBRARY),
	LTTNG(9, "kconsumerd-cmd-sock", 0, CONSUMER_SOCKET),
	LTTNG(10, "kconsumerd-err-sock", 0, CONSUMER_SOCKET),
	LTTNG(11, "ustconsumerd32-cmd-sock", 0, CONSUMER_SOCKET),
	LTTNG(12, "ustconsumerd64-cmd-sock", 0, CONSUMER_SOCKET),
	LTTNG(13, "ustconsumerd32-err-sock", 0, CONSUMER_SOCKET),
	LTTNG(14, "ustconsumerd64-err-sock", 0, CONSUMER_SOCKET),
	LTTNG(15, "agent-tcp-port", 0, AGENT),
	LTTNG(16, "event-notifier-error-buffer-size-kernel", 0, NOTIFIER),
	LTTNG(17, "event-notifier-error-buffer-size-userspace", 0, NOTIFIER),
	LTTNG(18, "verbose-consumer", 0, VERBOSE),
	LTTNG(19, "list-options", 0, LIST),
	POPT_TABLEEND
};
/* clang-format on */

static const struct poptOption *make_table(struct options *o, struct poptOption table[20])
{
	const struct poptOption rows[] = {
		{ NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)lttng_options, 0, NULL, NULL },
		{ "daemonize", 'd', POPT_ARG_NONE, &o->daemonize, 0,
		  "Run as a daemon; return once it serves", NULL },
		{ "background", 'b', POPT_ARG_NONE, &o->background, 0,
		  "The same, but keep standard output and error", NULL },
		{ "pidfile", 'p', POPT_ARG_STRING, &o->pidfile, 0,
		  "File for the process id (default: sessiond.pid in the runtime directory)",
		  "PATH" },
		{ "sig-parent", 'S', POPT_ARG_NONE, &o->sig_parent, 0,
		  "Send SIGUSR1 to the parent process once it serves", NULL },
		{ "group", 'g', POPT_ARG_STRING, &o->group, 0,
		  "Group that may use the system daemon (default: tracing)", "NAME" },
		{ "consumerd-path", 0, POPT_ARG_STRING, &o->consumerd_path, 0,
		  "The ltt-consumerd to start (also: LTT_CONSUMERD)", "PATH" },
		{ "quota", 0, POPT_ARG_STRING, NULL, OPT_QUOTA,
		  "Limit for each user but root; NUMBER may end in k, M, G; 0: no limit",
		  "NAME=NUMBER" },
		{ "default-trace-format", 0, POPT_ARG_STRING, NULL, OPT_FORMAT,
		  "Of sessions that name none: ctf-1.8 (default) or ctf-2", "FORMAT" },
		{ "exit-idle", 0, POPT_ARG_STRING, NULL, OPT_EXIT_IDLE,
		  "End after this time without a session and a client, such as 5m",
		  "PERIOD" },
		{ "on-demand", 0, POPT_ARG_NONE, &o->on_demand, 0,
		  "Leave the directory, nice value and soft limits of the calling process", NULL },
		{ "load", 'l', POPT_ARG_STRING, &o->load, 0,
		  "Load the saved sessions of this file or directory, not those in auto/ of the "
		  "configuration",
		  "PATH" },
		{ "no-load", 0, POPT_ARG_NONE, &o->no_load, 0, "Load no saved sessions", NULL },
		{ "no-kernel", 0, POPT_ARG_NONE, &o->no_kernel, 0,
		  "Do not trace the kernel, nor load the module for it", NULL },
		{ "no-exec", 0, POPT_ARG_NONE, &o->no_exec, 0, "Run no commands of triggers",
		  NULL },
		{ "verbose", 'v', POPT_ARG_NONE, NULL, OPT_VERBOSE,
		  "Log more on standard error; twice: even more", NULL },
		{ "quiet", 'q', POPT_ARG_NONE, &o->quiet, 0, "Print nothing", NULL },
		{ "version", 'V', POPT_ARG_NONE, NULL, OPT_VERSION, "Show the version", NULL },
		{ "help", 'h', POPT_ARG_NONE, NULL, OPT_HELP, "Show this help", NULL },
		POPT_TABLEEND
	};

	memcpy(table, rows, sizeof(rows));
	return table;
}

/* Return: -1 go on, else the status. */
static int sessiond_options_take_quota(struct options *options, const char *text)
{
	AUTO_FREE char *name = xstrdup(text ? text : "");
	char *equals = strchr(name, '=');
	enum quota kind;

	if (equals)
		*equals = '\0';
	kind = quota_by_name(name);
	if (equals && kind < NR_QUOTAS && parse_size(equals + 1, &options->quotas[kind]) == 0) {
		options->has_quota[kind] = true;
		return -1;
	}
	fprintf(stderr, "ltt-sessiond: --quota=%s: this is not NAME=NUMBER; names are:", text);
	for (unsigned int i = 0; i < NR_QUOTAS; i++)
		fprintf(stderr, " %s", quota_name((enum quota)i));
	fputc('\n', stderr);
	return 2;
}

/* Return: -1 go on, else the status. */
static int take_exit_idle(struct options *options, const char *text)
{
	if (text && parse_period(text, &options->exit_idle_us) == 0 && options->exit_idle_us)
		return -1;
	fprintf(stderr, "ltt-sessiond: --exit-idle=%s: not a period; give one such as 5m or 30s\n",
		text);
	return 2;
}

/* @given: the option or variable that has it. Return: -1 go on, else the status. */
static int take_trace_format(struct options *options, const char *given, const char *text)
{
	if (strcmp(text, "ctf-1.8") == 0)
		options->trace_format = TRACE_FORMAT_CTF_1_8;
	else if (strcmp(text, "ctf-2") == 0)
		options->trace_format = TRACE_FORMAT_CTF_2;
	else
		fprintf(stderr, "ltt-sessiond: %s=%s: unknown trace format; use ctf-1.8 or ctf-2\n",
			given, text);
	return options->trace_format == TRACE_FORMAT_DEFAULT ? 2 : -1;
}

/* Return: -1 go on, else the status. */
static int sessiond_options_handle(struct options *options, poptContext context, int option)
{
	switch (option) {
	case OPT_VERBOSE:
		options->verbose++;
		return -1;
	case OPT_QUOTA: {
		AUTO_FREE char *text = poptGetOptArg(context);

		return sessiond_options_take_quota(options, text);
	}
	case OPT_EXIT_IDLE: {
		AUTO_FREE char *text = poptGetOptArg(context);

		return take_exit_idle(options, text);
	}
	case OPT_FORMAT: {
		AUTO_FREE char *text = poptGetOptArg(context);

		options->trace_format = TRACE_FORMAT_DEFAULT;
		return take_trace_format(options, "--default-trace-format", text ? text : "");
	}
	case OPT_VERSION:
		printf("ltt-sessiond %s\n", LTT_VERSION);
		return 0;
	case OPT_HELP:
		printf("Usage: ltt-sessiond [OPTION]...\n"
		       "Keep recording sessions and answer lttctl.\n\n");
		poptPrintHelp(context, stdout, 0);
		return 0;
	}
	if (option >= OPT_LTTNG) {
		const struct poptOption *row = &lttng_options[option - OPT_LTTNG];

		fprintf(stderr, "ltt-sessiond: --%s: %s\n", row->longName, row->descrip);
		return 2;
	}
	fprintf(stderr, "ltt-sessiond: %s: %s; `ltt-sessiond --help` lists the options\n",
		poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(option));
	return 2;
}

int options_parse(struct options *options, int argc, const char **argv)
{
	struct poptOption table[20];
	poptContext context;
	const char *variable = getenv(FORMAT_VARIABLE);
	int option, status = -1;

	memset(options, 0, sizeof(*options));
	context = poptGetContext("ltt-sessiond", argc, argv, make_table(options, table), 0);
	while (status < 0 && (option = poptGetNextOpt(context)) != -1)
		status = sessiond_options_handle(options, context, option);
	if (status < 0 && poptPeekArg(context)) {
		fprintf(stderr, "ltt-sessiond: unexpected argument '%s'\n", poptGetArg(context));
		status = 2;
	}
	poptFreeContext(context);
	if (status < 0 && options->trace_format == TRACE_FORMAT_DEFAULT)
		status = take_trace_format(options, FORMAT_VARIABLE,
					   variable && *variable ? variable : "ctf-1.8");
	if (status < 0 && options->load && options->no_load) {
		fprintf(stderr, "ltt-sessiond: --load and --no-load exclude each other\n");
		status = 2;
	}
	return status;
}

void options_quotas(const struct options *options, struct quotas *quotas)
{
	for (unsigned int i = 0; i < NR_QUOTAS; i++)
		if (options->has_quota[i])
			quotas->limits[i] = options->quotas[i];
}

void options_fini(struct options *options)
{
	free(options->pidfile);
	free(options->group);
	free(options->consumerd_path);
	free(options->load);
}
