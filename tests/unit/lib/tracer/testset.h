/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * testset.h - a ring set for tests of libltt: makes its two files, reads packets as the consumer
 * does, and decodes and checks each record. Written from abi/ltt_ring.h and doc/trace-format.md
 * alone, so that it is an oracle for the producer and not its mirror.
 *
 * The payload of each record describes itself: struct body, then filler bytes that follow from it.
 */
#ifndef TESTS_TESTSET_H
#define TESTS_TESTSET_H

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

/** Fill @buf with a struct body and filler bytes, @len in all and at least the struct; @buf has
 * room for LTT_PAYLOAD_SLACK more. */
void testset_fill(void *buf, uint32_t len, uint32_t writer, uint64_t seq);

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

/** The monotonic clock. */
uint64_t testset_now_ns(void);

/** Number of instructions from stop to stop of a single-stepped process: 1, or 13 in a short run
 * (LTT_TEST_SHORT). */
unsigned int testset_stride(void);

/** Whether a test that began at @begun (testset_now_ns()) goes on: for @ms milliseconds, and then
 * until each of @nr kinds was seen, which takes longer where few processors have many threads. */
int testset_goes_on(uint64_t begun, uint64_t ms, const uint64_t *seen, int nr);

/** Return: a sealed file of @size bytes in memory. */
int testset_memfd(const char *name, uint64_t size);

/** The producer's words of @ring. */
struct ltt_ring_prod *testset_prod(const struct testset *t, uint32_t ring);

/** The data of @ring; the bytes behind its end are those at its begin. */
uint8_t *testset_data(const struct testset *t, uint32_t ring);

/** The consumer's words of @ring. */
struct ltt_ring_cons *testset_cons(const struct testset *t, uint32_t ring);

/** Set all rings' state. */
void testset_state(const struct testset *t, uint32_t state);

/** Make the files of a ring set and map them; every ring is on. */
void testset_make(struct testset *t, uint32_t nr_rings, uint32_t num_subbuf, uint64_t subbuf_size,
		  uint32_t mode, uint32_t clock);

/** Unmap and close the files of testset_make(). */
void testset_free(struct testset *t);

/** Map the set as an application does: the ctl descriptor is read-only. */
struct ring_set *testset_producer(const struct testset *t, int exclusive);

/** The number of rings that a set needs on this machine, one per possible CPU. */
uint32_t testset_nr_cpus(void);

#if defined(__x86_64__) || defined(__aarch64__)
#define TEST_CLOCK LTT_CLOCK_CYCLES
#else
#define TEST_CLOCK LTT_CLOCK_MONOTONIC
#endif

/** A ring's words at one moment. */
struct cut {
	uint64_t pub, last_ts, lost_full, lost_size, lost_busy, count;
};

/** Read a ring's words as the consumer does. */
struct cut testset_cut(const struct testset *t, uint32_t ring);

/** Events recorded and lost, in all rings. */
uint64_t testset_accounted(const struct testset *t);

struct record {
	uint32_t id;
	uint32_t header;
	uint64_t ts;
	const struct body *body;
};

#define TESTSET_PREFIXES 32
/** Bytes in front of the payload of records with this id (modulo the size): contexts. */
extern uint32_t testset_prefix[TESTSET_PREFIXES];

/** The record at @at; @ts is the clock of the one before. */
struct record testset_decode(const uint8_t *at, uint64_t ts);

/** Check the payload of a record that has @room bytes. */
void testset_check_record(const struct record *r, uint32_t room);

/** Called with each record that is read. */
typedef void (*record_fn)(const struct record *record, uint32_t ring, void *priv);

/** Check and count every record in the ring, then release the space. Return: the words of the
 * cut. */
struct cut testset_take(struct testset *t, uint32_t ring, record_fn fn, void *priv);

struct totals {
	uint64_t count, full, size, busy, compact, wide, extended;
};

/** testset_take() of every ring. Return: the sums over the rings. */
struct totals testset_take_all(struct testset *t, record_fn fn, void *priv);

/** Events lost for any reason. */
uint64_t testset_lost(const struct totals *sum);

#endif
