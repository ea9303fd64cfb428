/* SPDX-License-Identifier: GPL-2.0-only */
#include "viewers.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/log.h"
#include "io/tcp_owner.h"
#include "viewer.h"

#define MAX_VIEWERS 1024u
#define ACCEPT_BATCH 16
#define STACK_BYTES (256u << 10)

/* --- connections ---------------------------------------------------------------------------- */

/* Who follows nothing makes room, the oldest first. */
static bool make_room(struct viewers *viewers)
{
	struct viewer *viewer;

	if (viewers->nr < viewers->max)
		return true;
	list_for_each(viewer, &viewers->list, node)
		if (!viewer->nr_sessions) {
			log_warn_some("%u viewers: one that follows nothing is disconnected",
				      viewers->nr);
			viewer_free(viewer);
			return true;
		}
	log_warn_some("%u viewers: another one is refused", viewers->nr);
	return false;
}

int viewers_serve(struct viewers *viewers, int fd, struct tls *tls, bool everything)
{
	if (!make_room(viewers)) {
		tls_free(tls);
		close(fd);
		return -EUSERS;
	}
	return viewer_new(viewers, fd, tls, everything);
}

/* Who may read the relay's files may see all: its own user, and root. Whoever comes from
 * another host comes by an address that was opened to all of them. */
static bool may_see_all(const struct viewers *viewers, int fd, const struct tcp_addr *peer)
{
	uid_t uid;
	int ret;

	if (!tcp_is_local(peer))
		return true;
	ret = tcp_owner(viewers->owners, fd, &uid);
	if (ret < 0 && ret != -ESRCH) /* and not: has left already */
		log_warn_some("a viewer sees what all may see, as it can't be known whose it is: %s",
			      strerror(-ret));
	return ret == 0 && (uid == 0 || uid == geteuid());
}

static void meet(const struct viewers_listener *listener, int fd, const struct tcp_addr *peer)
{
	struct viewers *viewers = listener->viewers;
	struct tls *tls;
	int ret = keyring_meet(viewers->keyring, listener->link, fd, &tls);

	if (ret < 0) {
		log_warn_some("a viewer is refused: %s", strerror(-ret));
		close(fd);
		return;
	}
	tcp_set_up(fd);
	(void)!viewers_serve(viewers, fd, tls, !tls && may_see_all(viewers, fd, peer));
}

static void accept_some(struct loop_fd *source, uint32_t events)
{
	struct viewers_listener *listener =
		container_of(source, struct viewers_listener, source);

	(void)events;
	for (int i = 0; i < ACCEPT_BATCH; i++) {
		struct tcp_addr peer = { .len = sizeof(peer.sa) };
		int fd = accept4(source->fd, (struct sockaddr *)&peer.sa, &peer.len,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		meet(listener, fd, &peer);
	}
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
	ret = loop_fd_init(&listener->source, viewers->loop, fd, EPOLLIN, accept_some);
	if (ret < 0)
		close(fd);
	else
		viewers->nr_listeners++;
	return ret;
}

/* --- the thread ------------------------------------------------------------------------------- */

static void stopped(struct loop_fd *source, uint32_t events)
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

static void *serve(void *data)
{
	struct viewers *viewers = data;
	int ret = loop_run(viewers->loop);

	if (ret < 0)
		log_error("viewers are not served any more: %s", strerror(-ret));
	return NULL;
}

int viewers_start(struct viewers *viewers)
{
	pthread_attr_t attr;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	error = pthread_create(&viewers->thread, &attr, serve, viewers);
	pthread_attr_destroy(&attr);
	viewers->runs = !error;
	return -error;
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

static void close_source(struct loop_fd *source)
{
	int fd = source->fd;

	loop_fd_fini(source);
	close_fd(fd);
}

static int init_events(struct viewers *viewers)
{
	int ret = init_event(viewers, &viewers->stop, stopped);

	if (ret < 0)
		return ret;
	ret = init_event(viewers, &viewers->new_keys, keys_changed);
	if (ret < 0)
		close_source(&viewers->stop);
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
	for (unsigned int i = 0; i < viewers->nr_listeners; i++)
		close_source(&viewers->listeners[i].source);
	viewers->nr_listeners = 0;
	while ((viewer = list_first(&viewers->list, struct viewer, node)))
		viewer_free(viewer);
	close_source(&viewers->stop);
	close_source(&viewers->new_keys);
	viewers->owners = close_fd(viewers->owners);
}
