// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that share a ring set, each killed with SIGKILL at a random moment,
 * at full speed. The records in the rings and the lost ones are exactly the calls that
 * returned, and at most the one call in flight of each process and thread.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "lib/tracer/testset.h"

#define PROCESSES 4
#define THREADS 2
#define WRITERS (PROCESSES * THREADS)
#define ROUNDS 12

/* Shared with the parent: the progress of a killed process. */
static struct ledger {
	uint64_t called, returned;
	uint64_t pad[6];
} * ledger;

static struct hook hook;

static void *flood(void *arg)
{
	uint32_t writer = (uint32_t)(uintptr_t)arg;
	uint8_t payload[256 + LTT_PAYLOAD_SLACK];

	for (uint64_t n = 0;; n++) {
		uint32_t len = sizeof(struct body) + (uint32_t)(n % 50);

		testset_fill(payload, len, writer, n);
		__atomic_store_n(&ledger[writer].called, n + 1, __ATOMIC_RELEASE);
		ring_record(&hook, payload, len);
		__atomic_store_n(&ledger[writer].returned, n + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void child(const struct testset *t, uint32_t process)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A mapping of its own: the processes share nothing else. */
	struct ring_set *set = testset_producer(t, 0);
	struct binding binding = ring_binding(set, 5, 1);
	hook.binding = &binding;
	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, flood, (void *)(process * THREADS + i));
	flood((void *)(uintptr_t)(process * THREADS));
}

static uint64_t seen[WRITERS];

static void count_writer(const struct record *r, uint32_t ring, void *priv)
{
	struct body body;

	(void)ring;
	(void)priv;
	memcpy(&body, r->body, sizeof(body));
	CHECK(body.writer < WRITERS, "writer %u", body.writer);
	seen[body.writer]++;
}

/* On a busy machine the start takes longer than the time until the first one is killed. */
static void await_all(struct testset *t)
{
	for (int i = 0; i < WRITERS; i++)
		while (!__atomic_load_n(&ledger[i].returned, __ATOMIC_ACQUIRE))
			testset_take_all(t, count_writer, NULL);
}

static void kill_all(struct testset *t, const pid_t *pid, unsigned int *seed)
{
	await_all(t);
	for (int i = 0; i < PROCESSES; i++) {
		uint64_t end = testset_now_ns() + (uint64_t)(rand_r(seed) % 15000) * 1000;

		while (testset_now_ns() < end)
			testset_take_all(t, count_writer, NULL);
		kill(pid[i], SIGKILL);
		CHECK(waitpid(pid[i], NULL, 0) == pid[i], "wait");
	}
}

static void round_of(uint32_t subbufs, uint64_t subbuf_size, unsigned int seed)
{
	struct testset t;
	pid_t pid[PROCESSES];
	uint64_t called = 0, returned = 0;

	memset(ledger, 0, WRITERS * sizeof(*ledger));
	memset(seen, 0, sizeof(seen));
	testset_make(&t, testset_nr_cpus(), subbufs, subbuf_size, LTT_RING_DISCARD, TEST_CLOCK);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0, "fork");
		if (!pid[i]) {
			child(&t, i);
			_exit(1);
		}
	}
	kill_all(&t, pid, &seed);
	struct totals sum = testset_take_all(&t, count_writer, NULL);
	for (int i = 0; i < WRITERS; i++) {
		called += ledger[i].called;
		returned += ledger[i].returned;
		CHECK(seen[i] <= ledger[i].called, "writer %d recorded too often", i);
	}
	uint64_t accounted = sum.count + testset_lost(&sum);
	CHECK(accounted >= returned && accounted <= called && called - returned <= WRITERS,
	      "seed %u: %llu returned, %llu called, %llu recorded, %llu lost", seed,
	      (unsigned long long)returned, (unsigned long long)called,
	      (unsigned long long)sum.count, (unsigned long long)testset_lost(&sum));
	CHECK(!sum.size && !sum.busy && sum.count, "wrong losses");
	testset_free(&t);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;

	/* AddressSanitizer's locks are as libltt's thread had them at fork(): without it. */
	if (!getenv("LTT_APP_DISABLE")) {
		setenv("LTT_APP_DISABLE", "1", 1);
		execv("/proc/self/exe", argv);
	}
	if (ring_init() != RING_RSEQ)
		SKIP("no restartable sequences, so no rings that processes share");
	ledger = mmap(NULL, WRITERS * sizeof(*ledger), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(ledger != MAP_FAILED, "memory");
	for (int i = 0; i < rounds; i++)
		round_of(i & 1 ? 2 : 4, i & 1 ? 4096 : 1 << 18, (unsigned int)i + 1);
	return 0;
}
