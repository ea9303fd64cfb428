/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counter.h - counters: a kind of listener at sites, which counts events, with or without a
 * histogram of a field, instead of recording them. The session daemon creates the memory
 * (abi/ltt_counts.h), so the counts outlive the process.
 *
 * Made by the helper thread; hit by any thread and any signal handler. A hit takes no lock and
 * allocates nothing: a restartable sequence adds to the part of its CPU. A thread without one adds
 * atomically, between reader_enter() and reader_exit(), to the shared part, to which no sequence
 * adds.
 */
#ifndef TRACER_EMIT_COUNTER_H
#define TRACER_EMIT_COUNTER_H

#include <stddef.h>
#include <stdint.h>

#include "tracer/ring/hook.h"

struct key_spec;
struct ltt_site;

/** Count an event that the counter's filter accepts. @hook: its counter may be removed
 * concurrently. @len: bytes of the payload, including fields that are not recorded. errno is
 * kept. */
void counter_hit(const struct hook *hook, const struct ltt_site *site, const void *payload,
		 size_t len);
/** Count an event that is too large to be serialised, unless there is a filter. */
void counter_hit_oversize(const struct hook *hook);

/**
 * site_count() - count a point from now on, also at sites that appear later; or with another
 * filter than before (@counter->preparation).
 * @keys: a count for each key (keys.h); NULL: one for all events.
 * Return: 0, 1 (the point had this counter already), -ENOENT (no such point), -EINVAL (the
 * field is not an integer, or one of a key is not an integer or a text), -ENOMEM.
 */
int site_count(uint32_t point, const struct counter *counter, const struct key_spec *keys);
/** Remove a counter; -ENOENT if the point did not have it. The caller then waits for readers. */
int site_uncount(uint32_t point, const uint64_t *words);

#endif
