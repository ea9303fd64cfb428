/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * alone.c - unshare() and setns(), which the kernel rejects in a process with several threads: the
 * helper ends for the call, and is started again; and its end for good in a program that relies on
 * having one thread.
 */
#include "alone.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "buffers.h"
#include "counts.h"
#include "proto/app.h"
#include "tracer/base/env.h"
#include "kept.h"
#include "leave.h"
#include "link.h"
#include "points.h"
#include "tracer/base/sys.h"
#include "thread.h"
#include "tracer/ring/context.h"
#include "tracer/ring/fallback.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/sys.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define EXPORT __attribute__((visibility("default")))
#define ANSWER_MS 1000 /* the helper may be in a callback of the program */
#define FDS_MAX 250    /* in a message; Linux: 253 */
#define FAR_UP 500     /* a descriptor's number */
#define YIELDS 1000

/* Flags that fail in a process with several threads; of setns(), also in one that shares its root
 * and working directory with another one (CLONE_FS). */
#define UNSHARE_ALONE (CLONE_NEWUSER | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
#define SETNS_ALONE (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWTIME)

enum helper_state {
	HELPER_RUNS,
	HELPER_REQUESTED, /* the program waits for the helper to end */
	HELPER_ENDING,
	HELPER_AWAY, /* its descriptors are sent */
};

static uint32_t helper_state;	    /* enum helper_state; a futex */
static bool quits;		    /* the helper will not be started again */
static int sockets[2] = { -1, -1 }; /* of the program's table: received from, sent to */
static int old_fds[FDS_MAX], new_fds[FDS_MAX];
static size_t nr_moved;
static bool departed;	       /* for good; inherited by children */
static struct stat kept_end;   /* identifies sockets[0], as the program may close it */
static const uint8_t *is_here; /* ring_mark_process() */

static void alone_wake(uint32_t to)
{
	__atomic_store_n(&helper_state, to, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &helper_state, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static enum helper_state alone_now(void)
{
	return (enum helper_state)__atomic_load_n(&helper_state, __ATOMIC_SEQ_CST);
}

static bool alone_change(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&helper_state, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* Wait while the state is @seen, at most @ms. */
static void wait_while(uint32_t seen, int ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l };

	syscall(SYS_futex, &helper_state, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
}

/* --- the helper's side ------------------------------------------------------------------ */

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
};

/* The program's end of the sockets, in the helper's table. */
static int fetch_socket(void)
{
	int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
	int fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, sockets[1], 0);

	sys_close(process);
	return fd;
}

static bool send_fds(int socket, size_t nr)
{
	union control control = { .header = { .cmsg_len = CMSG_LEN(nr * sizeof(int)),
					      .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { .iov_base = &control, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = CMSG_SPACE(nr * sizeof(int)) };

	memcpy(CMSG_DATA(&control.header), old_fds, nr * sizeof(int));
	return syscall(SYS_sendmsg, socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* Before Linux 5.6 nothing is sent, and the helper connects anew. */
static void alone_send_all(void)
{
	int socket = sockets[1] < 0 ? -1 : fetch_socket();
	size_t nr;

	nr_moved = 0;
	if (socket < 0)
		return;
	nr = agent_links_fds(old_fds, FDS_MAX);
	nr += agent_kept_fds(old_fds + nr, FDS_MAX - nr);
	if (nr > 0 && send_fds(socket, nr))
		nr_moved = nr;
	sys_close(socket);
}

bool agent_alone_step(void)
{
	if (alone_now() != HELPER_REQUESTED || !alone_change(HELPER_REQUESTED, HELPER_ENDING))
		return false;
	agent_links_send_due(); /* agent_link_silence, if the helper stays away */
	agent_lock();
	if (!quits)
		alone_send_all();
	agent_unlock();
	if (quits)
		agent_links_take_leave(true, ANSWER_MS / 2);
	alone_wake(HELPER_ENDING);
	return true;
}

void agent_alone_wait(int ms)
{
	if (alone_now() == HELPER_RUNS)
		wait_while(HELPER_RUNS, ms);
}

int agent_alone_fd(void)
{
	return alone_now() == HELPER_AWAY ? sockets[0] : -1;
}

/* Return: whether all were received. */
static bool receive_fds(void)
{
	union control control;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	size_t nr;

	if (sockets[0] < 0 || sys_recvmsg(sockets[0], &msg) != 1)
		return false;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return false;
	nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(new_fds, CMSG_DATA(c), nr * sizeof(int));
	for (size_t i = 0; nr != nr_moved && i < nr; i++)
		sys_close(new_fds[i]);
	return nr == nr_moved;
}

int agent_alone_moved(int fd)
{
	for (size_t i = 0; i < nr_moved; i++)
		if (old_fds[i] == fd)
			return new_fds[i];
	return -1;
}

void agent_alone_return(void)
{
	if (alone_now() != HELPER_AWAY)
		return;
	if (!nr_moved || !receive_fds())
		nr_moved = 0;
	sys_close(sockets[0]);
	agent_lock();
	if (nr_moved)
		agent_kept_moved();
	else
		agent_kept_after_fork_child();
	agent_links_moved();
	agent_leave_moved();
	agent_unlock();
	alone_wake(HELPER_RUNS);
}

/* --- the program's side ----------------------------------------------------------------- */

/* Right after a fork the helper may not have begun yet. */
static int await_helper(int64_t end)
{
	while (agent_thread_id() < 0 && agent_now_ms() < end)
		sched_yield();
	return agent_thread_id();
}

/* The directory has a link for each thread. Its entries may have numbers of another pid namespace.
 * If it can't be read, there is no other thread. */
static bool has_other_threads(void)
{
	struct stat st;

	return sys_stat("/proc/self/task", &st) == 0 && st.st_nlink > AGENT_LINKS_OF_TWO;
}

/* Whether this is the only thread besides the helper. A child of vfork() has no helper, though it
 * sees its parent's memory. */
static bool is_alone_with(int helper)
{
	return helper > 0 && getpid() == (pid_t)syscall(SYS_gettid) &&
	       syscall(SYS_tgkill, getpid(), helper, 0) == 0 && !has_other_threads();
}

/* Not among the first three, which the helper handles differently. */
static int move_up(int fd)
{
	int moved = fd;

	if (fd >= 0 && fd <= STDERR_FILENO) {
		moved = sys_fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		sys_close(fd);
	}
	return moved;
}

static void open_sockets(void)
{
	if (syscall(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		sockets[0] = sockets[1] = -1;
	sockets[0] = move_up(sockets[0]);
	sockets[1] = move_up(sockets[1]);
}

static void close_socket(int *fd)
{
	sys_close(*fd);
	*fd = -1;
}

/* Wait until the kernel no longer counts thread @tid. */
static void await_end_of(int tid)
{
	siginfo_t info;

	while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
		sched_yield();
	/* The thread has no number any more but may still be in the list of threads while the
	 * kernel's lock is held; this call waits for that lock. */
	syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT, NULL);
}

/* Return: whether the helper has ended. */
static bool end_helper(int helper, int64_t end)
{
	alone_wake(HELPER_REQUESTED);
	agent_wake();
	while (alone_now() == HELPER_REQUESTED && agent_now_ms() < end)
		wait_while(HELPER_REQUESTED, ANSWER_MS / 10);
	if (alone_change(HELPER_REQUESTED, HELPER_RUNS))
		return false;
	if (agent_thread_join_within(ANSWER_MS))
		await_end_of(helper);
	return true;
}

/* Return: whether the helper has ended. */
static bool send_away(void)
{
	int64_t end = agent_now_ms() + ANSWER_MS;
	int helper = await_helper(end);
	bool ended;

	if (!is_alone_with(helper))
		return false;
	open_sockets();
	ended = end_helper(helper, end);
	if (ended) {
		alone_wake(HELPER_AWAY);
	} else {
		close_socket(&sockets[0]);
	}
	close_socket(&sockets[1]);
	return ended;
}

void agent_alone_give_up(void)
{
	agent_lock();
	for (unsigned int i = 0; i < AGENT_LINKS; i++) {
		agent_buffers_forget(i);
		agent_counts_forget(i);
	}
	agent_kept_after_fork_child();
	agent_unlock();
	alone_wake(HELPER_RUNS);
}

static void call_back(void)
{
	if (agent_thread_start(0) < 0)
		agent_alone_give_up();
	while (alone_now() == HELPER_AWAY && agent_thread_id() != 0)
		wait_while(HELPER_AWAY, ANSWER_MS / 10);
	if (alone_now() == HELPER_AWAY)
		agent_alone_give_up();
	close_socket(&sockets[0]);
}

bool agent_alone_is_ours(void)
{
	int helper = await_helper(agent_now_ms() + ANSWER_MS);

	return helper <= 0 || syscall(SYS_tgkill, getpid(), helper, 0) == 0;
}

/* --- an end for good ------------------------------------------------------------------------ */

/* Not where the program has closed the socket and uses its number. */
static bool has_kept_end(void)
{
	struct stat st;

	return sockets[0] >= 0 && ring_syscall(SYS_fstat, sockets[0], (long)&st, 0, 0) == 0 &&
	       st.st_dev == kept_end.st_dev && st.st_ino == kept_end.st_ino;
}

static void close_kept_end(void)
{
	if (has_kept_end())
		sys_close(sockets[0]);
	sockets[0] = -1;
}

/* Where a program is not likely to want a certain number, if the limit of open files permits. */
static void move_far_up(void)
{
	int moved = sys_fcntl(sockets[0], F_DUPFD_CLOEXEC, FAR_UP);

	if (moved < 0)
		return;
	sys_close(sockets[0]);
	sockets[0] = moved;
}

static void stay_away(void)
{
	if (nr_moved > 0) {
		move_far_up();
		sys_fstat(sockets[0], &kept_end);
		is_here = ring_mark_process();
	} else {
		close_socket(&sockets[0]);
	}
	__atomic_store_n(&departed, true, __ATOMIC_RELEASE);
	agent_thread_retire("the program counts its threads, so libltt's has ended");
}

/*
 * A handler may have interrupted a thread in malloc(), whose locks the helper takes as it ends, or
 * in fork(): then it can't be waited for. A handler of a crash is one, and lists threads.
 */
static bool may_wait(void)
{
	static const uint64_t crashes = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) |
					1ull << (SIGABRT - 1) | 1ull << (SIGILL - 1) |
					1ull << (SIGFPE - 1) | 1ull << (SIGTRAP - 1);
	uint64_t mask = 0;
	stack_t stack;

	ring_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, AGENT_NSIG_BYTES);
	if (mask & crashes || ring_syscall(SYS_sigaltstack, 0, (long)&stack, 0, 0) != 0 ||
	    stack.ss_flags & SS_ONSTACK)
		return false;
	for (int i = 0; i < YIELDS; i++) {
		if (agent_try_lock()) {
			agent_unlock();
			return true;
		}
		sched_yield();
	}
	return false;
}

/* Daemons learn of it from the helper's next messages. */
static bool alone_change_silence(uint8_t from, uint8_t to)
{
	return __atomic_compare_exchange_n(&agent_link_silence, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

bool agent_alone_depart(void)
{
	const uint64_t all = UINT64_MAX;
	int saved = errno;
	bool announced, ended;
	uint64_t mask;

	if (agent_thread_id() == 0 || agent_thread_is_helper() || !may_wait())
		return false;
	ring_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&mask, AGENT_NSIG_BYTES);
	agent_wake();
	agent_thread_wait_confirmed(agent_points_generation(), ANSWER_MS); /* then it records */
	announced = alone_change_silence(APP_SILENCE_NONE, APP_SILENCE_LATER);
	ended = send_away();
	if (ended)
		stay_away();
	else if (announced)
		alone_change_silence(APP_SILENCE_LATER, APP_SILENCE_NONE);
	ring_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, AGENT_NSIG_BYTES);
	errno = saved;
	return ended;
}

bool agent_alone_has_departed(void)
{
	return __atomic_load_n(&departed, __ATOMIC_ACQUIRE);
}

/* The helper has departed: this thread sends its last messages. Not in a child, whose parent has
 * the connections. */
static void take_leave(void)
{
	if (!is_here || !*is_here || !has_kept_end() || !receive_fds())
		return;
	agent_lock();
	agent_links_moved();
	agent_unlock();
	agent_links_take_leave(false, ANSWER_MS / 2);
	for (size_t i = 0; i < nr_moved; i++)
		sys_close(new_fds[i]);
	nr_moved = 0;
	close_kept_end();
}

/* Return: whether the process stops recording. */
static bool end_recording(int helper, int64_t end)
{
	if (helper > 0)
		return end_helper(helper, end);
	take_leave();
	return true;
}

void agent_alone_quit(const char *why)
{
	const uint64_t all = UINT64_MAX;
	int64_t end = agent_now_ms() + ANSWER_MS;
	int helper = await_helper(end);
	uint64_t mask;

	if (helper <= 0 && !agent_alone_has_departed())
		return;
	ring_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&mask, AGENT_NSIG_BYTES);
	__atomic_store_n(&agent_link_silence, APP_SILENCE_ALL, __ATOMIC_RELEASE);
	quits = true;
	if (end_recording(helper, end)) {
		agent_thread_retire(why);
		agent_alone_give_up();
	}
	ring_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, AGENT_NSIG_BYTES);
}

void agent_alone_after_fork_child(void)
{
	helper_state = HELPER_RUNS;
	quits = false;
	if (departed)
		close_kept_end();
	sockets[0] = sockets[1] = -1;
}

/* --- unshare() and setns() -------------------------------------------------------------- */

struct call {
	long nr;
	int fd; /* of setns() */
	int flags;
};

static long perform(const struct call *call, int flags)
{
	if (call->nr == SYS_setns)
		return ring_syscall(SYS_setns, call->fd, flags, 0, 0);
	return ring_syscall(SYS_unshare, flags, 0, 0, 0);
}

/* Try both calls in a child. Return: whether both succeeded. Signals are blocked. */
static bool would_succeed(const struct call *call, int first, int then)
{
	long pid = ring_syscall(SYS_clone, 0, 0, 0, 0);
	int status = -1;

	if (pid == 0) {
		bool done = perform(call, first) == 0 && perform(call, then) == 0;

		ring_syscall(SYS_exit_group, !done, 0, 0, 0);
	}
	while (pid > 0 && ring_syscall(SYS_wait4, pid, (long)&status, __WALL, 0) == -EINTR)
		;
	return pid > 0 && status == 0;
}

/*
 * After unshare() of a pid or time namespace no thread can be created, so the call is split in
 * two if the result is the same, and the helper is restarted in between. Both halves are tried
 * first: a call that fails must not have half its effect.
 */
static long perform_without_helper(const struct call *call)
{
	int first = call->flags & (call->nr == SYS_setns ? SETNS_ALONE : UNSHARE_ALONE);
	int then = call->flags & ~first;
	long err;

	if (!first || !then || !would_succeed(call, first, then)) {
		err = perform(call, call->flags);
		call_back();
		return err;
	}
	err = perform(call, first);
	call_back();
	return err ? err : perform(call, then);
}

static bool is_refused_to_threads(const struct call *call, long err)
{
	return (err == -EINVAL || err == -EUSERS) &&
	       (call->nr == SYS_setns || call->flags & UNSHARE_ALONE);
}

static int alone_call(const struct call *call)
{
	const uint64_t all = UINT64_MAX;
	int saved = errno;
	uint64_t mask;
	long err = perform(call, call->flags);

	if (is_refused_to_threads(call, err)) {
		ring_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&mask,
			     AGENT_NSIG_BYTES);
		if (send_away())
			err = perform_without_helper(call);
		ring_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, AGENT_NSIG_BYTES);
	}
	if (!err)
		context_namespaces_changed();
	errno = err ? (int)-err : saved;
	return err ? -1 : 0;
}

int agent_alone_unshare(int flags)
{
	return alone_call(&(struct call){ .nr = SYS_unshare, .flags = flags });
}

/* setns() moves the process itself into a time namespace; unshare() moves only its children. */
int agent_alone_setns(int fd, int flags)
{
	int err = alone_call(&(struct call){ .nr = SYS_setns, .fd = fd, .flags = flags });

	if (!err && (!flags || flags & CLONE_NEWTIME)) {
		int saved = errno;

		ring_clock_find_namespace();
		errno = saved;
	}
	return err;
}

EXPORT int AGENT_IN_PLACE_OF(unshare)(int flags)
{
	return agent_alone_unshare(flags);
}

EXPORT int AGENT_IN_PLACE_OF(setns)(int fd, int flags)
{
	return agent_alone_setns(fd, flags);
}
