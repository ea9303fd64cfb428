/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "guest_leave.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"
#include "guest_clone.h"
#include "guest_env.h"
#include "guest_sys.h"
#include "guest_thread.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef PIDFD_THREAD /* Linux 6.9 */
#define PIDFD_THREAD O_EXCL
#endif

#define LOOK_AGAIN_MS 20 /* where the kernel has no pidfd for a thread */
#define ANSWER_MS 1000	 /* the helper may be in a callback of the program */

#ifndef PTHREAD_DESTRUCTOR_ITERATIONS
#define PTHREAD_DESTRUCTOR_ITERATIONS 4
#endif

/* Ever upwards. */
enum phase {
	STAYS,	/* main() is there, or has returned */
	LEAVES, /* main() asks: is there anybody else? */
	LEFT,	/* there is; the helper watches them */
	ENDS,	/* the helper ends */
};

static pthread_key_t key;
static bool have_key;
static uint32_t phase; /* enum phase; a futex */
static int stand_in;   /* tid of the thread in main()'s place; 0: none yet */
static sigset_t main_mask;
static int watched = -1; /* pidfd of another thread, of the helper */

static enum phase now(void)
{
	return (enum phase)__atomic_load_n(&phase, __ATOMIC_SEQ_CST);
}

/* Only forwards: the helper may have seen the end before main() gives up waiting. */
static void advance(enum phase to)
{
	uint32_t from = now();

	while (from < to && !__atomic_compare_exchange_n(&phase, &from, to, false, __ATOMIC_SEQ_CST,
							 __ATOMIC_SEQ_CST))
		;
	syscall(SYS_futex, &phase, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Until the phase is another than @old, or there is no helper any more. At most
 * about @ms; -1: without a limit. */
static enum phase await_other_than(enum phase old, int ms)
{
	static const struct timespec second = { .tv_sec = 1 };

	while (now() == old && guest_thread_id() != 0) {
		/* it may have ended without a word, so look again now and then */
		long err = syscall(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, old, &second, NULL, 0);

		if (err < 0 && errno == ETIMEDOUT && ms >= 0 && (ms -= 1000) <= 0)
			break;
	}
	return now();
}

/* --- main()'s side ------------------------------------------------------------------- */

static void *take_place(void *arg)
{
	enum phase seen;

	(void)arg;
	__atomic_store_n(&stand_in, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	guest_wake();
	while ((seen = now()) < ENDS && guest_thread_id() != 0)
		await_other_than(seen, -1);
	guest_thread_join();
	/* exit handlers run in this thread now */
	pthread_sigmask(SIG_SETMASK, &main_mask, NULL);
	return NULL;
}

/* A stack of the usual size, for the sake of those exit handlers. */
static int start_stand_in(void)
{
	pthread_t thread;
	sigset_t all;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &main_mask);
	err = pthread_create(&thread, NULL, take_place, NULL);
	pthread_sigmask(SIG_SETMASK, &main_mask, NULL);
	if (!err)
		pthread_detach(thread);
	return err;
}

static void leave(void)
{
	advance(LEAVES);
	if (guest_thread_id() == 0)
		return;
	guest_wake();
	if (await_other_than(LEAVES, ANSWER_MS) != ENDS && start_stand_in() == 0)
		return;
	advance(ENDS); /* alone, or there is no stand-in: the others do without control */
	guest_wake();
	guest_thread_join();
}

/* Of the main thread only, in the last round: whatever else is to be done there
 * comes before. */
static void destroy(void *round)
{
	uintptr_t nr = (uintptr_t)round;

	if (nr < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(key, (void *)(nr + 1)) == 0)
		return;
	leave();
}

void guest_leave_init(void)
{
	have_key = pthread_key_create(&key, destroy) == 0;
	/* else some thread loads us; it may end before the main thread does */
	if (have_key && getpid() == (pid_t)syscall(SYS_gettid))
		pthread_setspecific(key, (void *)1);
}

void guest_leave_after_fork_child(void)
{
	phase = STAYS;
	stand_in = 0;
	watched = -1; /* the parent's helper has it */
	if (have_key)
		pthread_setspecific(key, (void *)1);
}

/* --- the helper's -------------------------------------------------------------------- */

/* @list: @len bytes of the directory. Return: a thread of the program, 0: none. */
static int find_other(const char *list, long len)
{
	const int known[] = { getpid(), guest_thread_id(),
			      __atomic_load_n(&stand_in, __ATOMIC_SEQ_CST) };

	for (long at = 0; at < len;) {
		const struct dirent64 *entry = (const void *)(list + at);
		int tid = atoi(entry->d_name);

		at += entry->d_reclen;
		if (tid > 0 && tid != known[0] && tid != known[1] && tid != known[2])
			return tid;
	}
	return 0;
}

/* Where /proc can't be read there is nobody: so the process ends at least. */
int guest_leave_other_thread(void)
{
	char list[1024] __attribute__((aligned(8)));
	int dir = guest_open("/proc/self/task", O_RDONLY | O_DIRECTORY);
	int tid = 0;
	long len;

	while (!tid && (len = syscall(SYS_getdents64, dir, list, sizeof(list))) > 0)
		tid = find_other(list, len);
	guest_close(dir);
	return tid;
}

bool guest_leave_step(void)
{
	enum phase seen = now();
	int other;

	if (seen == STAYS || seen == ENDS)
		return seen == ENDS;
	guest_close(watched);
	watched = -1;
	other = guest_leave_other_thread();
	if (!other) {
		advance(ENDS);
		return true;
	}
	watched = (int)syscall(SYS_pidfd_open, other, PIDFD_THREAD);
	advance(LEFT);
	return false;
}

int guest_leave_fd(void)
{
	return watched;
}

void guest_leave_moved(void)
{
	watched = -1;
}

int guest_leave_timeout_ms(void)
{
	return now() == LEFT && watched < 0 ? LOOK_AGAIN_MS : -1;
}

/* Nothing here may touch thread-local data: they are the helper's, and gone. */
static int hold(void *arg)
{
	(void)arg;
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, GUEST_NSIG_BYTES);
	return 0;
}

void guest_leave_hold(void)
{
	static char stack[4096] __attribute__((aligned(16)));
	const int flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

	if (now() == ENDS && __clone(hold, stack + sizeof(stack), flags, NULL) < 0)
		guest_debug("what exit handlers trace may be missed");
}
