/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * view.h - read traces and show them.
 *
 * A view is every CTF 1.8 trace found below one directory, read as a single
 * series of events ordered by time. It belongs to its opener and runs in
 * the caller's thread (lttctl's, or a test's). Trace files are untrusted: a damaged packet is
 * skipped, reported and counted, and reading continues. The contents of the disk when
 * view_open() was called are shown, so a trace that is being written can be viewed at any instant.
 */
#ifndef READ_VIEW_H
#define READ_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct pairs;
struct view;

/** Receives one sentence about the trace (no newline, no control bytes). */
typedef void (*view_report_fn)(void *priv, const char *sentence);

/** Receives how much of the files of a view has been read, in percent. */
typedef void (*view_progress_fn)(void *priv, unsigned int percent);

/** view_on_progress() - have @fn called now and then by operations of all views that take longer
 *  than a second; NULL: no longer. */
void view_on_progress(view_progress_fn fn, void *priv);

/**
 * view_open() - open every trace below a directory.
 * @dir: a directory with a `metadata` file, or one that holds such directories
 *       at any depth.
 * @report: called for each problem, at once; may be NULL. After many problems of one view
 * further ones are only counted.
 * @ret_view: to be freed with view_free().
 *
 * Return: 0; -ENOENT: there is no trace below @dir; -EPROTO: there are traces
 * but none has metadata that can be read; other negative errno. Everything but
 * -ENOMEM has been reported as a sentence.
 */
int view_open(const char *dir, view_report_fn report, void *priv, struct view **ret_view)
	__attribute__((warn_unused_result));

/**
 * view_open_relay() - as view_open(), of traces that a relay stored; times are those of the
 * relay's clock, so that traces of several hosts are in order. A trace whose host's clock was
 * never compared is reported, and keeps its host's times.
 */
int view_open_relay(const char *dir, view_report_fn report, void *priv, struct view **ret_view)
	__attribute__((warn_unused_result));

/** view_open_to_print() - as view_open(), for view_print() and view_scan() alone: traces whose
 *  metadata differ in their UUID and environment alone share their classes of events, so hundreds
 *  of processes of a program take little time and memory. */
int view_open_to_print(const char *dir, view_report_fn report, void *priv, struct view **ret_view)
	__attribute__((warn_unused_result));

/** The sentence for @error of these. Return: the code in @err. */
int view_open_failed(const char *dir, int error, struct err *err);

struct guests;

/** view_open_guests() - as view_open(), and the traces of guests (guest.h) by the same clock.
 *  @relay_clock: as view_open_relay(). @guests: outlives the view.
 *  Return: likewise; with guests->err set: one of them can't be shown. */
int view_open_guests(const char *dir, bool relay_clock, struct guests *guests,
		     view_report_fn report, void *priv, struct view **ret_view)
	__attribute__((warn_unused_result));

/** view_free() - NULL is fine. Return: NULL. */
struct view *view_free(struct view *view);

/** Whether a trace of the view declares an event of these names: patterns, as in view_select. */
bool view_declares(const struct view *view, const char *names);

/**
 * struct view_select - selection of events; all zero selects all.
 * @begin_ns, @end_ns: nanoseconds since 1970, inclusive; used where has_* is set.
 * @names: globs (`*`) separated by commas; an event whose name matches one of them is shown.
 * NULL: all.
 * @names_only: streams that have no event of @names are not read, but for their last packet.
 * @hidden: globs likewise: matching events are not shown but only counted, as
 *          view_summary.hidden. NULL: none is hidden.
 * @processes, @threads: lists of globs likewise: only events of processes and threads whose name or
 *          number matches one, according to the events' contexts. NULL: all.
 * @pairs: finds the durations of the events that the members above select (pairs.h); NULL: no event
 *          has one.
 * @where: expression of an event filter that has to hold, checked by view_check_where(). NULL: all.
 *          $duration is that of the event, in ns.
 * @needs_fields: whether the fields of events of this name are used; if not, they may be left out,
 *                like those of an event without any. NULL: all are.
 * @tasks_only: of events whose fields are not used, the process and the thread are all that is.
 * @limit: stop after this number of events; 0: no limit.
 * @brief: the events have no contexts and fields, unless a member above needs them: this is faster.
 */
struct view_select {
	bool has_begin;
	bool has_end;
	int64_t begin_ns;
	int64_t end_ns;
	const char *names;
	bool names_only;
	const char *hidden;
	const char *processes;
	const char *threads;
	struct pairs *pairs;
	const char *where;
	bool (*needs_fields)(const char *name);
	bool tasks_only;
	uint64_t limit;
	bool brief;
};

/** Whether view_select.where contains $duration. */
bool view_where_has_duration(const char *expression);

/**
 * view_check_where() - check the syntax of view_select.where.
 * @why: receives the column and the reason.
 * Return: 0; -EINVAL: it is wrong for every event.
 */
int view_check_where(const char *expression, char *why, size_t len)
	__attribute__((warn_unused_result));

/** Events of state dumps: of libltt and of the kernel module, and of LTTng's two tracers. */
#define VIEW_STATEDUMP "ltt_statedump:*,lttng_statedump_*,lttng_ust_statedump:*"

/** Whether view_parse_time() needs no view for this text. */
bool view_time_is_absolute(const char *text);
/**
 * view_parse_time() - read a point in time as a user writes it.
 * @text: `HH:MM[:SS[.frac]]` on the day on which the trace begins,
 *        `YYYY-MM-DD[ HH:MM[:SS[.frac]]]` (a `T` may replace the space),
 *        or seconds since 1970 with an optional fraction.
 * @gmt: times of day are UTC and not local time.
 *
 * Return: 0; -EINVAL: not a time.
 */
int view_parse_time(struct view *view, const char *text, bool gmt, int64_t *ret_ns)
	__attribute__((warn_unused_result));

/**
 * enum view_format
 * @VIEW_TEXT: one line an event, in the format of babeltrace2:
 *     [TIME] (+DELTA) HOST[:PROGRAM:(PROCESS)] NAME: { packet's context },
 *     { stream's event context }, { event's context }, { fields }
 *     With view_style.tasks, PROCNAME[PID:TID] precedes NAME, and contexts lack these members.
 * @VIEW_JSON: one object a line: "time" (UTC), "ns" (since 1970), "host",
 *     "procname" and "vpid" (of a trace of one process), "event", "loglevel",
 *     "packet", "context" (of the stream and of the event), "fields"; missing members are omitted. An
 *     enumeration is {"labels":[...],"value":N}; large integers are strings (pen.h).
 */
enum view_format {
	VIEW_TEXT,
	VIEW_JSON,
};

/**
 * struct view_style - how events are printed; all zero is the default text.
 * @color: only set this for a terminal.
 * @clock_seconds: seconds since 1970 and not the time of day.
 * @clock_date: the date too.
 * @clock_gmt: UTC and not local time.
 * @loglevel: print `loglevel = NAME` behind the event's name.
 * @tasks: print the process and the thread in front of the event's name.
 * @brief: with @tasks: short lines, for a terminal (brief.c).
 * @columns: of the terminal, for names in a summary; 0: there is none.
 * @longest: print the events that have a duration, the longest first, and at most this number of
 *      them; 0: print all in the order of time.
 * @delta: in JSON, the time since the event before as "delta_ns".
 * @table: print them as rows of it (show/columns.h); NULL: as @format has them.
 * @names: print with each event the names of its addresses (names.h); in JSON "symbols"; or NULL.
 * @threads: that decode and format, where the style allows it; 0: one.
 * @status: of the answer in which a summary is printed as JSON.
 */
struct view_style {
	enum view_format format;
	bool color;
	bool clock_seconds;
	bool clock_date;
	bool clock_gmt;
	bool loglevel;
	bool tasks;
	bool brief;
	unsigned int columns;
	uint64_t longest;
	bool delta;
	struct columns *table;
	struct names *names;
	unsigned int threads;
	int status;
};

/**
 * view_print() - print the selected events to @out, oldest first, each with its duration if it ends
 * one: in JSON "duration_ns", and "lossy" if events were lost meanwhile.
 * @select, @style: NULL means all events, the default text.
 *
 * A view can be printed or scanned once; afterwards it is at its end.
 *
 * Return: 0; negative errno if @out can't be written (-EPIPE included) or memory is exhausted.
 * Damage in the trace is not an error: see view_summary.
 */
int view_print(struct view *view, const struct view_select *select, const struct view_style *style,
	       FILE *out) __attribute__((warn_unused_result));

/** view_scan() - as view_print(), but only counts: fast, for a summary. */
int view_scan(struct view *view, const struct view_select *select)
	__attribute__((warn_unused_result));

/**
 * view_verify() - in place of view_scan(): verify the trace. Besides the checks of every reader
 * (checksums, events, times), each packet must continue where the one before ended, and the
 * index must match the packets. Each problem is reported; the trace is sound if the summary then
 * counts no problem.
 */
int view_verify(struct view *view) __attribute__((warn_unused_result));

/** enum view_lost - causes of a loss, in the order of view_stream.lost. */
enum view_lost {
	VIEW_LOST_FULL,	  /* the ring was full */
	VIEW_LOST_SIZE,	  /* the record was too large for the ring */
	VIEW_LOST_BUSY,	  /* no ring could be written */
	VIEW_LOST_OUTPUT, /* writing to the disk, or sending, failed */
	VIEW_LOST_OTHER,  /* unknown cause, of other tracers */
	VIEW_NR_LOST
};

/** view_lost_name() - "buffer full", "too large", ... */
const char *view_lost_name(enum view_lost cause);
/** The same word as the name of a member in JSON: "buffer_full", "too_large", ... */
const char *view_lost_key(enum view_lost cause);

/**
 * struct view_stream - one stream in a summary.
 * @trace, @name: path of the trace below the directory that was opened, and
 *                the stream's (first) file.
 * @events: events that were read, selected or not.
 * @bytes: size of its files.
 * @damaged_packets: packets that could not be read.
 * @damaged_events: events in damaged packets, if later packets show their number.
 * @lost_packets: packets that are missing according to their sequence numbers.
 * @lost: events lost, by cause, according to the packets that were read.
 * @lost_before: events lost up to the end of the oldest packet, if older ones were discarded:
 * not in @lost, as it is unknown how many of them belong to that packet.
 * @has_ledger: its packets count the recorded events: @recorded of them in
 *              these files, and @before in files that were discarded for newer ones.
 * @unindexed_packets: sound packets without an entry in the index; view_verify() counts them.
 */
struct view_stream {
	const char *trace;
	const char *name;
	uint64_t events;
	uint64_t packets;
	uint64_t bytes;
	uint64_t damaged_packets;
	uint64_t damaged_events;
	uint64_t lost_packets;
	uint64_t lost[VIEW_NR_LOST];
	bool has_ledger;
	uint64_t recorded;
	uint64_t before;
	uint64_t lost_before;
	uint64_t unindexed_packets;
};

/** struct view_conflict - a marker that was not recorded, as its format was not the first one. */
struct view_conflict {
	const char *name;
	const char *refused;
	const char *armed; /* the format of the markers that were recorded */
	uint32_t pid;	   /* of a process that has the refused one */
};

#define VIEW_MAX_CONFLICTS 100u /* of a summary */

/** Whether both have the same name and formats. */
bool view_conflict_same(const struct view_conflict *one, const struct view_conflict *other);

/**
 * struct view_name - the events of one name in a summary.
 * @sampled: description of the sampling; NULL: all events were recorded; "": it was changed.
 * @about: estimated number of emitted events; 0: unknown.
 * @one_in: one event of this many was recorded; 0: there is no such constant.
 */
struct view_name {
	const char *name;
	uint64_t events;
	const char *sampled;
	uint64_t about;
	uint32_t one_in;
};

/** struct view_unended - a session that has not ended, in directory @path. @until_ns: end of its
 *  last packet that was read; INT64_MIN: there is none. */
struct view_unended {
	const char *path;
	int64_t until_ns;
};

/**
 * view_check_files() - after view_print() or view_scan(): report traces and streams that the trace
 * lists and that are missing or too short, and copies of streams. view_verify() does it, too.
 */
void view_check_files(struct view *view);

/**
 * struct view_summary - totals, after a view was printed or scanned.
 * @events: events that were selected.
 * @hidden: events that view_select.hidden kept from being shown, up to the last event read;
 *          not in @events.
 * @without_task: events that lack the contexts by which view_select.processes or threads select.
 * @where_never: why view_select.where can't hold for any event that was read, for example a field
 *          that none of them has; NULL: it can.
 * @relay_clock_unknown: a trace was to be shown by the clock of its relay and is not.
 * @lost_before, @before: as in the streams, of all of them.
 * @lost_buffers: buffers whose memory was lost, with events that no packet counts.
 * @unlisted: traces without a list of their streams; view_verify() counts them.
 * @clock_changes: jumps and changed rates of the traces' clocks; view_verify() counts them.
 * @unended: sessions that have not ended, or whose end was not written; view_verify() finds them.
 * @bytes: size of all stream files.
 * @first_ns, @last_ns: time of the first and last of them; 0 without events.
 * @problems: sentences reported (or that would have been).
 * @skipped_bytes: bytes of streams that could not be read.
 * @names: per event name, the most frequent first.
 * @conflicts: markers that were not recorded.
 * @not_sampled: events that the sampling of rules left out, neither recorded nor lost.
 */
struct view_summary {
	uint64_t events;
	uint64_t hidden;
	uint64_t without_task;
	const char *where_never;
	bool relay_clock_unknown;
	uint64_t lost;
	uint64_t lost_by[VIEW_NR_LOST];
	uint64_t lost_before;
	uint64_t lost_buffers;
	uint64_t not_sampled;
	uint64_t unlisted;
	uint64_t clock_changes;
	uint64_t before;
	uint64_t lost_packets;
	uint64_t damaged_packets;
	uint64_t damaged_events;
	uint64_t packets;
	uint64_t bytes;
	uint64_t skipped_bytes;
	uint64_t problems;
	int64_t first_ns;
	int64_t last_ns;
	size_t nr_traces;
	size_t nr_streams;
	size_t nr_names;
	size_t nr_conflicts;
	size_t nr_unended;
	const struct view_stream *streams;
	const struct view_name *names;
	const struct view_conflict *conflicts;
	const struct view_unended *unended;
};

/** view_summary() - valid until the view is freed or summarised again. */
int view_summary(struct view *view, const struct view_summary **ret_summary)
	__attribute__((warn_unused_result));

/** view_summary_print() - a summary as text, or as one JSON object, the answer of `lttctl view`. */
int view_summary_print(const struct view_summary *summary, const struct view_style *style,
		       FILE *out) __attribute__((warn_unused_result));

#endif
