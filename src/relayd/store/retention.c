/* SPDX-License-Identifier: GPL-2.0-only */
#include "retention.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "base/dir.h"
#include "base/locked.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "session.h"

#define GONE ".removed" /* a renamed directory, until it is erased */
#define LEAST_MS 200u
#define MAX_TRIES 1000u /* names of directories that wait to be erased */

/* --- removable sessions ------------------------------------------------------------------ */

static size_t outer_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : strlen(path);
}

/* Are they in the same directory? */
static bool are_beside(const char *a, const char *b)
{
	size_t len = outer_len(a);

	return outer_len(b) == len && strncmp(a, b, len) == 0;
}

void retention_await(struct relay *relay, const char *base)
{
	LOCKED(&relay->lock);

	while (relay->removing && are_beside(relay->removing, base))
		pthread_cond_wait(&relay->removed, &relay->lock);
}

/* A session that is received or about to be: BASE, or BASE-NUMBER. */
static bool is_claimed(const struct relclaim *claim, const char *path)
{
	size_t len = strlen(claim->base);

	return strncmp(path, claim->base, len) == 0 && (!path[len] || path[len] == '-');
}

/* With the relay's lock. @ret_alone: nothing in the same directory is received. */
static bool retention_is_in_use(struct relay *relay, const char *path, bool *ret_alone)
{
	const struct relclaim *claim;

	*ret_alone = true;
	list_for_each(claim, &relay->claim_list, list_node) {
		if (is_claimed(claim, path))
			return true;
		*ret_alone &= !are_beside(claim->base, path);
	}
	return live_knows(&relay->live, path);
}

/* --- erasing, which takes time -------------------------------------------------------------- */

static void *erase_all(void *data)
{
	struct relay *relay = data;

	pthread_mutex_lock(&relay->lock);
	do {
		relay->erasing = ERASE_RUNS;
		pthread_mutex_unlock(&relay->lock);
		dir_remove(relay->out_fd, GONE);
		pthread_mutex_lock(&relay->lock);
	} while (relay->erasing == ERASE_AGAIN);
	relay->erasing = ERASE_NOTHING;
	pthread_cond_broadcast(&relay->removed);
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

/* Return: false: no thread can be started. */
static bool erase_soon(struct relay *relay)
{
	LOCKED(&relay->lock);
	bool runs = relay->erasing != ERASE_NOTHING;

	if (!runs && thread_start(NULL, erase_all, relay) < 0)
		return false;
	relay->erasing = ERASE_AGAIN;
	return true;
}

void retention_await_erased(struct relay *relay)
{
	LOCKED(&relay->lock);

	while (relay->erasing != ERASE_NOTHING)
		pthread_cond_wait(&relay->removed, &relay->lock);
}

/* A thread may be removing GONE itself. */
static bool move_away(struct relay *relay, int dir_fd, const char *name)
{
	for (unsigned int i = 0; i < MAX_TRIES; i++) {
		AUTO_FREE char *gone = xasprintf(GONE "/cleared-%u", i);

		if (mkdirat(relay->out_fd, GONE, 0750) < 0 && errno != EEXIST)
			return false;
		if (renameat(dir_fd, name, relay->out_fd, gone) == 0)
			return true;
	}
	return false;
}

void retention_erase(struct relay *relay, int dir_fd, const char *name)
{
	if (!move_away(relay, dir_fd, name) || !erase_soon(relay))
		dir_remove(dir_fd, name);
}

/* --- sessions that are removed -------------------------------------------------------------- */

/* Out of sight at once. */
static void remove_session(struct retention *r, const struct kept_session *s, size_t nr, bool alone)
{
	AUTO_FREE char *outer = xstrdup(s->path);
	AUTO_FREE char *gone = xasprintf(GONE "/%zu", nr);
	const int out_fd = r->relay->out_fd;

	if (mkdirat(out_fd, GONE, 0750) < 0 && errno != EEXIST)
		return;
	if (renameat(out_fd, s->path, out_fd, gone) < 0) {
		if (errno == ENOENT) /* an archive, with its session */
			return;
		log_warn("%s can't be removed: %s", s->path, strerror(errno));
		return;
	}
	log_warn("%s is removed, %llu bytes: %s", s->path, (unsigned long long)s->bytes, s->why);
	outer[outer_len(outer)] = '\0';
	if (alone)
		unlinkat(out_fd, outer, AT_REMOVEDIR); /* if it was the last */
}

static void remove_if_unused(struct retention *r, const struct kept_session *s, size_t nr)
{
	struct relay *relay = r->relay;
	bool alone = false;

	pthread_mutex_lock(&relay->lock);
	if (s->is_archive || !retention_is_in_use(relay, s->path, &alone)) {
		relay->removing = s->path;
		pthread_mutex_unlock(&relay->lock);
		remove_session(r, s, nr, alone);
		pthread_mutex_lock(&relay->lock);
		relay->removing = NULL;
		pthread_cond_broadcast(&relay->removed);
	}
	pthread_mutex_unlock(&relay->lock);
}

/* --- the thread: scan and erase ---------------------------------------------------------- */

static uint64_t free_bytes(int fd)
{
	struct statvfs st;

	return fstatvfs(fd, &st) < 0 ? UINT64_MAX : (uint64_t)st.f_bavail * st.f_frsize;
}

/* Sessions of an earlier relay are put into the store, too, and nothing is removed before. */
static void retention_check_store(const struct retention *r, struct kept_list *list)
{
	struct archiver *archiver = r->relay->archiver;

	for (size_t i = 0; i < list->nr; i++) {
		struct kept_session *s = &list->sessions[i];

		s->waits = !archiver_has(archiver, s->path, s->over, s->is_archive);
	}
	archiver_sweep(archiver);
}

/* Data is refused if less would be free than the options require: more has to be freed. @need:
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
	retention_check_store(r, &list);
	kept_evaluate(&list, &rules, now_s, room);
	for (size_t i = 0; i < list.nr; i++)
		if (list.sessions[i].why)
			remove_if_unused(r, &list.sessions[i], i);
	kept_fini(&list);
	dir_remove(r->relay->out_fd, GONE);
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

/* With the lock. @kick: also if a sender needs space. */
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
		retention_wait(r, LEAST_MS, false); /* however often it is requested */
		retention_wait(r, r->rules.period_ms, true);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* --- life --------------------------------------------------------------------------------- */

void retention_init(struct retention *r, struct relay *relay, const struct retention_rules *rules)
{
	pthread_condattr_t attr;

	*r = (struct retention){ .relay = relay, .rules = *rules };
	if (!rules->age_s && !rules->size && !rules->keep_free && !relay->archiver)
		return;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, &attr);
	pthread_condattr_destroy(&attr);
	relay->retention = r;
}

int retention_start(struct retention *r)
{
	int ret;

	if (!r->relay->retention)
		return 0;
	ret = thread_start(&r->thread, retention_watch, r);
	r->runs = ret == 0;
	return ret;
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

void retention_fini(struct retention *r)
{
	if (!r->relay || !r->relay->retention)
		return;
	if (r->runs) {
		pthread_mutex_lock(&r->lock);
		r->stop = true;
		pthread_cond_broadcast(&r->changed);
		pthread_mutex_unlock(&r->lock);
		pthread_join(r->thread, NULL);
	}
	r->relay->retention = NULL;
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
}
