/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "tracer/agent/host/alone.h"
#include "buffers.h"
#include "tracer/agent/host/seccomp.h"
#include "tracer/agent/host/shadow.h"
#include "tracer/agent/host/spawn.h"
#include "tracer/base/env.h"
#include "tracer/agent/host/leave.h"
#include "link.h"
#include "points.h"
#include "tracer/agent/host/private.h"
#include "proto/app.h"
#include "tracer/base/sys.h"
#include "tracer/ring/wait.h"
#include "tracer/site/site.h"
#include "tracer/statedump/statedump.h"

#define STACK_BYTES (128u << 10)
#define THREAD_NAME "-ltt" /* behind the process's, so that state dump events have it */
#define PAUSE_MS 100
#define LOOK_MS 1000  /* for libraries that came or went; ltt_statedump_libraries() */
#define LOOK_AGAIN_MS 10 /* after the start, and after one came or went; doubles up to LOOK_MS */
#define UNWOKEN_MS 50 /* a filter forbids signalfd() */
#define FILTERED "a seccomp filter would end the program for it"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int thread_id;	 /* tid of the helper, 0: none */
static pthread_t thread; /* valid where `created` */
static bool created;
static pthread_t helper_self; /* valid where thread_id > 0, as is its process */
static pid_t helper_process;
static int start_delay_ms;
static uint32_t settled; /* generation up to which all points are confirmed; a futex */

void agent_lock(void)
{
	pthread_mutex_lock(&lock);
}

bool agent_try_lock(void)
{
	return pthread_mutex_trylock(&lock) == 0;
}

void agent_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool agent_thread_is_helper(void)
{
	return agent_thread_id() > 0 && pthread_equal(helper_self, pthread_self());
}

int agent_thread_id(void)
{
	return __atomic_load_n(&thread_id, __ATOMIC_ACQUIRE);
}

void agent_wake(void)
{
	int saved = errno;
	int tid = agent_thread_id();

	if (tid > 0)
		syscall(SYS_tgkill, helper_process, tid, AGENT_SIGNAL);
	errno = saved;
}

/* --- waits of start-up --------------------------------------------------- */

bool agent_thread_is_confirmed(uint32_t generation)
{
	return (int32_t)(__atomic_load_n(&settled, __ATOMIC_ACQUIRE) - generation) >= 0;
}

static void agent_thread_confirm(uint32_t generation)
{
	bool all = true;

	for (unsigned int i = 0; i < AGENT_LINKS; i++)
		all &= agent_link_confirm(&agent_links[i], generation);
	if (!all || agent_thread_is_confirmed(generation))
		return;
	__atomic_store_n(&settled, generation, __ATOMIC_RELEASE);
	syscall(SYS_futex, &settled, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	agent_daemons_answered();
}

void agent_thread_unsettle(void)
{
	__atomic_store_n(&settled, agent_points_generation() - 1, __ATOMIC_RELEASE);
}

bool agent_thread_wait_confirmed(uint32_t generation, int timeout_ms)
{
	int64_t end = agent_now_ms() + timeout_ms;

	while (agent_thread_id() != 0 && !agent_thread_is_confirmed(generation)) {
		uint32_t seen = __atomic_load_n(&settled, __ATOMIC_ACQUIRE);
		int64_t left = timeout_ms < 0 ? 1000 : end - agent_now_ms();
		struct timespec wait = { .tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000 };

		if (left <= 0)
			return false;
		if (!agent_thread_is_confirmed(generation))
			syscall(SYS_futex, &settled, FUTEX_WAIT_PRIVATE, seen, &wait, NULL, 0);
	}
	return true;
}

/* --- the loop ---------------------------------------------------------------------- */

/* Programs load their libraries one after another. Return: the time until the next look. */
static int agent_thread_look(void)
{
	static int next_ms = LOOK_AGAIN_MS / 2;
	static uint32_t changes;
	uint32_t now;

	statedump_libraries_look();
	now = statedump_libraries_changes();
	next_ms = now != changes ? LOOK_AGAIN_MS : next_ms > LOOK_MS / 2 ? LOOK_MS : 2 * next_ms;
	changes = now;
	return next_ms;
}

static int agent_thread_timeout_ms(bool can_be_woken, int look_ms)
{
	int64_t now = agent_now_ms();
	int64_t least = agent_leave_timeout_ms();

	if (statedump_libraries_are_wanted() && (least < 0 || least > look_ms))
		least = look_ms;
	if (!can_be_woken && (least < 0 || least > UNWOKEN_MS))
		least = UNWOKEN_MS;
	for (unsigned int i = 0; i < tracer_env.nr_dirs; i++) {
		const struct agent_link *link = &agent_links[i];
		int64_t left = link->retry_at > now ? link->retry_at - now : 0;

		if (link->state == LINK_RETRY && (least < 0 || left < least))
			least = left;
	}
	return (int)least;
}

/* As poll(). The helper never loops without a pause, whatever fails. */
static int agent_thread_await(struct pollfd *fds, unsigned long nr, int ms)
{
	int ready = sys_poll(fds, nr, ms);

	if (ready < 0 && errno == EINVAL)
		ready = sys_select(fds, nr, ms);
	if (ready < 0 && errno != EINTR)
		sys_poll(NULL, 0, ms < 0 || ms > PAUSE_MS ? PAUSE_MS : ms);
	return ready;
}

static bool take_signals(int signal_fd)
{
	struct signalfd_siginfo info[4];
	bool any = false;

	while (sys_read(signal_fd, info, sizeof(info)) > 0)
		any = true;
	return any;
}

/* A daemon's message is not read by a helper that has more rights than the program. */
static bool has_message(const struct pollfd *fds)
{
	bool any = false;

	for (unsigned int i = 0; i < AGENT_LINKS; i++)
		any = any || fds[i].revents;
	if (!any || !agent_leave_is_main_there() || agent_shadow_is_true())
		return any;
	agent_alone_must_leave(APP_REASON_UNSEEN);
	return false;
}

/* One round; @signal_fd: -1: none; @woken: a signal came in the round before. Return: the same for
 * the next. */
static bool turn(int signal_fd, bool woken)
{
	uint32_t generation = agent_points_generation();
	struct pollfd fds[2 + AGENT_LINKS] = { { .fd = signal_fd, .events = POLLIN } };
	int look_ms;

	for (unsigned int i = 0; i < AGENT_LINKS; i++) {
		agent_link_step(&agent_links[i], woken);
		fds[1 + i].fd = agent_links[i].fd;
		fds[1 + i].events = agent_link_events(&agent_links[i]);
	}
	fds[1 + AGENT_LINKS] = (struct pollfd){ .fd = agent_leave_fd(), .events = POLLIN };
	agent_thread_confirm(generation);
	agent_buffers_populate();
	look_ms = agent_thread_look();
	if (agent_thread_await(fds, 2 + AGENT_LINKS,
			       agent_thread_timeout_ms(signal_fd >= 0, look_ms)) <= 0)
		return signal_fd < 0;
	if (has_message(&fds[1]))
		for (unsigned int i = 0; i < AGENT_LINKS; i++)
			if (fds[1 + i].revents)
				agent_link_ready(&agent_links[i], fds[1 + i].revents);
	return signal_fd < 0 || (fds[0].revents && take_signals(signal_fd));
}

static int open_signal_fd(void)
{
	return sys_signalfd(1ull << (AGENT_SIGNAL - 1), SFD_CLOEXEC | SFD_NONBLOCK);
}

void agent_thread_retire(const char *why)
{
	tracer_debug("no tracing control: %s", why);
	__atomic_store_n(&thread_id, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, &settled, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Return: whether this thread can do its work. */
static bool agent_thread_set_up(int *ret_signal_fd)
{
	if (agent_private_table(agent_alone_fd()) < 0) {
		agent_thread_retire("the kernel refuses a descriptor table of its own");
		return false;
	}
	*ret_signal_fd = open_signal_fd();
	if (*ret_signal_fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		agent_thread_retire("no signalfd");
		return false;
	}
	agent_alone_return();
	return true;
}

/* No thread waits for a helper that can't do its work. */
static void let_go(void)
{
	if (__atomic_exchange_n(&created, false, __ATOMIC_ACQ_REL))
		pthread_detach(pthread_self());
}

/* The program would be silent. */
static void report_filtered(void)
{
	site_mute();
	if (!agent_filter_allows_farewell())
		return;
	agent_links_set_silence(APP_SILENCE_ALL, APP_REASON_FILTER);
	agent_links_take_leave(true, PAUSE_MS);
}

/* No helper will see whether there is a daemon. */
static void agent_thread_limit_waits(void)
{
	for (unsigned int i = 0; i < AGENT_LINKS; i++)
		agent_buffers_leave(i);
}

/* The helper ends if it runs in the child of a fork that a state dump made. */
static void *helper(void *arg)
{
	bool woken = false;
	char name[16];
	int tid, signal_fd;

	(void)arg;
	if (!agent_filter_allows_helper()) {
		report_filtered();
		agent_thread_retire(FILTERED);
		agent_alone_give_up();
		let_go();
		return NULL;
	}
	tid = (int)syscall(SYS_gettid);
	helper_self = pthread_self();
	helper_process = getpid();
	__atomic_store_n(&thread_id, tid, __ATOMIC_RELEASE);
	tracer_join(name, sizeof(name) - strlen(THREAD_NAME), program_invocation_short_name, NULL);
	strcat(name, THREAD_NAME);
	prctl(PR_SET_NAME, name);
	ring_wait_never_here();
	site_mute(); /* permanently: this thread's own allocations are not the program's */
	if (start_delay_ms)
		agent_alone_wait(start_delay_ms);
	if (!agent_thread_set_up(&signal_fd)) {
		let_go();
		return NULL;
	}
	while (agent_thread_id() == tid && !agent_leave_step()) {
		switch (agent_alone_step()) {
		case AGENT_ALONE_STAYS:
			woken = turn(signal_fd, woken);
			continue;
		case AGENT_ALONE_SENT:
			__atomic_store_n(&thread_id, -1, __ATOMIC_RELEASE);
			return NULL; /* another one takes its place */
		case AGENT_ALONE_LEFT:
			agent_thread_limit_waits();
			let_go();
			return NULL;
		}
	}
	if (agent_thread_id() != tid)
		return NULL;
	agent_thread_limit_waits();
	agent_leave_block();
	agent_thread_retire("the program ends");
	return NULL;
}

/* A program with much thread-local data needs a larger stack: then libc's default. */
static int create(void)
{
	pthread_attr_t attr;
	int err;

	if (pthread_attr_init(&attr) != 0)
		return -ENOMEM;
	__atomic_store_n(&created, true, __ATOMIC_RELEASE); /* before the helper can reset it */
	err = pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (!err)
		err = agent_spawn_thread(&thread, &attr, helper, NULL);
	pthread_attr_destroy(&attr);
	if (err == EINVAL)
		err = agent_spawn_thread(&thread, NULL, helper, NULL);
	if (err)
		created = false;
	return -err;
}

void agent_thread_join(void)
{
	if (__atomic_exchange_n(&created, false, __ATOMIC_ACQ_REL))
		pthread_join(thread, NULL);
}

bool agent_thread_join_within(int ms)
{
	struct timespec end;

	if (!__atomic_exchange_n(&created, false, __ATOMIC_ACQ_REL))
		return true;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += ms % 1000 * 1000000l;
	end.tv_sec += ms / 1000 + end.tv_nsec / 1000000000l;
	end.tv_nsec %= 1000000000l;
	if (pthread_timedjoin_np(thread, NULL, &end) == 0)
		return true;
	pthread_detach(thread);
	return false;
}

int agent_thread_start(int delay_ms)
{
	sigset_t all, old;
	int err;

	start_delay_ms = delay_ms;
	/* until the helper stores its own tid: so that the wait of another thread does not end at
	 * once */
	__atomic_store_n(&thread_id, -1, __ATOMIC_RELEASE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = create();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err < 0)
		agent_thread_retire("no helper thread");
	return err;
}

void agent_thread_after_fork_child(void)
{
	created = false; /* it is the parent's */
	__atomic_store_n(&thread_id, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}
