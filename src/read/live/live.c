/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "live.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "read/clock/clock.h"
#include "read/feed/feed.h"
#include "proto/viewproto.h"
#include "read/source.h"
#include "read/view_priv.h"

#define STOP_MS 50 /* longest time after which a signal is noticed, and lines are shown */
#define LEARN_TRIES 60u
#define REST_MS 20
#define REST_MOST_MS 200
#define MAX_STREAMS 65536u
#define MAX_METADATA (64u << 20) /* of a trace */
#define MAX_PART (1u << 20)	 /* of a packet, in one request */

/** A session. @nr_streams: that have not ended; if there are none, those of others do not announce
 *  new ones. */
struct live_part {
	uint64_t id;
	uint32_t nr_streams;
};

/**
 * struct live_relay
 * @parts: the @nr_parts sessions that have not ended.
 * @view: that it belongs to.
 * @broken: the connection was lost.
 * @fresh: streams that the view does not have yet, from @taken on.
 * @rest_ms: of the next wait: longer if there was nothing the last time.
 */
struct live_relay {
	struct live base;
	struct live_session session;
	struct live_part *parts;
	uint32_t nr_parts;
	struct view *view;
	bool broken;
	struct feed **fresh;
	size_t nr_fresh, taken;
	uint32_t nr_feeds;
	int rest_ms;
};

static struct live_relay *live_of(struct live *base)
{
	return container_of(base, struct live_relay, base);
}

/* --- the connection ------------------------------------------------------------------------- */

static bool live_is_stopped(const struct live_relay *live)
{
	return live->session.stop && *live->session.stop;
}

/* The events so far. */
static void live_show(const struct live_relay *live)
{
	if (live->view->idle)
		live->view->idle(live->view->idle_priv);
}

/* A signal may come just before the wait: it is not for ever. Return: 0 or negative errno. */
static int live_ready(const struct live_relay *live, short events)
{
	struct pollfd pfd = { .fd = live->session.fd, .events = events };
	int nr;

	do {
		if (live_is_stopped(live))
			return -ECANCELED;
		nr = poll(&pfd, 1, STOP_MS);
		if (nr == 0)
			live_show(live);
	} while (nr == 0 || (nr < 0 && errno == EINTR));
	return nr < 0 ? -errno : 0;
}

static int live_get(struct live_relay *live, void *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		int r = live_ready(live, POLLIN);
		ssize_t n = r ? 0 : recv(live->session.fd, (char *)data + done, len - done, 0);

		if (r)
			return r;
		if (n == 0)
			return -ECONNRESET;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int live_put(struct live_relay *live, const void *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		int r = live_ready(live, POLLOUT);
		ssize_t n = r ? 0 :
				send(live->session.fd, (const char *)data + done, len - done,
				     MSG_NOSIGNAL);

		if (r)
			return r;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int live_ask(struct live_relay *live, uint32_t command, const void *body, size_t len)
{
	struct view_request request = { .bytes = htobe64(len), .command = htobe32(command) };
	int r = live_put(live, &request, sizeof(request));

	return r || !len ? r : live_put(live, body, len);
}

static int live_ask_about(struct live_relay *live, uint32_t command, uint64_t id)
{
	id = htobe64(id);
	return live_ask(live, command, &id, sizeof(id));
}

static void live_rest(struct live_relay *live)
{
	live_show(live);
	if (!live_is_stopped(live))
		poll(NULL, 0, live->rest_ms);
	live->rest_ms = MIN(2 * live->rest_ms, live->session.rest_ms);
}

/* The outcome of a request that failed: the view ends. */
static int live_lost(struct live_relay *live, int error)
{
	if (error == -ENOMEM)
		return error;
	if (error != -ECANCELED && !live->broken)
		report(&live->view->reporter, "the connection to the relay is lost: %s",
		       strerror(-error));
	live->broken = true;
	return 0;
}

/* --- traces and their metadata ---------------------------------------------------------------- */

static struct source *live_trace(struct live_relay *live, uint64_t id, const char *path)
{
	struct view *view = live->view;

	for (size_t i = 0; i < view->nr_sources; i++)
		if (view->sources[i]->live_id == id)
			return view->sources[i];
	return view_add_source(view, source_new_live(&live->base, id, path, &view->reporter));
}

/* Text that was added to the metadata. */
static int live_read_text(struct live_relay *live, struct source *source)
{
	struct view_metadata reply = { .status = htobe32(VIEW_METADATA) };
	size_t before = source->text_len;
	uint64_t len;
	int r = 0;

	while (!r && reply.status == htobe32(VIEW_METADATA)) {
		r = live_ask_about(live, VIEW_GET_METADATA, source->metadata_id);
		r = r ? r : live_get(live, &reply, sizeof(reply));
		len = r ? 0 : be64toh(reply.len);
		if (len > MAX_METADATA - source->text_len)
			return -EMSGSIZE;
		if (!len)
			continue;
		source->text = xrealloc(source->text, source->text_len + (size_t)len);
		r = live_get(live, source->text + source->text_len, (size_t)len);
		source->text_len += r ? 0 : (size_t)len;
	}
	return r || source->text_len == before ? r : source_take_text(source);
}

/* --- streams ---------------------------------------------------------------------------------- */

static void live_add_stream(struct live_relay *live, struct live_part *part,
			    const struct view_stream_entry *entry)
{
	char path[sizeof(entry->path) + 1], channel[sizeof(entry->channel) + 1];
	struct source *source;
	struct feed *feed;

	snprintf(path, sizeof(path), "%.*s", (int)sizeof(entry->path), entry->path);
	snprintf(channel, sizeof(channel), "%.*s", (int)sizeof(entry->channel), entry->channel);
	source = live_trace(live, be64toh(entry->trace), path);
	source->live_session = part->id;
	if (entry->is_metadata) {
		source->metadata_id = be64toh(entry->id);
		return;
	}
	feed = source_add_live_feed(source, channel, be64toh(entry->id));
	feed->order = live->nr_feeds++;
	part->nr_streams++;
	if (!(live->nr_fresh & (live->nr_fresh - 1))) /* full at each power of two */
		live->fresh =
			xrealloc(live->fresh, MAX(2 * live->nr_fresh, 1u) * sizeof(*live->fresh));
	live->fresh[live->nr_fresh++] = feed;
}

/* The answer to a request to attach, or for new streams. */
static int live_read_streams(struct live_relay *live, struct live_part *part, uint32_t *ret_status)
{
	struct view_streams head;
	struct view_stream_entry entry;
	int r = live_get(live, &head, sizeof(head));

	if (r)
		return r;
	*ret_status = be32toh(head.status);
	for (uint32_t left = be32toh(head.nr); left; left--) {
		if (live->nr_feeds >= MAX_STREAMS)
			return -EMFILE;
		r = live_get(live, &entry, sizeof(entry));
		if (r)
			return r;
		live_add_stream(live, part, &entry);
	}
	return 0;
}

/* A session that has ended leaves the list. @all: or only those that have no streams. */
static int live_read_new_streams(struct live_relay *live, bool all)
{
	int r = 0;

	for (uint32_t i = 0; i < live->nr_parts && !r;) {
		struct live_part *part = &live->parts[i++];
		uint32_t status = VIEW_NO_STREAMS;

		if (!all && part->nr_streams)
			continue;
		r = live_ask_about(live, VIEW_GET_NEW_STREAMS, part->id);
		r = r ? r : live_read_streams(live, part, &status);
		if (status == VIEW_STREAMS_END || status == VIEW_STREAMS_ERROR)
			live->parts[--i] = live->parts[--live->nr_parts];
	}
	return r;
}

static void live_end_stream(struct live_relay *live, const struct feed *feed)
{
	for (uint32_t i = 0; i < live->nr_parts; i++)
		if (live->parts[i].id == feed->source->live_session)
			live->parts[i].nr_streams--;
}

static struct feed *live_take_new(struct live *base)
{
	struct live_relay *live = live_of(base);

	if (live->taken < live->nr_fresh)
		return live->fresh[live->taken++];
	live->taken = live->nr_fresh = 0;
	free(TAKE(live->fresh));
	return NULL;
}

static int live_await_stream(struct live *base)
{
	struct live_relay *live = live_of(base);
	int r;

	if (live->broken || live_is_stopped(live))
		return 0;
	r = live_read_new_streams(live, true);
	if (r)
		return live_lost(live, r);
	if (live->taken < live->nr_fresh)
		return 1;
	if (!live->nr_parts)
		return 0;
	live_rest(live);
	return 1;
}

/* --- packets ---------------------------------------------------------------------------------- */

/* @bytes: @len of them. Return: 0; 1: the relay has lost the packet; negative errno. */
static int live_read_bytes(struct live_relay *live, uint64_t stream, uint64_t offset,
			   uint8_t *bytes, size_t len)
{
	struct view_packet reply;
	int r = 0;

	for (size_t done = 0; done < len && !r;) {
		uint32_t part = (uint32_t)MIN(len - done, (size_t)MAX_PART);
		struct view_get_packet request = { htobe64(stream), htobe64(offset + done),
						   htobe32(part) };

		r = live_ask(live, VIEW_GET_PACKET, &request, sizeof(request));
		r = r ? r : live_get(live, &reply, sizeof(reply));
		if (r)
			break;
		if (reply.status == htobe32(VIEW_DATA_RETRY)) {
			live_rest(live);
			continue;
		}
		if (reply.status != htobe32(VIEW_DATA))
			return 1;
		if (!reply.len || be32toh(reply.len) > part)
			return -EPROTO;
		r = live_get(live, bytes + done, be32toh(reply.len));
		done += be32toh(reply.len);
	}
	return r;
}

/* The time of the relay's index, if the stream has a clock. */
static void live_pass(struct feed *feed, const struct view_index *index)
{
	const struct ctf_stream_class *sc =
		trace_class_stream(feed->source->tc, be64toh(index->stream_class));

	if (sc && sc->clock)
		feed->until_ns =
			MAX(feed->until_ns, clock_ns(sc->clock, be64toh(index->timestamp_end)));
}

static int live_read_packet(struct live_relay *live, struct feed *feed,
			    const struct view_index *index)
{
	uint64_t len = be64toh(index->packet_size) / 8;
	uint8_t *bytes;
	int r;

	if (!len || len > WINDOW_MAX) {
		report(&live->view->reporter,
		       "%s/%s: the relay announces a packet of %llu bytes, which is left out",
		       feed->source->label, feed->name, (unsigned long long)len);
		return LIVE_LATER;
	}
	bytes = xalloc((size_t)len);
	r = live_read_bytes(live, feed->live_id, be64toh(index->offset), bytes, (size_t)len);
	if (r) {
		free(bytes);
		if (r > 0)
			report(&live->view->reporter, "%s/%s: the relay has lost a packet",
			       feed->source->label, feed->name);
		return MIN(r, 0) ?: LIVE_LATER;
	}
	feed_receive(feed, bytes, (size_t)len);
	live_pass(feed, index);
	return LIVE_PACKET;
}

/* A relay may have announced the text to an earlier connection. */
static bool live_lacks_class(const struct feed *feed, const struct view_index *index)
{
	return (index->status == htobe32(VIEW_INDEX) ||
		index->status == htobe32(VIEW_INDEX_INACTIVE)) &&
	       !trace_class_stream(feed->source->tc, be64toh(index->stream_class));
}

/* After its relay was restarted a tunnel has packets whose text it gets a moment later. */
static int live_learn(struct live_relay *live, const struct feed *feed,
		      const struct view_index *index)
{
	int r = live_read_text(live, feed->source);

	for (unsigned int i = 0; !r && i < LEARN_TRIES && live_lacks_class(feed, index); i++) {
		live_rest(live);
		r = live_is_stopped(live) ? -ECANCELED : live_read_text(live, feed->source);
	}
	return r;
}

static int live_take_index(struct live_relay *live, struct feed *feed,
			   const struct view_index *index)
{
	bool announces = index->flags & htobe32(VIEW_NEW_STREAM);
	int r = announces ? live_read_new_streams(live, true) : 0;

	if (!r && (index->flags & htobe32(VIEW_NEW_METADATA) || live_lacks_class(feed, index)))
		r = live_learn(live, feed, index);
	if (r)
		return r;
	switch (be32toh(index->status)) {
	case VIEW_INDEX:
		live->rest_ms = MIN(REST_MS, live->session.rest_ms);
		return live_read_packet(live, feed, index);
	case VIEW_INDEX_INACTIVE:
		live_pass(feed, index);
		if (feed->until_ns <= feed->ns)
			live_rest(live);
		return LIVE_LATER;
	case VIEW_INDEX_RETRY:
		if (!announces)
			live_rest(live);
		return LIVE_LATER;
	case VIEW_INDEX_END:
		live_end_stream(live, feed);
		return 0;
	}
	live_end_stream(live, feed);
	report(&live->view->reporter, "%s/%s: the relay can't read this stream",
	       feed->source->label, feed->name);
	return 0;
}

static int live_next(struct feed *feed)
{
	struct live_relay *live = live_of(feed->source->live);
	struct view_index index;
	int r;

	if (live->broken || live_is_stopped(live))
		return 0;
	r = live_read_new_streams(live, false);
	if (!r && live->taken < live->nr_fresh)
		return LIVE_LATER;
	r = r ? r : live_ask_about(live, VIEW_GET_NEXT_INDEX, feed->live_id);
	r = r ? r : live_get(live, &index, sizeof(index));
	r = r ? r : live_take_index(live, feed, &index);
	return r < 0 ? live_lost(live, r) : r;
}

/* --- open ------------------------------------------------------------------------------------- */

static int live_create(struct live_relay *live)
{
	uint32_t status;
	int r = live_ask(live, VIEW_CREATE_SESSION, NULL, 0);

	r = r ? r : live_get(live, &status, sizeof(status));
	return r ? r : be32toh(status) == VIEW_CREATED ? 0 : -EPROTO;
}

static int live_attach(struct live_relay *live, uint64_t id)
{
	struct live_part *part = &live->parts[live->nr_parts++];
	struct view_attach attach = {
		.session = htobe64(id),
		.from = htobe32(live->session.from_begin ? VIEW_FROM_BEGIN : VIEW_FROM_NOW),
	};
	uint32_t status;
	int r = live_ask(live, VIEW_ATTACH_SESSION, &attach, sizeof(attach));

	part->id = id;
	r = r ? r : live_read_streams(live, part, &status);
	return r ? r : status == VIEW_ATTACHED ? 0 : -ENOENT;
}

static void live_free(struct live *base)
{
	struct live_relay *live = live_of(base);

	close_fd(live->session.fd);
	free(live->session.ids);
	free(live->parts);
	free(live->fresh);
	free(live);
}

static const struct live_ops live_relay_ops = {
	.next = live_next,
	.take_new = live_take_new,
	.await_stream = live_await_stream,
	.free = live_free,
};

int view_open_live(const struct live_session *session, view_report_fn fn, void *priv,
		   struct view **ret_view)
{
	struct view *view = xalloc(sizeof(*view));
	struct live_relay *live = xalloc(sizeof(*live));
	int r;

	live->session = *session;
	live->session.rest_ms = session->rest_ms ?: REST_MOST_MS;
	live->parts = xalloc((session->nr + 1) * sizeof(*live->parts));
	live->view = view;
	live->rest_ms = MIN(REST_MS, live->session.rest_ms);
	live->base.ops = &live_relay_ops;
	view->live = &live->base;
	view->dir = "";
	view->reporter = (struct reporter){ .fn = fn, .priv = priv };
	view->peeked = true;
	r = live_create(live);
	for (uint32_t i = 0; i < session->nr && !r; i++)
		r = live_attach(live, session->ids[i]);
	if (r < 0)
		view_free(view);
	else
		*ret_view = view;
	return r;
}
