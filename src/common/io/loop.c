/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "loop.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

#define ROUND_EVENTS 64

struct loop {
	int epoll_fd;
	bool stopping;
	struct list_node timers; /* soonest first */
	struct loop_fd timer_source;
	uint64_t wakes_ns; /* when the timer's descriptor will be ready; 0: it will not */
	struct list_node work;
	struct loop_fd signal_source;
	void (*caught)(int signo, void *data);
	void *caught_data;
	/* events of the current round; loop_fd_fini() removes those of its source */
	struct epoll_event events[ROUND_EVENTS];
	int nr_events;
	int next_event;
};

uint64_t loop_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* --- descriptors ---------------------------------------------------------- */

int loop_fd_init(struct loop_fd *source, struct loop *loop, int fd, uint32_t events,
		 void (*ready)(struct loop_fd *, uint32_t))
{
	struct epoll_event ev = { .events = events, .data.ptr = source };

	source->loop = loop;
	source->fd = -1;
	source->ready = ready;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return -errno;
	source->fd = fd;
	return 0;
}

int loop_fd_events(struct loop_fd *source, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = source };

	return epoll_ctl(source->loop->epoll_fd, EPOLL_CTL_MOD, source->fd, &ev) < 0 ? -errno : 0;
}

void loop_fd_fini(struct loop_fd *source)
{
	struct loop *loop = source->loop;

	if (!loop || source->fd < 0)
		return;
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	for (int i = loop->next_event; i < loop->nr_events; i++)
		if (loop->events[i].data.ptr == source)
			loop->events[i].data.ptr = NULL;
	source->fd = -1;
}

/* --- timers ---------------------------------------------------------------- */

/* Most timers are moved before they expire: a later deadline does not change the timerfd, which
 * then wakes the loop once too early and is set to the next deadline. */
static void program_timer(struct loop *loop)
{
	struct loop_timer *soonest = list_first(&loop->timers, struct loop_timer, node);
	struct itimerspec spec = { 0 };

	if (!soonest || (loop->wakes_ns && loop->wakes_ns <= soonest->at_ns))
		return;
	loop->wakes_ns = soonest->at_ns;
	spec.it_value.tv_sec = (time_t)(soonest->at_ns / 1000000000u);
	spec.it_value.tv_nsec = (long)(soonest->at_ns % 1000000000u);
	timerfd_settime(loop->timer_source.fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

void loop_timer_init(struct loop_timer *timer, struct loop *loop,
		     void (*expired)(struct loop_timer *))
{
	timer->loop = loop;
	list_init(&timer->node);
	timer->at_ns = 0;
	timer->expired = expired;
}

void loop_timer_set(struct loop_timer *timer, uint64_t after_us)
{
	struct loop *loop = timer->loop;
	struct loop_timer *pos;

	loop_timer_cancel(timer);
	timer->at_ns = loop_now_ns() + after_us * 1000;
	list_for_each(pos, &loop->timers, node)
		if (pos->at_ns > timer->at_ns)
			break;
	/* before pos; behind the last where pos is the head */
	list_append(&pos->node, &timer->node);
	program_timer(loop);
}

void loop_timer_cancel(struct loop_timer *timer)
{
	if (!timer->loop || !timer->at_ns)
		return;
	list_remove(&timer->node);
	timer->at_ns = 0;
}

uint64_t loop_next_timer_ns(const struct loop *loop)
{
	const struct loop_timer *soonest = list_first(&loop->timers, struct loop_timer, node);

	return soonest ? soonest->at_ns : UINT64_MAX;
}

static void timers_ready(struct loop_fd *source, uint32_t events)
{
	struct loop *loop = container_of(source, struct loop, timer_source);
	uint64_t now = loop_now_ns();
	struct loop_timer *timer;
	uint64_t count;

	(void)events;
	if (read(source->fd, &count, sizeof(count)) < 0)
		return;
	loop->wakes_ns = 0;
	while ((timer = list_first(&loop->timers, struct loop_timer, node)) &&
	       timer->at_ns <= now) {
		list_remove(&timer->node);
		timer->at_ns = 0;
		timer->expired(timer);
	}
	program_timer(loop);
}

/* --- signals and children ---------------------------------------------------- */

static void signals_ready(struct loop_fd *source, uint32_t events)
{
	struct loop *loop = container_of(source, struct loop, signal_source);
	struct signalfd_siginfo info;

	(void)events;
	while (read(source->fd, &info, sizeof(info)) == sizeof(info))
		loop->caught((int)info.ssi_signo, loop->caught_data);
}

int loop_signals(struct loop *loop, const sigset_t *set, void (*caught)(int signo, void *data),
		 void *data)
{
	int fd, ret;

	if (sigprocmask(SIG_BLOCK, set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	loop->caught = caught;
	loop->caught_data = data;
	ret = loop_fd_init(&loop->signal_source, loop, fd, EPOLLIN, signals_ready);
	if (ret < 0)
		close(fd);
	return ret;
}

static void child_ready(struct loop_fd *source, uint32_t events)
{
	struct loop_child *child = container_of(source, struct loop_child, source);
	int status = 0;

	(void)events;
	if (waitpid(child->pid, &status, WNOHANG) == 0)
		return;
	loop_child_fini(child);
	child->exited(child, status);
}

int loop_child_init(struct loop_child *child, struct loop *loop, pid_t pid,
		    void (*exited)(struct loop_child *, int))
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	int ret;

	child->source.loop = NULL;
	child->pid = pid;
	child->exited = exited;
	if (fd < 0)
		return -errno;
	ret = loop_fd_init(&child->source, loop, fd, EPOLLIN, child_ready);
	if (ret < 0)
		close(fd);
	return ret;
}

void loop_child_fini(struct loop_child *child)
{
	int fd = child->source.loop ? child->source.fd : -1;

	loop_fd_fini(&child->source);
	close_fd(fd);
}

/* --- deferred work -------------------------------------------------------------- */

void loop_work_init(struct loop_work *work, void (*run)(struct loop_work *))
{
	list_init(&work->node);
	work->run = run;
}

void loop_defer(struct loop *loop, struct loop_work *work)
{
	if (list_empty(&work->node))
		list_append(&loop->work, &work->node);
}

void loop_work_cancel(struct loop_work *work)
{
	if (work->node.next)
		list_remove(&work->node);
}

static void run_work(struct loop *loop)
{
	struct loop_work *work;

	while ((work = list_first(&loop->work, struct loop_work, node))) {
		list_remove(&work->node);
		work->run(work);
	}
}

/* --- the loop ------------------------------------------------------------------- */

int loop_new(struct loop **ret)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	int fd, err;

	if (!loop)
		return -ENOMEM;
	list_init(&loop->timers);
	list_init(&loop->work);
	loop->signal_source.fd = loop->timer_source.fd = -1;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = -errno;
	if (loop->epoll_fd >= 0) {
		fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		err = fd < 0 ? -errno :
			       loop_fd_init(&loop->timer_source, loop, fd, EPOLLIN, timers_ready);
		if (err == 0) {
			*ret = loop;
			return 0;
		}
		close_fd(fd);
	}
	loop_free(loop);
	return err;
}

struct loop *loop_free(struct loop *loop)
{
	if (!loop)
		return NULL;
	close_fd(loop->signal_source.fd);
	close_fd(loop->timer_source.fd);
	close_fd(loop->epoll_fd);
	free(loop);
	return NULL;
}

static int one_round(struct loop *loop)
{
	int nr = epoll_wait(loop->epoll_fd, loop->events, ROUND_EVENTS, -1);

	if (nr < 0)
		return errno == EINTR ? 0 : -errno;
	loop->nr_events = nr;
	for (loop->next_event = 0; loop->next_event < loop->nr_events;) {
		struct epoll_event *ev = &loop->events[loop->next_event++];
		struct loop_fd *source = ev->data.ptr;

		if (source)
			source->ready(source, ev->events);
	}
	loop->nr_events = loop->next_event = 0;
	run_work(loop);
	return 0;
}

int loop_run(struct loop *loop)
{
	int ret = 0;

	loop->stopping = false;
	run_work(loop);
	while (!loop->stopping && ret == 0)
		ret = one_round(loop);
	return ret;
}

void loop_stop(struct loop *loop)
{
	loop->stopping = true;
}
