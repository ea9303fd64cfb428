/* SPDX-License-Identifier: GPL-2.0-only */
/* Points that are counted: from many threads, from signal handlers, across fork(); by field,
 * wherever it is in the payload; and refusals. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/marker.h>
#include <ltt/tracepoint.h>

#include "check.h"
#include "ltt_counts.h"
#include "tracer/emit/counter.h"
#include "tracer/emit/keys.h"
#include "tracer/ring/ring.h"
#include "tracer/site/site.h"
#include "tracer_alone.h"

enum { PARTS = 3, STRIDE = 100, AT = 11, THREADS = 6, EVENTS = 20000, SIGNALS = 500 };

LTT_TRACEPOINT(k, word, (int64_t x), LTT_INFO, ltt_int(int64_t, x, x))
LTT_TRACEPOINT(k, many, (const char *text, const uint16_t *some, int nr, int x), LTT_INFO,
	       ltt_string(text, text), ltt_sequence(uint16_t, some, some, uint8_t, nr),
	       ltt_int(int16_t, x, x), ltt_float(float, f, 1), ltt_nowrite(ltt_int(int, y, x + 1)))
LTT_TRACEPOINT(k, big, (const uint8_t *data, size_t len), LTT_INFO,
	       ltt_sequence(uint8_t, data, data, uint32_t, len), ltt_int(int, x, 1))

static uint64_t *memory;
static uint32_t ids[4];
static const char *const names[] = { "k:word", "k:many", "k:big", "k_mark" };

static void added(const struct point *point, void *data)
{
	(void)data;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(point->event->name, names[i]) == 0)
			ids[i] = point->id;
}

static struct counter counter_at(uint32_t word, uint32_t field)
{
	return (struct counter){ memory + word, STRIDE * 8, PARTS - 1, field, PARTS - 1, NULL, 0 };
}

static struct ltt_counts sums(uint32_t word)
{
	struct ltt_counts sums = { 0 };
	uint64_t *to = (uint64_t *)&sums;

	for (uint32_t part = 0; part < PARTS; part++)
		for (uint32_t i = 0; i < LTT_COUNTS_WORDS; i++)
			to[i] += memory[part * STRIDE + word + i];
	return sums;
}

static void begin(uint32_t point, uint32_t field)
{
	const struct counter counter = counter_at(AT, field);

	memset(memory, 0, PARTS * STRIDE * sizeof(*memory));
	CHECK(site_count(point, &counter, NULL) == 0 && site_count(point, &counter, NULL) == 1);
}

/* Nothing was written but the counter. */
static void end(uint32_t point, uint32_t words)
{
	CHECK(site_uncount(point, memory + AT) == 0 && site_uncount(point, memory + AT) == -ENOENT);
	reader_synchronize();
	for (uint32_t i = 0; i < PARTS * STRIDE; i++)
		CHECK((i % STRIDE >= AT && i % STRIDE < AT + words) || memory[i] == 0);
}

static void fields(void)
{
	static const uint16_t some[] = { 1, 2, 3 };
	struct ltt_counts s;

	begin(ids[1], 2);
	ltt_trace(k, many, "text", some, 3, 0);
	ltt_trace(k, many, "", some, 0, 1);
	ltt_trace(k, many, "longer text", some, 1, 32767);
	ltt_trace(k, many, "x", some, 2, -32768);
	s = sums(AT);
	CHECK(s.count == 4 && s.missed == 0 && s.negative == 1 && (int64_t)s.sum == 0);
	CHECK(s.buckets[0] == 1 && s.buckets[1] == 1 && s.buckets[15] == 1);
	end(ids[1], LTT_COUNTS_WORDS);
	ltt_trace(k, many, "x", some, 2, 1);
	CHECK_IS(sums(AT).count, ==, 4);
	begin(ids[1], 4); /* fields that are not recorded can be counted */
	ltt_trace(k, many, "text", some, 3, 7);
	CHECK(sums(AT).buckets[4] == 1 && sums(AT).sum == 8);
	end(ids[1], LTT_COUNTS_WORDS);
	begin(ids[0], 0);
	ltt_trace(k, word, INT64_MAX);
	ltt_trace(k, word, INT64_MIN);
	CHECK(sums(AT).buckets[63] == 1 && sums(AT).negative == 1 && sums(AT).sum == UINT64_MAX);
	end(ids[0], LTT_COUNTS_WORDS);
	begin(ids[3], 1);
	trace_mark(k_mark, "text %s n %hhu", "word", (unsigned char)200);
	CHECK(sums(AT).buckets[8] == 1 && sums(AT).sum == 200);
	end(ids[3], LTT_COUNTS_WORDS);
}

enum { SLOTS = 64, TABLES = KEYS_PERMANENT + 50 };

static void count_by(const struct key_spec *keys, int times)
{
	const struct counter counter = counter_at(AT, COUNTER_HITS);

	memset(memory, 0, PARTS * STRIDE * sizeof(*memory));
	CHECK_IS(site_count(ids[0], &counter, keys), ==, 0);
	for (int i = 0; i < times; i++)
		ltt_trace(k, word, i % 3);
	CHECK_IS(site_uncount(ids[0], memory + AT), ==, 0);
}

/* Of the key in the slot, over all parts. */
static uint64_t hits(uint32_t slot)
{
	uint64_t all = 0;

	for (uint32_t part = 0; part < PARTS; part++)
		all += memory[part * STRIDE + AT + LTT_COUNTS_REST_WORDS + slot];
	return all;
}

static uint64_t rest(uint32_t word)
{
	return hits(word - LTT_COUNTS_REST_WORDS);
}

static void check_keys(const struct ltt_counts_slot *slots)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < SLOTS; i++) {
		CHECK(slots[i].tag ? hits(i) == 10 : !hits(i));
		if (!slots[i].tag)
			continue;
		CHECK_IS(slots[i].key[0], ==, LTT_COUNTS_HEAD(0, LTT_COUNTS_SIGNED, 0));
		found |= 1u << slots[i].key[1];
	}
	CHECK(found == 7 && !rest(0) && !rest(1));
}

/* Also with more tables than may be read without protection, whose memory is freed. */
static void tables(void)
{
	struct ltt_counts_slot *kept[KEYS_PERMANENT];

	for (uint32_t i = 0; i < TABLES; i++) {
		struct ltt_counts_slot *slots = calloc(SLOTS, sizeof(*slots));
		const struct key_spec keys = { slots, SLOTS, 1, { 0, 0 }, KEYS_NO_VALUE };

		CHECK(slots);
		count_by(&keys, 30);
		check_keys(slots);
		count_by(&keys, 30); /* the slots are found again */
		check_keys(slots);
		reader_synchronize();
		if (i < KEYS_PERMANENT)
			kept[i] = slots;
		else
			free(slots);
	}
	for (uint32_t i = 0; i < KEYS_PERMANENT; i++)
		free(kept[i]); /* nothing is counted by them any more */
}

/* A slot that another thread is writing is passed by; where there is none, it is counted. */
static void no_room(void)
{
	static struct ltt_counts_slot slots[SLOTS];
	const struct key_spec keys = { slots, SLOTS, 1, { 0, 0 }, KEYS_NO_VALUE };

	for (uint32_t i = 0; i < SLOTS; i++)
		slots[i].tag = i == 5 ? 0 : 1;
	count_by(&keys, 30);
	CHECK(slots[5].tag > 1 && hits(5) == 10 && rest(0) == 20 && rest(1) == 0);
}

/* Another key of the same hash has another slot. */
static void same_hash(void)
{
	static struct ltt_counts_slot slots[SLOTS];
	const struct key_spec keys = { slots, SLOTS, 1, { 0, 0 }, KEYS_NO_VALUE };
	uint32_t other = SLOTS, nr = 0;

	count_by(&keys, 3);
	for (uint32_t i = 0; i < SLOTS; i++)
		if (slots[i].tag && slots[i].key[1] == 1)
			other = i;
	CHECK_IS(other, <, SLOTS);
	slots[other].key[1] = 99;
	count_by(&keys, 30);
	for (uint32_t i = 0; i < SLOTS; i++)
		nr += slots[i].tag > 1;
	CHECK(nr == 4 && hits(other) == 0 && rest(0) == 0);
}

/* An event that is too long has no key; fields that can't be keys are refused. */
static void no_key(void)
{
	static struct ltt_counts_slot slots[SLOTS];
	struct key_spec keys = { slots, SLOTS, 1, { 1, 0 }, KEYS_NO_VALUE };
	struct counter counter = counter_at(AT, COUNTER_HITS);
	uint8_t *data = calloc(1, 200000);

	CHECK(data);
	memset(memory, 0, PARTS * STRIDE * sizeof(*memory));
	CHECK_IS(site_count(ids[2], &counter, &keys), ==, 0);
	ltt_trace(k, big, data, 200000);
	ltt_trace(k, big, data, 30000);
	CHECK(rest(1) == 1 && rest(0) == 0);
	CHECK_IS(site_uncount(ids[2], memory + AT), ==, 0);
	keys.by[0] = 0; /* a sequence, */
	CHECK_IS(site_count(ids[2], &counter, &keys), ==, -EINVAL);
	keys.by[0] = 2; /* none, */
	CHECK_IS(site_count(ids[2], &counter, &keys), ==, -EINVAL);
	keys.by[0] = 1;
	keys.nr_by = 3;
	CHECK_IS(site_count(ids[2], &counter, &keys), ==, -EINVAL);
	keys.nr_by = 0;
	CHECK_IS(site_count(ids[2], &counter, &keys), ==, -EINVAL);
	free(data);
}

/* An event that is too long to be recorded happened all the same. */
static void too_long(void)
{
	size_t len = 200000;
	uint8_t *data = calloc(1, len);

	CHECK(data);
	begin(ids[2], 1);
	ltt_trace(k, big, data, len);
	CHECK(sums(AT).count == 1 && sums(AT).missed == 1 && sums(AT).sum == 0);
	ltt_trace(k, big, data, 30000);
	CHECK(sums(AT).count == 2 && sums(AT).missed == 1 && sums(AT).buckets[1] == 1);
	end(ids[2], LTT_COUNTS_WORDS);
	free(data);
}

static void refusals(void)
{
	struct counter counter = counter_at(AT, 0);

	CHECK_IS(site_count(ids[1], &counter, NULL), ==, -EINVAL); /* a string, */
	counter.field = 1;
	CHECK_IS(site_count(ids[1], &counter, NULL), ==, -EINVAL); /* a sequence, */
	counter.field = 3;
	CHECK_IS(site_count(ids[1], &counter, NULL), ==, -EINVAL); /* a float, */
	counter.field = 5;
	CHECK_IS(site_count(ids[1], &counter, NULL), ==, -EINVAL); /* none */
	counter.field = COUNTER_HITS;
	CHECK_IS(site_count(999999, &counter, NULL), ==, -ENOENT);
	CHECK(site_uncount(999999, memory) == -ENOENT && site_uncount(ids[1], memory) == -ENOENT);
	CHECK(!ltt_enabled(k, many));
}

/* Several at one point, each for itself; one goes while the others stay. */
static void several(void)
{
	const struct counter hits = counter_at(0, COUNTER_HITS), more = counter_at(1, COUNTER_HITS);

	begin(ids[0], 0);
	CHECK(site_count(ids[0], &hits, NULL) == 0 && site_count(ids[0], &more, NULL) == 0);
	ltt_trace(k, word, 5);
	CHECK_IS(memory[0] + memory[STRIDE] + memory[2 * STRIDE], ==, 1);
	CHECK_IS(site_uncount(ids[0], hits.words), ==, 0);
	ltt_trace(k, word, 5);
	CHECK_IS(memory[0] + memory[STRIDE] + memory[2 * STRIDE], ==, 1);
	CHECK_IS(memory[1] + memory[STRIDE + 1] + memory[2 * STRIDE + 1], ==, 2);
	CHECK(sums(AT).count == 2 && sums(AT).buckets[3] == 2);
	CHECK_IS(site_uncount(ids[0], more.words), ==, 0);
	CHECK(site_uncount(ids[0], memory + AT) == 0 && !ltt_enabled(k, word));
	reader_synchronize();
}

/* --- from everywhere ------------------------------------------------------------ */

static void *emit(void *arg)
{
	(void)arg;
	for (int i = 0; i < EVENTS; i++)
		ltt_trace(k, word, i);
	return NULL;
}

static void on_signal(int signo)
{
	(void)signo;
	errno = 99;
	ltt_trace(k, word, 1 << 20);
	CHECK_IS(errno, ==, 99);
}

static uint64_t below(unsigned int bucket, uint64_t nr)
{
	uint64_t first = 1ull << (bucket - 1);

	return nr > first ? (nr < 2 * first ? nr : 2 * first) - first : 0;
}

static void from_threads(void)
{
	pthread_t threads[THREADS];
	struct ltt_counts s;

	begin(ids[0], 0);
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < THREADS; i++)
		CHECK_IS(pthread_create(&threads[i], NULL, emit, NULL), ==, 0);
	for (int i = 0; i < SIGNALS; i++)
		CHECK_IS(pthread_kill(pthread_self(), SIGUSR1), ==, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	s = sums(AT);
	CHECK(s.count == THREADS * EVENTS + SIGNALS && s.missed == 0 && s.negative == 0);
	CHECK(s.buckets[0] == THREADS && s.buckets[21] == SIGNALS);
	for (unsigned int k = 1; k < 21; k++)
		CHECK_IS(s.buckets[k], ==, THREADS * below(k, EVENTS));
	end(ids[0], LTT_COUNTS_WORDS);
}

/* The memory is shared: a child counts where its parent does. */
static void across_fork(void)
{
	int status;
	pid_t pid;

	begin(ids[0], COUNTER_HITS);
	ltt_trace(k, word, 1);
	pid = fork();
	if (pid == 0) {
		ltt_trace(k, word, 1);
		kill(getpid(), SIGKILL);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	ltt_trace(k, word, 1);
	CHECK_IS(sums(AT).count, ==, 3);
	end(ids[0], 1);
}

int main(void)
{
	const struct point_listener listener = { .added = added };

	memory = mmap(NULL, PARTS * STRIDE * sizeof(*memory), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK_IS(memory, !=, MAP_FAILED);
	ring_init();
	site_listen(&listener);
	CHECK(ids[0] && ids[1] && ids[2] && ids[3]);
	fields();
	too_long();
	tables();
	no_room();
	same_hash();
	no_key();
	refusals();
	several();
	from_threads();
	across_fork();
	return 0;
}
