/* SPDX-License-Identifier: GPL-2.0-only */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "conn.h"
#include "io/lockfile.h"
#include "io/tcp_owner.h"
#include "session.h"

#define OWN_FDS 32u /* loop, listeners, log, a directory on the way */
#define MAX_CONNS 4096u
#define ACCEPT_BATCH 16
#define SHAKES_A_ROUND 4

static void begin_round(struct loop_work *work)
{
	container_of(work, struct relay, round_over)->nr_shakes = 0;
}

bool relay_may_shake(struct relay *relay)
{
	if (relay->nr_shakes == SHAKES_A_ROUND)
		return false;
	relay->nr_shakes++;
	loop_defer(relay->loop, &relay->round_over);
	return true;
}

int relay_init(struct relay *relay, struct loop *loop, int out_fd, unsigned int max_fds)
{
	memset(relay, 0, sizeof(*relay));
	if (max_fds < 2 * OWN_FDS)
		return -EMFILE;
	relay->owners = tcp_owner_open();
	relay->body = xalloc(RELAY_BODY_BYTES);
	relay->unpacker = zunpacker_new();
	relay->loop = loop;
	relay->out_fd = out_fd;
	relay->lock_fd = -1;
	relay->sync_us = SYNCER_NONE;
	relay->max_conns = MIN(MAX_CONNS, (max_fds - OWN_FDS) / 4);
	relay->max_viewer_fds = (max_fds - OWN_FDS - relay->max_conns) / 8;
	relay->max_files = max_fds - OWN_FDS - relay->max_conns - relay->max_viewer_fds;
	live_init(&relay->live, &relay->nr_files, relay->max_files);
	relpeers_init(&relay->peers, out_fd);
	loop_work_init(&relay->round_over, begin_round);
	list_init(&relay->conns);
	list_init(&relay->sessions);
	idmap_init(&relay->session_bases);
	return 0;
}

void relay_fini(struct relay *relay)
{
	struct relconn *conn;

	for (unsigned int i = 0; i < relay->nr_listeners; i++) {
		int fd = relay->listeners[i].source.fd;

		loop_fd_fini(&relay->listeners[i].source);
		close_fd(fd);
	}
	relay->nr_listeners = 0;
	while ((conn = list_first(&relay->conns, struct relconn, node)))
		relconn_free(conn);
	for (unsigned int i = 0; i < RELAY_MAX_DEVICES; i++)
		relay->syncers[i] = syncer_free(relay->syncers[i]);
	loop_work_cancel(&relay->round_over);
	idmap_fini(&relay->session_bases);
	relpeers_fini(&relay->peers);
	live_fini(&relay->live);
	relay->owners = close_fd(relay->owners);
	relay->unpacker = zunpacker_free(relay->unpacker);
	free(TAKE(relay->body));
	free(TAKE(relay->out_path));
	relay->lock_fd = close_fd(relay->lock_fd);
}

int relay_take_files(struct relay *relay, struct relpeer *peer, unsigned int nr, struct err *err)
{
	const unsigned int left = relay->max_files - relay->nr_files - live_fds(&relay->live);

	if (left < nr || peer->nr_fds + nr > 3 * (left - nr)) {
		log_warn_some("'%s' has %u files open, as many as it may", relpeer_name(peer),
			      peer->nr_fds);
		return err_set(err, ERR_LIMIT,
			       "'%s' has %u files open here, and may have no more of the %u that "
			       "are left: allow the relay more (ulimit -n)",
			       relpeer_name(peer), peer->nr_fds, left);
	}
	relay->nr_files += nr;
	peer->nr_fds += nr;
	return 0;
}

void relay_give_files(struct relay *relay, struct relpeer *peer, unsigned int nr)
{
	relay->nr_files -= nr;
	peer->nr_fds -= nr;
}

int relay_find_syncer(struct relay *relay, int fd, struct syncer **ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	for (unsigned int i = 0; i < RELAY_MAX_DEVICES; i++) {
		struct syncer **syncer = &relay->syncers[i];
		int error = *syncer ? 0 : syncer_new(syncer, relay->loop, fd, relay->out_fd);

		if (error < 0)
			return error;
		if (syncer_device(*syncer) == st.st_dev) {
			*ret = *syncer;
			return 0;
		}
	}
	return -E2BIG;
}

/* The number of the descriptor stays: all code that looks below the directory has it.
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
	ret = lockfile_take(fd, RELAY_LOCK_FILE, &lock_fd);
	if (ret < 0)
		return ret;
	if (dup3(fd, relay->out_fd, O_CLOEXEC) < 0)
		return -errno;
	close_fd(relay->lock_fd);
	relay->lock_fd = TAKE_FD(lock_fd);
	return 0;
}

int relay_find_output(struct relay *relay, struct err *err)
{
	struct stat st;
	int ret;

	if (!relay->out_path || fstat(relay->out_fd, &st) < 0 || st.st_nlink)
		return 0;
	ret = renew_output(relay);
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

void relay_report_sessions(const struct relay *relay)
{
	if (relay->notify)
		notify_status(relay->notify, "%u session%s being received", relay->nr_sessions,
			      relay->nr_sessions == 1 ? "" : "s");
}

void relay_recheck(struct relay *relay)
{
	struct relconn *conn, *tmp;

	list_for_each_safe(conn, tmp, &relay->conns, node)
		relconn_recheck(conn);
}

/* Connections that have not named a session make room, the oldest first. */
static bool relay_ensure_room(struct relay *relay)
{
	struct relconn *conn;

	if (relay->nr_conns < relay->max_conns)
		return true;
	list_for_each(conn, &relay->conns, node)
		if (!conn->session) {
			log_warn_some("%u connections: one that says nothing is closed",
				      relay->nr_conns);
			relconn_free(conn);
			return true;
		}
	log_warn_some("%u connections: another one is refused", relay->nr_conns);
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

static void relay_accept(const struct relay_listener *listener, int fd)
{
	struct tls *tls;
	int ret = keyring_accept(listener->relay->keyring, listener->link, fd, &tls);

	if (ret < 0) {
		log_warn_some("a connection is refused: %s", strerror(-ret));
		close(fd);
		return;
	}
	tcp_set_up(fd);
	(void)!relay_serve(listener->relay, fd, tls);
}

static void relay_accept_some(struct loop_fd *source, uint32_t events)
{
	struct relay_listener *listener = container_of(source, struct relay_listener, source);

	(void)events;
	for (int i = 0; i < ACCEPT_BATCH; i++) {
		int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		relay_accept(listener, fd);
	}
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
	ret = loop_fd_init(&listener->source, relay->loop, fd, EPOLLIN, relay_accept_some);
	if (ret < 0)
		close(fd);
	else
		relay->nr_listeners++;
	return ret;
}
