/* SPDX-License-Identifier: GPL-2.0-only */
#include "viewers.h"

#include <errno.h>
#include <netinet/in.h>
#include <search.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "io/tcp_owner.h"
#include "viewer.h"

#define MAX_VIEWERS 1024u

/* --- connections ---------------------------------------------------------------------------- */

static int viewers_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(((struct viewers_origin *)0)->key));
}

static struct viewers_origin *viewers_join(struct viewers *viewers, const uint8_t key[16])
{
	struct viewers_origin *origin = xalloc(sizeof(*origin)), **found;

	memcpy(origin->key, key, sizeof(origin->key));
	found = tsearch(origin, &viewers->origins, viewers_compare);
	if (!found || *found != origin)
		free(origin);
	if (found)
		(*found)->nr++;
	return found ? *found : NULL;
}

void viewers_leave(struct viewers *viewers, struct viewers_origin *origin)
{
	if (--origin->nr)
		return;
	tdelete(origin, &viewers->origins, viewers_compare);
	free(origin);
}

/* The oldest viewer that follows no session: of @origin; if that is NULL, of the origin with the
 * most viewers. */
static struct viewer *find_idle(const struct viewers *viewers, const struct viewers_origin *origin)
{
	struct viewer *viewer, *best = NULL;

	list_for_each(viewer, &viewers->list, node)
		if (!viewer->nr_sessions && (!origin || viewer->origin == origin) &&
		    (!best || viewer->origin->nr > best->origin->nr))
			best = viewer;
	return best;
}

/* @origin counts the viewer that comes. */
static bool viewers_ensure_room(struct viewers *viewers, const struct viewers_origin *origin)
{
	bool too_many = origin->nr > MAX(viewers->max / 2, 1u);
	struct viewer *viewer;

	if (!too_many && viewers->nr < viewers->max)
		return true;
	viewer = find_idle(viewers, too_many ? origin : NULL);
	if (!viewer) {
		log_warn_some("%u viewers are connected: another one is refused", viewers->nr);
		return false;
	}
	log_warn_some("%u viewers are connected: one that follows no session is disconnected",
		      viewers->nr);
	viewer_free(viewer);
	return true;
}

int viewers_serve(struct viewers *viewers, int fd, struct tls *tls, bool everything,
		  const uint8_t key[16])
{
	struct viewers_origin *origin = viewers_join(viewers, key);

	if (origin && viewers_ensure_room(viewers, origin))
		return viewer_new(viewers, fd, tls, everything, origin);
	if (origin)
		viewers_leave(viewers, origin);
	tls_free(tls);
	close(fd);
	return -EUSERS;
}

/* --- where from ------------------------------------------------------------------------------- */

static void key_of_user(uid_t uid, uint8_t ret[16])
{
	memset(ret, 0xff, 16); /* no client's address */
	memcpy(ret, &uid, sizeof(uid));
}

static void key_of_address(const struct tcp_addr *addr, uint8_t ret[16])
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&addr->sa;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&addr->sa;
	bool mapped = addr->sa.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);

	memset(ret, 0, 16);
	if (addr->sa.ss_family == AF_INET)
		memcpy(ret + 12, &v4->sin_addr, 4);
	else if (mapped)
		memcpy(ret + 12, v6->sin6_addr.s6_addr + 12, 4);
	else if (addr->sa.ss_family == AF_INET6)
		memcpy(ret, &v6->sin6_addr, 8);
}

/* Users with the right to read the relay's files may see all: its own user, and root. A viewer of
 * another host comes by an address that was opened to all of them. */
static bool may_see_all(const struct viewers *viewers, int fd, const struct tcp_addr *peer,
			uint8_t ret_origin[16])
{
	uid_t uid;
	int ret;

	key_of_address(peer, ret_origin);
	if (!tcp_is_local(peer))
		return true;
	ret = tcp_owner(viewers->owners, fd, &uid);
	if (ret == 0)
		key_of_user(uid, ret_origin);
	if (ret < 0 && ret != -ESRCH) /* and not: has left already */
		log_warn_some(
			"a viewer's user is unknown, so it may see only sessions that are open to all: %s",
			strerror(-ret));
	return ret == 0 && (uid == 0 || uid == geteuid());
}

static void viewers_accept(struct listener *listener, int fd)
{
	const struct viewers_listener *its =
		container_of(listener, struct viewers_listener, listener);
	struct viewers *viewers = its->viewers;
	struct tcp_addr peer = { .len = sizeof(peer.sa) };
	uint8_t origin[16];
	struct tls *tls;
	bool all;
	int ret;

	if (getpeername(fd, (struct sockaddr *)&peer.sa, &peer.len) < 0) {
		close(fd); /* the viewer has left already */
		return;
	}
	all = may_see_all(viewers, fd, &peer, origin);
	ret = keyring_accept(viewers->keyring, its->link, fd, &tls);
	if (ret < 0) {
		log_warn_some("a viewer is refused: %s", strerror(-ret));
		close(fd);
		return;
	}
	tcp_set_options(fd);
	(void)!viewers_serve(viewers, fd, tls, !tls && all, origin);
}

int viewers_listen(struct viewers *viewers, const struct tcp_addr *addr, enum relay_link link)
{
	struct viewers_listener *listener = &viewers->listeners[viewers->nr_listeners];
	int ret, fd;

	if (viewers->nr_listeners == VIEWERS_MAX_LISTENERS)
		return -E2BIG;
	fd = tcp_listen(addr);
	if (fd < 0)
		return fd;
	listener->viewers = viewers;
	listener->link = link;
	listener->addr.len = sizeof(listener->addr.sa);
	getsockname(fd, (struct sockaddr *)&listener->addr.sa, &listener->addr.len);
	ret = listener_init(&listener->listener, viewers->loop, fd, viewers_accept);
	if (ret < 0)
		close(fd);
	else
		viewers->nr_listeners++;
	return ret;
}

uint16_t viewers_port(const struct viewers *viewers, bool tls)
{
	const struct viewers_listener *its = viewers->listeners, *end = its + viewers->nr_listeners;
	uint16_t other = 0;

	for (; its < end; its++) {
		uint16_t port = tcp_port(&its->addr);
		bool remote = its->link == RELAY_LINK_DEFAULT && !tcp_is_local(&its->addr);

		if (tls ? its->link == RELAY_LINK_TLS || remote : its->link != RELAY_LINK_TLS)
			return port;
		other = other ? other : port;
	}
	return other;
}

/* --- the thread ------------------------------------------------------------------------------- */

static void viewers_on_stopped(struct loop_fd *source, uint32_t events)
{
	(void)events;
	loop_stop(container_of(source, struct viewers, stop)->loop);
}

static void keys_changed(struct loop_fd *source, uint32_t events)
{
	struct viewers *viewers = container_of(source, struct viewers, new_keys);
	struct viewer *viewer, *tmp;
	uint64_t nr;

	(void)events;
	if (read(source->fd, &nr, sizeof(nr)) < 0)
		return;
	list_for_each_safe(viewer, tmp, &viewers->list, node)
		viewer_recheck(viewer);
}

static void ring(const struct loop_fd *source)
{
	const uint64_t one = 1;

	(void)!write(source->fd, &one, sizeof(one));
}

void viewers_recheck(struct viewers *viewers)
{
	ring(&viewers->new_keys);
}

static void *viewers_run(void *data)
{
	struct viewers *viewers = data;
	int ret = loop_run(viewers->loop);

	if (ret < 0)
		log_error("viewers are not served any more: %s", strerror(-ret));
	return NULL;
}

int viewers_start(struct viewers *viewers)
{
	int ret = thread_start(&viewers->thread, viewers_run, viewers);

	viewers->runs = ret == 0;
	return ret;
}

/* --- life ------------------------------------------------------------------------------------- */

static int init_event(struct viewers *viewers, struct loop_fd *ret,
		      void (*ready)(struct loop_fd *source, uint32_t events))
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int error = fd < 0 ? -errno : loop_fd_init(ret, viewers->loop, fd, EPOLLIN, ready);

	if (error < 0)
		close_fd(fd);
	return error;
}

static void viewers_close_source(struct loop_fd *source)
{
	int fd = source->fd;

	loop_fd_fini(source);
	close_fd(fd);
}

static int init_events(struct viewers *viewers)
{
	int ret = init_event(viewers, &viewers->stop, viewers_on_stopped);

	if (ret < 0)
		return ret;
	ret = init_event(viewers, &viewers->new_keys, keys_changed);
	if (ret < 0)
		viewers_close_source(&viewers->stop);
	return ret;
}

int viewers_init(struct viewers *viewers, struct loop *loop, struct live *live,
		 unsigned int max_fds)
{
	int ret;

	*viewers = (struct viewers){ .loop = loop, .live = live, .owners = tcp_owner_open() };
	list_init(&viewers->list);
	viewers->max = MIN(MAX_VIEWERS, max_fds / 2);
	viewers->files.max = max_fds - viewers->max;
	ret = init_events(viewers);
	if (ret < 0)
		viewers->owners = close_fd(viewers->owners);
	return ret;
}

void viewers_fini(struct viewers *viewers)
{
	struct viewer *viewer;

	if (viewers->runs) {
		ring(&viewers->stop);
		pthread_join(viewers->thread, NULL);
	}
	for (unsigned int i = 0; i < viewers->nr_listeners; i++) {
		int fd = viewers->listeners[i].listener.source.fd;

		listener_fini(&viewers->listeners[i].listener);
		close_fd(fd);
	}
	viewers->nr_listeners = 0;
	while ((viewer = list_first(&viewers->list, struct viewer, node)))
		viewer_free(viewer);
	viewers_close_source(&viewers->stop);
	viewers_close_source(&viewers->new_keys);
	viewers->owners = close_fd(viewers->owners);
}
