/* SPDX-License-Identifier: GPL-2.0-only */
#include "retention.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "session.h"

#define GONE ".removed" /* what nobody finds any more, until it is erased */
#define STACK_BYTES (256u << 10)
#define LEAST_MS 200u

/* --- on the loop: which may go -------------------------------------------------------- */

static bool retention_is_in_use(struct relay *relay, const char *path)
{
	const struct relsession *session;

	list_for_each(session, &relay->sessions, node)
		if (strcmp(session->path, path) == 0)
			return true;
	return live_knows(&relay->live, path);
}

/* Out of sight at once: erasing takes time. */
static void remove_session(struct retention *r, const struct kept_session *s, size_t nr)
{
	AUTO_FREE char *outer = xstrdup(s->path);
	AUTO_FREE char *gone = xasprintf(GONE "/%zu", nr);
	const int out_fd = r->relay->out_fd;

	if (mkdirat(out_fd, GONE, 0750) < 0 && errno != EEXIST)
		return;
	if (renameat(out_fd, s->path, out_fd, gone) < 0) {
		log_warn("%s can't be removed: %s", s->path, strerror(errno));
		return;
	}
	log_warn("%s is removed, %llu bytes: %s", s->path, (unsigned long long)s->bytes, s->why);
	*strrchr(outer, '/') = '\0';
	unlinkat(out_fd, outer, AT_REMOVEDIR); /* if it was the last */
}

static void retention_decide(struct loop_fd *source, uint32_t events)
{
	struct retention *r = container_of(source, struct retention, source);
	uint64_t ignored;

	(void)events;
	if (read(source->fd, &ignored, sizeof(ignored)) < 0 && errno == EAGAIN)
		return;
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; r->found && i < r->found->nr; i++) {
		const struct kept_session *s = &r->found->sessions[i];

		if (s->why && !retention_is_in_use(r->relay, s->path))
			remove_session(r, s, i);
	}
	r->found = NULL;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

/* --- in the thread: look, and erase ----------------------------------------------------- */

static uint64_t free_bytes(int fd)
{
	struct statvfs st;

	return fstatvfs(fd, &st) < 0 ? UINT64_MAX : (uint64_t)st.f_bavail * st.f_frsize;
}

static bool any_to_go(const struct kept_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->sessions[i].why)
			return true;
	return false;
}

/* With the lock. */
static void retention_publish_list(struct retention *r, struct kept_list *list)
{
	const uint64_t one = 1;

	r->found = list;
	if (write(r->source.fd, &one, sizeof(one)) != sizeof(one))
		r->found = NULL;
	while (r->found && !r->stop)
		pthread_cond_wait(&r->changed, &r->lock);
	r->found = NULL;
}

/* Data is refused where less would be free than is asked for: there has to be more. @need:
 * it has been. */
static void retention_check(struct retention *r, bool need)
{
	uint64_t now_s = (uint64_t)time(NULL), room = free_bytes(r->relay->out_fd);
	struct retention_rules rules = r->rules;
	struct kept_list list;

	rules.keep_free += rules.keep_free / 4;
	if (need && rules.keep_free)
		rules.keep_free = MAX(rules.keep_free, room + 1);
	kept_scan(r->relay->out_fd, now_s, &list);
	kept_evaluate(&list, &rules, now_s, room);
	if (any_to_go(&list)) {
		pthread_mutex_lock(&r->lock);
		retention_publish_list(r, &list);
		pthread_mutex_unlock(&r->lock);
	}
	kept_fini(&list);
	kept_erase(r->relay->out_fd, GONE);
}

static void add_ms(struct timespec *ts, uint64_t ms)
{
	ts->tv_sec += (time_t)(ms / 1000);
	ts->tv_nsec += (long)(ms % 1000) * 1000000;
	if (ts->tv_nsec >= 1000000000) {
		ts->tv_sec++;
		ts->tv_nsec -= 1000000000;
	}
}

/* With the lock. @kick: also if somebody is in need. */
static void retention_wait(struct retention *r, uint64_t ms, bool kick)
{
	struct timespec until;
	int error = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	add_ms(&until, ms);
	while (!r->stop && !(kick && r->kicked) && error != ETIMEDOUT)
		error = pthread_cond_timedwait(&r->changed, &r->lock, &until);
}

static void *retention_watch(void *data)
{
	struct retention *r = data;

	pthread_mutex_lock(&r->lock);
	while (!r->stop) {
		bool need = r->kicked;

		r->kicked = false;
		pthread_mutex_unlock(&r->lock);
		retention_check(r, need);
		pthread_mutex_lock(&r->lock);
		retention_wait(r, LEAST_MS, false); /* however often it is asked for */
		retention_wait(r, r->rules.period_ms, true);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* --- life --------------------------------------------------------------------------------- */

static void init_lock(struct retention *r)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, &attr);
	pthread_condattr_destroy(&attr);
}

int retention_init(struct retention *r, struct relay *relay, const struct retention_rules *rules)
{
	int fd, ret;

	*r = (struct retention){ .relay = relay, .rules = *rules, .source.fd = -1 };
	if (!rules->age_s && !rules->size && !rules->keep_free)
		return 0;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = fd < 0 ? -errno :
		       loop_fd_init(&r->source, relay->loop, fd, EPOLLIN, retention_decide);
	if (ret < 0) {
		close_fd(fd);
		return ret;
	}
	init_lock(r);
	relay->retention = r;
	return 0;
}

int retention_start(struct retention *r)
{
	pthread_attr_t attr;
	int error;

	if (!r->relay->retention)
		return 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	error = pthread_create(&r->thread, &attr, retention_watch, r);
	pthread_attr_destroy(&attr);
	r->runs = !error;
	return -error;
}

void retention_kick(struct retention *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->kicked = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

static void end_thread(struct retention *r)
{
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
}

void retention_fini(struct retention *r)
{
	int fd;

	if (!r->relay || !r->relay->retention)
		return;
	if (r->runs)
		end_thread(r);
	r->relay->retention = NULL;
	fd = r->source.fd;
	loop_fd_fini(&r->source);
	close_fd(fd);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
}
