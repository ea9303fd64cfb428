// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of a ring that is overwritten: while a producer goes round and round, each copy has whole
 * records, in order, up to the newest, and those between two copies are counted: at each moment,
 * copied + overwritten + pending = published. A copy that waits to be written is not copied again.
 * A reader that is put off its CPU within a snapshot takes no record for an impossible one.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "consumerd/now.h"
#include "consumerd/ring/ringcopy.h"

#define SUBBUF 4096u
#define SUBBUFS 16u
#define SIZE (SUBBUFS * SUBBUF)
#define LEAST 16u /* bytes of a record */
#define START (5ull << LTT_TS_BITS | 77)
#define LAPS 10000u

static struct ltt_ring_prod *prod;
static struct ltt_ring_cons cons;
static uint8_t data[2 * SIZE]; /* twice in a row, as it is mapped */

static uint32_t length(uint64_t number)
{
	return LEAST + (uint32_t)(number * 37 % 300) / 8 * 8;
}

static void put(uint64_t pos, uint64_t value)
{
	uint64_t at = pos & (SIZE - 1);

	__atomic_store_n((uint64_t *)(void *)(data + at), value, __ATOMIC_RELAXED);
	__atomic_store_n((uint64_t *)(void *)(data + at + SIZE), value, __ATOMIC_RELAXED);
}

/* As the fallback producer does it; each word of the record has its number. */
static void record(uint64_t number, uint64_t ts)
{
	uint64_t pub = __atomic_load_n(&prod->pub, __ATOMIC_RELAXED), pos = pub & LTT_POS_MASK;
	uint64_t parity = ~pub & LTT_PUB_PARITY, end = (pos + length(number)) & LTT_POS_MASK;

	__atomic_store_n(&prod->last_ts, ts, __ATOMIC_RELEASE);
	put(pos, (uint32_t)(ts << 5) | number << 32);
	for (uint64_t at = 8; at < length(number); at += 8)
		put(pos + at, number);
	__atomic_store_n(&prod->count[!!parity], number + 1, __ATOMIC_RELEASE);
	pub = end | parity | ts >> LTT_TS_BITS << LTT_PUB_EPOCH_SHIFT;
	if ((pos ^ end) & ~(uint64_t)(SUBBUF - 1)) {
		struct ltt_ring_region *region = &prod->region[(end & (SIZE - 1)) / SUBBUF];

		__atomic_store_n(&region->pub, pub, __ATOMIC_RELEASE);
		__atomic_store_n(&region->count, number + 1, __ATOMIC_RELEASE);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&prod->pub, pub, __ATOMIC_RELEASE);
}

static uint64_t begin_pos;

static void *writer(void *arg)
{
	uint64_t number = 0;

	(void)arg;
	for (uint64_t bytes = 0; bytes < (uint64_t)LAPS * SIZE; number++) {
		bytes += length(number);
		record(number, START + number * 1000);
		for (volatile uint32_t pause = number % 4096 ? 0 : 20000; pause; pause--)
			; /* a reader keeps up at times */
	}
	return (void *)(uintptr_t)number;
}

/* Return: the number behind the last record. */
static uint64_t check_records(const struct ring_copy *copy, uint64_t number)
{
	uint64_t ts = copy->begin_ts >> LTT_TS_BITS << LTT_TS_BITS;

	if (copy->begin_ts && copy->len)
		CHECK_IS(copy->begin_ts, ==, START + number * 1000);
	for (uint64_t at = 0; at < copy->len; at += length(number++)) {
		uint64_t word, low;

		memcpy(&word, copy->at + at, sizeof(word));
		CHECK_IS(word >> 32, ==, (uint32_t)number);
		low = (uint32_t)word >> 5;
		if (copy->begin_ts && at == 0)
			CHECK_IS(ts | low, ==, START + number * 1000);
		for (uint64_t i = 8; i < length(number); i += 8) {
			memcpy(&word, copy->at + at + i, sizeof(word));
			CHECK_IS(word, ==, number);
		}
		CHECK(at + length(number) <= copy->len);
	}
	return number;
}

static uint64_t total, copies, gaps;

/* Return: whether there was something. */
static bool cut(struct ring_copy *copy, struct ring_reader *r, uint64_t *stored)
{
	uint64_t first, pending;

	CHECK_IS(reader_snapshot(r, false), ==, READER_OK);
	CHECK_IS(*stored + r->overwritten, ==, r->released_count);
	if (!reader_pending(r))
		return false;
	pending = reader_pending_count(r);
	first = r->overwritten;
	ring_copy_pending(copy, r);
	gaps += r->overwritten != first;
	CHECK(r->overwritten - first + copy->count >= pending);
	first = *stored + r->overwritten;
	CHECK_IS(check_records(copy, first), ==, first + copy->count);
	CHECK(copy->count == reader_pending_count(r) && copy->len == reader_pending(r));
	*stored += copy->count;
	copies++;
	reader_release_until(r, r->pos, r->count);
	return true;
}

static void begin_reader(struct ring_reader *r, uint64_t pos)
{
	const struct ltt_ring_desc desc = {
		.mode = LTT_RING_OVERWRITE,
		.data_size = SIZE,
		.subbuf_size = SUBBUF,
		.max_record = 512,
		.clock = LTT_CLOCK_MONOTONIC,
	};

	begin_pos = pos;
	memset(prod, 0, sizeof(*prod) + SUBBUFS * sizeof(prod->region[0]));
	memset(&cons, 0, sizeof(cons));
	prod->pub = reader_first_pub(START) | pos;
	prod->last_ts = START;
	reader_init(r, &desc, prod, data, &cons, START);
	r->kept = false;
	r->pos = r->released = pos;
	reader_adopt(r);
}

static void race(uint64_t pos)
{
	struct ring_copy copy;
	struct ring_reader r;
	uint64_t stored = 0;
	pthread_t thread;
	void *number;

	begin_reader(&r, pos);
	CHECK_IS(ring_copy_init(&copy, &r), ==, 0);
	CHECK_IS(pthread_create(&thread, NULL, writer, NULL), ==, 0);
	while (__atomic_load_n(&prod->count[0], __ATOMIC_RELAXED) < 2)
		;
	do {
		r.snapshot_ns = 0; /* any number of records is plausible */
		cut(&copy, &r, &stored);
	} while ((r.pos - begin_pos) / SIZE < LAPS - 1);
	CHECK_IS(pthread_join(thread, &number), ==, 0);
	r.snapshot_ns = 0;
	while (cut(&copy, &r, &stored))
		r.snapshot_ns = 0;
	CHECK_IS(stored + r.overwritten, ==, (uint64_t)(uintptr_t)number);
	CHECK(stored && !r.invalid_words);
	total += stored;
	ring_copy_fini(&copy);
}

#define DELAYED 100000u /* records while a reader is put off its CPU */

static unsigned int delay_at; /* the reading of the clock, counted down to it */

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	static uint64_t number;

	if (delay_at && --delay_at == 0)
		for (uint64_t end = number + DELAYED; number < end; number++)
			record(number, START + number * 1000);
	return (int)syscall(SYS_clock_gettime, clock, ts);
}

/* Before and after each reading of the clock. */
static void delays(void)
{
	struct ring_reader r;

	begin_reader(&r, 0);
	CHECK_IS(reader_snapshot(&r, false), ==, READER_OK);
	for (uint64_t i = 1; i <= 8; i++) {
		delay_at = (unsigned int)i;
		for (int turns = 0; delay_at; turns++) {
			CHECK(turns < 8);
			CHECK_IS(reader_snapshot(&r, false), ==, READER_OK);
		}
		CHECK_IS(reader_snapshot(&r, false), ==, READER_OK);
		CHECK_IS(r.count, ==, i * DELAYED);
		CHECK_IS(r.invalid_words, ==, 0);
		CHECK_IS(r.invalid_count, ==, 0);
	}
}

int main(void)
{
	prod = calloc(1, sizeof(*prod) + SUBBUFS * sizeof(prod->region[0]));
	CHECK(prod);
	delays();
	race(0);
	race(LTT_POS_MASK + 1 - 1000 * (uint64_t)SIZE); /* it wraps */
	printf("%llu records in %llu copies, %llu of them behind a gap\n",
	       (unsigned long long)total, (unsigned long long)copies, (unsigned long long)gaps);
	CHECK(copies > 10 && gaps);
	free(prod);
	return 0;
}
