/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "counts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer/emit/counter.h"
#include "tracer/emit/keys.h"
#include "tracer/base/env.h"
#include "tracer/base/sys.h"
#include "thread.h"
#include "ltt_counts.h"
#include "proto/app.h"
#include "tracer/ring/admit.h"
#include "tracer/ring/prepare.h"
#include "tracer/ring/ring.h"

#define MAX_PARTS 4097u
#define MAX_PART_BYTES (1u << 20)
#define MAX_SLOTS (1u << 16)

/* A point that is counted, and its word in each part. */
struct counting {
	uint32_t point;
	uint32_t word;
	uint32_t round;
	uint32_t preparation; /* with a reference to its filter */
};

struct counts {
	struct counts *next;
	uint64_t id; /* the daemon's number of it */
	uint64_t *words;
	size_t bytes;
	uint32_t nr_parts, part_words;
	uint32_t nr_slots; /* of the table of keys behind the parts; 0: none */
	bool keyed;	   /* threads may read the table at any time, even when it is dropped */
	struct counting *countings; /* sorted by point and word */
	size_t nr_countings, cap_countings;
	dev_t dev;
	ino_t ino;
	uint32_t round;
	unsigned int link;
};

static struct counts *all;     /* in use */
static struct counts *dropped; /* to be unmapped when no thread counts there any more */
static bool unhooked;	       /* a counter was removed since the last grace period */

static size_t parts_bytes(const struct counts *c)
{
	return (size_t)c->nr_parts * c->part_words * sizeof(uint64_t);
}

/* The memory behind the parts is replaced, as a thread that is late may still search a key there
 * (keys.h); an addition to a counter that was removed has no effect. */
static void counts_unmap(struct counts *c)
{
	char *keys = (char *)c->words + parts_bytes(c);

	if (!c->keyed)
		munmap(c->words, c->bytes);
	else if (mmap(keys, c->bytes - parts_bytes(c), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == keys)
		munmap(c->words, parts_bytes(c));
}

static void counts_free(struct counts *c)
{
	counts_unmap(c);
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

/* --- the counters of a memory ------------------------------------------------------- */

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

/* Words of the counter in each part; 0: it has keys, and the memory has none. */
static uint64_t counter_words(const struct counts *c, const struct msg_app_counting *m)
{
	if (!m->nr_by)
		return m->has_field ? LTT_COUNTS_WORDS : 1;
	return c->nr_slots ?
		       LTT_COUNTS_REST_WORDS + (uint64_t)c->nr_slots * (m->has_field ? 2 : 1) :
		       0;
}

static bool counting_fits(const struct counts *c, const struct msg_app_counting *m)
{
	uint64_t words = counter_words(c, m);

	return words && m->word < c->part_words && words <= c->part_words - m->word &&
	       !(m->has_field && m->field >= COUNTER_KEYS);
}

/* Return: -EINVAL if the counter is outside a part. */
static int hook(struct counts *c, const struct msg_app_counting *m, uint32_t preparation)
{
	const struct counter counter = {
		.words = c->words + m->word,
		.stride = c->part_words * sizeof(uint64_t),
		.nr_cpus = c->nr_parts - 1,
		.nr_parts = c->nr_parts - 1,
		.field = m->has_field ? m->field : COUNTER_HITS,
		.preparation = preparation,
	};
	const struct key_spec keys = {
		.slots = (void *)((char *)c->words + parts_bytes(c)),
		.nr_slots = c->nr_slots,
		.nr_by = m->nr_by,
		.by = { m->by, m->by_second },
		.value = m->has_field ? m->field : KEYS_NO_VALUE,
	};

	if (!counting_fits(c, m))
		return -EINVAL;
	c->keyed = c->keyed || m->nr_by;
	return site_count(m->point, &counter, m->nr_by ? &keys : NULL);
}

/* @known: the same with another filter; NULL: it is new. */
static int agent_count_add(struct counts *c, const struct msg_app_counting *m,
			   struct counting *known, struct counting counting)
{
	int err = known ? 0 : counting_reserve(c);

	if (!err)
		err = hook(c, m, counting.preparation);
	if (err < 0)
		return err;
	admit_ref(preparation_filter(counting.preparation));
	if (!known) {
		counting_insert(c, counting);
		return 0;
	}
	admit_unref(preparation_filter(known->preparation));
	*known = counting;
	unhooked = true;
	return 0;
}

void agent_count(unsigned int link, uint32_t round, const struct msg_app_counting *m,
		 uint32_t preparation)
{
	struct counts *c = agent_counts_find(link, m->counts);
	struct counting *known = c ? counting_find(c, m->point, m->word) : NULL;
	int err = 0;

	if (known && known->preparation == preparation)
		known->round = round;
	else if (c)
		err = agent_count_add(c, m, known,
				      (struct counting){ m->point, m->word, round, preparation });
	if (err < 0)
		tracer_debug("point %u is not counted: %s", m->point, strerror(-err));
}

static void unhook(const struct counts *c, const struct counting *counting)
{
	site_uncount(counting->point, c->words + counting->word);
	admit_unref(preparation_filter(counting->preparation));
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

static size_t counts_bytes(const struct msg_app_counts *m)
{
	return (size_t)m->nr_parts * m->part_bytes +
	       (size_t)m->nr_slots * sizeof(struct ltt_counts_slot);
}

/* A table begins on a page, as it is replaced apart from the parts. */
static bool has_sane_table(const struct msg_app_counts *m)
{
	return !m->nr_slots || (m->nr_slots <= MAX_SLOTS && !(m->nr_slots & (m->nr_slots - 1)) &&
				m->part_bytes % (uint32_t)sysconf(_SC_PAGESIZE) == 0);
}

static bool is_sane(const struct msg_app_counts *m, const struct stat *st)
{
	return m->nr_parts && m->nr_parts <= MAX_PARTS && m->part_bytes &&
	       m->part_bytes <= MAX_PART_BYTES && m->part_bytes % sizeof(uint64_t) == 0 &&
	       has_sane_table(m) && st->st_size >= (off_t)counts_bytes(m);
}

static struct counts *agent_counts_map(const struct msg_app_counts *m, const struct stat *st)
{
	struct counts *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->bytes = counts_bytes(m);
	c->words = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->memory, 0);
	if (c->words == MAP_FAILED) {
		free(c);
		return NULL;
	}
	ring_init();
	c->id = m->counts;
	c->nr_parts = m->nr_parts;
	c->nr_slots = m->nr_slots;
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
	if (c) /* a daemon that lost its state has reused its number */
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
	struct admission *filters;
	struct counts *c;

	if (!unhooked)
		return;
	unhooked = false;
	filters = admit_retired();
	if (!reader_synchronize_soon()) {
		admit_retire(filters);
		unhooked = true;
		return;
	}
	agent_lock();
	admit_free(filters);
	while ((c = dropped)) {
		dropped = c->next;
		counts_free(c);
	}
	agent_unlock();
}

void agent_counts_unhooked(void)
{
	unhooked = true;
}

void agent_counts_after_fork_child(void)
{
	unhooked = unhooked || dropped; /* the parent's helper may have been about to reap */
}
