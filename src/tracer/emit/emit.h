/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * emit.h - what serialisers inside libltt need besides ltt_emit(). Any thread,
 * any signal handler.
 */
#ifndef TRACER_EMIT_EMIT_H
#define TRACER_EMIT_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ltt_site;

/** Nothing of what the calling thread emits would be recorded. */
bool emit_is_muted(void);

/** Count an event that is too large to be serialised, for all listeners. */
void emit_lost_oversize(const struct ltt_site *site);

/**
 * Whether the short way of a word serves the calling thread: sequences are there,
 * and nothing limits what it may emit. Also false until its first event.
 */
extern __thread bool emit_plainly __attribute__((tls_model("initial-exec")));

/** ltt_emit_word() where its short way, one sequence, does not serve. */
void emit_word_slow(struct ltt_site *site, uint64_t word, size_t len);

#endif
