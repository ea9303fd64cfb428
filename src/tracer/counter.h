/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counter.h - a point that is counted, or whose field's sizes are, instead of being
 * recorded: one more kind of listener at its sites. The memory is the session
 * daemon's (abi/ltt_counts.h), so what was counted outlives the process.
 *
 * Made by the helper thread; hit by any thread and any signal handler. A hit takes no lock
 * and allocates nothing: a restartable sequence adds in the part of its CPU. Who has none
 * adds atomically, between reader_enter() and reader_exit(), in the part behind those of
 * the CPUs, where no sequence adds.
 */
#ifndef TRACER_COUNTER_H
#define TRACER_COUNTER_H

#include <stddef.h>
#include <stdint.h>

struct hook;
struct ltt_site;

#define COUNTER_HITS UINT32_MAX /* no field: hits alone */

/** struct counter - where it counts, and what. Constant but for counter_stop(). */
struct counter {
	uint64_t *words;   /* in the first CPU's part */
	uint64_t stride;   /* bytes, to the next part */
	uint32_t nr_cpus;  /* whose parts a sequence adds to */
	uint32_t field;	   /* of the point, or COUNTER_HITS */
	uint32_t nr_parts; /* of CPUs; there is one more */
};

/** @hook: its counter may be emptied at any time. @len: of the payload, with what is not
 *  recorded. errno is kept. */
void counter_hit(const struct hook *hook, const struct ltt_site *site, const void *payload,
		 size_t len);
/** A hit without a payload. */
void counter_hit_oversize(const struct hook *hook);

/**
 * site_count() - count a point from now on, also at sites that appear later.
 * Return: 0, 1 (was counted there already), -ENOENT (no such point), -EINVAL (the
 * field is no integer), -ENOMEM.
 */
int site_count(uint32_t point, const struct counter *counter);
/** No sequence that begins from now on adds there: all is added behind the CPUs' parts. */
void counter_stop(struct counter *counter);
/** Stop; -ENOENT if it was not counted there. Caller synchronises. */
int site_uncount(uint32_t point, const uint64_t *words);

#endif
