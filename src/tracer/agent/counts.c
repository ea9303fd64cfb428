/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "counts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tracer/emit/counter.h"
#include "tracer/base/env.h"
#include "tracer/base/sys.h"
#include "thread.h"
#include "ltt_counts.h"
#include "proto/app.h"
#include "tracer/ring/ring.h"

#define MAX_PARTS 4097u
#define MAX_PART_BYTES (1u << 20)

/* A point that is counted, and at which word of each part. */
struct counting {
	uint32_t point;
	uint32_t word;
	uint32_t round;
};

struct counts {
	struct counts *next;
	uint64_t id; /* the daemon's number of it */
	uint64_t *words;
	size_t bytes;
	uint32_t nr_parts, part_words;
	struct counting *countings; /* sorted by point and word */
	size_t nr_countings, cap_countings;
	dev_t dev;
	ino_t ino;
	uint32_t round;
	unsigned int link;
};

static struct counts *all;     /* in use */
static struct counts *dropped; /* to be unmapped when no thread counts there any more */
static bool unhooked;	       /* something is counted no longer since the last grace period */

static void counts_free(struct counts *c)
{
	munmap(c->words, c->bytes);
	free(c->countings);
	free(c);
}

static struct counts *agent_counts_find(unsigned int link, uint64_t id)
{
	struct counts *c = all;

	while (c && (c->link != link || c->id != id))
		c = c->next;
	return c;
}

/* --- what is counted there ------------------------------------------------------- */

/* Index in the sorted array, or the place to insert it. */
static size_t counting_index(const struct counts *c, uint32_t point, uint32_t word)
{
	size_t low = 0, high = c->nr_countings;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct counting *at = &c->countings[middle];

		if (at->point < point || (at->point == point && at->word < word))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct counting *counting_find(const struct counts *c, uint32_t point, uint32_t word)
{
	size_t at = counting_index(c, point, word);
	struct counting *found = at < c->nr_countings ? &c->countings[at] : NULL;

	return found && found->point == point && found->word == word ? found : NULL;
}

static int counting_reserve(struct counts *c)
{
	size_t cap = c->cap_countings ? c->cap_countings * 2 : 16;
	struct counting *bigger;

	if (c->nr_countings < c->cap_countings)
		return 0;
	bigger = realloc(c->countings, cap * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	c->countings = bigger;
	c->cap_countings = cap;
	return 0;
}

/* There is room. */
static void counting_insert(struct counts *c, struct counting counting)
{
	size_t at = counting_index(c, counting.point, counting.word);

	memmove(&c->countings[at + 1], &c->countings[at],
		(c->nr_countings - at) * sizeof(counting));
	c->countings[at] = counting;
	c->nr_countings++;
}

/* Return: -EINVAL where it would not be inside of a part. */
static int hook(const struct counts *c, const struct msg_app_counting *m)
{
	const struct counter counter = {
		.words = c->words + m->word,
		.stride = c->part_words * sizeof(uint64_t),
		.nr_cpus = c->nr_parts - 1,
		.nr_parts = c->nr_parts - 1,
		.field = m->has_field ? m->field : COUNTER_HITS,
	};
	uint32_t words = m->has_field ? LTT_COUNTS_WORDS : 1;

	if (m->word >= c->part_words || words > c->part_words - m->word ||
	    (m->has_field && m->field == COUNTER_HITS))
		return -EINVAL;
	return site_count(m->point, &counter);
}

void agent_count(unsigned int link, uint32_t round, const struct msg_app_counting *m)
{
	struct counts *c = agent_counts_find(link, m->counts);
	struct counting *known = c ? counting_find(c, m->point, m->word) : NULL;
	int err;

	if (!c)
		return;
	if (known) {
		known->round = round;
		return;
	}
	err = counting_reserve(c);
	if (!err)
		err = hook(c, m);
	if (err < 0)
		tracer_debug("point %u is not counted: %s", m->point, strerror(-err));
	else
		counting_insert(c, (struct counting){ m->point, m->word, round });
}

static void unhook(const struct counts *c, const struct counting *counting)
{
	site_uncount(counting->point, c->words + counting->word);
	unhooked = true;
}

void agent_uncount(unsigned int link, const struct msg_app_counting *m)
{
	struct counts *c = agent_counts_find(link, m->counts);
	struct counting *counting = c ? counting_find(c, m->point, m->word) : NULL;

	if (!counting)
		return;
	unhook(c, counting);
	c->nr_countings--;
	memmove(counting, counting + 1,
		(size_t)(c->countings + c->nr_countings - counting) * sizeof(*counting));
}

/* @round: 0 is none, so all go. */
static void sweep_countings(struct counts *c, uint32_t round)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->nr_countings; i++)
		if (c->countings[i].round == round)
			c->countings[kept++] = c->countings[i];
		else
			unhook(c, &c->countings[i]);
	c->nr_countings = kept;
}

/* --- the memory ------------------------------------------------------------------- */

/* @at points to the link of it in the list. */
static void agent_counts_unlink(struct counts **at)
{
	struct counts *c = *at;

	sweep_countings(c, 0);
	*at = c->next;
	c->next = dropped;
	dropped = c;
	unhooked = true;
}

void agent_counts_drop(unsigned int link, uint64_t id)
{
	for (struct counts **at = &all; *at; at = &(*at)->next) {
		if ((*at)->link == link && (*at)->id == id) {
			agent_counts_unlink(at);
			return;
		}
	}
}

static bool is_sane(const struct msg_app_counts *m, const struct stat *st)
{
	return m->nr_parts && m->nr_parts <= MAX_PARTS && m->part_bytes &&
	       m->part_bytes <= MAX_PART_BYTES && m->part_bytes % sizeof(uint64_t) == 0 &&
	       st->st_size >= (off_t)m->nr_parts * m->part_bytes;
}

static struct counts *agent_counts_map(const struct msg_app_counts *m, const struct stat *st)
{
	struct counts *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->bytes = (size_t)m->nr_parts * m->part_bytes;
	c->words = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->memory, 0);
	if (c->words == MAP_FAILED) {
		free(c);
		return NULL;
	}
	ring_init();
	c->id = m->counts;
	c->nr_parts = m->nr_parts;
	c->part_words = m->part_bytes / sizeof(uint64_t);
	c->dev = st->st_dev;
	c->ino = st->st_ino;
	return c;
}

int agent_counts_add(unsigned int link, uint32_t round, const struct msg_app_counts *m)
{
	struct counts *c = agent_counts_find(link, m->counts);
	struct stat st;

	if (sys_fstat(m->memory, &st) < 0)
		return -errno;
	if (c && c->dev == st.st_dev && c->ino == st.st_ino) {
		c->round = round;
		return 0;
	}
	if (c) /* a daemon that knew less gave its number anew */
		agent_counts_drop(link, m->counts);
	if (!is_sane(m, &st))
		return -EINVAL;
	c = agent_counts_map(m, &st);
	if (!c)
		return -ENOMEM;
	c->link = link;
	c->round = round;
	c->next = all;
	all = c;
	return 0;
}

void agent_counts_sweep(unsigned int link, uint32_t round)
{
	struct counts **at = &all;

	while (*at) {
		struct counts *c = *at;

		if (c->link == link && c->round != round) {
			agent_counts_unlink(at);
			continue;
		}
		if (c->link == link)
			sweep_countings(c, round);
		at = &c->next;
	}
}

void agent_counts_forget(unsigned int link)
{
	agent_counts_sweep(link, 0); /* no round is 0 */
}

void agent_counts_reap(void)
{
	struct counts *c;

	if (!unhooked)
		return;
	unhooked = false;
	reader_synchronize();
	agent_lock();
	while ((c = dropped)) {
		dropped = c->next;
		counts_free(c);
	}
	agent_unlock();
}

void agent_counts_after_fork_child(void)
{
	unhooked = unhooked || dropped; /* the helper may have been about to reap */
}
