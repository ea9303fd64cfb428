// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages of a ring are populated before records are written to them: the recording thread has
 * few page faults. Where it is refused or forbidden, it has one per page, and all is recorded.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/tracer/testset.h"
#include "tracer/ring/context.h"
#include "tracer/ring/populate.h"

#define PAGE 4096
#define PAYLOAD 1000
#define SIZE (4u << 20)
/* Faults of the first step, of the words, and of the second mapping's first page. */
#define FEW (POPULATE_STEP / PAGE + 16)

static uint8_t payload[PAYLOAD + LTT_PAYLOAD_SLACK];
static unsigned int wakes;

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

static void wake(void)
{
	wakes++;
}

/* Emulators and old kernels don't populate; a sanitizer's accesses are faults, too. */
static void skip_unless_possible(void)
{
	const size_t bytes = 512 * PAGE;
	uint8_t *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long before;

	if (memory == MAP_FAILED || madvise(memory, bytes, POPULATE_ADVICE) != 0)
		SKIP("the kernel has no MADV_POPULATE_WRITE");
	before = faults();
	for (size_t i = 0; i < bytes; i += PAGE)
		memory[i] = 1;
	if (faults() - before > 8)
		SKIP("pages that are populated have faults");
	munmap(memory, bytes);
}

static void pin(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Record @bytes, and do the helper's work when it is woken. Return: faults of the records. */
static long fill(struct ring_set *set, uint64_t bytes)
{
	struct binding binding = ring_binding(set, 3, 1);
	struct hook hook = { .binding = &binding };
	long sum = 0;

	for (uint64_t done = 0; done < bytes; done += PAYLOAD) {
		long before = faults();

		testset_fill(payload, PAYLOAD, 1, done);
		ring_record(&hook, payload, PAYLOAD);
		sum += faults() - before;
		if (populate_is_requested())
			populate_set(set);
	}
	return sum;
}

static void make(struct testset *t, uint64_t subbuf_size)
{
	testset_make(t, testset_nr_cpus(), (uint32_t)(SIZE / subbuf_size), subbuf_size,
		     LTT_RING_OVERWRITE, TEST_CLOCK);
	wakes = 0;
}

static void expect_count(const struct testset *t, uint64_t bytes)
{
	uint64_t count = 0;

	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++)
		count += testset_cut(t, ring).count;
	CHECK(count == (bytes + PAYLOAD - 1) / PAYLOAD, "%llu recorded", (unsigned long long)count);
}

/* @start: position of the first record. */
static void test(uint64_t subbuf_size, int exclusive, uint64_t start)
{
	struct testset t;
	long many;

	make(&t, subbuf_size);
	for (uint32_t ring = 0; ring < t.desc.nr_rings; ring++)
		testset_prod(&t, ring)->pub = start;
	struct ring_set *set = testset_producer(&t, exclusive);
	many = fill(set, 2 * SIZE);
	CHECK(many <= FEW, "%ld faults, %u wake-ups", many, wakes);
	CHECK(wakes > 2 && wakes < 40, "%u wake-ups", wakes);
	expect_count(&t, 2 * SIZE);
	wakes = 0;
	fill(set, 2 * SIZE);
	CHECK(!wakes, "%u wake-ups though everything is populated", wakes);
	ring_set_unmap(set);
	testset_free(&t);
}

/* A process of few events. */
static void test_few(void)
{
	struct testset t;

	make(&t, SIZE / 4);
	struct ring_set *set = testset_producer(&t, 0);
	fill(set, POPULATE_STEP - PAGE);
	CHECK(!wakes, "%u wake-ups", wakes);
	ring_set_unmap(set);
	testset_free(&t);
}

static void await(pid_t child)
{
	int status = -1;

	CHECK(waitpid(child, &status, 0) == child && status == 0, "status %x",
	      (unsigned int)status);
}

/* The child does not inherit populated pages. */
static void test_fork(void)
{
	struct testset t;
	long many;
	pid_t child;

	make(&t, SIZE / 4);
	struct ring_set *set = testset_producer(&t, 0);
	fill(set, SIZE);
	child = fork();
	if (!child) {
		wakes = 0;
		reader_after_fork_child(true);
		populate_after_fork_child(set);
		many = fill(set, SIZE);
		CHECK(many <= FEW && wakes > 2, "%ld faults, %u wake-ups", many, wakes);
		_exit(0);
	}
	await(child);
	expect_count(&t, 2 * SIZE + PAYLOAD);
	ring_set_unmap(set);
	testset_free(&t);
}

/* madvise() with POPULATE_ADVICE returns @error. */
static void install_filter(uint32_t error)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, POPULATE_ADVICE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(lines) / sizeof(*lines), lines };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(0); /* there are no filters here */
}

static void test_refused(uint32_t error, unsigned int sets)
{
	pid_t child = fork();

	if (!child) {
		struct testset t;

		install_filter(error);
		for (unsigned int i = 0; i < sets; i++) {
			make(&t, SIZE / 4);
			struct ring_set *set = testset_producer(&t, 0);
			long many = fill(set, SIZE);
			CHECK(many >= SIZE / PAGE, "%ld faults", many);
			CHECK(error == EAGAIN ? wakes > 1 : wakes == 1, "%u wake-ups", wakes);
			expect_count(&t, SIZE);
			ring_set_unmap(set);
			testset_free(&t);
		}
		_exit(0);
	}
	await(child);
}

/* The program has installed a filter that would end it for these calls. */
static void test_forbidden(void)
{
	pid_t child = fork();

	if (!child) {
		struct testset t;

		context_forbid_calls(CONTEXT_CALLS_POPULATE);
		make(&t, SIZE / 4);
		struct ring_set *set = testset_producer(&t, 0);
		fill(set, SIZE);
		CHECK(!wakes, "%u wake-ups", wakes);
		expect_count(&t, SIZE);
		_exit(0);
	}
	await(child);
}

int main(void)
{
	enum ring_producer producer = ring_init();

	skip_unless_possible();
	pin();
	populate_on_request(wake);
	test(SIZE / 64, 1, 0);
	if (producer != RING_RSEQ)
		return 0;
	test(SIZE / 64, 0, 0);
	test(SIZE / 4, 0, 0);
	test(8192, 0, 12345);
	test(SIZE / 4, 0, LTT_POS_MASK - SIZE - 1234);
	test(SIZE / 4, 0, LTT_POS_MASK / 2 + 1000000);
	test_few();
	test_fork();
	test_refused(EINVAL, 2);
	test_refused(EPERM, 1);
	test_refused(ENOMEM, 2);
	test_refused(EAGAIN, 1); /* and nothing waits */
	test_forbidden();
	return 0;
}
