/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counter.h - a point that is counted, or whose field's sizes are, instead of being
 * recorded: one more kind of listener at its sites. The memory is the session
 * daemon's (abi/ltt_counts.h), so the counts outlive the process.
 *
 * Made by the helper thread; hit by any thread and any signal handler. A hit takes no lock
 * and allocates nothing: a restartable sequence adds in the part of its CPU. A thread without one
 * adds atomically, between reader_enter() and reader_exit(), in the part behind those of
 * the CPUs, where no sequence adds.
 */
#ifndef TRACER_EMIT_COUNTER_H
#define TRACER_EMIT_COUNTER_H

#include <stddef.h>
#include <stdint.h>

#include "tracer/ring/hook.h"

struct ltt_site;

/** @hook: its counter may be emptied at any time. @len: of the payload, with what is not
 *  recorded. errno is kept. */
void counter_hit(const struct hook *hook, const struct ltt_site *site, const void *payload,
		 size_t len);
/** A hit without a payload. */
void counter_hit_oversize(const struct hook *hook);

/**
 * site_count() - count a point from now on, also at sites that appear later.
 * Return: 0, 1 (was counted there already), -ENOENT (no such point), -EINVAL (the
 * field is not an integer), -ENOMEM.
 */
int site_count(uint32_t point, const struct counter *counter);
/** Stop; -ENOENT if it was not counted there. Caller synchronises. */
int site_uncount(uint32_t point, const uint64_t *words);

#endif
