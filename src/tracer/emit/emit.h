/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * emit.h - functions of libltt's own serialisers that are not public, unlike ltt_emit(). Called by
 * any thread and any signal handler.
 */
#ifndef TRACER_EMIT_EMIT_H
#define TRACER_EMIT_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ltt_site;

/** Whether the calling thread's events are suppressed (site_mute()). */
bool emit_is_muted(void);

/** Count an event that is too large to be serialised, for all listeners. */
void emit_lost_oversize(const struct ltt_site *site);

/**
 * Whether the calling thread may use the fast path of ltt_emit_word(): restartable sequences are
 * available, and the thread's events are neither muted nor limited to one session. Also false until
 * the thread's first event.
 */
extern __thread bool emit_fast_path_valid __attribute__((tls_model("initial-exec")));

/** ltt_emit() for libltt's own serialisers. @address: of the program's call, for the context
 *  `ip`. */
void emit_from(struct ltt_site *site, const void *payload, size_t len, const void *address);

/** The slow path of ltt_emit_word(), for all cases that its fast path does not handle. */
void emit_word_slow(struct ltt_site *site, uint64_t word, size_t len);

#endif
