// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads record flat out, from signal handlers too, while their buffer is
 * taken away, unmapped and replaced again and again: reader_synchronize() must have waited for all
 * threads, or one writes to freed memory.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "lib/tracer/testset.h"

#define THREADS 4

static struct hook hook;
static int stop;

#define LONG 60000 /* takes a while to copy: a thread is always half way */

static uint8_t long_payload[LONG + LTT_PAYLOAD_SLACK];

static void emit(void)
{
	uint8_t payload[64 + LTT_PAYLOAD_SLACK];

	testset_fill(payload, 40, 1, 1);
	ring_record(&hook, payload, 40);
}

static void on_signal(int sig)
{
	int saved = errno;

	(void)sig;
	emit();
	errno = saved;
}

static void *writer(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (arg)
			ring_record(&hook, long_payload, LONG);
		else
			emit();
	}
	return NULL;
}

struct armed {
	struct ring_set *set;
	struct binding binding;
};

static uint64_t attempts(struct testset *t)
{
	struct totals sum = testset_take_all(t, NULL, NULL);

	return sum.count + testset_lost(&sum);
}

/* There is no listener and all threads have been waited for: nothing is written any more. */
static void check_silence(struct testset *t)
{
	uint64_t before = attempts(t);

	for (uint64_t end = testset_now_ns() + 30000; testset_now_ns() < end;)
		CHECK(attempts(t) == before, "recorded behind reader_synchronize()");
}

/* A new set takes the place of the old one in a single store, or NULL does. */
static void replace(struct testset *t, struct armed **now, struct armed *next)
{
	struct armed *old = *now;

	__atomic_store_n(&hook.binding, next ? &next->binding : NULL, __ATOMIC_RELEASE);
	*now = next;
	if (!old)
		return;
	reader_synchronize();
	if (!next)
		check_silence(t);
	ring_set_unmap(old->set);
	memset(old, 0x5a, sizeof(*old));
	free(old);
}

static struct armed *armed_new(const struct testset *t, int exclusive)
{
	struct armed *armed = malloc(sizeof(*armed));

	CHECK(armed, "memory");
	armed->set = testset_producer(t, exclusive);
	armed->binding = ring_binding(armed->set, 3, 1);
	return armed;
}

static void test(int exclusive, int rounds, uint32_t clock)
{
	struct testset t;
	struct armed *now = NULL;

	testset_make(&t, testset_nr_cpus(), 4, 1 << 18, LTT_RING_DISCARD, clock);
	for (int i = 0; i < rounds; i++) {
		uint64_t before = attempts(&t);

		replace(&t, &now, armed_new(&t, exclusive));
		for (int spin = 0; attempts(&t) == before && spin < 100000; spin++)
			;
		/* Two mappings of an exclusive set would be two owners. */
		if (exclusive || i % 3 == 0)
			replace(&t, &now, NULL);
	}
	replace(&t, &now, NULL);
	struct totals sum = testset_take_all(&t, NULL, NULL);
	CHECK(sum.count, "nothing was recorded");
	testset_free(&t);
}

/* A sandbox that comes late and refuses membarrier. Return: 0 if it is closed. */
static int refuse_membarrier(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	pthread_t thread[THREADS];
	struct itimerval every = { { 0, 200 }, { 0, 200 } };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int rseq = ring_init() == RING_RSEQ;

	CHECK(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &every, NULL), "timer");
	testset_fill(long_payload, LONG, 1, 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, writer, (void *)(i & 1)), "thread");
	if (rseq) {
		test(0, 400, TEST_CLOCK);
		test(0, 200, LTT_CLOCK_MONOTONIC);
	}
	test(1, rseq ? 200 : 50, TEST_CLOCK);
	if (rseq && !refuse_membarrier())
		test(0, 8, TEST_CLOCK);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
