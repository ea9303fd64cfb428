/* SPDX-License-Identifier: GPL-2.0-only */
#include "syncer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "store/disk.h"

#define MAX_DEPTH 64 /* of directories */

/** A file or directory that is to be synced. */
struct syncer_item {
	struct list_node node;
	int fd; /* its own */
	bool dirs;
};

struct syncer {
	dev_t device;
	int top_fd; /* the relay's directory, which may be made anew; nothing above it is synced */
	struct list_node waiters;
	struct list_node
		items;	       /* struct syncer_item, of the commit that is wanted; with the lock */
	struct loop_fd source; /* owns an eventfd: a commit is done */
	pthread_t thread;

	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	uint64_t wanted, started, done; /* numbers of commits */
	uint64_t due_ns;		/* when the next one begins, if one is wanted */
	int error;			/* of the last one */
	bool stop;
};

/* --- the thread --------------------------------------------------------------------- */

/* With the lock. Return: false: there is nothing more to do. */
static bool await_due(struct syncer *s)
{
	while (!s->stop) {
		struct timespec until = { (time_t)(s->due_ns / 1000000000u),
					  (long)(s->due_ns % 1000000000u) };

		if (s->wanted == s->started)
			pthread_cond_wait(&s->changed, &s->lock);
		else if (loop_now_ns() >= s->due_ns)
			return true;
		else
			pthread_cond_timedwait(&s->changed, &s->lock, &until);
	}
	return false;
}

/* A directory and those above it: each has the name of the one before. */
static int sync_dirs(const struct syncer *s, int fd)
{
	AUTO_FD int own = -1;

	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		int next, at = own < 0 ? fd : own, ret = disk_sync_dir(at);
		struct stat st, top;

		if (ret < 0)
			return ret;
		if (fstat(at, &st) < 0 || fstat(s->top_fd, &top) < 0 ||
		    (st.st_ino == top.st_ino && st.st_dev == top.st_dev))
			break;
		next = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (next < 0)
			return -errno;
		close_fd(own);
		own = next;
	}
	return 0;
}

/* Return: 0, or the first negative errno. */
static int sync_items(const struct syncer *s, struct list_node *items)
{
	struct syncer_item *item;
	int ret = 0;

	while ((item = list_first(items, struct syncer_item, node))) {
		int error = item->dirs ? sync_dirs(s, item->fd) : disk_sync_data(item->fd);

		ret = ret ? ret : error;
		list_remove(&item->node);
		close_fd(item->fd);
		free(item);
	}
	return ret;
}

static void move_items(struct list_node *from, struct list_node *to)
{
	struct syncer_item *item;

	while ((item = list_first(from, struct syncer_item, node))) {
		list_remove(&item->node);
		list_append(to, &item->node);
	}
}

/* Data written while a commit is being made is the next one's. */
static void *commit_all(void *data)
{
	struct syncer *s = data;

	pthread_mutex_lock(&s->lock);
	while (await_due(s)) {
		const uint64_t one = 1;
		struct list_node items;
		int error;

		list_init(&items);
		move_items(&s->items, &items);
		s->started++;
		pthread_mutex_unlock(&s->lock);
		error = sync_items(s, &items);
		pthread_mutex_lock(&s->lock);
		s->done = s->started;
		s->error = error;
		(void)!write(s->source.fd, &one, sizeof(one));
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* --- the loop ----------------------------------------------------------------------- */

static void committed(struct loop_fd *source, uint32_t events)
{
	struct syncer *s = container_of(source, struct syncer, source);
	struct syncer_waiter *waiter, *tmp;
	uint64_t done, nr;
	int error;

	(void)events;
	(void)!read(source->fd, &nr, sizeof(nr));
	pthread_mutex_lock(&s->lock);
	done = s->done;
	error = s->error;
	pthread_mutex_unlock(&s->lock);
	if (error)
		log_error("what was received can't be synced: %s; its senders are disconnected",
			  strerror(-error));
	list_for_each_safe(waiter, tmp, &s->waiters, node)
		waiter->synced(waiter, done, error);
}

void syncer_add(struct syncer *s, struct syncer_waiter *waiter)
{
	list_append(&s->waiters, &waiter->node);
}

static int add_item(struct syncer *s, int fd, bool dirs)
{
	struct syncer_item *item;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (own < 0)
		return -errno;
	item = xalloc(sizeof(*item));
	item->fd = own;
	item->dirs = dirs;
	pthread_mutex_lock(&s->lock);
	list_append(&s->items, &item->node);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int syncer_file(struct syncer *s, int fd)
{
	return add_item(s, fd, false);
}

int syncer_dirs(struct syncer *s, int fd)
{
	return add_item(s, fd, true);
}

uint64_t syncer_join(struct syncer *s, uint64_t within_us)
{
	uint64_t due_ns = loop_now_ns() + within_us * 1000, commit;

	pthread_mutex_lock(&s->lock);
	commit = s->started + 1;
	if (s->wanted != commit || due_ns < s->due_ns) {
		s->wanted = commit;
		s->due_ns = due_ns;
		pthread_cond_signal(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return commit;
}

dev_t syncer_device(const struct syncer *s)
{
	return s->device;
}

/* --- life --------------------------------------------------------------------------- */

static int open_fds(struct syncer *s, struct loop *loop, int fd, int top_fd)
{
	struct stat st;
	int event_fd, ret;

	if (fstat(fd, &st) < 0)
		return -errno;
	s->top_fd = top_fd;
	s->device = st.st_dev;
	event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (event_fd < 0)
		return -errno;
	ret = loop_fd_init(&s->source, loop, event_fd, EPOLLIN, committed);
	if (ret < 0) {
		close(event_fd);
		s->source.fd = -1;
	}
	return ret;
}

static void syncer_release(struct syncer *s)
{
	int event_fd = s->source.fd;

	loop_fd_fini(&s->source);
	close_fd(event_fd);
	(void)!sync_items(s, &s->items);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int syncer_new(struct syncer **ret, struct loop *loop, int fd, int top_fd)
{
	struct syncer *s = xalloc(sizeof(*s));
	pthread_condattr_t attr;
	int error;

	list_init(&s->waiters);
	list_init(&s->items);
	s->source.fd = -1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attr);
	pthread_condattr_destroy(&attr);
	error = open_fds(s, loop, fd, top_fd);
	if (error == 0)
		error = thread_start(&s->thread, commit_all, s);
	if (error < 0)
		syncer_release(s);
	else
		*ret = s;
	return error;
}

struct syncer *syncer_free(struct syncer *s)
{
	if (!s)
		return NULL;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	syncer_release(s);
	return NULL;
}
