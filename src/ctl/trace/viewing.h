/* SPDX-License-Identifier: GPL-2.0-only */
/* viewing.h - finds the trace for `view` and `verify`. */
#ifndef CTL_TRACE_VIEWING_H
#define CTL_TRACE_VIEWING_H

#include "ctl/ctl.h"

struct view_summary;

/**
 * viewing_path() - the directory of a trace; allocated.
 * @word: the URL of an archive, else a session, else a directory, else the name of a destroyed
 * session whose trace is in the default directory. NULL: the last trace of this user.
 * Return: NULL with ctl->err set.
 */
char *viewing_path(struct ctl *ctl, const char *word);
/** viewing_refuse() - of a trace that was read. Return: 0; or the code in @err: it has streams, but
 *  none of their events can be read. */
int viewing_refuse(const struct view_summary *sum, const char *path, struct err *err) MUST_CHECK;
/** Note that the events of several snapshots, or of a trace and of snapshots, are read together. */
void viewing_note_snapshots(struct ctl *ctl, const char *path);
/**
 * viewing_live() - the URL by which a live session can be followed; allocated.
 * @word: a session, or a URL, which is used unchanged. NULL: the current session.
 * Return: NULL with ctl->err set.
 */
char *viewing_live(struct ctl *ctl, const char *word, bool clear_text);
/**
 * viewing_remember() - remember the trace of a session as the last one.
 * @path: NULL or empty: the session wrote no trace; this is stored in addition to the trace before.
 */
void viewing_remember(struct ctl *ctl, const char *session, const char *path);
/** The same, and the name of the current session from now on, or NULL. Return: 0 or the code in
 *  @err. */
int viewing_remember_current(const char *session, const char *path, const char *current,
			     struct err *err) MUST_CHECK;
/** As viewing_remember(), for an existing session; failures are not reported. Return: its trace;
 *  allocated; NULL: it has none, or one of snapshots. */
char *viewing_remember_session(struct ctl *ctl, const char *session);

/** Options that name the places of programs and libraries. */
#define OPTIONS_PLACES(show)                                                                      \
	OPTION_TEXT("symbol-path", 0, &(show).symbol_path,                                        \
		    "programs, libraries and debug files are also here", "DIR"),                  \
		OPTION_TEXT("sysroot", 0, &(show).sysroot,                                        \
			    "paths of programs and libraries are below this directory", "DIR")

/** Options that select events by struct show_options, as `view` has them. */
#define OPTIONS_EVENTS(show)                                                                      \
	OPTION_TEXT("process", 'p', &(show).processes, "only events of these processes",          \
		    "NAME|PID[,...]"),                                                            \
		OPTION_TEXT("thread", 't', &(show).threads, "only events of these threads",       \
			    "NAME|TID[,...]"),                                                    \
		OPTION_TEXT("where", 0, &(show).where, "only events for which it holds",          \
			    "EXPRESSION"),                                                        \
		OPTION_TEXT("filter", 'f', &(show).where, "the same as --where", "EXPRESSION"),   \
		OPTION_TEXT("begin", 0, &(show).begin,                                            \
			    "from this time on; +1.5: in s since the first event", "TIME"),       \
		OPTION_TEXT("end", 0, &(show).end, "up to this time", "TIME")

/** The same, and those of names of addresses. */
#define OPTIONS_SELECTION(show)                                                                   \
	OPTIONS_EVENTS(show),                                                                     \
		OPTION_FLAG("no-demangle", 0, &(show).mangled,                                    \
			    "C++ and Rust names as their compilers wrote them"),                  \
		OPTIONS_PLACES(show)

#endif
