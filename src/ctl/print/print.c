/* SPDX-License-Identifier: GPL-2.0-only */
#include "print.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "read/view.h"
#include "text.h"

static bool progress_shown;

static void clear_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* Return: the escaped sentence, allocated. */
static char *print_labelled(struct ctl *ctl, const char *label, const char *fmt, va_list args)
{
	char *text AUTO_FREE = NULL;
	char *safe;

	if (vasprintf(&text, fmt, args) < 0)
		return NULL;
	safe = text_escape(text);
	if (!ctl->quiet) {
		fflush(stdout);
		clear_progress();
		fprintf(stderr, "%s: %s\n", label, safe);
	}
	return safe;
}

static void keep(struct ctl *ctl, const char *text)
{
	if (!ctl->warnings)
		ctl->warnings = json_object_new_array();
	json_object_array_add(ctl->warnings, json_object_new_string(text));
}

void print_error(struct ctl *ctl, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	free(print_labelled(ctl, "Error", fmt, args));
	va_end(args);
}

void print_below_error(struct ctl *ctl)
{
	char *lines AUTO_FREE = TAKE(ctl->below_error);

	if (lines && !ctl->quiet)
		fputs(lines, stderr);
}

void print_warning(struct ctl *ctl, const char *fmt, ...)
{
	char *text AUTO_FREE = NULL;
	va_list args;

	va_start(args, fmt);
	text = print_labelled(ctl, "Warning", fmt, args);
	va_end(args);
	if (text)
		keep(ctl, text);
}

void print_note(struct ctl *ctl, const char *fmt, ...)
{
	char *text AUTO_FREE = NULL;
	va_list args;

	va_start(args, fmt);
	text = print_labelled(ctl, "Note", fmt, args);
	va_end(args);
	if (text)
		keep(ctl, text);
}

void print_verbose(struct ctl *ctl, const char *fmt, ...)
{
	va_list args;

	if (!ctl->verbose)
		return;
	va_start(args, fmt);
	free(print_labelled(ctl, "lttctl", fmt, args));
	va_end(args);
}

static char *doing; /* NULL: waiting for the daemon */

void print_doing(const char *fmt, ...)
{
	char *text AUTO_FREE = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	free(doing);
	doing = text ? text_escape(text) : NULL;
}

/* Where stderr is a terminal that the output does not share. */
static void PRINTF(2, 3) show_progress(const struct ctl *ctl, const char *fmt, ...)
{
	va_list args;

	if (ctl->quiet || !isatty(STDERR_FILENO))
		return;
	clear_progress();
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fflush(stderr);
	progress_shown = true;
}

static void show_waiting(void *priv, unsigned int waited_ms)
{
	show_progress(priv, "%s... %u s", doing ? doing : "Waiting for the session daemon",
		      waited_ms / 1000);
}

static void show_reading(void *priv, unsigned int percent)
{
	show_progress(priv, "Reading the trace... %u %%", percent);
}

void print_waiting(struct ctl *ctl)
{
	ltt_ctl_on_waiting(ctl->library, show_waiting, ctl);
}

void print_reading(struct ctl *ctl)
{
	view_on_progress(ctl ? show_reading : NULL, ctl);
}

void print_waiting_end(void)
{
	clear_progress();
	fflush(stderr);
}
