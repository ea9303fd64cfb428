/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * emit.h - declarations for serialisers inside libltt, besides ltt_emit(). Any thread,
 * any signal handler.
 */
#ifndef TRACER_EMIT_EMIT_H
#define TRACER_EMIT_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ltt_site;

/** Whether all events of the calling thread are suppressed. */
bool emit_is_muted(void);

/** Count an event that is too large to be serialised, for all listeners. */
void emit_lost_oversize(const struct ltt_site *site);

/**
 * Whether the fast path for a word is valid for the calling thread: sequences are available, and
 * its events are not restricted. Also false until its first event.
 */
extern __thread bool emit_plainly __attribute__((tls_model("initial-exec")));

/** ltt_emit_word() if its fast path, one sequence, is not valid. */
void emit_word_slow(struct ltt_site *site, uint64_t word, size_t len);

#endif
