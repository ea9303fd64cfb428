/* SPDX-License-Identifier: GPL-2.0-only */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/locked.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/lockfile.h"
#include "io/tcp_owner.h"
#include "relayd/sender/conn.h"
#include "relayd/store/retention.h"
#include "relayd/store/session.h"

#define OWN_FDS (RELAY_FDS_LEAST / 2) /* loop, listeners, log, a directory on the way */
#define FDS_A_WORKER 64u /* that there have to be for another one */
#define MAX_CONNS 4096u
#define HANDSHAKE_STEPS_PER_ROUND 4

static void begin_round(struct loop_work *work)
{
	container_of(work, struct relay, round_over)->nr_handshake_steps = 0;
}

bool relay_may_step_handshake(struct relay *relay)
{
	if (relay->nr_handshake_steps == HANDSHAKE_STEPS_PER_ROUND)
		return false;
	relay->nr_handshake_steps++;
	loop_defer(relay->main.loop, &relay->round_over);
	return true;
}

int relay_init(struct relay *relay, struct loop *loop, int out_fd, unsigned int max_fds)
{
	memset(relay, 0, sizeof(*relay));
	if (max_fds < RELAY_FDS_LEAST)
		return -EMFILE;
	relay->owners = tcp_owner_open();
	relworker_init(&relay->main, relay, loop);
	relay->out_fd = out_fd;
	relay->lock_fd = -1;
	relay->sync_us = SYNCER_NONE;
	relay->max_workers = MIN(RELWORKER_MAX, max_fds / FDS_A_WORKER);
	max_fds -= OWN_FDS + relay->max_workers * RELWORKER_FDS;
	relay->max_conns = MIN(MAX_CONNS, max_fds / 4);
	relay->max_viewer_fds = (max_fds - relay->max_conns) / 8;
	relay->max_files = max_fds - relay->max_conns - relay->max_viewer_fds;
	live_init(&relay->live, &relay->nr_files, relay->max_files);
	relpeers_init(&relay->peers, out_fd);
	loop_work_init(&relay->round_over, begin_round);
	idmap_init(&relay->claims);
	list_init(&relay->claim_list);
	pthread_mutex_init(&relay->lock, NULL);
	pthread_mutex_init(&relay->output_lock, NULL);
	pthread_cond_init(&relay->removed, NULL);
	return 0;
}

void relay_fini(struct relay *relay)
{
	for (unsigned int i = 0; i < relay->nr_listeners; i++) {
		int fd = relay->listeners[i].listener.source.fd;

		listener_fini(&relay->listeners[i].listener);
		close_fd(fd);
	}
	relay->nr_listeners = 0;
	relworkers_stop(relay);
	relworker_fini(&relay->main);
	retention_await_erased(relay);
	loop_work_cancel(&relay->round_over);
	idmap_fini(&relay->claims);
	relpeers_fini(&relay->peers);
	live_fini(&relay->live);
	relay->owners = close_fd(relay->owners);
	free(TAKE(relay->out_path));
	relay->lock_fd = close_fd(relay->lock_fd);
	pthread_cond_destroy(&relay->removed);
	pthread_mutex_destroy(&relay->output_lock);
	pthread_mutex_destroy(&relay->lock);
}

int relay_reserve_fds(struct relay *relay, struct relpeer *peer, unsigned int nr, struct err *err)
{
	LOCKED(&relay->lock);
	const unsigned int left = relay->max_files - relay->nr_files - live_fds(&relay->live);

	if (left < nr || peer->nr_fds + nr > 3 * (left - nr)) {
		log_warn_some("'%s' has %u files open, as many as it may", relpeer_name(peer),
			      peer->nr_fds);
		return err_set(err, ERR_LIMIT,
			       "'%s' has %u files open here, and may have no more of the %u that "
			       "are left: allow the relay more (ulimit -n)",
			       relpeer_name(peer), peer->nr_fds, left);
	}
	__atomic_fetch_add(&relay->nr_files, nr, __ATOMIC_RELAXED);
	peer->nr_fds += nr;
	return 0;
}

void relay_release_fds(struct relay *relay, struct relpeer *peer, unsigned int nr)
{
	LOCKED(&relay->lock);

	__atomic_fetch_sub(&relay->nr_files, nr, __ATOMIC_RELAXED);
	peer->nr_fds -= nr;
}

/* The number of the descriptor stays: all code that opens files below the directory uses it.
 * Return: 0 or negative errno. */
static int renew_output(struct relay *relay)
{
	AUTO_FD int fd = -1, lock_fd = -1;
	int ret;

	if (mkdirat(AT_FDCWD, relay->out_path, 0750) < 0 && errno != EEXIST)
		return -errno;
	fd = open(relay->out_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = lockfile_lock(fd, RELAY_LOCK_FILE, &lock_fd);
	if (ret < 0)
		return ret;
	if (dup3(fd, relay->out_fd, O_CLOEXEC) < 0)
		return -errno;
	close_fd(relay->lock_fd);
	relay->lock_fd = TAKE_FD(lock_fd);
	return 0;
}

/* Return: 1: it was; 0: it need not be; or negative errno. */
static int renew_output_if_gone(struct relay *relay)
{
	struct stat st;
	int ret;
	LOCKED(&relay->output_lock);

	if (!relay->out_path || fstat(relay->out_fd, &st) < 0 || st.st_nlink)
		return 0;
	ret = renew_output(relay);
	return ret < 0 ? ret : 1;
}

int relay_find_output(struct relay *relay, struct err *err)
{
	int ret = renew_output_if_gone(relay);

	if (ret == 0)
		return 0;
	if (ret == -EWOULDBLOCK)
		return err_set(err, ERR_OUTPUT, "another ltt-relayd writes to %s now",
			       relay->out_path);
	if (ret < 0) {
		log_warn_some("%s was removed, and can't be made anew: %s", relay->out_path,
			      strerror(-ret));
		return err_errno(err, ERR_OUTPUT, -ret,
				 "the relay can't make its directory %s anew", relay->out_path);
	}
	log_warn("%s was removed; it is made anew", relay->out_path);
	return 0;
}

void relay_count_sessions(struct relay *relay, int by)
{
	LOCKED(&relay->lock);

	relay->nr_sessions += (unsigned int)by;
	if (relay->notify)
		notify_status(relay->notify, "%u session%s being received", relay->nr_sessions,
			      relay->nr_sessions == 1 ? "" : "s");
}

/* Connections that have not named a session make room, the oldest first. */
static bool relay_ensure_room(struct relay *relay)
{
	const unsigned int nr = __atomic_load_n(&relay->nr_conns, __ATOMIC_RELAXED);
	struct relconn *conn;

	if (nr < relay->max_conns)
		return true;
	list_for_each(conn, &relay->main.conns, node)
		if (!conn->session) {
			log_warn_some("%u connections: the oldest without a session is closed", nr);
			relconn_free(conn);
			return true;
		}
	log_warn_some("%u connections are open: another one is refused", nr);
	return false;
}

int relay_serve(struct relay *relay, int fd, struct tls *tls)
{
	if (!relay_ensure_room(relay)) {
		tls_free(tls);
		close(fd);
		return -EUSERS;
	}
	return relconn_new(relay, fd, tls);
}

static void relay_accept(struct listener *listener, int fd)
{
	const struct relay_listener *its = container_of(listener, struct relay_listener, listener);
	struct tls *tls;
	int ret = keyring_accept(its->relay->keyring, its->link, fd, &tls);

	if (ret < 0) {
		log_warn_some("a connection is refused: %s", strerror(-ret));
		close(fd);
		return;
	}
	tcp_set_options(fd);
	(void)!relay_serve(its->relay, fd, tls);
}

int relay_listen(struct relay *relay, const struct tcp_addr *addr, enum relay_link link)
{
	struct relay_listener *listener = &relay->listeners[relay->nr_listeners];
	int ret, fd;

	if (relay->nr_listeners == RELAY_MAX_LISTENERS)
		return -E2BIG;
	fd = tcp_listen(addr);
	if (fd < 0)
		return fd;
	listener->relay = relay;
	listener->link = link;
	ret = listener_init(&listener->listener, relay->main.loop, fd, relay_accept);
	if (ret < 0)
		close(fd);
	else
		relay->nr_listeners++;
	return ret;
}
