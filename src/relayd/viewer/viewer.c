/* SPDX-License-Identifier: GPL-2.0-only */
#include "viewer.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/mem.h"

#define IDLE_US 5000000u   /* limit for a viewer to attach a session */
#define STUCK_US 20000000u /* limit for a viewer to continue a request, or to receive a reply */

/* --- answers ---------------------------------------------------------------------------- */

void *viewer_reply(struct viewer *v, size_t bytes)
{
	v->out = calloc(1, bytes);
	v->out_begin = 0;
	v->out_end = v->out ? bytes : 0;
	return v->out;
}

/* Return: 0 (some may be left) or negative errno. */
static int viewer_send_reply(struct viewer *v)
{
	while (v->out_begin != v->out_end) {
		const struct iovec iov = { v->out + v->out_begin, v->out_end - v->out_begin };
		ssize_t n = chan_send(&v->chan, &iov, 1);

		if (n < 0)
			return n == -EAGAIN ? 0 : (int)n;
		v->out_begin += (size_t)n;
		loop_timer_set(&v->timer, STUCK_US);
	}
	free(TAKE(v->out));
	v->out_begin = v->out_end = 0;
	return v->closing ? -ESHUTDOWN : 0;
}

/* --- requests --------------------------------------------------------------------------- */

/* How much of a request is to be there; more and more of it is known. */
static int viewer_request_bytes(const struct viewer *v, size_t *ret)
{
	struct view_request head;
	int body;

	*ret = sizeof(head);
	if (v->in_len < sizeof(head))
		return 0;
	memcpy(&head, v->in, sizeof(head));
	body = viewer_body_bytes(be32toh(head.command));
	if (body < 0) /* is answered in any case */
		return 0;
	if (be64toh(head.bytes) != (uint64_t)body)
		return -EBADMSG;
	*ret += (size_t)body;
	return 0;
}

static int viewer_read_some(struct viewer *v, size_t want)
{
	ssize_t n = chan_recv(&v->chan, v->in + v->in_len, want - v->in_len);

	if (n < 0)
		return (int)n;
	if (n == 0)
		return -ECONNRESET;
	if (!v->in_len)
		loop_timer_set(&v->timer, STUCK_US);
	v->in_len += (size_t)n;
	return 0;
}

static int viewer_process_request(struct viewer *v)
{
	struct view_request head;
	int ret;

	memcpy(&head, v->in, sizeof(head));
	v->in_len = 0;
	log_debug("viewer: command %u", be32toh(head.command));
	ret = viewer_answer(v, be32toh(head.command), v->in + sizeof(head));
	return ret < 0 ? ret : viewer_send_reply(v);
}

/* One request at most, so that other viewers are served before the next. */
static int viewer_serve_input(struct viewer *v)
{
	size_t want;
	int ret;

	for (;;) {
		ret = viewer_request_bytes(v, &want);
		if (ret == 0 && v->in_len == want)
			return viewer_process_request(v);
		if (ret == 0)
			ret = viewer_read_some(v, want);
		if (ret < 0)
			return ret == -EAGAIN ? 0 : ret;
	}
}

static void viewer_set_idle_timer(struct viewer *v)
{
	if (v->out || v->in_len)
		return; /* the timer runs */
	if (v->nr_sessions)
		loop_timer_cancel(&v->timer);
	else
		loop_timer_set(&v->timer, IDLE_US);
}

/* Decrypted bytes in the TLS library wake no poll: a socket with room does. */
static uint32_t viewer_events_of(const struct viewer *v)
{
	if (!v->chan.up)
		return chan_wants_write(&v->chan) ? EPOLLOUT : EPOLLIN;
	if (v->out)
		return EPOLLOUT;
	return chan_pending(&v->chan) ? EPOLLIN | EPOLLOUT : EPOLLIN;
}

/* A viewer with a proven name sees its own sessions, and those that it was granted. */
static int viewer_shake_hands(struct viewer *v)
{
	int ret = chan_open(&v->chan);

	if (ret == 0) {
		keyring_watch(&v->proof, &v->chan);
		keyring_view_acl(v->viewers->keyring, chan_peer(&v->chan), &v->view_acl);
	} else if (ret == -EPROTO) {
		log_warn_some("a viewer is refused: %s", chan_problem(&v->chan));
	}
	return ret == -EAGAIN || ret == -EPROTO ? 0 : ret;
}

static int viewer_serve(struct viewer *v)
{
	int ret = v->chan.up ? 0 : viewer_shake_hands(v);

	if (ret < 0 || !v->chan.up)
		return ret;
	return v->out ? viewer_send_reply(v) : viewer_serve_input(v);
}

static void viewer_ready(struct loop_fd *source, uint32_t events)
{
	struct viewer *v = container_of(source, struct viewer, source);
	bool was_up = v->chan.up;
	int ret = viewer_serve(v);

	(void)events;
	if (ret == 0)
		ret = loop_fd_events(source, viewer_events_of(v));
	if (ret < 0) {
		log_debug("a viewer's connection ends: %s", strerror(-ret));
		viewer_free(v);
		return;
	}
	if (was_up) /* a handshake has the time limit of a silent connection */
		viewer_set_idle_timer(v);
}

/* --- other keys, or a later hour ---------------------------------------------------------- */

static bool viewer_may_continue(struct viewer *v)
{
	const struct vsession *vsession;

	if (keyring_recheck(v->viewers->keyring, &v->chan) < 0) {
		log_warn("a viewer is disconnected: %s", chan_problem(&v->chan));
		return false;
	}
	if (!chan_peer(&v->chan) || !v->chan.up)
		return true; /* it may view the same as before */
	view_acl_fini(&v->view_acl);
	keyring_view_acl(v->viewers->keyring, chan_peer(&v->chan), &v->view_acl);
	list_for_each(vsession, &v->sessions, node)
		if (!view_acl_covers(&v->view_acl, vsession->session)) {
			log_warn("viewer %s is disconnected: it may not view '%s' any more",
				 chan_peer(&v->chan), vsession->session->path);
			return false;
		}
	return true;
}

void viewer_recheck(struct viewer *v)
{
	if (!viewer_may_continue(v))
		viewer_free(v);
}

static void viewer_may_have_expired(struct loop_timer *timer)
{
	struct viewer *v = container_of(timer, struct viewer, proof);

	keyring_watch(timer, &v->chan);
	viewer_recheck(v);
}

/* --- life ------------------------------------------------------------------------------- */

static void viewer_on_expiry(struct loop_timer *timer)
{
	log_warn_some("a viewer that says nothing is disconnected");
	viewer_free(container_of(timer, struct viewer, timer));
}

int viewer_new(struct viewers *viewers, int fd, struct tls *tls, bool everything,
	       struct viewers_origin *origin)
{
	struct viewer *v = calloc(1, sizeof(*v));
	int ret = v ? loop_fd_init(&v->source, viewers->loop, fd, EPOLLIN, viewer_ready) : -ENOMEM;

	if (ret < 0) {
		viewers_leave(viewers, origin);
		tls_free(tls);
		close(fd);
		free(v);
		return ret;
	}
	v->viewers = viewers;
	v->origin = origin;
	chan_init(&v->chan, fd, tls);
	v->view_acl.all = everything;
	v->next_id = 1;
	list_init(&v->sessions);
	list_append(&viewers->list, &v->node);
	viewers->nr++;
	loop_timer_init(&v->timer, viewers->loop, viewer_on_expiry);
	loop_timer_set(&v->timer, IDLE_US);
	loop_timer_init(&v->proof, viewers->loop, viewer_may_have_expired);
	return 0;
}

void viewer_free(struct viewer *v)
{
	struct vsession *vsession;
	int fd = v->source.fd;

	while ((vsession = list_first(&v->sessions, struct vsession, node)))
		vsession_free(vsession);
	loop_timer_cancel(&v->timer);
	loop_timer_cancel(&v->proof);
	loop_fd_fini(&v->source);
	chan_fini(&v->chan);
	close_fd(fd);
	list_remove(&v->node);
	viewers_leave(v->viewers, v->origin);
	v->viewers->nr--;
	view_acl_fini(&v->view_acl);
	free(v->out);
	free(v);
}
