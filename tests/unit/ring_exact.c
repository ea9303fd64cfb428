// SPDX-License-Identifier: GPL-2.0-only
/*
 * More threads than CPUs, a signal handler that records at up to 10 kHz, small
 * rings and large ones, a consumer that cuts all the time: emitted = recorded +
 * lost, to the record, and each writer's records in order in each ring.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "lib/tracer/testset.h"

#define THREADS 6
#define WRITERS (2 * THREADS) /* each thread, and the handler that interrupts it */
#define MAX_RINGS 512

static struct hook hook;
static int stop;
static uint64_t emitted;
static __thread uint64_t mine, handlers;
static __thread uint32_t self = UINT32_MAX;

static void emit(uint32_t writer, uint64_t n)
{
	uint8_t payload[256 + LTT_PAYLOAD_SLACK];
	uint32_t len = sizeof(struct body) + (uint32_t)(n * 13 % 100);

	testset_fill(payload, len, writer, n);
	errno = 4711;
	ring_record(&hook, payload, len);
	CHECK(errno == 4711, "errno became %d", errno);
}

static void on_signal(int sig)
{
	int saved = errno;

	(void)sig;
	if (self < THREADS)
		emit(THREADS + self, handlers++);
	errno = saved;
}

static void *writer(void *arg)
{
	self = (uint32_t)(uintptr_t)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		emit(self, mine++);
	self = UINT32_MAX; /* the handler records nothing from here on */
	__atomic_add_fetch(&emitted, mine + handlers, __ATOMIC_RELAXED);
	return NULL;
}

static uint64_t next_seq[MAX_RINGS][WRITERS];
static uint64_t seen[WRITERS];

static void check_order(const struct record *r, uint32_t ring, void *priv)
{
	struct body body;

	(void)priv;
	memcpy(&body, r->body, sizeof(body));
	CHECK(body.writer < WRITERS, "writer %u", body.writer);
	CHECK(body.seq >= next_seq[ring][body.writer], "writer %u: %llu after %llu", body.writer,
	      (unsigned long long)body.seq, (unsigned long long)next_seq[ring][body.writer]);
	next_seq[ring][body.writer] = body.seq + 1;
	seen[body.writer]++;
}

static void start_signals(long us)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, us }, { 0, us } };

	CHECK(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &every, NULL), "timer");
}

static struct totals run(struct testset *t, uint64_t ms)
{
	pthread_t thread[THREADS];
	sigset_t set;

	start_signals(100);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, writer, (void *)i), "thread");
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (uint64_t end = testset_now_ns() + ms * 1000000; testset_now_ns() < end; usleep(200))
		testset_take_all(t, check_order, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	start_signals(0);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	return testset_take_all(t, check_order, NULL);
}

static void test(const char *name, uint32_t subbufs, uint64_t subbuf_size, uint32_t clock,
		 int exclusive)
{
	struct testset t;

	memset(next_seq, 0, sizeof(next_seq));
	memset(seen, 0, sizeof(seen));
	stop = 0;
	emitted = 0;
	testset_make(&t, testset_nr_cpus(), subbufs, subbuf_size, LTT_RING_DISCARD, clock);
	CHECK(t.desc.nr_rings <= MAX_RINGS, "%u CPUs", t.desc.nr_rings);
	struct ring_set *set = testset_producer(&t, exclusive);
	struct binding binding = ring_binding(set, 17, 1);
	hook.binding = &binding;
	struct totals sum = run(&t, 300);
	printf("%-28s %9llu emitted %9llu recorded %9llu full %llu busy\n", name,
	       (unsigned long long)emitted, (unsigned long long)sum.count,
	       (unsigned long long)sum.full, (unsigned long long)sum.busy);
	CHECK(sum.count + testset_lost(&sum) == emitted, "not exact");
	CHECK(sum.count && !sum.size && (exclusive || !sum.busy), "wrong losses");
	uint64_t by_handler = 0;
	for (int i = THREADS; i < WRITERS; i++)
		by_handler += seen[i];
	CHECK(by_handler, "the handler recorded nothing");
	hook.binding = NULL;
	reader_synchronize();
	ring_set_unmap(set);
	testset_free(&t);
}

int main(void)
{
	if (ring_init() == RING_RSEQ) {
		test("counter, large", 4, 1 << 20, TEST_CLOCK, 0);
		test("counter, tiny", 2, 4096, TEST_CLOCK, 0);
		test("counter, many sub-buffers", 512, 4096, TEST_CLOCK, 0);
		test("monotonic, large", 4, 1 << 20, LTT_CLOCK_MONOTONIC, 0);
		test("monotonic, tiny", 2, 4096, LTT_CLOCK_MONOTONIC, 0);
	}
	test("fallback, large", 4, 1 << 20, TEST_CLOCK, 1);
	test("fallback, tiny", 2, 4096, LTT_CLOCK_MONOTONIC, 1);
	test("fallback, many sub-buffers", 512, 4096, TEST_CLOCK, 1);
	return 0;
}
