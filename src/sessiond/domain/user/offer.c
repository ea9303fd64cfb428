/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * offer.c - recovers ring sets into which applications still record, although all processes that
 * held their memory for the daemons were killed. Before anything else is decided for an
 * application that connects, it is sent a request for each of these ring sets that it may have.
 * The first application that returns one is enough: the ring set then continues as if the keeper
 * had stored it.
 *
 * An application is not trusted: the kernel identifies its process, and the state file identifies
 * the memory. The memory has to be sealed and created by a session daemon, so that only the words
 * that applications may write can have changed; and it is opened again, so that no descriptor of
 * an unknown application is kept.
 */
#include "offer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/sock.h"
#include "link.h"
#include "session.h"
#include "sessiond/admission.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* --- rights ------------------------------------------------------------------------ */

/* Of those that are wanted and not offered yet: the lowest number above @above. */
static struct ring *next_in(const struct recording *rec, uint64_t above,
			    bool (*fits)(const struct ring *ring, const void *data),
			    const void *data)
{
	struct ring *ring, *best = NULL;
	struct trace *trace;
	struct trace_channel *trace_channel;

	list_for_each(trace, &rec->traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each(ring, &trace_channel->rings, node)
				if (ring->wanted && ring->data < 0 && ring->id > above &&
				    (!best || ring->id < best->id) && fits(ring, data))
					best = ring;
	return best;
}

static struct ring *next_wanted(const struct user_domain *user, uint64_t above,
				bool (*fits)(const struct ring *ring, const void *data),
				const void *data)
{
	struct ring *ring, *best = NULL;
	struct recording *rec;

	if (!user->recorder->nr_wanted)
		return NULL;
	list_for_each(rec, &user->domain.recordings, node) {
		ring = rec->nr_wanted ? next_in(rec, above, fits, data) : NULL;
		if (ring && (!best || ring->id < best->id))
			best = ring;
	}
	return best;
}

static bool offer_may_have(const struct ring *ring, const void *data)
{
	const struct user_app *app = data;

	return ring->app ? ring->app == app->app.id :
			   ring->trace_channel->trace->uid == app->app.uid;
}

static bool is_own(const struct ring *ring, const void *data)
{
	return ring->app == *(const uint64_t *)data;
}

bool offers_expected(const struct user_domain *user, uint64_t app)
{
	return next_wanted(user, 0, is_own, &app);
}

static void offer_request(struct user_app *app, uint64_t ring)
{
	struct msg_app_buffer_want msg = { ring };
	struct encoder enc;
	uint8_t buf[32];

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_app_buffer_want, 0, 0);
	msg_app_buffer_want_encode(&enc, &msg);
	peer_send(app->peer, &enc);
}

bool offers_request(struct user_app *app)
{
	struct ring *ring = NULL;

	if (app->features & APP_FEATURE_OFFER)
		ring = next_wanted(app->user, app->wanted, offer_may_have, app);
	if (!ring != !app->wanted) /* descriptors are accepted as long as one is requested */
		sock_accept_fds(app->peer->source.fd, ring);
	app->wanted = ring ? ring->id : 0;
	if (ring)
		offer_request(app, ring->id);
	return ring;
}

/* --- offered memory ---------------------------------------------------------------- */

/* The seals are checked first: a system call on any other kind of file might block. */
static bool offer_is_ours(int fd, const struct dirid *wanted)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct dirid found;
	struct stat st;

	return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 &&
	       st.st_uid == geteuid() && dirid_of(fd, &found) == 0 && dirid_equal(&found, wanted);
}

static int offer_open_again(int fd, int how)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, how | O_CLOEXEC);
}

/* Return: whether all of them could be opened, and may be kept. */
static bool offer_take(struct ring *ring, const struct msg_app_buffer_offer *msg)
{
	ring->data = offer_open_again(msg->data, O_RDWR);
	ring->ctl_rw = offer_open_again(msg->ctl, O_RDWR);
	ring->ctl = offer_open_again(msg->ctl, O_RDONLY);
	if (ring->data >= 0 && ring->ctl_rw >= 0 && ring->ctl >= 0 &&
	    admission_has_room(MAX(MAX(ring->data, ring->ctl_rw), ring->ctl), ADMISSION_KEPT))
		return true;
	ring_close_fds(ring);
	return false;
}

/* It was paid for when it was made: no user is refused a buffer that was there. */
static void offer_charge(struct ring *ring)
{
	struct quotas *quotas = ring->trace_channel->trace->rec->recorder->config.quotas;
	struct err ignored = { 0 };

	quotas->lenient = true;
	if (ring_charge(ring, &ignored)) /* never */
		log_debug("%s", ignored.text);
	quotas->lenient = false;
}

static void accept_offer(struct ring *ring, const struct user_app *app,
			 const struct msg_app_buffer_offer *msg)
{
	if (msg->data < 0 || msg->ctl < 0)
		return; /* it does not have it */
	if (!offer_is_ours(msg->data, &ring->data_id) || !offer_is_ours(msg->ctl, &ring->ctl_id)) {
		log_warn_some("process %d of user %u offers memory that differs from %s",
			      (int)app->app.pid, app->app.uid, ring->name);
		return;
	}
	if (!offer_take(ring, msg)) {
		log_warn_some("%s can't be taken over: %s", ring->name, strerror(EMFILE));
		return;
	}
	offer_charge(ring);
	ring_offered(ring);
}

int user_app_offer(struct user_app *app, const struct msg_app_buffer_offer *msg)
{
	struct ring *ring;
	struct user_link *link;

	if (!app->wanted || app->wanted != msg->ring)
		return -EPROTO; /* not requested */
	ring = next_wanted(app->user, msg->ring - 1, offer_may_have, app);
	if (ring && ring->id == msg->ring) /* else another one has brought it */
		accept_offer(ring, app, msg);
	if (offers_request(app))
		return 0;
	list_for_each(link, &app->links, in_app)
		link_touch(link);
	loop_defer(app->user->recorder->config.loop, &app->user->refresh);
	return 0;
}
