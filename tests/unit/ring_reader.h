/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring_reader.h - the other side of a ring, for tests: makes a ring set's two
 * files, cuts packets as the consumer does, decodes records one by one and
 * believes nothing. Written from abi/ltt_ring.h and ring.md alone, so that it
 * is an oracle for the producer and not its mirror.
 *
 * Payloads of these tests say what they are: struct body, then filler bytes
 * that follow from it.
 */
#ifndef TESTS_RING_READER_H
#define TESTS_RING_READER_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ltt/site.h"
#include "ltt_ring.h"
#include "tracer/ring/hook.h"
#include "tracer/ring/ring.h"

#define CHECK(cond, ...)                                                                     \
	do {                                                                                 \
		if (!(cond)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s: ", __FILE__, __LINE__, #cond); \
			fprintf(stderr, __VA_ARGS__);                                        \
			fprintf(stderr, "\n");                                               \
			_exit(1);                                                            \
		}                                                                            \
	} while (0)

#define SKIP(...)                                \
	do {                                     \
		printf("skipped: " __VA_ARGS__); \
		printf("\n");                    \
		exit(77);                        \
	} while (0)

/* The payload of a test's record. */
struct body {
	uint32_t len; /* of the payload */
	uint32_t writer;
	uint64_t seq;
	uint8_t fill[];
};

static inline uint8_t body_byte(uint32_t writer, uint64_t seq, uint32_t i)
{
	return (uint8_t)(seq * 31 + writer * 7 + i);
}

/** @buf holds @len + LTT_PAYLOAD_SLACK bytes, @len >= sizeof(struct body). */
static inline void body_fill(void *buf, uint32_t len, uint32_t writer, uint64_t seq)
{
	struct body *body = buf;

	body->len = len;
	body->writer = writer;
	body->seq = seq;
	for (uint32_t i = sizeof(*body); i < len; i++)
		((uint8_t *)buf)[i] = body_byte(writer, seq, i);
}

/** struct track - reader's state of one ring, carried from cut to cut. */
struct track {
	uint64_t pos;	/* consumed so far, extended to 64 bits */
	uint64_t ts;	/* clock of the last record decoded */
	uint64_t count; /* records decoded */
	uint64_t end;	/* timestamp_end of the last cut */
	uint64_t compact, wide, extended;
};

struct testset {
	int data_fd, ctl_fd;
	struct ltt_ring_desc desc;
	uint8_t *data; /* per ring: producer block, data, data again */
	uint8_t *ctl;
	uint32_t *doorbell;
	uint64_t view; /* distance of two rings in @data */
	struct track *track;
};

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline int test_memfd(const char *name, uint64_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)size), "%s: %s", name, strerror(errno));
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), "seal");
	return fd;
}

static inline struct ltt_ring_prod *testset_prod(const struct testset *t, uint32_t ring)
{
	return (struct ltt_ring_prod *)(t->data + ring * t->view);
}

static inline uint8_t *testset_data(const struct testset *t, uint32_t ring)
{
	return t->data + ring * t->view + ltt_ring_prod_size(t->desc.num_subbuf);
}

static inline struct ltt_ring_cons *testset_cons(const struct testset *t, uint32_t ring)
{
	return (struct ltt_ring_cons *)(t->ctl + LTT_RING_CONS_OFFSET) + ring;
}

static inline void testset_state(const struct testset *t, uint32_t state)
{
	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++)
		__atomic_store_n(&testset_cons(t, ring)->state, state, __ATOMIC_SEQ_CST);
}

static inline void *test_map(void *at, uint64_t bytes, int fd, uint64_t offset)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	void *got = mmap(at, bytes, PROT_READ | PROT_WRITE, flags | (at ? MAP_FIXED : 0), fd,
			 (off_t)offset);

	CHECK(got != MAP_FAILED, "mmap: %s", strerror(errno));
	return got;
}

static inline void testset_map(struct testset *t)
{
	uint64_t once = ltt_ring_stride(&t->desc);

	t->view = once + t->desc.data_size;
	t->data = test_map(NULL, t->view * t->desc.nr_rings, -1, 0);
	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++) {
		uint8_t *at = t->data + ring * t->view;

		test_map(at, once, t->data_fd, ring * once);
		test_map(at + once, t->desc.data_size, t->data_fd,
			 ring * once + ltt_ring_prod_size(t->desc.num_subbuf));
	}
	t->ctl = test_map(NULL, ltt_ring_ctl_bytes(&t->desc), t->ctl_fd, 0);
}

static inline void testset_make(struct testset *t, uint32_t nr_rings, uint32_t num_subbuf,
				uint64_t subbuf_size, uint32_t mode, uint32_t clock)
{
	memset(t, 0, sizeof(*t));
	t->desc = (struct ltt_ring_desc){
		.magic = LTT_RING_MAGIC,
		.version = LTT_RING_VERSION,
		.mode = mode,
		.nr_rings = nr_rings,
		.num_subbuf = num_subbuf,
		.subbuf_size = subbuf_size,
		.data_size = num_subbuf * subbuf_size,
		.max_record = ltt_ring_max_record(num_subbuf * subbuf_size),
		.clock = clock,
	};
	t->data_fd = test_memfd("ring-data", ltt_ring_data_bytes(&t->desc));
	t->ctl_fd = test_memfd("ring-ctl", ltt_ring_ctl_bytes(&t->desc));
	testset_map(t);
	memcpy(t->ctl, &t->desc, sizeof(t->desc));
	t->doorbell = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(t->doorbell != MAP_FAILED, "doorbell");
	t->track = calloc(nr_rings, sizeof(*t->track));
	CHECK(t->track, "memory");
	testset_state(t, LTT_RING_ON);
}

static inline void testset_free(struct testset *t)
{
	munmap(t->data, t->view * t->desc.nr_rings);
	munmap(t->ctl, ltt_ring_ctl_bytes(&t->desc));
	munmap(t->doorbell, 4096);
	close(t->data_fd);
	close(t->ctl_fd);
	free(t->track);
}

/** Map the set as an application does: the ctl descriptor is read-only. */
static inline struct ring_set *testset_producer(const struct testset *t, int exclusive)
{
	char path[64];
	struct ring_set *set = NULL;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->ctl_fd);
	int ctl_fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(ctl_fd >= 0, "%s", strerror(errno));
	int ret = ring_set_map(t->data_fd, ctl_fd, t->doorbell, exclusive, &set);
	CHECK(ret == 0, "ring_set_map: %s", strerror(-ret));
	close(ctl_fd);
	return set;
}

/** Rings that any CPU of this machine finds. */
static inline uint32_t test_nr_cpus(void)
{
	return (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
}

#if defined(__x86_64__) || defined(__aarch64__)
#define TEST_CLOCK LTT_CLOCK_CYCLES
#else
#define TEST_CLOCK LTT_CLOCK_MONOTONIC
#endif

/** A ring's words as the consumer takes them. */
struct cut {
	uint64_t pub, last_ts, lost_full, lost_size, lost_busy, count;
};

static inline struct cut testset_cut(const struct testset *t, uint32_t ring)
{
	struct ltt_ring_prod *prod = testset_prod(t, ring);
	struct cut cut;

	do {
		cut.pub = __atomic_load_n(&prod->pub, __ATOMIC_ACQUIRE);
		cut.last_ts = __atomic_load_n(&prod->last_ts, __ATOMIC_ACQUIRE);
		cut.count = __atomic_load_n(&prod->count[!!(cut.pub & LTT_PUB_PARITY)],
					    __ATOMIC_ACQUIRE);
		cut.lost_full = __atomic_load_n(&prod->lost_full, __ATOMIC_ACQUIRE);
		cut.lost_size = __atomic_load_n(&prod->lost_size, __ATOMIC_ACQUIRE);
		cut.lost_busy = __atomic_load_n(&prod->lost_busy, __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&prod->pub, __ATOMIC_ACQUIRE) != cut.pub);
	return cut;
}

/** Recorded and lost, in all rings. */
static inline uint64_t testset_accounted(const struct testset *t)
{
	uint64_t sum = 0;

	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++) {
		struct cut cut = testset_cut(t, ring);

		sum += cut.count + cut.lost_full + cut.lost_size + cut.lost_busy;
	}
	return sum;
}

struct record {
	uint32_t id;
	uint32_t header;
	uint64_t ts;
	const struct body *body;
};

/** Decode the record at @at; @ts is the clock of the one before. */
static inline struct record record_decode(const uint8_t *at, uint64_t ts)
{
	struct record r;
	uint32_t word;
	uint16_t short_id;

	memcpy(&word, at, sizeof(word));
	r.id = word & 31;
	if (r.id == LTT_ID_EXTENDED) {
		memcpy(&r.id, at + 1, sizeof(r.id));
		memcpy(&r.ts, at + 5, sizeof(r.ts));
		r.header = LTT_HDR_EXTENDED;
	} else {
		r.ts = (ts & ~((1ull << LTT_TS_BITS) - 1)) | word >> 5;
		r.header = LTT_HDR_COMPACT;
	}
	if (r.id == LTT_ID_WIDE && r.header == LTT_HDR_COMPACT) {
		memcpy(&short_id, at + 4, sizeof(short_id));
		r.id = short_id;
		r.header = LTT_HDR_WIDE;
	}
	r.body = (const struct body *)(at + r.header);
	return r;
}

static inline void record_check_body(const struct record *r, uint32_t room)
{
	struct body body;

	memcpy(&body, r->body, sizeof(body));
	CHECK(body.len >= sizeof(body) && r->header + body.len <= room,
	      "payload of %u bytes in a room of %u", body.len, room);
	for (uint32_t i = sizeof(body); i < body.len; i++)
		CHECK(((const uint8_t *)r->body)[i] == body_byte(body.writer, body.seq, i),
		      "byte %u of writer %u's record %llu", i, body.writer,
		      (unsigned long long)body.seq);
}

typedef void (*record_fn)(const struct record *record, uint32_t ring, void *priv);

/**
 * Take what is in the ring, check and count every record, and give the space
 * back. Return: the words of the cut.
 */
static inline struct cut testset_take(struct testset *t, uint32_t ring, record_fn fn, void *priv)
{
	struct track *track = &t->track[ring];
	struct cut cut = testset_cut(t, ring);
	uint64_t avail = (cut.pub - track->pos) & LTT_POS_MASK;
	const uint8_t *at = testset_data(t, ring) + (track->pos & (t->desc.data_size - 1));
	const uint8_t *end = at + avail;

	CHECK(avail <= t->desc.data_size, "%llu bytes in the ring", (unsigned long long)avail);
	CHECK(cut.last_ts >= track->end, "last_ts went back");
	for (; at < end; track->count++) {
		struct record r = record_decode(at, track->ts);

		record_check_body(&r, (uint32_t)(end - at));
		CHECK(r.ts >= track->ts, "clock went back: %llu after %llu",
		      (unsigned long long)r.ts, (unsigned long long)track->ts);
		CHECK(r.ts >= track->end && r.ts <= cut.last_ts, "record outside its packet");
		track->ts = r.ts;
		track->compact += r.header == LTT_HDR_COMPACT;
		track->wide += r.header == LTT_HDR_WIDE;
		track->extended += r.header == LTT_HDR_EXTENDED;
		if (fn)
			fn(&r, ring, priv);
		uint32_t len;
		memcpy(&len, r.body, sizeof(len));
		at += r.header + len;
	}
	CHECK(at == end, "a record crosses the end of what is published");
	CHECK(track->count == cut.count, "count says %llu, decoded %llu",
	      (unsigned long long)cut.count, (unsigned long long)track->count);
	uint64_t epoch = cut.pub >> LTT_PUB_EPOCH_SHIFT;
	CHECK(!track->count || epoch == (track->ts >> LTT_TS_BITS & 0xffffff), "epoch in pub");
	track->end = cut.last_ts;
	track->pos += avail;
	__atomic_store_n(&testset_cons(t, ring)->consumed, track->pos & LTT_POS_MASK,
			 __ATOMIC_RELEASE);
	return cut;
}

struct totals {
	uint64_t count, full, size, busy, compact, wide, extended;
};

static inline struct totals testset_take_all(struct testset *t, record_fn fn, void *priv)
{
	struct totals sum = { 0 };

	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++) {
		struct cut cut = testset_take(t, ring, fn, priv);

		sum.count += cut.count;
		sum.full += cut.lost_full;
		sum.size += cut.lost_size;
		sum.busy += cut.lost_busy;
		sum.compact += t->track[ring].compact;
		sum.wide += t->track[ring].wide;
		sum.extended += t->track[ring].extended;
	}
	return sum;
}

static inline uint64_t totals_lost(const struct totals *sum)
{
	return sum->full + sum->size + sum->busy;
}

#endif
