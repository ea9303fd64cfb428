// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads wait in a full ring for as long as the channel permits, and no longer: until there is
 * space, the session is stopped, the ring set is gone, no daemon is left, or another thread waits
 * for them. Each event is recorded, or counted once.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "lib/tracer/testset.h"
#include "tracer/ring/wait.h"

#define LEN 40u
#define MS 1000000ull
#define WATCH_MS 60000u /* a wait that has not ended then never does */

static struct hook hook;
static struct testset set;
static struct ring_set *producer;
static struct binding binding;
static uint64_t emitted;

static void emit(void)
{
	uint8_t payload[LEN + LTT_PAYLOAD_SLACK];

	testset_fill(payload, LEN, 1, 1);
	errno = 4711;
	ring_record(&hook, payload, LEN);
	CHECK(errno == 4711, "errno");
	__atomic_add_fetch(&emitted, 1, __ATOMIC_SEQ_CST);
}

static void begin(uint32_t clock, int exclusive, uint32_t blocking_us)
{
	testset_make(&set, exclusive ? 1 : testset_nr_cpus(), 2, 4096, LTT_RING_DISCARD, clock);
	((struct ltt_ring_desc *)set.ctl)->blocking_us = blocking_us;
	producer = testset_producer(&set, exclusive);
	binding = ring_binding(producer, 3, 1);
	__atomic_store_n(&hook.binding, &binding, __ATOMIC_RELEASE);
	emitted = 0;
}

static void end(uint64_t lost)
{
	struct totals sum = testset_take_all(&set, NULL, NULL);

	CHECK(testset_lost(&sum) == lost, "%llu lost, not %llu",
	      (unsigned long long)testset_lost(&sum), (unsigned long long)lost);
	CHECK(sum.count + lost == emitted, "%llu recorded of %llu", (unsigned long long)sum.count,
	      (unsigned long long)emitted);
	__atomic_store_n(&hook.binding, NULL, __ATOMIC_SEQ_CST);
	reader_synchronize();
	ring_set_unmap(producer);
	testset_free(&set);
}

/* --- another thread, which fills the ring and waits ------------------------------------- */

static int ending, returned;

static int now_returned(void)
{
	return __atomic_load_n(&returned, __ATOMIC_SEQ_CST);
}

static void *fill(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&ending, __ATOMIC_SEQ_CST))
		emit();
	__atomic_add_fetch(&returned, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static pthread_t start(void *(*body)(void *))
{
	pthread_t thread;

	__atomic_store_n(&ending, 0, __ATOMIC_SEQ_CST);
	returned = 0;
	CHECK(pthread_create(&thread, NULL, body, NULL) == 0, "thread");
	return thread;
}

static uint64_t now_emitted(void)
{
	return __atomic_load_n(&emitted, __ATOMIC_SEQ_CST);
}

/* Nothing was emitted for a time. */
static void await_waiting(void)
{
	uint64_t before;

	do {
		before = now_emitted();
		usleep(30000);
	} while (!before || now_emitted() != before);
}

static void join(pthread_t thread)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += WATCH_MS / 1000;
	CHECK(pthread_timedjoin_np(thread, NULL, &limit) == 0, "the thread waits for ever");
}

static void finish(pthread_t thread)
{
	__atomic_store_n(&ending, 1, __ATOMIC_SEQ_CST);
	join(thread);
}

/* --- cases ------------------------------------------------------------------------------ */

static uint64_t lost_now(void)
{
	uint64_t lost = 0;

	for (uint32_t ring = 0; ring < set.desc.nr_rings; ring++)
		lost += testset_cut(&set, ring).lost_full;
	return lost;
}

/* Each event that is lost has taken its time. */
static void times_out(uint32_t clock, int exclusive)
{
	uint64_t begun = testset_now_ns();

	begin(clock, exclusive, 2000);
	while (lost_now() < 20)
		emit();
	CHECK(testset_now_ns() - begun >= 40 * MS, "did not wait");
	end(20);
}

/* As the consumer: nothing is lost. */
static void takes_space(uint32_t clock, int exclusive)
{
	pthread_t thread;
	uint64_t before;

	begin(clock, exclusive, LTT_RING_WAIT_FOREVER);
	thread = start(fill);
	for (int i = 0; i < 10; i++) {
		await_waiting();
		before = now_emitted();
		testset_take_all(&set, NULL, NULL);
		while (now_emitted() == before)
			usleep(1000);
	}
	__atomic_store_n(&ending, 1, __ATOMIC_SEQ_CST);
	testset_take_all(&set, NULL, NULL);
	join(thread);
	end(0);
}

/* The last event is none of the session: it is neither recorded nor lost. */
static void is_stopped(uint32_t clock, int exclusive)
{
	pthread_t thread;

	begin(clock, exclusive, LTT_RING_WAIT_FOREVER);
	thread = start(fill);
	await_waiting();
	__atomic_store_n(&ending, 1, __ATOMIC_SEQ_CST);
	testset_state(&set, 0);
	join(thread);
	emitted--;
	testset_state(&set, LTT_RING_ON);
	end(0);
}

static void is_removed(uint32_t clock, int exclusive)
{
	pthread_t thread;

	begin(clock, exclusive, LTT_RING_WAIT_FOREVER);
	thread = start(fill);
	await_waiting();
	__atomic_store_n(&ending, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&hook.binding, NULL, __ATOMIC_SEQ_CST);
	reader_synchronize(); /* a thread that waits is no reader */
	join(thread);
	emitted--;
	end(0);
}

static void is_alone(uint32_t clock, int exclusive)
{
	pthread_t thread;

	begin(clock, exclusive, LTT_RING_WAIT_FOREVER);
	thread = start(fill);
	await_waiting();
	__atomic_store_n(&ending, 1, __ATOMIC_SEQ_CST);
	ring_set_wait_until(producer, testset_now_ns() + 50 * MS);
	join(thread);
	end(1);
}

/* An event within a reader, as of a provider that is made at run time. */
static void *fill_inside(void *arg)
{
	unsigned int token = reader_enter();

	fill(arg);
	reader_exit(token);
	return NULL;
}

static void *synchronize(void *arg)
{
	(void)arg;
	reader_synchronize();
	return NULL;
}

static void is_awaited(void)
{
	pthread_t thread, other;
	uint64_t before;

	begin(TEST_CLOCK, 1, LTT_RING_WAIT_FOREVER);
	thread = start(fill_inside);
	await_waiting();
	before = now_emitted();
	CHECK(pthread_create(&other, NULL, synchronize, NULL) == 0, "thread");
	while (now_emitted() == before)
		usleep(1000);
	finish(thread);
	join(other);
	end(lost_now());
}

static void *fill_never(void *arg)
{
	ring_wait_never_here();
	for (int i = 0; i < 3000; i++)
		emit();
	return arg;
}

/* The library's own thread. */
static void is_own(void)
{
	begin(TEST_CLOCK, 1, LTT_RING_WAIT_FOREVER);
	join(start(fill_never));
	CHECK(lost_now() > 0, "it has waited");
	end(lost_now());
}

static void on_signal(int sig)
{
	(void)sig;
	emit();
}

static void *fill_deaf(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	return fill(arg);
}

/* A handler that waits interrupts a wait; a thread without signals waits, too; and a child of
 * fork() is not kept by either. */
static void is_interrupted(void)
{
	pthread_t thread, deaf;
	int status;
	pid_t pid;

	signal(SIGUSR1, on_signal);
	begin(TEST_CLOCK, 1, LTT_RING_WAIT_FOREVER);
	thread = start(fill);
	await_waiting();
	CHECK(pthread_create(&deaf, NULL, fill_deaf, NULL) == 0, "thread");
	for (int i = 0; i < 5; i++)
		pthread_kill(thread, SIGUSR1);
	usleep(20000);
	pid = fork();
	if (pid == 0) {
		ring_set_disown(producer);
		emit();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "child");
	__atomic_store_n(&ending, 1, __ATOMIC_SEQ_CST);
	while (now_returned() < 2) {
		testset_take_all(&set, NULL, NULL);
		usleep(1000);
	}
	join(thread);
	join(deaf);
	emitted++; /* the child's, which is lost: the set is its parent's */
	end(1);
}

/* Killed while it waits: all that had returned is there. */
static void is_killed(void)
{
	uint64_t *done =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t before;
	pid_t pid;

	begin(TEST_CLOCK, 1, LTT_RING_WAIT_FOREVER);
	pid = fork();
	if (pid == 0) {
		for (;;) {
			emit();
			__atomic_add_fetch(done, 1, __ATOMIC_SEQ_CST);
		}
	}
	do {
		before = __atomic_load_n(done, __ATOMIC_SEQ_CST);
		usleep(30000);
	} while (!before || before != __atomic_load_n(done, __ATOMIC_SEQ_CST));
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid, "child");
	emitted = *done;
	end(0);
}

static void all(uint32_t clock, int exclusive)
{
	times_out(clock, exclusive);
	takes_space(clock, exclusive);
	is_stopped(clock, exclusive);
	is_removed(clock, exclusive);
	is_alone(clock, exclusive);
}

int main(void)
{
	bool sequences;

	setenv("LTT_ALLOW_BLOCKING", "0", 1);
	setenv("LTTNG_UST_ALLOW_BLOCKING", "", 1);
	ring_wait_read_environment();
	CHECK(!ring_wait_is_allowed(), "LTT_ALLOW_BLOCKING=0");
	unsetenv("LTT_ALLOW_BLOCKING");
	ring_wait_read_environment();
	CHECK(ring_wait_is_allowed(), "LTTNG_UST_ALLOW_BLOCKING");
	sequences = ring_init() == RING_RSEQ;
	if (sequences) {
		all(TEST_CLOCK, 0);
		all(LTT_CLOCK_MONOTONIC, 0);
	}
	all(TEST_CLOCK, 1);
	is_awaited();
	is_own();
	is_interrupted();
	is_killed();
	return 0;
}
