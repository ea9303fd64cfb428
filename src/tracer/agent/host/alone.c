/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The helper's descriptors are in flight until the helper that takes its place receives them. */
#include "alone.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracer/agent/agent.h"
#include "tracer/agent/buffers.h"
#include "tracer/agent/counts.h"
#include "proto/app.h"
#include "tracer/base/env.h"
#include "tracer/agent/kept.h"
#include "leave.h"
#include "tracer/agent/link.h"
#include "tracer/agent/points.h"
#include "shadow.h"
#include "tracer/base/numbers.h"
#include "tracer/base/sys.h"
#include "tracer/agent/thread.h"
#include "tracer/ring/context.h"
#include "tracer/ring/fallback.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/sys.h"
#include "tracer/base/large.h"

#define ANSWER_MS 1000	/* the helper may be in a callback of the program */
#define ENDING_MS 10000 /* it has answered, and waits for a CPU */
#define FDS_MAX 250	/* in a message; Linux: 253 */
#define FAR_UP 500	/* a descriptor's number */
#define YIELDS 1000
#define OFTEN 100 /* suspensions in a second; one costs about 0.1 ms of processor time */

/* All signals but that by which libc's set*id functions of other threads reach this one. */
#define BLOCKED (~(1ull << (33 - 1)))

enum helper_state {
	HELPER_RUNS,
	HELPER_REQUESTED, /* the program waits for the helper to end */
	HELPER_ENDING,
	HELPER_AWAY, /* its descriptors are sent */
};

static uint32_t helper_state; /* enum helper_state; a futex */
static bool quits;	      /* the helper will not be started again */
static uint8_t must_leave;    /* enum app_reason: the helper ends as soon as it can; 0: no */
/* Held by a thread of the program from the helper's end to the start of the next one. */
static pthread_mutex_t one_sends_away = PTHREAD_MUTEX_INITIALIZER;
/* A socket in the program's table, with a name that the kernel chose: the helper, which has another
 * table, sends to this name. */
static int inbox = -1;
static struct sockaddr_un inbox_name;
static socklen_t inbox_name_len;
static int old_fds[FDS_MAX] TRACER_LARGE, new_fds[FDS_MAX] TRACER_LARGE;
static size_t nr_moved;
static bool departed;	       /* for good; inherited by children */
static struct stat kept_inbox; /* identifies it, as the program may close it */
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
	char bytes[CMSG_SPACE(FDS_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

static bool send_fds(size_t nr)
{
	union control control = { .header = { .cmsg_len = CMSG_LEN(nr * sizeof(int)),
					      .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { .iov_base = &control, .iov_len = 1 };
	struct msghdr msg = { .msg_name = &inbox_name,
			      .msg_namelen = inbox_name_len,
			      .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = CMSG_SPACE(nr * sizeof(int)) };
	int fd = sys_socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC);
	bool sent;

	memcpy(CMSG_DATA(&control.header), old_fds, nr * sizeof(int));
	sent = fd >= 0 && sys_call(SYS_sendmsg, fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
	sys_close(fd);
	return sent;
}

/* Where that fails, the next helper connects anew. */
static void alone_send_all(void)
{
	size_t nr;

	nr_moved = 0;
	if (inbox < 0)
		return;
	nr = agent_links_fds(old_fds, FDS_MAX);
	nr += agent_kept_fds(old_fds + nr, FDS_MAX - nr);
	if (nr > 0 && send_fds(nr))
		nr_moved = nr;
}

static void leave_for(uint8_t reason)
{
	agent_links_set_silence(APP_SILENCE_ALL, reason);
	agent_links_take_leave(false, ANSWER_MS / 2);
	agent_thread_retire("libltt's thread must not have more rights than the program");
	agent_alone_give_up();
}

enum agent_alone_step agent_alone_step(void)
{
	uint8_t reason = __atomic_load_n(&must_leave, __ATOMIC_ACQUIRE);

	if (reason) {
		leave_for(reason);
		return AGENT_ALONE_LEFT;
	}
	if (alone_now() != HELPER_REQUESTED || !alone_change(HELPER_REQUESTED, HELPER_ENDING))
		return AGENT_ALONE_STAYS;
	agent_links_send_due(); /* its silence, if the helper stays away */
	agent_lock();
	if (!quits)
		alone_send_all();
	agent_unlock();
	if (quits)
		agent_links_take_leave(true, ANSWER_MS / 2);
	alone_wake(HELPER_ENDING);
	return AGENT_ALONE_SENT;
}

void agent_alone_wait(int ms)
{
	if (alone_now() == HELPER_RUNS)
		wait_while(HELPER_RUNS, ms);
}

int agent_alone_fd(void)
{
	return alone_now() == HELPER_AWAY ? inbox : -1;
}

/* Return: number of descriptors of a message, in new_fds; one of another process has none. */
static size_t take_from(struct msghdr *msg)
{
	bool ours = false;
	size_t nr = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		struct ucred sender;

		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&sender, CMSG_DATA(c), sizeof(sender));
			ours = sender.pid == getpid();
		} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
			nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			memcpy(new_fds, CMSG_DATA(c), nr * sizeof(int));
		}
	}
	for (size_t i = 0; i < nr && !ours; i++)
		sys_close(new_fds[i]);
	return ours ? nr : 0;
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
	size_t nr = 0;

	while (!nr && inbox >= 0 && sys_recvmsg(inbox, &msg) >= 0) {
		nr = take_from(&msg);
		msg.msg_controllen = sizeof(control);
	}
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
	sys_close(inbox);
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

/* A child of vfork() has no helper, though it sees its parent's memory. */
static bool is_ours(int helper)
{
	return helper > 0 && syscall(SYS_tgkill, getpid(), helper, 0) == 0;
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

static void close_inbox(void)
{
	sys_close(inbox);
	inbox = -1;
}

/* Any process can send to it: the kernel adds the sender's number. */
static void open_inbox(void)
{
	const int on = 1;

	inbox = move_up(sys_socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC));
	inbox_name.sun_family = AF_UNIX;
	inbox_name_len = sizeof(inbox_name);
	if (inbox >= 0 &&
	    (syscall(SYS_setsockopt, inbox, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
	     syscall(SYS_bind, inbox, &inbox_name, sizeof(inbox_name.sun_family)) < 0 ||
	     syscall(SYS_getsockname, inbox, &inbox_name, &inbox_name_len) < 0))
		close_inbox();
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
	if (agent_thread_join_within(ENDING_MS))
		await_end_of(helper);
	return true;
}

/* Return: whether the helper has ended. */
static bool send_away(int helper)
{
	bool ended;

	open_inbox();
	ended = end_helper(helper, agent_now_ms() + ANSWER_MS);
	if (ended)
		alone_wake(HELPER_AWAY);
	else
		close_inbox();
	return ended;
}

static void hold_helper(uint64_t *ret_mask)
{
	const uint64_t blocked = BLOCKED;

	ring_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&blocked, (long)ret_mask,
		     AGENT_NSIG_BYTES);
	pthread_mutex_lock(&one_sends_away);
}

static void release_helper(uint64_t mask)
{
	pthread_mutex_unlock(&one_sends_away);
	ring_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, AGENT_NSIG_BYTES);
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

bool agent_alone_is_ours(void)
{
	int helper = await_helper(agent_now_ms() + ANSWER_MS);

	return helper <= 0 || is_ours(helper);
}

/* --- an end for good ------------------------------------------------------------------------ */

/* Not where the program has closed the socket and uses its number. */
static bool has_kept_inbox(void)
{
	struct stat st;

	return inbox >= 0 && ring_syscall(NR_FSTAT, inbox, (long)&st, 0, 0) == 0 &&
	       st.st_dev == kept_inbox.st_dev && st.st_ino == kept_inbox.st_ino;
}

static void close_kept_inbox(void)
{
	if (has_kept_inbox())
		sys_close(inbox);
	inbox = -1;
}

/* Where a program is not likely to want a certain number, if the limit of open files permits. */
static void move_far_up(void)
{
	int moved = sys_fcntl(inbox, F_DUPFD_CLOEXEC, FAR_UP);

	if (moved < 0)
		return;
	sys_close(inbox);
	inbox = moved;
}

static void stay_away(const char *why)
{
	if (nr_moved > 0) {
		move_far_up();
		sys_fstat(inbox, &kept_inbox);
		is_here = ring_mark_process();
	} else {
		close_inbox();
	}
	__atomic_store_n(&departed, true, __ATOMIC_RELEASE);
	agent_thread_retire(why);
}

/*
 * A handler may have interrupted a thread in malloc(), whose locks the helper takes as it ends, or
 * in fork(): then it can't be waited for.
 */
static bool may_wait(void)
{
	stack_t stack;

	if (ring_syscall(SYS_sigaltstack, 0, (long)&stack, 0, 0) != 0 ||
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

/* A handler of a crash lists threads. */
static bool handles_crash(void)
{
	static const uint64_t crashes = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) |
					1ull << (SIGABRT - 1) | 1ull << (SIGILL - 1) |
					1ull << (SIGFPE - 1) | 1ull << (SIGTRAP - 1);
	uint64_t mask = 0;

	ring_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, AGENT_NSIG_BYTES);
	return mask & crashes;
}

/* Daemons learn of it from the helper's next messages. Return: whether the helper has ended. */
static bool depart(int helper, uint8_t reason, const char *why)
{
	struct agent_silence before;

	agent_wake();
	agent_thread_wait_confirmed(agent_points_generation(), ANSWER_MS); /* then it records */
	before = agent_links_set_silence(APP_SILENCE_LATER, reason);
	if (!send_away(helper)) {
		agent_links_set_silence(before.silence, before.reason);
		return false;
	}
	stay_away(why);
	return true;
}

bool agent_alone_depart(void)
{
	int saved = errno;
	bool ended = false;
	uint64_t mask;
	int helper;

	if (agent_thread_id() == 0 || agent_thread_is_helper() || handles_crash() || !may_wait())
		return false;
	hold_helper(&mask);
	helper = await_helper(agent_now_ms() + ANSWER_MS);
	if (is_ours(helper) && agent_leave_is_main() && !has_other_threads())
		ended = depart(helper, APP_REASON_COUNTS,
			       "the program counts its threads, so libltt's has ended");
	release_helper(mask);
	errno = saved;
	return ended;
}

bool agent_alone_depart_for(uint8_t reason)
{
	int saved = errno;
	bool ended = false;
	uint64_t mask;
	int helper;

	if (agent_thread_id() == 0 || agent_thread_is_helper() || !may_wait())
		return false;
	hold_helper(&mask);
	helper = await_helper(agent_now_ms() + ANSWER_MS);
	if (is_ours(helper))
		ended = depart(helper, reason, "the program can have no helper");
	release_helper(mask);
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
	if (!is_here || !*is_here || !has_kept_inbox() || !receive_fds())
		return;
	agent_lock();
	agent_links_moved();
	agent_unlock();
	agent_links_take_leave(false, ANSWER_MS / 2);
	for (size_t i = 0; i < nr_moved; i++)
		sys_close(new_fds[i]);
	nr_moved = 0;
	close_kept_inbox();
}

/* Return: whether the process stops recording. */
static bool end_recording(int helper)
{
	if (helper > 0)
		return end_helper(helper, agent_now_ms() + ANSWER_MS);
	take_leave();
	return true;
}

void agent_alone_quit(const char *why)
{
	uint64_t mask;
	int helper;

	hold_helper(&mask);
	helper = await_helper(agent_now_ms() + ANSWER_MS);
	if (helper > 0 || agent_alone_has_departed()) {
		agent_links_set_silence(APP_SILENCE_ALL, APP_REASON_FILTER);
		quits = true;
		if (end_recording(helper)) {
			agent_thread_retire(why);
			agent_alone_give_up();
		}
	}
	release_helper(mask);
}

void agent_alone_after_fork_child(bool may_call)
{
	helper_state = HELPER_RUNS;
	quits = false;
	must_leave = 0;
	pthread_mutex_init(&one_sends_away, NULL);
	if (may_call && departed)
		close_kept_inbox();
	else if (may_call) /* another thread had sent the helper away */
		sys_close(inbox);
	inbox = -1;
}

/* --- away for a call ------------------------------------------------------------------------ */

/* No thread can be made. Daemons learn from this one that none will read their messages, and the
 * connections stay open, as if the helper had departed. */
static void depart_afterwards(void)
{
	size_t nr;

	if (!nr_moved || !receive_fds()) {
		agent_alone_give_up();
		return;
	}
	agent_lock();
	agent_kept_moved();
	agent_links_moved();
	agent_unlock();
	close_inbox();
	agent_links_set_silence(APP_SILENCE_LATER, APP_REASON_LIMIT);
	agent_links_send_due();
	open_inbox();
	alone_send_all();
	nr = agent_links_fds(old_fds, FDS_MAX);
	nr += agent_kept_fds(old_fds + nr, FDS_MAX - nr);
	for (size_t i = 0; i < nr; i++)
		sys_close(old_fds[i]);
	stay_away("no thread can be made any more");
	alone_wake(HELPER_RUNS);
}

static void call_back(void)
{
	if (agent_thread_id() == 0) { /* it has left for another reason */
		alone_wake(HELPER_RUNS);
	} else if (agent_thread_start(0) < 0) {
		depart_afterwards();
		return;
	}
	while (alone_now() == HELPER_AWAY && agent_thread_id() != 0)
		wait_while(HELPER_AWAY, ANSWER_MS / 10);
	if (alone_now() == HELPER_AWAY)
		agent_alone_give_up();
	close_inbox();
}

void agent_alone_must_leave(uint8_t reason)
{
	__atomic_store_n(&must_leave, reason, __ATOMIC_RELEASE);
	agent_wake();
}

static bool suspends_too_often(void)
{
	static int64_t second;
	static unsigned int nr;
	int64_t now = agent_now_ms() / 1000;

	if (now != second)
		nr = 0;
	second = now;
	return ++nr > OFTEN;
}

/* With the helper held. @reason: it departs, for this; 0: it is to be called back. Return: whether
 * it will be. */
static bool suspend(int helper, uint8_t reason)
{
	if (!reason && (!agent_leave_is_main_there() || !agent_shadow_can_begin()))
		reason = APP_REASON_RESTRICTED;
	else if (!reason && suspends_too_often())
		reason = APP_REASON_OFTEN;
	if (!reason && send_away(helper))
		return true;
	if (!reason ||
	    !depart(helper, reason, "it can't follow the program's changes of its rights"))
		agent_alone_must_leave(reason ? reason : APP_REASON_RESTRICTED);
	return false;
}

/* Threads other than the main thread do not concern the helper, unless it is the shadow of one that
 * has ended. */
static bool concerns_helper(void)
{
	return agent_thread_id() != 0 && !agent_thread_is_helper() &&
	       (agent_leave_is_main() || !agent_leave_is_main_there());
}

static bool begin_call(uint8_t reason, uint64_t *ret_mask)
{
	int saved = errno;
	bool suspended = false;
	int helper;

	if (!concerns_helper())
		return false;
	if (!may_wait()) {
		if (agent_alone_is_ours())
			agent_alone_must_leave(reason ? reason : APP_REASON_RESTRICTED);
		return false;
	}
	hold_helper(ret_mask);
	helper = await_helper(agent_now_ms() + ANSWER_MS);
	if (is_ours(helper))
		suspended = suspend(helper, reason);
	if (!suspended)
		release_helper(*ret_mask);
	errno = saved;
	return suspended;
}

bool agent_alone_suspend(uint64_t *ret_mask)
{
	return begin_call(0, ret_mask);
}

void agent_alone_forgo(uint8_t reason)
{
	uint64_t mask;

	begin_call(reason, &mask);
}

void agent_alone_resume(uint64_t mask)
{
	int saved = errno;

	call_back();
	release_helper(mask);
	errno = saved;
}
