/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * traces.h - the list of ring sets that are recorded into, as the program sees it (ltt/trace.h).
 *
 * The list is constant and is replaced as a whole by the helper thread, with agent_lock; threads
 * and signal handlers read it between reader_enter() and reader_exit().
 */
#ifndef TRACER_AGENT_TRACES_H
#define TRACER_AGENT_TRACES_H

#include <stdbool.h>
#include <stdint.h>

struct ring_set;

/** An entry of the list. @session, @channel: valid as long as @set. */
struct agent_trace {
	const struct ring_set *set;
	const char *session, *channel;
	uint64_t session_id;
	uint64_t ring;
	uint32_t events;
	bool filtered;
	bool is_private;
};

/**
 * agent_traces_replace() - publish a list, with agent_lock. An equal list changes nothing. Without
 * memory the list is empty.
 * Return: whether outgrown lists are worth a grace period.
 */
bool agent_traces_replace(const struct agent_trace *traces, uint32_t nr);

/** Call the functions of ltt_traces_watch() if the list was replaced since the last call. Called by
 *  the helper thread without agent_lock. */
void agent_traces_report(void);

struct agent_trace_list;

/** Outgrown lists, to be freed after a grace period: see admit_retired(). */
struct agent_trace_list *agent_traces_retired(void);
void agent_traces_retire(struct agent_trace_list *all);
void agent_traces_free(struct agent_trace_list *all);

/** Of the functions that are called. Taken before agent_lock. */
void agent_traces_lock(void);
void agent_traces_unlock(void);
void agent_traces_after_fork_child(void);

#endif
