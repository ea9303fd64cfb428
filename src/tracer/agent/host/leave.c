/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "leave.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracer/agent/agent.h"
#include "clone.h"
#include "seccomp.h"
#include "spawn.h"
#include "tracer/base/env.h"
#include "tracer/agent/link.h"
#include "tracer/base/sys.h"
#include "tracer/agent/thread.h"
#include "tracer/ring/sys.h"
#include "tracer/base/large.h"

#ifndef PIDFD_THREAD /* Linux 6.9 */
#define PIDFD_THREAD O_EXCL
#endif

#define MAIN_STAT "/proc/self/stat"

#define PROBE_AGAIN_MS 20 /* where the kernel has no pidfd for a thread */
#define RARELY_MS 10000	  /* the most, where that may go on for long */
#define ANSWER_MS 1000	  /* the helper may be in a callback of the program */

#ifndef PTHREAD_DESTRUCTOR_ITERATIONS
#define PTHREAD_DESTRUCTOR_ITERATIONS 4
#endif

/* The phases only ever increase. */
enum phase {
	STAYS,	/* main() is there, or has returned */
	LEAVES, /* main() waits for the helper to check for other threads */
	LEFT,	/* there is; the helper watches them */
	ENDS,	/* the helper ends */
};

static pthread_key_t key;
static bool have_key;
static uint32_t phase; /* enum phase; a futex */
static pthread_t main_thread;
static bool knows_main;
static int stand_in; /* tid of the thread in main()'s place; 0: none yet */
static sigset_t main_mask;
/* Of the helper: */
static int watched = -1;   /* pidfd of another thread */
static int poll_ms;	   /* at main(): how long to wait for the next time, ... */
static int64_t search_dir; /* ... when that is */
static bool vanished;	   /* main(), by a system call of its own */
/* Of the program: */
static bool expected; /* main() ends without libc's knowledge */
/* Exit status of another thread that ended in this way, after main(); -1: none did. */
static int last_code = -1;
/* main() is about to end by a system call; a futex, on which it waits for the helper. */
static uint32_t goodbye;
enum goodbye {
	NOT_SAID,
	SAID,
	ALONE,	     /* there was no other thread */
	WITH_OTHERS, /* there was one, so that it ends after main() */
};

static enum phase agent_leave_now(void)
{
	return (enum phase)__atomic_load_n(&phase, __ATOMIC_SEQ_CST);
}

/* Only forwards: the helper may have seen the end before main()'s wait times out. */
static void agent_leave_advance(enum phase to)
{
	uint32_t from = agent_leave_now();

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

	while (agent_leave_now() == old && agent_thread_id() != 0) {
		/* the helper may end without a wake-up, so check once a second */
		long err = syscall(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, old, &second, NULL, 0);

		if (err < 0 && errno == ETIMEDOUT && ms >= 0 && (ms -= 1000) <= 0)
			break;
	}
	return agent_leave_now();
}

/* --- main()'s side ------------------------------------------------------------------- */

static void *agent_leave_take_place(void *arg)
{
	enum phase seen;

	(void)arg;
	__atomic_store_n(&stand_in, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	agent_wake();
	while ((seen = agent_leave_now()) < ENDS && agent_thread_id() != 0)
		await_other_than(seen, -1);
	agent_thread_join();
	/* exit handlers run in this thread now */
	pthread_sigmask(SIG_SETMASK, &main_mask, NULL);
	return NULL;
}

/* A stack of the default size, as exit handlers may need it. */
static int start_stand_in(void)
{
	pthread_t thread;
	sigset_t all;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &main_mask);
	err = agent_spawn_thread(&thread, NULL, agent_leave_take_place, NULL);
	pthread_sigmask(SIG_SETMASK, &main_mask, NULL);
	if (!err)
		pthread_detach(thread);
	return err;
}

static void agent_leave_main(void)
{
	agent_leave_advance(LEAVES);
	if (agent_thread_id() == 0)
		return;
	agent_wake();
	if (await_other_than(LEAVES, ANSWER_MS) != ENDS && start_stand_in() == 0)
		return;
	agent_leave_advance(
		ENDS); /* alone, or no stand-in can be made: the other threads are not watched */
	agent_wake();
	agent_thread_join();
}

/* For the main thread only, in the last round of destructors: all other destructors run before
 * it. */
static void agent_leave_destructor(void *round)
{
	uintptr_t nr = (uintptr_t)round;

	if (nr < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(key, (void *)(nr + 1)) == 0)
		return;
	agent_leave_main();
}

static void stay_in_main(void)
{
	main_thread = pthread_self();
	knows_main = true;
	if (have_key)
		pthread_setspecific(key, (void *)1);
}

void agent_leave_init(void)
{
	have_key = pthread_key_create(&key, agent_leave_destructor) == 0;
	/* else some thread loads us; it may end before the main thread does */
	if (getpid() == (pid_t)syscall(SYS_gettid))
		stay_in_main();
}

bool agent_leave_is_main(void)
{
	if (knows_main)
		return pthread_equal(pthread_self(), main_thread);
	return ring_syscall(SYS_getpid, 0, 0, 0, 0) == ring_syscall(SYS_gettid, 0, 0, 0, 0);
}

void agent_leave_after_fork_child(void)
{
	phase = STAYS;
	stand_in = 0;
	agent_leave_moved(); /* the parent's helper has it */
	poll_ms = 0;
	search_dir = 0;
	vanished = false;
	last_code = -1;
	goodbye = NOT_SAID;
	stay_in_main();
}

/* A filter may be in force, so no unnecessary system call is made. */
void agent_leave_expect(void)
{
	if (!__atomic_exchange_n(&expected, true, __ATOMIC_SEQ_CST))
		agent_wake();
}

/* A thread that returns behind main() would be found by the helper only if it lasts until main() is
 * polled: so main() waits until the helper has looked. */
static void say_goodbye(void)
{
	const struct timespec most = { .tv_sec = ANSWER_MS / 1000 };

	__atomic_store_n(&goodbye, SAID, __ATOMIC_SEQ_CST);
	agent_wake();
	if (agent_thread_id() != 0 && __atomic_load_n(&goodbye, __ATOMIC_SEQ_CST) == SAID)
		ring_syscall(SYS_futex, (long)&goodbye, FUTEX_WAIT_PRIVATE, SAID, (long)&most);
}

void agent_leave_by_exit(int code)
{
	if (!knows_main || agent_leave_is_main()) {
		__atomic_store_n(&last_code, -1, __ATOMIC_SEQ_CST);
		agent_leave_expect();
		if (!agent_filter_is_fatal())
			say_goodbye();
	} else {
		__atomic_store_n(&last_code, code, __ATOMIC_SEQ_CST);
	}
}

/* --- the helper's -------------------------------------------------------------------- */

/* @list: @len bytes of the directory. Return: a thread of the program, 0: none. */
static int find_other(const char *list, long len)
{
	const int known[] = { getpid(), agent_thread_id(),
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

/* If /proc can't be read, assume no other thread, so that the process ends. */
int agent_leave_other_thread(void)
{
	char list[1024] __attribute__((aligned(8)));
	int dir = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY);
	int tid = 0;
	long len;

	while (!tid && (len = ring_syscall(SYS_getdents64, dir, (long)list, sizeof(list), 0)) > 0)
		tid = find_other(list, len);
	sys_close(dir);
	return tid;
}

/* @text: of a file `stat` in /proc. @ret_status: as of wait(). */
static bool is_zombie(const char *text, long len, int *ret_status)
{
	char state = 0;
	unsigned int status = 0;

	for (long i = 0; i < len; i++) {
		if (text[i] == ')' && i + 2 < len)
			state = text[i + 2];
		else if (text[i] == ' ')
			status = 0;
		else if (text[i] >= '0' && text[i] <= '9')
			status = 10 * status + (unsigned int)(text[i] - '0');
	}
	*ret_status = (int)status; /* the last field */
	return state == 'Z' || state == 'X';
}

/* Whether a file of /proc is missing, and not /proc itself. */
static bool is_missing(long err)
{
	return err == -ENOENT && sys_may_call(SYS_faccessat) &&
	       ring_syscall(SYS_faccessat, AT_FDCWD, (long)MAIN_STAT, 0, 0) == 0;
}

/* Files of a thread in /proc. */
struct thread_files {
	const char *stat;
	const char *exe; /* can't be read once the thread has ended */
};

static const struct thread_files main_files = { MAIN_STAT, "/proc/self/exe" };

/*
 * A thread has ended: by @pidfd, or by its files. main() stays visible until the others have
 * ended, and its pidfd reports nothing until then, either (Linux 6.15). Nothing here may touch
 * thread-local data: see hold().
 */
static bool has_ended(int pidfd, const struct thread_files *files, int *ret_status)
{
	static const struct timespec no_time;
	static struct pollfd poll_fd;
	static char text[512];
	long fd, len = -EINVAL;

	poll_fd = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	if (pidfd >= 0)
		len = ring_syscall(SYS_ppoll, (long)&poll_fd, 1, (long)&no_time, 0);
	if (len != -EINVAL) /* RLIMIT_NOFILE is 0 */
		return len > 0;
	fd = ring_syscall(SYS_openat, AT_FDCWD, (long)files->stat, O_RDONLY | O_CLOEXEC, 0);
	if ((fd == -EMFILE || fd == -ENFILE) && sys_may_call(SYS_readlinkat))
		return is_missing(ring_syscall(SYS_readlinkat, AT_FDCWD, (long)files->exe,
					       (long)text, sizeof(text)));
	if (fd < 0)
		return is_missing(fd);
	len = ring_syscall(SYS_read, fd, (long)text, sizeof(text), 0);
	ring_syscall(SYS_close, fd, 0, 0, 0);
	return len == -ESRCH || is_zombie(text, len, ret_status);
}

/* The interval grows with the time that the process has run: short for a short-lived one. */
static int next_poll(int ms)
{
	ms = ms < PROBE_AGAIN_MS ? PROBE_AGAIN_MS : 2 * ms;
	return ms < RARELY_MS ? ms : RARELY_MS;
}

/* main() may end without libc's knowledge, so it is polled at intervals. */
static bool main_vanished(int *ret_status)
{
	int64_t now_ms = agent_now_ms();

	if (!__atomic_load_n(&expected, __ATOMIC_SEQ_CST) || now_ms < search_dir)
		return false;
	poll_ms = next_poll(poll_ms);
	search_dir = now_ms + poll_ms;
	return has_ended(-1, &main_files, ret_status);
}

/* @status: as of wait(). */
static void die_of(int status)
{
	struct {
		void (*handler)(int signal);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} by_default = { 0 };
	const uint64_t none = 0;
	int signal = WTERMSIG(status);

	ring_syscall(SYS_rt_sigaction, signal, (long)&by_default, 0, AGENT_NSIG_BYTES);
	ring_syscall(SYS_tgkill, getpid(), agent_thread_id(), signal, 0);
	ring_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, AGENT_NSIG_BYTES);
}

/* If a thread ended without libc's knowledge, nothing calls exit() and nothing that may trace runs:
 * so the helper ends in the same way, and the process with it. The status of the last thread is
 * that of the process (Linux 5.17). */
static void end_process(int status)
{
	if (WIFSIGNALED(status))
		die_of(status);
	ring_syscall(SYS_exit, WEXITSTATUS(status), 0, 0, 0);
}

static void answer_goodbye(void)
{
	uint32_t seen = agent_leave_other_thread() ? WITH_OTHERS : ALONE;

	__atomic_store_n(&goodbye, seen, __ATOMIC_SEQ_CST);
	ring_syscall(SYS_futex, (long)&goodbye, FUTEX_WAKE_PRIVATE, INT_MAX, 0);
}

/* The status of the process, whose main() ended with @status: the last thread determines it. */
static int last_status(int status)
{
	int code = __atomic_load_n(&last_code, __ATOMIC_SEQ_CST);

	if (code >= 0)
		return code << 8;
	return __atomic_load_n(&goodbye, __ATOMIC_SEQ_CST) == WITH_OTHERS ? 0 : status;
}

bool agent_leave_step(void)
{
	enum phase seen = agent_leave_now();
	int other, status = 0;

	if (__atomic_load_n(&goodbye, __ATOMIC_SEQ_CST) == SAID)
		answer_goodbye();
	if (seen == STAYS && main_vanished(&status))
		__atomic_store_n(&vanished, true, __ATOMIC_RELAXED);
	else if (seen == STAYS || seen == ENDS)
		return seen == ENDS;
	sys_close(watched);
	watched = -1;
	other = agent_leave_other_thread();
	if (!other && vanished)
		end_process(last_status(status));
	if (!other) {
		agent_leave_advance(ENDS);
		return true;
	}
	watched = (int)sys_call(SYS_pidfd_open, other, PIDFD_THREAD);
	agent_leave_advance(LEFT);
	return false;
}

bool agent_leave_is_main_there(void)
{
	return agent_leave_now() == STAYS && !__atomic_load_n(&vanished, __ATOMIC_RELAXED);
}

int agent_leave_fd(void)
{
	return watched;
}

void agent_leave_moved(void)
{
	watched = -1;
}

int agent_leave_timeout_ms(void)
{
	enum phase seen = agent_leave_now();
	int64_t left = search_dir - agent_now_ms();

	if (seen == STAYS && __atomic_load_n(&expected, __ATOMIC_SEQ_CST))
		return left > 0 ? (int)left : 0;
	return seen == LEFT && watched < 0 ? PROBE_AGAIN_MS : -1;
}

/* The thread that calls exit(), unless a thread has ended without libc's knowledge. */
static struct {
	struct pollfd pidfd;
	char stat[64], exe[64];
	struct thread_files files;
} last;

/* Nothing here may touch thread-local data: the helper's are already freed. */
static int hold(void *arg)
{
	static struct timespec time;
	static int ms, status;

	(void)arg;
	while (!has_ended(last.pidfd.fd, &last.files, &status)) {
		ms = next_poll(ms);
		time.tv_sec = ms / 1000;
		time.tv_nsec = ms % 1000 * 1000000l;
		if (last.pidfd.fd < 0 || ring_syscall(SYS_ppoll, (long)&last.pidfd, 1, 0, 0) < 0)
			ring_syscall(SYS_ppoll, 0, 0, (long)&time, 0);
	}
	/* The last thread to end determines the status: it is the program's own, which no other
	 * thread replaces. */
	return !stand_in ? WEXITSTATUS(status) : last_code < 0 ? 0 : last_code;
}

static void find_last(void)
{
	int tid = __atomic_load_n(&stand_in, __ATOMIC_SEQ_CST);

	last.pidfd.fd = tid ? (int)sys_call(SYS_pidfd_open, tid, PIDFD_THREAD) : -1;
	last.pidfd.events = POLLIN;
	snprintf(last.stat, sizeof(last.stat), "/proc/self/task/%d/stat", tid ? tid : getpid());
	snprintf(last.exe, sizeof(last.exe), "/proc/self/task/%d/exe", tid ? tid : getpid());
	last.files = (struct thread_files){ last.stat, last.exe };
}

void agent_leave_block(void)
{
	static char stack[4096] TRACER_LARGE __attribute__((aligned(16)));
	const int flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

	if (agent_leave_now() != ENDS)
		return;
	find_last();
	if (__clone(hold, stack + sizeof(stack), flags, NULL) < 0)
		tracer_debug("events of exit handlers may be missing");
}
