/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * show.h - print a trace to stdout according to options, and report to the user all that the
 * output lacks: the same for `lttctl view` and ltt-view. Runs in the caller's thread.
 */
#ifndef SHOW_SHOW_H
#define SHOW_SHOW_H

#include "base/err.h"
#include "read/host.h"
#include "read/view.h"

/** Options as given; all 0: none. Flags are int, as the parsers of options set them. */
struct show_options {
#define SHOW_TEXT(member, name, letter, description, argument) char *member;
#define SHOW_FLAG(member, name, description) int member;
#define SHOW_LIST(member, name, description, argument) char **member; /* ends with NULL */
#include "show.def"
	bool json;
};

struct live_session;
struct objects;
struct pairs;

enum show_result {
	SHOW_DONE,
	SHOW_FAILED,  /* with an error */
	SHOW_DAMAGED, /* the trace is; the rest of it was shown */
	SHOW_WARNING, /* an expression can't hold, or a clock is not known */
	SHOW_LOST,    /* events were lost when the trace was recorded */
};

/** The result of showing a trace, by its summary. */
enum show_result show_verdict(const struct view_summary *summary);
/** The exit status of a result, of lttctl and of ltt-view. */
int show_exit_status(enum show_result result);

/** Check the options before a trace is opened. Return: 0, or the code in @err. */
int show_check(const struct show_options *options, struct err *err) MUST_CHECK;
/** show_trace() - print the traces below @path. A closed stdout is no error. @options: checked. */
enum show_result show_trace(const char *path, const struct show_options *options,
			    const struct view_host *host, struct err *err) MUST_CHECK;

/** The same of a live session, until it ends. @session: its connection is closed, too. The options
 *  that need a trace that is whole are not used. */
enum show_result show_live(const struct live_session *session, const struct show_options *options,
			   const struct view_host *host, struct err *err) MUST_CHECK;

struct tail_session;

/** The same of a trace that is being written, until its session ends (tail.h). */
enum show_result show_growing(const char *path, const struct tail_session *session,
			      const struct show_options *options, const struct view_host *host,
			      struct err *err) MUST_CHECK;

/** The times of the options begin and end. @path: traces; NULL: both times are absolute. Return: 0,
 *  or the code in @err. */
int show_times(const char *path, const struct show_options *options, struct view_select *ret,
	       struct err *err) MUST_CHECK;
/** The events that the options select, of @view, which reads the traces below @path. Return: 0, or
 *  the code in @err. @pairs: for their durations; or NULL. */
int show_select(struct view *view, const char *path, const struct show_options *options,
		struct pairs *pairs, struct view_select *ret, struct err *err) MUST_CHECK;
/** Whether the options select some events only. */
bool show_selects(const struct show_options *options);
/** The time of the first event below @path that is of no state dump, from which `+1.5` is counted;
 *  0: there is none. Return: 0, or the code in @err. */
int show_origin(const char *path, bool relay_clock, int64_t *ret_ns, struct err *err) MUST_CHECK;

/** As view_open() and view_open_relay(). Return: 0, or the code in @err. */
int show_open(const char *path, bool relay_clock, view_report_fn report, void *priv,
	      struct view **ret, struct err *err) MUST_CHECK;
/** The mappings in the state dumps below @path, by a pass of its own (objects.h). Return: as
 *  show_open(). */
int show_objects(const char *path, bool relay_clock, struct objects **ret,
		 struct err *err) MUST_CHECK;
/** Whether the output is a terminal with colours, and its user wants these. */
bool show_has_colors(int fd);
/** A sentence about @nr lost buffers of @name, a trace or session; allocated. */
char *show_lost_buffers(const char *name, uint64_t nr);

#endif
