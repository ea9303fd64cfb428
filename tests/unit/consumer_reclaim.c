/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of free sub-buffers is given back while more threads than CPUs record into the rings: each
 * event is in a ring, whole, or counted. A consumer that ends between the steps leaves a ring that
 * its successor reads.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

#include "consumerd/now.h"
#include "consumerd/ring/reclaim.h"
#include "lib/tracer/testset.h"

#define THREADS 5

static struct hook hook;
static int stop;
static uint64_t emitted;

static void emit(uint32_t writer, uint64_t n)
{
	uint8_t payload[512 + LTT_PAYLOAD_SLACK];
	uint32_t len = sizeof(struct body) + (uint32_t)(n * 13 % 300);

	testset_fill(payload, len, writer, n);
	ring_record(&hook, payload, len);
}

/* Bursts, so that rings run empty, too. */
static void *writer(void *arg)
{
	uint64_t n = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		emit((uint32_t)(uintptr_t)arg, n++);
		if (n % 500 == 0)
			usleep(100);
	}
	__atomic_add_fetch(&emitted, n, __ATOMIC_RELAXED);
	return NULL;
}

struct reclaimed {
	struct testset t;
	struct ring_set *set;
	struct binding binding;
	struct ring_reader reader[512];
	uint64_t *passed;
	uint64_t given, refused;
};

static uint64_t memory(const struct testset *t)
{
	struct stat st;

	CHECK(fstat(t->data_fd, &st) == 0, "fstat");
	return (uint64_t)st.st_blocks * 512;
}

static void reader_of(struct reclaimed *r, uint32_t ring)
{
	struct testset *t = &r->t;

	reader_init(&r->reader[ring], &t->desc, testset_prod(t, ring), testset_data(t, ring),
		    testset_cons(t, ring), 0);
	r->reader[ring].reclaim = (struct reader_reclaim){
		.fd = t->data_fd,
		.base = ring * ltt_ring_stride(&t->desc) + ltt_ring_prod_size(t->desc.num_subbuf),
		.page = (uint32_t)sysconf(_SC_PAGESIZE),
		.passed_ns = &r->passed[ring * t->desc.num_subbuf],
	};
}

static void begin(struct reclaimed *r, uint32_t subbufs, uint64_t subbuf_size)
{
	struct testset *t = &r->t;
	uint32_t nr = testset_nr_cpus();

	memset(r, 0, sizeof(*r));
	stop = 0;
	emitted = 0;
	testset_make(t, nr, subbufs, subbuf_size, LTT_RING_DISCARD, TEST_CLOCK);
	CHECK(nr <= sizeof(r->reader) / sizeof(r->reader[0]), "%u CPUs", nr);
	r->passed = calloc((size_t)nr * subbufs, sizeof(*r->passed));
	CHECK(r->passed, "memory");
	for (uint32_t ring = 0; ring < nr; ring++)
		reader_of(r, ring);
	r->set = testset_producer(t, 0);
	r->binding = ring_binding(r->set, 17, 1);
	hook.binding = &r->binding;
}

static void end(struct reclaimed *r)
{
	hook.binding = NULL;
	reader_synchronize();
	ring_set_unmap(r->set);
	testset_free(&r->t);
	free(r->passed);
}

static int run_on(uint32_t cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

/* testset_take() checks each byte of the records; the reader has their end from it. */
static void take_and_reclaim(struct reclaimed *r, uint32_t ring, uint64_t age_ns)
{
	struct ring_reader *reader = &r->reader[ring];

	if (run_on(ring) < 0)
		return;
	testset_take(&r->t, ring, NULL, NULL);
	reader->pos = r->t.track[ring].pos;
	reader_release(reader);
	if (reclaim_free(reader, age_ns, now_ns(), (int)ring))
		r->given++;
	else
		r->refused++;
	CHECK(reclaim_position(reader->cons) == (reader->released & LTT_POS_MASK), "position");
	CHECK(reader->cons->consumed == (reader->released & LTT_POS_MASK), "not restored");
}

static void race(uint32_t subbufs, uint64_t subbuf_size, uint64_t age_ns)
{
	static struct reclaimed r;
	pthread_t thread[THREADS];
	uint64_t until = now_ns() + 400000000u;

	begin(&r, subbufs, subbuf_size);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, writer, (void *)i), "thread");
	while (now_ns() < until)
		for (uint32_t ring = 0; ring < r.t.desc.nr_rings; ring++)
			take_and_reclaim(&r, ring, age_ns);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	struct totals sum = testset_take_all(&r.t, NULL, NULL);
	printf("%u x %llu: %llu emitted, %llu recorded, %llu lost; %llu given back, %llu not\n",
	       subbufs, (unsigned long long)subbuf_size, (unsigned long long)emitted,
	       (unsigned long long)sum.count, (unsigned long long)testset_lost(&sum),
	       (unsigned long long)r.given, (unsigned long long)r.refused);
	CHECK(sum.count + testset_lost(&sum) == emitted && !sum.busy, "not exact");
	CHECK(r.given, "nothing was given back");
	end(&r);
}

/* Afterwards, the words and the sub-buffer that is written to have memory. */
static void idle(void)
{
	static struct reclaimed r;
	uint64_t before, due, words;
	struct ring_reader *reader = &r.reader[0];

	begin(&r, 8, 1 << 16);
	words = ltt_ring_prod_size(8);
	CHECK(run_on(0) == 0, "CPU 0");
	for (uint64_t n = 0; n < 30000; n++) {
		emit(0, n);
		if (n % 1000 == 0)
			testset_take(&r.t, 0, NULL, NULL);
	}
	testset_take(&r.t, 0, NULL, NULL);
	reader->pos = r.t.track[0].pos;
	reader_release(reader);
	before = memory(&r.t);
	CHECK(before >= 8 << 16, "%llu bytes", (unsigned long long)before);
	CHECK(!reclaim_is_due(reader, 1ull << 50, now_ns(), &due) && due > 1ull << 49, "age");
	CHECK(reclaim_free(reader, 1ull << 50, now_ns(), 0) && memory(&r.t) == before, "young");
	CHECK(!reclaim_free(reader, 0, now_ns(), 4095) && memory(&r.t) == before, "another CPU");
	CHECK(reclaim_is_due(reader, 0, now_ns(), &due) && reclaim_free(reader, 0, now_ns(), 0), "due");
	CHECK(before - memory(&r.t) == 7 << 16, "%llu bytes, %llu of words",
	      (unsigned long long)memory(&r.t), (unsigned long long)words);
	CHECK(!reclaim_is_due(reader, 0, now_ns(), &due) && due == UINT64_MAX, "twice");
	for (uint64_t n = 0; n < 2000; n++)
		emit(0, n);
	testset_take(&r.t, 0, NULL, NULL);
	CHECK(memory(&r.t) > before - (7 << 16), "no memory is used again");
	end(&r);
}

/* Producers stop at the lowered position; the next consumer finds the one before. */
static void killed(void)
{
	static struct reclaimed r;
	struct ring_reader *reader = &r.reader[0], next;
	struct ltt_ring_prod *prod;
	uint64_t n = 0, lost;

	begin(&r, 4, 1 << 16);
	prod = testset_prod(&r.t, 0);
	CHECK(run_on(0) == 0, "CPU 0");
	while ((prod->pub & LTT_POS_MASK) < 150000)
		emit(0, n++);
	testset_take(&r.t, 0, NULL, NULL);
	reader->pos = r.t.track[0].pos;
	reader_release(reader);
	reclaim_lower(reader, 4 << 16);
	while (!prod->lost_full)
		emit(0, n++);
	CHECK((prod->pub & LTT_POS_MASK) <= 4 << 16, "beyond the lowered position");
	CHECK((prod->pub & LTT_POS_MASK) > (4 << 16) - 1024, "not as far as the lowered position");
	CHECK(reclaim_position(reader->cons) == reader->released, "position");
	next = *reader;
	reader_continue(&next, &(struct ring_words){ .pub = reader->released });
	CHECK(!reader->cons->lowered && reader->cons->consumed == reader->released, "restored");
	lost = prod->lost_full;
	emit(0, n++);
	CHECK(prod->lost_full == lost, "lost although there is space");
	testset_take(&r.t, 0, NULL, NULL);
	CHECK(r.t.track[0].count + lost == n, "not exact");
	end(&r);
}

int main(void)
{
	if (ring_init() != RING_RSEQ)
		SKIP("no restartable sequences");
	idle();
	killed();
	race(4, 1 << 16, 0);
	race(16, 4096, 0);
	race(2, 1 << 18, 0);
	race(64, 8192, 1000000);
	return 0;
}
