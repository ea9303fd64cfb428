/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_priv.h - the definition of struct view, for the sources that implement it. */
#ifndef READ_VIEW_PRIV_H
#define READ_VIEW_PRIV_H

#include "event.h"
#include "read/feed/merge.h"
#include "where.h"

/** struct view_session - a session, by its list of traces. @path, @label: of its directory. @below:
 *  path from there to the opened directory, if this is in it. @list: NULL: not readable. */
struct view_session {
	char *path;
	char *label;
	char *below;
	char *list;
	bool open; /* its end is not in the list */
};

/**
 * struct view
 * @dir: the directory that is being opened.
 * @sessions: those whose traces these are, as far as they are known.
 * @unended: of these; set by view_verify().
 * @missing: traces that a list names and that do not exist; set by view_verify().
 * @relay_clock: times are converted to the relay's clock.
 * @relay_clock_unknown: not those of each trace.
 * @forms: of the traces that share classes; NULL: none do.
 * @guest: the one whose traces are being added; NULL: the host's are.
 * @preferred: bytes that each feed reads at once, to memory of @slab.
 * @current: the feed whose event was last returned; the next call advances it.
 * @events, @first_ns, @last_ns: number and times of the selected events.
 * @hidden: events that are counted and not shown.
 * @tasks: the processes of the events so far, if they are selected by their process or thread.
 * @clock_changes: jumps and changed rates of clocks; set by view_verify().
 * @took: the duration that the current event ends.
 * @where: programs of the expression, if they are selected by one.
 * @live: of a live session. @idle: called before it waits; NULL: nothing is to be done.
 */
struct view {
	const char *dir;
	struct reporter reporter;
	struct source **sources;
	size_t nr_sources;
	size_t nr_empty; /* snapshots without traces */
	char **missing;
	size_t nr_missing;
	struct view_session *sessions;
	size_t nr_sessions;
	struct view_unended *unended;
	size_t nr_unended;
	struct merge merge;
	bool peeked; /* it has the files whose events are to be read */
	bool relay_clock;
	bool relay_clock_unknown;
	struct source_forms *forms;
	struct guests *guests;
	struct guest *guest;
	size_t preferred;
	struct slab slab;
	struct feed *current;
	struct values values;
	struct value task_values[3];
	uint64_t events;
	uint64_t hidden;
	struct task_names tasks;
	struct took took;
	struct where where;
	int64_t first_ns;
	int64_t last_ns;
	uint64_t clock_changes;
	struct view_summary summary;
	struct live *live;
	void (*idle)(void *priv);
	void *idle_priv;
};

/** Return: @source, which the view owns. */
struct source *view_add_source(struct view *view, struct source *source);

/** Add the files to @view->merge, unless they are in it: those that end before @begin_ns need not
 *  be there; NULL: all have to. Return: 0 or negative errno. */
int view_peek(struct view *view, const int64_t *begin_ns) MUST_CHECK;

/** Move the feed with the earliest event to its next one. Return: 0 or negative errno. */
int view_advance(struct view *view, const struct view_select *select) MUST_CHECK;
/** Whether events of a class are shown, by their name. */
bool view_shows(const struct view_select *select, struct ctf_event_class *ec);

struct ahead;
struct ahead_threads;

/** Have threads check the packets of the selected events, of all streams that event_next() has
 *  begun or is to begin. */
struct ahead *view_read_ahead(struct view *view, const struct view_select *select,
			      const struct ahead_threads *threads);

#endif
