/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * admit.h - filters that decide whether an event is recorded.
 *
 * A filter is one or several programs of abi/ltt_filter.h; it admits an event if one of them
 * accepts it. Where none does, but the sampling of one has left the event out, the event is counted
 * (ltt_ring.h: not_sampled). Equal filters have one number. The first ones, as long as they take
 * little memory, are never freed, so that a thread may run them without protection; further ones
 * run between reader_enter() and reader_exit(), which costs some 20 ns, and are freed when nothing
 * refers to them any more.
 *
 * All but admit_event(): helper thread only.
 */
#ifndef TRACER_RING_ADMIT_H
#define TRACER_RING_ADMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hook;

/**
 * admit_filter() - the number of a filter, with one reference more; released by admit_unref().
 * @bytes: its programs, one behind the other, each with ltt_filter_padded() bytes; need not be
 *         aligned. @len: 0: no filter, number 0.
 * @contexts: names of the contexts that the programs use, in the order of their numbers,
 *            comma-separated.
 *
 * Return: false if a program is invalid, a context is unknown, or there is no memory.
 */
bool admit_filter(const void *bytes, size_t len, const char *contexts, uint32_t *ret_filter);
void admit_ref(uint32_t filter);
void admit_unref(uint32_t filter);

/** Filters without a reference, to be freed by admit_free() after a grace period
 *  (reader_synchronize()) that began after this call. */
struct admission *admit_retired(void);
void admit_free(struct admission *retired);

/** Whether the filter of @preparation, read from @hook, admits an event. @len: of the payload,
 *  with the bytes that are not recorded. Any thread, any signal handler. */
bool admit_event(const struct hook *hook, uint32_t preparation, const void *payload, size_t len,
		 const void *ip);

/** In the child after fork: its thread does not sample as its parent's thread does. */
void admit_after_fork_child(void);

#endif
