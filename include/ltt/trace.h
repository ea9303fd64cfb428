/* SPDX-License-Identifier: MIT */
/*
 * ltt/trace.h - the program's own view of its tracing: the sessions that record it, and a request
 * to write the events that were recorded so far.
 *
 *	ltt_switch(LTT_SWITCH_PROCESS);		the events before are on their way to the trace
 *
 *	struct ltt_trace_info info[16];
 *	int nr = ltt_traces(info, 16);		sessions that record this process
 *
 * None of this is necessary to be traced, and it has no cost for events.
 */
#ifndef LTT_TRACE_H
#define LTT_TRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LTT_TRACE_NAME_MAX 255 /* bytes of a name; longer ones are cut */

/** ltt_trace_info.flags */
#define LTT_TRACE_FILTERED 1u  /* a filter or a sample decides about some of the events */
#define LTT_TRACE_OVERWRITE 2u /* the buffer is overwritten and written by snapshots only */
#define LTT_TRACE_PRIVATE 4u   /* the buffer is of this process alone */
#define LTT_TRACE_ON 8u	       /* the consumer daemon has switched the buffer on */

/**
 * struct ltt_trace_info - a channel of a session that records events of this process.
 * @size: sizeof(struct ltt_trace_info) of libltt; new members are only appended.
 * @flags: LTT_TRACE_*.
 * @session: name of the session.
 * @channel: name of the channel.
 * @session_id: the session daemon's number of the session.
 * @buffer: the session daemon's number of the buffer; processes that share it have the same one.
 * @events: tracepoints, markers and probes of this process that are recorded there.
 * @nr_rings: the buffer has one ring for each CPU, or one.
 * @num_subbuf, @subbuf_size: sub-buffers of a ring, and bytes of each.
 */
struct ltt_trace_info {
	uint32_t size;
	uint32_t flags;
	char session[LTT_TRACE_NAME_MAX + 1];
	char channel[LTT_TRACE_NAME_MAX + 1];
	uint64_t session_id;
	uint64_t buffer;
	uint32_t events;
	uint32_t nr_rings;
	uint32_t num_subbuf;
	uint32_t reserved;
	uint64_t subbuf_size;
};

/** ltt_traces_in() - ltt_traces() for a program with another sizeof(struct ltt_trace_info). */
int ltt_traces_in(void *info, size_t size, unsigned int max);

/**
 * ltt_traces() - the sessions that record in this process now, one entry for each channel.
 * @info: receives at most @max entries; NULL if @max is 0.
 *
 * Async-signal-safe; takes no lock and does not wait: it copies a list that is replaced as a whole.
 * In a forked child, buffers that belong to its parent alone are not in the list.
 *
 * Return: the number of channels that record, which may be larger than @max.
 */
static inline int ltt_traces(struct ltt_trace_info *info, unsigned int max)
{
	return ltt_traces_in(info, sizeof(*info), max);
}

/** Argument of ltt_switch(). */
#define LTT_SWITCH_THREAD 0  /* the buffers of the CPU that the calling thread runs on */
#define LTT_SWITCH_PROCESS 1 /* all buffers of the process */

/**
 * ltt_switch() - end the current packets: the consumer daemon writes the events that were recorded
 * so far, and later ones are in other packets.
 * @which: LTT_SWITCH_*. Events that a thread recorded on another CPU before it was moved are in the
 *	buffer of that one.
 *
 * Async-signal-safe; keeps errno. It marks the buffers, wakes the consumer daemon if that sleeps,
 * and does not wait until the events are written: `lttctl flush` does. Buffers without new events
 * and those of snapshot sessions stay as they are. Buffers that several processes share end their
 * packets for all of them. While no session records, it makes no system call.
 *
 * Return: number of channels whose packets end; 0: none has new events, or no session records;
 * -EINVAL: @which is invalid.
 */
int ltt_switch(int which);

/**
 * ltt_traces_watch() - have a function called after each change of ltt_traces().
 * @changed: called by libltt's own thread. If a session begins to record, this is before its first
 *	event: events are recorded from the return on. It may call ltt_traces() and ltt_switch().
 *	It should return soon, as tracing control waits; must not register or unregister functions
 *	here, load libraries, or use descriptors, which are not those of the program in this thread.
 *	Its own events are not recorded.
 * @data: its argument.
 *
 * Any thread, but not from a signal handler. In a forked child, registered functions stay.
 *
 * Return: 0; -EINVAL: no function; -EEXIST: it is registered with this data; -ENOSPC:
 * LTT_TRACES_WATCHERS_MAX are.
 */
int ltt_traces_watch(void (*changed)(void *data), void *data);

#define LTT_TRACES_WATCHERS_MAX 16

/**
 * ltt_traces_unwatch() - end that. On return the function does not run and is not called again, so
 * that its library can be unloaded.
 * Return: 0; -ENOENT: it is not registered with this data.
 */
int ltt_traces_unwatch(void (*changed)(void *data), void *data);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
