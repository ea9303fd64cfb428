// SPDX-License-Identifier: GPL-2.0-only
/*
 * A signal handler records, and leaves an event of the fallback producer by siglongjmp(), at each
 * instruction once: the next event is recorded into the only ring, and the one that was left is
 * recorded, or lost, or had not begun; never two of these. If the handler returns, the interrupted
 * event is recorded, and the handler's is, or is lost. Then a grace period ends: no event that was
 * left counts as running.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "lib/tracer/testset.h"
#include "tracer/ring/sys.h"

#define MAX_STEPS 3000

static sigjmp_buf before;
static uint8_t payload[64 + LTT_PAYLOAD_SLACK];
static struct hook hook;
static bool returns;

/* Not in an emulator, nor through a sanitizer's instructions. Stepping through a load-exclusive
 * loop never ends. */
static bool can_step(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
	waitpid(pid, &status, 0);
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	return false;
#endif
#if defined(__aarch64__)
	if (!(getauxval(AT_HWCAP) & HWCAP_ATOMICS))
		return false;
#endif
	return status == 0;
}

static void leave(int signo)
{
	(void)signo;
	ring_record(&hook, payload, 40);
	if (!returns)
		siglongjmp(before, 1);
}

static void child(const struct testset *t)
{
	struct ring_set *set = testset_producer(t, 1);
	struct binding binding = ring_binding(set, 3, 1);

	const pid_t self = getpid();

	hook.binding = &binding;
	testset_fill(payload, 40, 1, 0);
	signal(SIGALRM, leave);
	ring_record(&hook, payload, 40); /* the dynamic linker has found all functions then */
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	while (sigsetjmp(before, 1) == 0) {
		ring_syscall(SYS_kill, self, SIGUSR2, 0, 0); /* few instructions */
		ring_record(&hook, payload, 40);	     /* it is left */
		ring_syscall(SYS_kill, self, SIGUSR1, 0, 0);
		_exit(0);
	}
	ring_record(&hook, payload, 40);
	CHECK(reader_synchronize_soon(), "a reader was left");
	raise(SIGSTOP);
	_exit(0);
}

static int await_stop(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "wait");
	return WSTOPSIG(status);
}

/* An event that is interrupted after so many steps. Return: whether it was; else it has ended. */
static bool interrupt_after(const struct testset *t, int steps)
{
	bool early = true;
	int status, stop;
	pid_t pid = fork();

	if (!pid)
		child(t);
	CHECK(await_stop(pid) == SIGUSR2, "no begin");
	for (int i = 0; i < steps && early; i++) {
		CHECK(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), "step");
		early = await_stop(pid) != SIGUSR1;
	}
	CHECK(!ptrace(PTRACE_CONT, pid, NULL, early ? SIGALRM : 0), "continue");
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		stop = WSTOPSIG(status);
		CHECK(stop == SIGSTOP || stop == SIGUSR1, "stopped by %d", stop);
		CHECK(!ptrace(PTRACE_CONT, pid, NULL, NULL), "continue");
	}
	CHECK(status == 0, "child: %x", status);
	return early;
}

/* At each instruction, or at some in a short run. @ret_nr: how often the event had not begun, was
 * recorded, was lost. */
static void interrupt_everywhere(int ret_nr[3])
{
	struct totals last = { 0 }, sum;
	struct testset t;
	int stride = (int)testset_stride(), steps = returns ? stride / 2 : 0;
	bool early = true;

	testset_make(&t, 1, 4, 4096, LTT_RING_DISCARD, TEST_CLOCK);
	for (; early && steps < MAX_STEPS; steps += stride) {
		uint64_t count, all;

		early = interrupt_after(&t, steps);
		sum = testset_take_all(&t, NULL, NULL);
		count = sum.count - last.count;
		all = count + sum.busy - last.busy;
		/* the first event, the handler's, and the next after the one that was left */
		all -= 1 + early + (early && !returns);
		CHECK(all <= 1 && (all == 1 || (early && !returns)) && !sum.full,
		      "after %d steps: %llu recorded, %llu of all", steps,
		      (unsigned long long)count, (unsigned long long)all);
		ret_nr[!all ? 0 : sum.busy - last.busy ? 2 : 1]++;
		last = sum;
	}
	printf("%s: %d steps: %d not begun, %d recorded, %d lost\n",
	       returns ? "the handler returns" : "the event is left", steps, ret_nr[0], ret_nr[1],
	       ret_nr[2]);
	CHECK(!early, "no end");
	testset_free(&t);
}

int main(void)
{
	int left[3] = { 0 }, returned[3] = { 0 };

	setenv("LTT_NO_RSEQ", "1", 1);
	CHECK(ring_init() == RING_FALLBACK, "LTT_NO_RSEQ");
	if (!can_step() || !ring_mark_process())
		SKIP("events can't be single-stepped");
	interrupt_everywhere(left);
	CHECK(left[0] && left[1] && left[2], "not each of the cases");
	returns = true;
	interrupt_everywhere(returned);
	CHECK(!returned[0] && returned[1] && returned[2], "not each of the cases");
	return 0;
}
