/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main.c - ltt-view: the viewer of `lttctl view` as one static program, for systems that have
 * nothing else. Its output, and its sentences on stderr, are those of `lttctl view`.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/stdfds.h"
#include "base/text.h"
#include "show/show.h"

/** And those of show_exit_status(). */
enum viewer_status { VIEWER_OK = 0, VIEWER_ERROR = 1, VIEWER_UNDEFINED = 2 };

/** An option that `lttctl view` has, too. @argument: NULL: a flag. @at: of its member. @is_list: it
 *  may be repeated. */
struct viewer_row {
	const char *name, *text, *argument;
	char letter; /* 0: none */
	size_t at;
	bool is_list;
};

static const struct viewer_row rows[] = {
#define SHOW_TEXT(member, name, letter, text, what) \
	{ name, text, what, letter, offsetof(struct show_options, member), false },
#define SHOW_ALIAS SHOW_TEXT
#define SHOW_FLAG(member, name, text) \
	{ name, text, NULL, 0, offsetof(struct show_options, member), false },
#define SHOW_LIST(member, name, text, what) \
	{ name, text, what, 0, offsetof(struct show_options, member), true },
#include "show/show.def"
};

#define NR_ROWS ARRAY_SIZE(rows)

static const struct option own_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
};

static bool is_quiet;

static void viewer_print(const char *label, const char *sentence)
{
	char *text AUTO_FREE = text_escape(sentence);

	if (is_quiet)
		return;
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", label, text);
}

static void viewer_warn(void *priv, const char *sentence)
{
	(void)priv;
	viewer_print("Warning", sentence);
}

static void viewer_note(void *priv, const char *sentence)
{
	(void)priv;
	viewer_print("Note", sentence);
}

static enum viewer_status viewer_error(const struct err *err, enum viewer_status status)
{
	viewer_print("Error", err->text);
	return status;
}

static void viewer_help(void)
{
	puts("Usage: ltt-view [OPTION...] DIR\n"
	     "Print a trace as text: all streams of all traces below DIR, merged by time.\n");
	for (size_t i = 0; i < NR_ROWS; i++) {
		char left[64];

		snprintf(left, sizeof(left), "--%s%s%s", rows[i].name, rows[i].argument ? "=" : "",
			 rows[i].argument ? rows[i].argument : "");
		if (rows[i].letter)
			printf("  -%c, ", rows[i].letter);
		else
			fputs("      ", stdout);
		printf("%-24s %s\n", left, rows[i].text);
	}
	puts("      --json                   one JSON object a line\n"
	     "  -q, --quiet                  print only the events\n"
	     "  -V, --version                print the version\n"
	     "  -h, --help                   print this");
}

static void append_argument(char ***list, char *argument)
{
	size_t nr = 0;

	while (*list && (*list)[nr])
		nr++;
	*list = xrealloc(*list, (nr + 2) * sizeof(**list));
	(*list)[nr] = argument;
	(*list)[nr + 1] = NULL;
}

static void set_option(struct show_options *options, const struct viewer_row *row, char *argument)
{
	void *member = (char *)options + row->at;

	if (row->is_list)
		append_argument(member, argument);
	else if (row->argument)
		memcpy(member, &argument, sizeof(argument));
	else
		*(int *)member = 1;
}

/* The row of a letter. */
static const struct viewer_row *find_row(int letter)
{
	size_t i = 0;

	while (rows[i].letter != letter)
		i++;
	return &rows[i];
}

/* Return: VIEWER_OK: *@ret_done: everything was done; else the options are to be obeyed. */
static enum viewer_status parse(int argc, char **argv, struct show_options *ret, bool *ret_done)
{
	struct option all[NR_ROWS + ARRAY_SIZE(own_options) + 1] = { 0 };
	int value, row = 0;

	for (size_t i = 0; i < NR_ROWS; i++)
		all[i] = (struct option){
			.name = rows[i].name,
			.has_arg = rows[i].argument ? required_argument : no_argument,
		};
	memcpy(all + NR_ROWS, own_options, sizeof(own_options));
	while ((value = getopt_long(argc, argv, "qVhf:n:p:", all, &row)) != -1) {
		switch (value) {
		case 0:
			set_option(ret, &rows[row], optarg);
			break;
		case 'f':
		case 'n':
		case 'p':
			set_option(ret, find_row(value), optarg);
			break;
		case 'j':
			ret->json = true;
			break;
		case 'q':
			is_quiet = true;
			break;
		case 'V':
			puts("ltt-view " LTT_VERSION);
			*ret_done = true;
			return VIEWER_OK;
		case 'h':
			viewer_help();
			*ret_done = true;
			return VIEWER_OK;
		default: /* getopt_long() has reported it */
			return VIEWER_UNDEFINED;
		}
	}
	return VIEWER_OK;
}

static enum viewer_status viewer_show(const char *path, const struct show_options *options)
{
	const struct view_host host = { .warn = viewer_warn, .note = viewer_note, .priv = NULL };
	enum show_result result;
	struct err err = { 0 };

	if (show_check(options, &err) != 0)
		return viewer_error(&err, VIEWER_ERROR);
	result = show_trace(path, options, &host, &err);
	return result == SHOW_FAILED ? viewer_error(&err, VIEWER_ERROR) :
				       (enum viewer_status)show_exit_status(result);
}

/* A closed pipe is no error. Anything else is: the output is incomplete. */
static enum viewer_status viewer_finish(enum viewer_status status)
{
	struct err err = { 0 };

	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE || errno == 0)
		return status;
	err_errno(&err, ERR_OUTPUT, errno, "can't write the answer");
	return viewer_error(&err, status == VIEWER_OK ? VIEWER_ERROR : status);
}

int main(int argc, char **argv)
{
	static struct show_options options;
	enum viewer_status status;
	bool done = false;

	stdfds_open();
	signal(SIGPIPE, SIG_IGN);
	status = parse(argc, argv, &options, &done);
	if (status != VIEWER_OK)
		return status;
	if (!done && optind != argc - 1) {
		viewer_print("Error", "name one directory with traces: ltt-view [OPTION...] DIR");
		return VIEWER_UNDEFINED;
	}
	return viewer_finish(done ? VIEWER_OK : viewer_show(argv[optind], &options));
}
