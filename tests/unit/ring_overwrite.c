// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flight recorder under load: writers at full speed, and a reader that takes snapshots as
 * described in ring.md. Every record of a snapshot is whole, none is missing between its first and
 * its last, and `count` agrees. Records that are not in a snapshot any more are counted:
 * overwritten + readable = written.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "lib/tracer/testset.h"
#include "tracer/ring/sys.h"

#define SUBBUFS 8
#define SUBBUF_SIZE (1u << 16)

static struct hook hook;
static int stop;
static uint64_t written[2]; /* by each writer, when it has ended */

/* One writer a CPU, bound to it: its numbers follow each other in the ring. */
static void *writer(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;
	uint8_t payload[512 + LTT_PAYLOAD_SLACK];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(!pthread_setaffinity_np(pthread_self(), sizeof(set), &set), "affinity");
	uint64_t n;

	for (n = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
		uint32_t len = sizeof(struct body) + (uint32_t)(n * 37 % 300);

		testset_fill(payload, len, cpu, n);
		ring_record(&hook, payload, len);
	}
	written[cpu] = n;
	return NULL;
}

struct snapshot {
	uint64_t pub, begin, end; /* word at the entry; positions relative to begin's lap */
	uint64_t count, end_count;
	uint8_t *copy;
};

/* How far in front of `pub` the writer may have written already. On machines
 * that reorder stores it orders them once a sub-buffer only. */
static uint64_t in_flight(const struct testset *t)
{
	uint64_t ahead = t->desc.max_record + LTT_RING_SLACK;

#if !defined(__x86_64__)
	ahead += t->desc.subbuf_size + t->desc.max_record;
#endif
	return ahead;
}

/* Bytes from @pos to @pub, if @pos can still be read when the writer is at @pub. */
static int64_t reachable(const struct testset *t, uint64_t pos, uint64_t pub)
{
	uint64_t behind = (pub - pos) & LTT_POS_MASK;

	return behind + in_flight(t) <= t->desc.data_size ? (int64_t)behind : -1;
}

/* The oldest sub-buffer whose entry can be read; 0 if there is none. */
static int find_entry(const struct testset *t, uint32_t ring, uint64_t pub,
		      struct ltt_ring_region *ret_entry)
{
	const struct ltt_ring_prod *prod = testset_prod(t, ring);
	int64_t best = -1;

	for (uint32_t k = 0; k < t->desc.num_subbuf; k++) {
		struct ltt_ring_region entry;

		entry.pub = __atomic_load_n(&prod->region[k].pub, __ATOMIC_ACQUIRE);
		entry.count = __atomic_load_n(&prod->region[k].count, __ATOMIC_ACQUIRE);
		uint64_t at = (entry.pub & (t->desc.data_size - 1)) / t->desc.subbuf_size;
		int64_t behind = reachable(t, entry.pub, pub);
		if (entry.count && at == k && behind > best) {
			best = behind;
			*ret_entry = entry;
		}
	}
	return best > 0;
}

static int take(const struct testset *t, uint32_t ring, struct snapshot *snap)
{
	struct ltt_ring_region entry = { 0, 0 };
	struct cut cut = testset_cut(t, ring);

	if (!find_entry(t, ring, cut.pub, &entry))
		return 0;
	uint64_t bytes = (cut.pub - entry.pub) & LTT_POS_MASK;
	memcpy(snap->copy, testset_data(t, ring) + (entry.pub & (t->desc.data_size - 1)), bytes);
	ring_full_fence();
	uint64_t now = __atomic_load_n(&testset_prod(t, ring)->pub, __ATOMIC_ACQUIRE);
	/* Overtaken: this simple reader discards the whole snapshot. */
	if (reachable(t, entry.pub, now) < 0)
		return 0;
	*snap = (struct snapshot){ .pub = entry.pub,
				   .end = bytes,
				   .count = entry.count,
				   .end_count = cut.count,
				   .copy = snap->copy };
	return 1;
}

static uint64_t check_snapshot(const struct snapshot *snap)
{
	/* The entry has 24 bits of the epoch; the clock is far from a wrap-around. */
	uint64_t ts = snap->pub >> LTT_PUB_EPOCH_SHIFT << LTT_TS_BITS;
	uint64_t records = 0, next = 0;
	const uint8_t *at = snap->copy, *end = at + snap->end;

	for (; at < end; records++) {
		struct record r = testset_decode(at, ts);
		struct body body;

		testset_check_record(&r, (uint32_t)(end - at));
		memcpy(&body, r.body, sizeof(body));
		CHECK(!records || body.seq == next, "record %llu follows %llu",
		      (unsigned long long)body.seq, (unsigned long long)next - 1);
		CHECK(snap->count + records == body.seq, "entry's count");
		CHECK(r.ts >= ts, "clock went back");
		next = body.seq + 1;
		ts = r.ts;
		at += r.header + body.len;
	}
	CHECK(at == end && snap->count + records == snap->end_count, "end of the snapshot");
	return records;
}

/* The writers have ended: none overtakes the reader. Return: events that were overwritten. */
static uint64_t check_account(const struct testset *t, uint32_t ring, struct snapshot *snap)
{
	uint64_t readable;

	CHECK(take(t, ring, snap), "a ring at rest can be read");
	readable = check_snapshot(snap);
	CHECK(snap->count + readable == written[ring], "%llu overwritten + %llu readable = %llu",
	      (unsigned long long)snap->count, (unsigned long long)readable,
	      (unsigned long long)written[ring]);
	return snap->count;
}

/* Has each ring been round at least once? However slow the machine is. */
static bool all_round(const struct testset *t, uint32_t nr)
{
	for (uint32_t ring = 0; ring < nr; ring++)
		if (testset_cut(t, ring).count <= t->desc.data_size / sizeof(struct body))
			return false;
	return true;
}

int main(int argc, char **argv)
{
	uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 0) : 700;
	uint64_t snapshots = 0, outrun = 0, records = 0, overwritten = 0;
	struct testset t;
	pthread_t thread[2];
	struct snapshot snap;

	if (ring_init() != RING_RSEQ)
		SKIP("no restartable sequences");
	uint32_t nr = testset_nr_cpus() > 1 ? 2 : 1;
	testset_make(&t, testset_nr_cpus(), SUBBUFS, SUBBUF_SIZE, LTT_RING_OVERWRITE, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, 0);
	struct binding binding = ring_binding(set, 9, 1);
	hook.binding = &binding;
	snap.copy = malloc(2 * t.desc.data_size);
	CHECK(snap.copy, "memory");
	for (uintptr_t i = 0; i < nr; i++)
		CHECK(!pthread_create(&thread[i], NULL, writer, (void *)i), "thread");
	for (uint64_t end = testset_now_ns() + ms * 1000000;
	     testset_now_ns() < end || !all_round(&t, nr);) {
		for (uint32_t ring = 0; ring < nr; ring++) {
			if (!take(&t, ring, &snap)) {
				outrun++;
				continue;
			}
			snapshots++;
			records += check_snapshot(&snap);
		}
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
	for (uint32_t ring = 0; ring < nr; ring++)
		overwritten += check_account(&t, ring, &snap);
	CHECK(overwritten > 0, "nothing was overwritten");
	printf("%llu snapshots, %llu records checked, outrun %llu times\n",
	       (unsigned long long)snapshots, (unsigned long long)records,
	       (unsigned long long)outrun);
	printf("%llu events written, %llu of them overwritten and counted\n",
	       (unsigned long long)(written[0] + written[1]), (unsigned long long)overwritten);
	CHECK(snapshots > 10, "too few snapshots");
	for (uint32_t ring = 0; ring < nr; ring++)
		CHECK(!testset_cut(&t, ring).lost_full, "refused in overwrite mode");
	hook.binding = NULL;
	reader_synchronize();
	ring_set_unmap(set);
	testset_free(&t);
	free(snap.copy);
	return 0;
}
