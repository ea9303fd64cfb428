/* SPDX-License-Identifier: GPL-2.0-only */
#include "worker.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/locked.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "conn.h"
#include "relayd/relay.h"


void relworker_init(struct relworker *w, struct relay *relay, struct loop *loop)
{
	w->relay = relay;
	w->loop = loop;
	w->wake.fd = -1;
	w->body = xalloc(RELWORKER_BODY_BYTES);
	w->unpacker = zunpacker_new();
	list_init(&w->conns);
	list_init(&w->inbox);
	idmap_init(&w->bases);
}

void relworker_fini(struct relworker *w)
{
	struct relconn *conn;

	while ((conn = list_first(&w->conns, struct relconn, node)) ||
	       (conn = list_first(&w->inbox, struct relconn, node)))
		relconn_free(conn);
	for (unsigned int i = 0; i < RELWORKER_MAX_DEVICES; i++)
		w->syncers[i] = syncer_free(w->syncers[i]);
	idmap_fini(&w->bases);
	w->unpacker = zunpacker_free(w->unpacker);
	free(TAKE(w->body));
	free(TAKE(w->spare));
}

/* --- the thread ------------------------------------------------------------------------ */

static void relworker_wake(const struct relworker *w)
{
	const uint64_t one = 1;

	(void)!write(w->wake.fd, &one, sizeof(one));
}

/* With the lock, which is released meanwhile. */
static void relworker_receive_inbox(struct relworker *w)
{
	struct relconn *conn;

	while ((conn = list_first(&w->inbox, struct relconn, node))) {
		list_remove(&conn->node);
		pthread_mutex_unlock(&w->relay->lock);
		relconn_arrive(conn, w);
		pthread_mutex_lock(&w->relay->lock);
	}
}

static void recheck_all(struct relworker *w)
{
	struct relconn *conn, *tmp;

	list_for_each_safe(conn, tmp, &w->conns, node)
		relconn_recheck(conn);
}

static void relworker_woken(struct loop_fd *source, uint32_t events)
{
	struct relworker *w = container_of(source, struct relworker, wake);
	bool recheck;
	uint64_t nr;

	(void)events;
	(void)!read(source->fd, &nr, sizeof(nr));
	pthread_mutex_lock(&w->relay->lock);
	relworker_receive_inbox(w);
	recheck = w->recheck;
	w->recheck = false;
	if (w->stop)
		loop_stop(w->loop);
	pthread_mutex_unlock(&w->relay->lock);
	if (recheck)
		recheck_all(w);
}

static void *relworker_run(void *data)
{
	struct relworker *w = data;
	int ret = loop_run(w->loop);

	if (ret < 0)
		log_error("a thread that stores sessions ends: %s", strerror(-ret));
	return NULL;
}

/* --- life ------------------------------------------------------------------------------ */

/* Its thread has ended. */
static void relworker_free(struct relworker *w)
{
	int fd = w->wake.fd;

	relworker_fini(w);
	loop_fd_fini(&w->wake);
	close_fd(fd);
	w->loop = loop_free(w->loop);
	free(w);
}

static int start_thread(struct relworker *w)
{
	int fd, ret;

	ret = loop_new(&w->loop);
	if (ret < 0)
		return ret;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = fd < 0 ? -errno : loop_fd_init(&w->wake, w->loop, fd, EPOLLIN, relworker_woken);
	if (ret < 0) {
		close_fd(fd);
		return ret;
	}
	return thread_start(&w->thread, relworker_run, w);
}

/* With the lock. Return: NULL: there can be no more. */
static struct relworker *relworker_new(struct relay *relay)
{
	struct relworker *w;
	int ret;

	if (relay->nr_workers == relay->max_workers)
		return NULL;
	w = xalloc(sizeof(*w));
	relworker_init(w, relay, NULL);
	w->disk = relay->main.disk;
	ret = start_thread(w);
	if (ret < 0) {
		log_warn_some(
			"no more threads to store sessions: %s; they share those that there are",
			strerror(-ret));
		relworker_free(w);
		return NULL;
	}
	w->nr = relay->nr_workers++;
	relay->workers[w->nr] = w;
	return w;
}

void relworkers_stop(struct relay *relay)
{
	pthread_mutex_lock(&relay->lock);
	relay->max_workers = relay->nr_workers;
	for (unsigned int i = 0; i < relay->nr_workers; i++) {
		relay->workers[i]->stop = true;
		relworker_wake(relay->workers[i]);
	}
	pthread_mutex_unlock(&relay->lock);
	for (unsigned int i = 0; i < relay->nr_workers; i++) {
		pthread_join(relay->workers[i]->thread, NULL);
		relworker_free(relay->workers[i]);
	}
	relay->nr_workers = 0;
}

/* --- which worker has a session -------------------------------------------------------- */

/* Workers that have sessions of one host. */
struct host_workers {
	bool has[RELWORKER_MAX];
	unsigned int nr;
};

/* With the lock. */
static void find_workers(const struct relay *relay, const char *host, struct host_workers *ret)
{
	const struct relclaim *claim;

	*ret = (struct host_workers){ 0 };
	list_for_each(claim, &relay->claim_list, list_node) {
		if (claim->worker == &relay->main || strcmp(claim->host, host) != 0)
			continue;
		ret->nr += !ret->has[claim->worker->nr];
		ret->has[claim->worker->nr] = true;
	}
}

/* With the lock. */
static struct relworker *choose(struct relay *relay, const char *host)
{
	struct relworker *best = NULL, *another = NULL;
	struct host_workers own;
	bool may_have_more;

	find_workers(relay, host, &own);
	may_have_more = own.nr < RELWORKER_PER_HOST;
	for (unsigned int i = 0; i < relay->nr_workers; i++)
		if ((may_have_more || own.has[i]) &&
		    (!best || relay->workers[i]->nr_claims < best->nr_claims))
			best = relay->workers[i];
	if (may_have_more && (!best || best->nr_claims))
		another = relworker_new(relay);
	return another ? another : best ? best : &relay->main;
}

static struct relclaim *find_claim(const struct relay *relay, const char *base)
{
	struct idmap_node *node = idmap_find(&relay->claims, idmap_hash_text(base));

	for (; node; node = idmap_next(&relay->claims, node)) {
		struct relclaim *claim = container_of(node, struct relclaim, node);

		if (strcmp(claim->base, base) == 0)
			return claim;
	}
	return NULL;
}

struct relclaim *relworker_claim(struct relay *relay, const char *host, const char *base)
{
	LOCKED(&relay->lock);
	struct relclaim *claim = find_claim(relay, base);

	if (!claim) {
		claim = xalloc(sizeof(*claim));
		claim->base = xstrdup(base);
		claim->host = xstrdup(host);
		claim->worker = choose(relay, host);
		claim->worker->nr_claims++;
		idmap_add(&relay->claims, &claim->node, idmap_hash_text(base));
		list_append(&relay->claim_list, &claim->list_node);
	}
	claim->nr++;
	return claim;
}

void relworker_unclaim(struct relay *relay, struct relclaim *claim)
{
	if (!claim)
		return;
	LOCKED(&relay->lock);

	if (--claim->nr)
		return;
	claim->worker->nr_claims--;
	idmap_remove(&claim->node);
	list_remove(&claim->list_node);
	free(claim->host);
	free(claim->base);
	free(claim);
}

/* --- from other threads ---------------------------------------------------------------- */

/* The lock is held. Return: a queued connection of the same session; NULL: there is none. */
static struct relconn *relworker_remove_earlier(struct relworker *w, const struct relconn *conn)
{
	struct relconn *earlier;

	list_for_each(earlier, &w->inbox, node)
		if (earlier->claim == conn->claim) {
			list_remove(&earlier->node);
			return earlier;
		}
	return NULL;
}

/* A sender that waits for a hanging disk reconnects often: its queued connection is replaced. */
void relworker_send(struct relworker *w, struct relconn *conn)
{
	struct relconn *earlier;

	pthread_mutex_lock(&w->relay->lock);
	earlier = relworker_remove_earlier(w, conn);
	list_append(&w->inbox, &conn->node);
	pthread_mutex_unlock(&w->relay->lock);
	relworker_wake(w);
	if (earlier)
		relconn_free(earlier);
}

void relworkers_recheck(struct relay *relay)
{
	pthread_mutex_lock(&relay->lock);
	for (unsigned int i = 0; i < relay->nr_workers; i++) {
		relay->workers[i]->recheck = true;
		relworker_wake(relay->workers[i]);
	}
	pthread_mutex_unlock(&relay->lock);
	recheck_all(&relay->main);
}

/* --- sync of its sessions -------------------------------------------------------------- */

int relworker_find_syncer(struct relworker *w, int fd, struct syncer **ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	for (unsigned int i = 0; i < RELWORKER_MAX_DEVICES; i++) {
		struct syncer **syncer = &w->syncers[i];
		int error = *syncer ? 0 : syncer_new(syncer, w->loop, fd, w->relay->out_fd);

		if (error < 0)
			return error;
		if (syncer_device(*syncer) == st.st_dev) {
			*ret = *syncer;
			return 0;
		}
	}
	return -E2BIG;
}
