/* SPDX-License-Identifier: GPL-2.0-only */
#include "follow.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "known.h"

#define MAX_REQUEST sizeof(struct view_connect)
#define MAX_LISTED 100000u
#define MAX_NAME 65536u /* of a session or host; it is cut */
#define MAX_TEXT (64u << 20)	     /* metadata that the viewer has not requested */
#define MAX_LEN (1u << 20)	     /* of a packet's bytes, requested at once */
#define MAX_QUEUED_BYTES (64u << 20) /* bytes of packets, of all streams together */
#define MAX_QUEUED_PACKET (4u << 20)
#define FIRST_REST_MS 100
#define MOST_REST_MS 2000
#define DETACH_MS 1000
#define MISSING_S 10 /* senders that are there connect again every two seconds */

/* Two streams that are silent up to the very same time confuse viewers. These times are between
 * those of relayd/viewer/viewstream.c. */
#define APART_TICKS 8u
#define APART_FIRST 4u
#define APART_MAX 4096u

struct follow {
	struct link *link;
	int fd; /* the viewer's */
	struct known known;
	struct view_connect hello; /* the viewer's, with our version */
	uint32_t minor;		   /* that was agreed with the viewer */
	uint32_t relay_minor;	   /* with the relay, of this connection */
	bool greeted, created;
	bool is_incomplete; /* the view lacks events, and the log has the reason */

	uint32_t command;
	uint8_t body[MAX_REQUEST];
	uint8_t *out; /* the answer */
	size_t out_len, out_room;
};

/* --- the answer ----------------------------------------------------------------------------- */

static void *out_add(struct follow *f, const void *data, size_t len)
{
	void *at;

	if (f->out_room - f->out_len < len) {
		f->out_room = MAX(2 * f->out_room, f->out_len + len);
		f->out = xrealloc(f->out, f->out_room);
	}
	at = f->out + f->out_len;
	f->out_len += len;
	if (data)
		memcpy(at, data, len);
	return at;
}

static void out_streams(struct follow *f, uint32_t status, uint32_t nr)
{
	struct view_streams head = { htobe32(status), htobe32(nr) };

	out_add(f, &head, sizeof(head));
}

static uint64_t body_id(const struct follow *f)
{
	uint64_t id;

	memcpy(&id, f->body, sizeof(id));
	return be64toh(id);
}

/* --- questions to the relay ----------------------------------------------------------------- */

static int request_id(struct follow *f, uint32_t command, uint64_t id)
{
	id = htobe64(id);
	return link_request(f->link, command, &id, sizeof(id));
}

static int relay_greet(struct follow *f, struct view_connect *reply)
{
	int ret = link_request(f->link, VIEW_CONNECT, &f->hello, sizeof(f->hello));

	if (ret == 0)
		ret = link_read(f->link, reply, sizeof(*reply));
	if (ret < 0)
		return ret;
	f->relay_minor = MIN(be32toh(reply->minor), be32toh(f->hello.minor));
	return be32toh(reply->major) != VIEW_MAJOR ? -EPROTO : 0;
}

static int relay_create(struct follow *f, uint32_t *ret_status)
{
	int ret = link_request(f->link, VIEW_CREATE_SESSION, NULL, 0);

	return ret < 0 ? ret : link_read(f->link, ret_status, sizeof(*ret_status));
}

/* To a field in which it is cut. */
static int read_name(struct follow *f, uint32_t bytes, char *field, size_t room)
{
	AUTO_FREE char *name = bytes <= MAX_NAME ? xalloc(bytes + 1) : NULL;
	int ret = name ? link_read(f->link, name, bytes) : -EPROTO;

	if (ret == 0)
		memcpy(field, name, MIN(bytes, room - 1));
	return ret;
}

/* @ret_format: as in struct view_session_long. */
static int read_session(struct follow *f, struct view_session_entry *ret, uint32_t *ret_format)
{
	struct view_session_long entry;
	int error;

	*ret_format = 0;
	if (f->relay_minor < VIEW_MINOR_LONG_NAMES)
		return link_read(f->link, ret, sizeof(*ret));
	error = link_read(f->link, &entry, sizeof(entry));
	if (error < 0)
		return error;
	*ret_format = entry.format;
	*ret = (struct view_session_entry){ .id = entry.id,
					    .period_us = entry.period_us,
					    .viewers = entry.viewers,
					    .streams = entry.streams };
	error = read_name(f, be32toh(entry.host_bytes), ret->host, sizeof(ret->host));
	return error ? error :
		       read_name(f, be32toh(entry.name_bytes), ret->name, sizeof(ret->name));
}

static void out_session(struct follow *f, const struct view_session_entry *entry, uint32_t format)
{
	size_t host = strnlen(entry->host, sizeof(entry->host));
	size_t name = strnlen(entry->name, sizeof(entry->name));
	struct view_session_long head = { .id = entry->id,
					  .period_us = entry->period_us,
					  .viewers = entry->viewers,
					  .streams = entry->streams,
					  .host_bytes = htobe32((uint32_t)host),
					  .name_bytes = htobe32((uint32_t)name),
					  .format = format };

	if (f->minor < VIEW_MINOR_LONG_NAMES) {
		out_add(f, entry, sizeof(*entry));
		return;
	}
	out_add(f, &head, sizeof(head));
	out_add(f, entry->host, host);
	out_add(f, entry->name, name);
}

/* @to_viewer: answer with the list. */
static int relay_list(struct follow *f, bool to_viewer)
{
	struct view_session_entry entry;
	uint32_t nr, format;
	int ret = link_request(f->link, VIEW_LIST_SESSIONS, NULL, 0);

	if (ret == 0)
		ret = link_read(f->link, &nr, sizeof(nr));
	if (ret < 0)
		return ret;
	if (be32toh(nr) > MAX_LISTED)
		return -EPROTO;
	if (to_viewer)
		out_add(f, &nr, sizeof(nr));
	for (uint32_t i = 0; i < be32toh(nr) && ret == 0; i++) {
		const struct known_session *session;

		ret = read_session(f, &entry, &format);
		session = ret == 0 ? known_list(&f->known, &entry) : NULL;
		if (ret == 0 && !session)
			return -EPROTO;
		if (session)
			entry.id = htobe64(session->id);
		if (session && to_viewer)
			out_session(f, &entry, format);
	}
	return ret;
}

/* The answer to attach, and to a question for new streams. */
static int read_streams(struct follow *f, struct known_session *session, struct view_streams *ret)
{
	struct view_stream_entry entry;
	int error = link_read(f->link, ret, sizeof(*ret));

	ret->status = be32toh(ret->status);
	ret->nr = error < 0 ? 0 : be32toh(ret->nr);
	if (ret->nr > KNOWN_MAX_STREAMS)
		return -EPROTO;
	for (uint32_t i = 0; i < ret->nr && error == 0; i++) {
		error = link_read(f->link, &entry, sizeof(entry));
		if (error == 0)
			error = known_add(&f->known, session, &entry);
	}
	return error;
}

static int relay_attach(struct follow *f, struct known_session *session, uint64_t since,
			uint32_t from, uint32_t *ret_status)
{
	struct view_attach attach = {
		.session = htobe64(session->relay_id),
		.since = htobe64(since),
		.from = htobe32(from),
	};
	struct view_streams reply;
	int ret = link_request(f->link, VIEW_ATTACH_SESSION, &attach, sizeof(attach));

	if (ret == 0)
		ret = read_streams(f, session, &reply);
	if (ret == 0)
		*ret_status = reply.status;
	return ret;
}

/* Our relays find streams that have ended, if they have data that the viewer lacks. */
static bool tunnel_finds_past(const struct known_session *session)
{
	return session->relay_id & VIEW_LASTING_ID;
}

/* Other relays do not find streams that have ended, and ours not all if there are too many. */
static void tunnel_miss_stream(struct follow *f)
{
	if (f->is_incomplete)
		return;
	f->is_incomplete = true;
	log_error("the view lacks the last events of programs that had ended before the connection "
		  "to the relay at %s was lost; the stored trace has them",
		  f->link->place->host);
}

/* All streams that are new at the relay. */
static int relay_news(struct follow *f, struct known_session *session)
{
	struct view_streams reply = { .nr = 1 };
	int ret = 0;

	while (ret == 0 && reply.nr && !session->over) {
		ret = request_id(f, VIEW_GET_NEW_STREAMS, session->relay_id);
		if (ret == 0)
			ret = read_streams(f, session, &reply);
		if (ret == 0 && reply.status == VIEW_STREAMS_END)
			session->over = true;
		if (ret == 0 && reply.status == VIEW_STREAMS_ERROR && tunnel_finds_past(session))
			tunnel_miss_stream(f);
	}
	return ret;
}

/* The text that the viewer has is received again after the relay was restarted. */
static int tunnel_receive_text(struct follow *f, struct known_trace *trace, uint64_t len)
{
	uint64_t old = MIN(trace->seen - MIN(trace->seen, trace->read), len);
	size_t more = (size_t)(len - old);
	uint8_t ignored[4096];
	int ret = 0;

	for (uint64_t left = old; left && ret == 0; left -= MIN(left, sizeof(ignored)))
		ret = link_read(f->link, ignored, (size_t)MIN(left, sizeof(ignored)));
	if (ret < 0)
		return ret;
	trace->text = xrealloc(trace->text, trace->text_len + more + 1);
	ret = link_read(f->link, trace->text + trace->text_len, more);
	if (ret < 0)
		return ret;
	trace->text_len += more;
	trace->read += len;
	trace->seen = MAX(trace->seen, trace->read);
	return 0;
}

static int relay_text(struct follow *f, struct known_trace *trace)
{
	struct view_metadata reply = { .status = htobe32(VIEW_METADATA) };
	int ret = 0;

	while (ret == 0 && reply.status == htobe32(VIEW_METADATA)) {
		ret = request_id(f, VIEW_GET_METADATA, trace->relay_id);
		if (ret == 0)
			ret = link_read(f->link, &reply, sizeof(reply));
		if (ret == 0 && be64toh(reply.len) > MAX_TEXT - trace->text_len)
			return -EPROTO;
		if (ret == 0 && reply.len)
			ret = tunnel_receive_text(f, trace, be64toh(reply.len));
	}
	return ret;
}

static int relay_index(struct follow *f, uint64_t relay_id, struct view_index *ret)
{
	int error = request_id(f, VIEW_GET_NEXT_INDEX, relay_id);

	return error < 0 ? error : link_read(f->link, ret, sizeof(*ret));
}

/* Up to where the session is known, UINT64_MAX at its end: our relays report that of the metadata
 * of traces that have not ended, others report 0. */
static int relay_beacon(struct follow *f, struct known_session *session)
{
	struct view_index index = { .timestamp_end = 0 };
	struct known_trace *trace;
	int ret = 0;

	list_for_each(trace, &session->traces, node)
		if (ret == 0 && !index.timestamp_end && trace->generation == f->known.generation)
			ret = relay_index(f, trace->relay_id, &index);
	if (ret == 0)
		session->beacon = MAX(session->beacon, be64toh(index.timestamp_end));
	return ret;
}

/* @ret_len: its length after truncation; 0: none, see @ret_status. @to has room for it. */
static int relay_bytes(struct follow *f, const struct known_stream *stream, uint64_t offset,
		       void *to, uint32_t *ret_len, uint32_t *ret_status)
{
	struct view_get_packet req = { htobe64(stream->relay_id), htobe64(offset),
				       htobe32(*ret_len) };
	struct view_packet reply;
	int ret = link_request(f->link, VIEW_GET_PACKET, &req, sizeof(req));

	if (ret == 0)
		ret = link_read(f->link, &reply, sizeof(reply));
	if (ret < 0)
		return ret;
	if (be32toh(reply.len) > *ret_len || (reply.status == htobe32(VIEW_DATA) && !reply.len))
		return -EPROTO;
	*ret_status = be32toh(reply.status);
	*ret_len = be32toh(reply.len);
	return link_read(f->link, to, *ret_len);
}

/* --- after the connection was lost ---------------------------------------------------------- */

static bool is_lost(int error)
{
	return error < 0 && error != -ECANCELED && error != -EPROTO;
}

static bool tunnel_is_successor(const struct follow *f)
{
	const struct known_session *session;

	list_for_each(session, &f->known.sessions, node)
		if (session->attached && !session->over)
			return true;
	return false;
}

/* Return: 0; -ENOENT: the relay does not have it, or not yet; another negative errno. */
static int attach_again(struct follow *f, struct known_session *session)
{
	uint32_t status = 0;
	int ret;

	if (session->generation != f->known.generation)
		return -ENOENT;
	session->beacon = 0;
	ret = relay_attach(f, session, known_since(session), VIEW_FROM_BEGIN, &status);
	if (ret == 0 && status != VIEW_ATTACHED)
		return -ENOENT;
	return ret < 0 ? ret : relay_news(f, session);
}

static int tunnel_open_again(struct follow *f, struct err *err)
{
	struct known_session *session;
	struct view_connect reply;
	uint32_t ignored;
	int ret;

	f->known.generation++;
	if (link_open(f->link, err))
		return err->code == ERR_DENIED ? -EPROTO : -ENOTCONN;
	ret = relay_greet(f, &reply);
	if (ret == 0 && f->created)
		ret = relay_create(f, &ignored);
	if (ret == 0)
		ret = relay_list(f, false);
	if (ret < 0)
		err_set(err, ERR_OUTPUT, "the relay at %s: %s", f->link->place->host,
			link_problem(f->link, ret));
	list_for_each(session, &f->known.sessions, node)
		if (ret == 0 && session->attached && !session->over)
			ret = attach_again(f, session);
	return ret;
}

static void tunnel_abandon(struct follow *f)
{
	struct known_session *session;

	list_for_each(session, &f->known.sessions, node)
		if (session->attached && !session->over &&
		    session->generation != f->known.generation) {
			log_error("the relay at %s has no live session '%.*s' any more; the view "
				  "ends",
				  f->link->place->host, (int)sizeof(session->names.name),
				  session->names.name);
			session->over = true;
			f->is_incomplete = true;
		}
}

/* @why: the connection was lost. Return: 0; -ECANCELED: the viewer does not wait any more; -EPROTO:
 * there is no use in trying again. */
static int tunnel_resume(struct follow *f, int why)
{
	time_t missing_since = 0;
	int rest_ms = FIRST_REST_MS, ret;
	struct err err = { 0 };

	log_warn("the relay at %s is unreachable (%s); the view continues when it is back",
		 f->link->place->host, link_problem(f->link, why));
	link_close(f->link);
	while ((ret = tunnel_open_again(f, &err)) != 0) {
		if (ret == -EPROTO)
			log_error("%s", err.text);
		if (ret == -EPROTO || ret == -ECANCELED)
			return ret;
		if (ret == -ENOENT && !missing_since)
			missing_since = time(NULL);
		else if (ret == -ENOENT && time(NULL) - missing_since > MISSING_S)
			tunnel_abandon(f);
		link_close(f->link);
		if (link_rest(f->link, rest_ms) < 0)
			return -ECANCELED;
		rest_ms = MIN(2 * rest_ms, MOST_REST_MS);
	}
	if (tunnel_is_successor(f))
		log_warn("the relay at %s is back", f->link->place->host);
	return 0;
}

/* --- the viewer's questions: introductions and sessions ------------------------------------- */

static int tunnel_on_connect(struct follow *f)
{
	struct view_connect reply;
	int ret;

	memcpy(&f->hello, f->body, sizeof(f->hello));
	f->hello.minor = htobe32(MIN(be32toh(f->hello.minor), VIEW_MINOR));
	ret = relay_greet(f, &reply);
	if (ret < 0)
		return ret;
	f->greeted = true;
	f->minor = f->relay_minor;
	reply.minor = htobe32(f->minor);
	out_add(f, &reply, sizeof(reply));
	return 0;
}

static int on_create(struct follow *f)
{
	uint32_t status;
	int ret = relay_create(f, &status);

	f->created = ret == 0;
	out_add(f, &status, sizeof(status));
	return ret;
}

static int on_list(struct follow *f)
{
	return relay_list(f, true);
}

static void tunnel_announce(struct follow *f, const struct known_trace *trace, uint64_t id,
			    const char *channel)
{
	struct view_stream_entry *entry = out_add(f, NULL, sizeof(*entry));

	*entry = (struct view_stream_entry){
		.id = htobe64(id),
		.trace = htobe64(trace->id),
		.is_metadata = htobe32(id == trace->id),
	};
	memcpy(entry->path, trace->path, MIN(strlen(trace->path), sizeof(entry->path) - 1));
	memcpy(entry->channel, channel, MIN(strlen(channel), sizeof(entry->channel) - 1));
}

/* Return: number of streams that are reported to the viewer. A trace's metadata precedes its first
 * stream. */
static uint32_t announce_new(struct follow *f, struct known_session *session)
{
	struct known_stream *stream;
	struct known_trace *trace;
	uint32_t nr = 0;

	list_for_each(trace, &session->traces, node)
		list_for_each(stream, &trace->streams, node) {
			if (stream->announced)
				continue;
			if (!trace->announced) {
				tunnel_announce(f, trace, trace->id, "metadata");
				trace->announced = true;
				nr++;
			}
			tunnel_announce(f, trace, stream->id, stream->channel);
			stream->announced = true;
			stream->joined_ts = session->reported_ts;
			nr++;
		}
	session->nr_new = 0;
	session->notified = false;
	return nr;
}

static void out_news(struct follow *f, struct known_session *session, uint32_t none)
{
	struct view_streams head;
	uint32_t nr;

	out_streams(f, none, 0);
	nr = announce_new(f, session);
	if (!nr)
		return;
	head = (struct view_streams){ htobe32(VIEW_STREAMS), htobe32(nr) };
	memcpy(f->out, &head, sizeof(head));
}

static int on_attach(struct follow *f)
{
	const struct view_attach *req = (const struct view_attach *)f->body;
	struct known_session *session = known_session(&f->known, be64toh(req->session));
	uint32_t status;
	int ret;

	if (!session || session->generation != f->known.generation)
		return out_streams(f, VIEW_NO_SUCH_SESSION, 0), 0;
	ret = relay_attach(f, session, be64toh(req->since), be32toh(req->from), &status);
	if (ret < 0)
		return ret;
	if (status != VIEW_ATTACHED)
		return out_streams(f, status, 0), 0;
	session->attached = true;
	out_news(f, session, VIEW_ATTACHED);
	return 0;
}

static int on_new_streams(struct follow *f)
{
	struct known_session *session = known_session(&f->known, body_id(f));
	int ret;

	if (!session || !session->attached)
		return out_streams(f, VIEW_STREAMS_ERROR, 0), 0;
	ret = relay_news(f, session);
	if (ret == 0)
		out_news(f, session, session->over ? VIEW_STREAMS_END : VIEW_NO_STREAMS);
	return ret;
}

/* An unreachable or silent relay is no error here: the viewer is about to end. */
static int relay_detach(struct follow *f, uint64_t relay_id, uint32_t *ret_status)
{
	int ret;

	f->link->silent_ms = DETACH_MS;
	ret = request_id(f, VIEW_DETACH_SESSION, relay_id);
	if (ret == 0)
		ret = link_read(f->link, ret_status, sizeof(*ret_status));
	f->link->silent_ms = LINK_SILENT_MS;
	if (!is_lost(ret))
		return ret;
	link_close(f->link);
	*ret_status = htobe32(VIEW_DETACHED);
	return 0;
}

static int on_detach(struct follow *f)
{
	struct known_session *session = known_session(&f->known, body_id(f));
	uint32_t status = htobe32(VIEW_NOT_ATTACHED);
	int ret = 0;

	if (session && session->attached && session->over)
		status = htobe32(VIEW_DETACHED);
	else if (session && session->attached)
		ret = relay_detach(f, session->relay_id, &status);
	if (session && ret == 0)
		session->attached = false;
	out_add(f, &status, sizeof(status));
	return ret;
}

/* --- the viewer's questions: data ----------------------------------------------------------- */

static int tunnel_on_metadata(struct follow *f)
{
	struct known_trace *trace = known_trace(&f->known, body_id(f));
	struct view_metadata reply = { .status = htobe32(VIEW_METADATA_ERROR) };
	int ret;

	if (!trace)
		return out_add(f, &reply, sizeof(reply)), 0;
	if (!trace->text_len && trace->generation == f->known.generation) {
		ret = relay_text(f, trace);
		if (ret < 0)
			return ret;
	}
	reply.len = htobe64(trace->text_len);
	reply.status = htobe32(trace->text_len ? VIEW_METADATA : VIEW_NO_METADATA);
	out_add(f, &reply, sizeof(reply));
	out_add(f, trace->text, trace->text_len);
	trace->text_len = 0;
	return 0;
}

/* A copy is kept, so that the viewer receives it even if the relay disconnects. Large packets are
 * requested in parts. */
static int tunnel_fetch(struct follow *f, struct known_stream *stream,
			const struct view_index *index)
{
	uint64_t bytes = be64toh(index->packet_size) / 8;
	uint32_t len, status;
	int ret = 0;

	if (bytes > MAX_QUEUED_PACKET ||
	    bytes > MAX_QUEUED_BYTES - MIN(f->known.held, MAX_QUEUED_BYTES))
		return 0;
	known_queue(&f->known, stream, (size_t)bytes);
	for (uint64_t done = 0; done < bytes && ret == 0; done += len) {
		len = (uint32_t)MIN(bytes - done, (uint64_t)MAX_LEN);
		ret = relay_bytes(f, stream, stream->offset + done, stream->packet + done, &len,
				  &status);
		if (ret == 0 && !len) {
			known_drop(&f->known, stream);
			return 0;
		}
	}
	if (ret < 0)
		known_drop(&f->known, stream);
	else
		known_store_head(stream, index, stream->packet, stream->packet_len);
	return ret;
}

static bool tunnel_is_packet(const struct view_index *index)
{
	return index->status == htobe32(VIEW_INDEX);
}

/* A packet that only reports losses ends at the time that the relay has reported before. */
static bool tunnel_is_same(const struct view_index *a, const struct view_index *b)
{
	return a->offset == b->offset && a->packet_size == b->packet_size &&
	       (a->timestamp_end == b->timestamp_end ||
		be64toh(a->packet_size) == sizeof(struct packet_header) * 8);
}

/* One of a stream that the viewer has read to its end; or of one that ended before the viewer
 * attached, as a relay announces a stream before the viewer has all that others have recorded up to
 * its begin. The viewer may have later packets of other streams by then. */
static bool tunnel_is_past(const struct follow *f, const struct known_stream *stream,
			   const struct view_index *index)
{
	bool is_bare = be64toh(index->packet_size) == sizeof(struct packet_header) * 8;

	return f->known.generation > 1 && tunnel_finds_past(stream->trace->session) &&
	       !stream->has_last &&
	       ((stream->again && be64toh(index->timestamp_end) <= stream->read_ts) ||
		be64toh(index->timestamp_end) <= stream->from_ts ||
		(!is_bare && be64toh(index->timestamp_begin) < stream->from_ts));
}

/* The packets up to the last one that was reported to the viewer. */
static bool tunnel_skips(struct known_stream *stream, const struct view_index *index)
{
	if (!stream->behind)
		return false;
	if (be64toh(index->timestamp_end) > be64toh(stream->last.timestamp_end)) {
		stream->behind = false;
		return false;
	}
	stream->behind = !tunnel_is_same(index, &stream->last);
	return true;
}

/* The next packet that was not reported to the viewer. */
static int next_index(struct follow *f, struct known_stream *stream, struct view_index *ret)
{
	int error = relay_index(f, stream->relay_id, ret);

	while (error == 0 && tunnel_is_packet(ret) && !known_is_empty(ret) &&
	       (tunnel_skips(stream, ret) || tunnel_is_past(f, stream, ret)))
		error = relay_index(f, stream->relay_id, ret);
	return error;
}

static void tunnel_set_reported(struct known_stream *stream, uint64_t time)
{
	struct known_session *session = stream->trace->session;

	stream->reported_ts = MAX(stream->reported_ts, time);
	session->reported_ts = MAX(session->reported_ts, stream->reported_ts);
}

static bool tunnel_is_reported(const struct known_stream *stream, uint64_t time)
{
	return time <= MAX(stream->reported_ts, stream->joined_ts);
}

static void bare_index(const struct known_stream *stream, uint32_t status, uint64_t time,
		       struct view_index *ret)
{
	*ret = (struct view_index){
		.timestamp_begin = htobe64(time),
		.timestamp_end = htobe64(time),
		.stream_class = htobe64(stream->stream_class),
		.status = htobe32(status),
	};
}

/* The relay has no data of the stream since it was restarted: none of it is older than data that
 * the sender has promised. */
static void absent_index(struct follow *f, struct known_stream *stream, struct view_index *ret)
{
	const struct known_session *session = stream->trace->session;
	bool is_over = session->over || session->beacon == UINT64_MAX;
	uint64_t apart = stream->id % APART_MAX * APART_TICKS + APART_FIRST;
	uint64_t beacon = session->beacon - MIN(apart, session->beacon);

	if (is_over || (session->beacon && tunnel_finds_past(session))) {
		if (!tunnel_finds_past(session))
			tunnel_miss_stream(f);
		bare_index(stream, VIEW_INDEX_END, 0, ret);
	} else if (stream->has_class && !tunnel_is_reported(stream, beacon)) {
		bare_index(stream, VIEW_INDEX_INACTIVE, beacon, ret);
	} else {
		bare_index(stream, VIEW_INDEX_RETRY, 0, ret);
	}
}

static void tunnel_set_class(struct known_stream *stream, const struct view_index *index)
{
	stream->stream_class = be64toh(index->stream_class);
	stream->has_class = true;
}

/* The viewer was already informed that there are no events up to a time after the packet's begin. A
 * packet that only reports losses can begin later instead. Return: 0 or -EPROTO. */
static int begin_in_time(struct known_stream *stream, struct view_index *index)
{
	if (be64toh(index->timestamp_begin) >= stream->reported_ts)
		return 0;
	if (!stream->packet || stream->packet_len != sizeof(stream->head) ||
	    !packet_is_set(&stream->head)) {
		log_error("an event arrived too late: the view ends; the trace contains it");
		return -EPROTO;
	}
	known_begin_at(stream, stream->reported_ts);
	index->timestamp_begin = htobe64(stream->reported_ts);
	index->timestamp_end = htobe64(MAX(be64toh(index->timestamp_end), stream->reported_ts));
	return 0;
}

static int tunnel_receive_packet(struct follow *f, struct known_stream *stream,
				 struct view_index *index)
{
	const struct view_index as_sent = *index;
	int ret;

	stream->offset = be64toh(index->offset);
	if (index->flags & htobe32(VIEW_NEW_METADATA)) {
		ret = relay_text(f, stream->trace);
		if (ret < 0)
			return ret;
	}
	tunnel_set_class(stream, index);
	stream->discarded = be64toh(index->events_discarded);
	ret = tunnel_fetch(f, stream, index);
	if (ret == 0)
		ret = begin_in_time(stream, index);
	if (ret < 0)
		return ret;
	stream->last = as_sent;
	stream->has_last = true;
	tunnel_set_reported(stream, be64toh(index->timestamp_end));
	return 0;
}

/* Only the form of the relay's empty packet is used: the viewer may have later times than the relay
 * knows of. */
static int tunnel_receive_empty(struct follow *f, struct known_stream *stream,
				const struct view_index *index)
{
	int ret;

	stream->offset = be64toh(index->offset);
	tunnel_set_class(stream, index);
	stream->discarded = be64toh(index->events_discarded);
	ret = stream->again ? 0 : tunnel_fetch(f, stream, index);
	known_drop(&f->known, stream);
	tunnel_set_reported(stream, be64toh(index->timestamp_end));
	return ret;
}

static void tunnel_end_stream(struct follow *f, struct known_stream *stream)
{
	struct known_trace *trace = stream->trace;

	trace->nr_active -= !stream->ended;
	stream->ended = true;
	if (!trace->nr_active)
		known_forget(&f->known, trace);
}

/* New streams are reported to the viewer before any later event; babeltrace 2.0.4 accepts that only
 * with a packet, so an empty one is sent. Return: whether there is something to report. */
static bool reply_news(struct follow *f, struct known_stream *stream, struct view_index *ret)
{
	struct known_session *session = stream->trace->session;

	if (!session->nr_new || (!session->notified && !packet_is_set(&stream->head)))
		return false;
	if (session->notified)
		bare_index(stream, VIEW_INDEX_RETRY, 0, ret);
	else
		known_make_empty(&f->known, stream, stream->reported_ts, ret);
	session->notified = true;
	ret->flags = htobe32(VIEW_NEW_STREAM);
	return true;
}

static int find_index(struct follow *f, struct known_stream *stream, struct view_index *ret)
{
	struct known_session *session = stream->trace->session;
	int error = 0;

	known_drop(&f->known, stream);
	if (!known_is_here(&f->known, stream)) {
		error = relay_beacon(f, session); /* first: no stream comes later that is older */
		if (error == 0)
			error = relay_news(f, session);
	}
	if (error < 0 || reply_news(f, stream, ret))
		return error;
	if (!known_is_here(&f->known, stream))
		return absent_index(f, stream, ret), 0;
	error = next_index(f, stream, ret);
	if (error < 0 || !tunnel_is_packet(ret))
		return error;
	if (!known_is_empty(ret))
		return tunnel_receive_packet(f, stream, ret);
	error = tunnel_receive_empty(f, stream, ret);
	if (error == 0)
		error = relay_news(f, session);
	if (error == 0 && !reply_news(f, stream, ret))
		bare_index(stream, VIEW_INDEX_RETRY, 0, ret);
	return error;
}

static void tunnel_receive_beacon(struct known_stream *stream, struct view_index *index)
{
	struct known_session *session = stream->trace->session;
	uint64_t time = be64toh(index->timestamp_end);

	session->beacon = MAX(session->beacon, time);
	tunnel_set_class(stream, index);
	if (tunnel_is_reported(stream, time))
		bare_index(stream, VIEW_INDEX_RETRY, 0, index);
	tunnel_set_reported(stream, time);
}

static int on_index(struct follow *f)
{
	struct known_stream *stream = known_stream(&f->known, body_id(f));
	struct view_index reply = { .status = htobe32(VIEW_INDEX_ERROR) };
	int ret;

	if (!stream && known_trace(&f->known, body_id(f)))
		reply.status = htobe32(VIEW_INDEX_END);
	if (!stream)
		return out_add(f, &reply, sizeof(reply)), 0;
	ret = find_index(f, stream, &reply);
	if (ret < 0)
		return ret;
	if (reply.status == htobe32(VIEW_INDEX_INACTIVE))
		tunnel_receive_beacon(stream, &reply);
	if (reply.status == htobe32(VIEW_INDEX_END))
		tunnel_end_stream(f, stream);
	out_add(f, &reply, sizeof(reply));
	return 0;
}

static void out_packet(struct follow *f, uint32_t status, const void *data, uint32_t len)
{
	struct view_packet reply = { .status = htobe32(status), .len = htobe32(len) };

	out_add(f, &reply, sizeof(reply));
	if (len)
		out_add(f, data, len);
}

/* The relay serves the packet that it reported last: after a restart, it must be this one. */
static int find_again(struct follow *f, struct known_stream *stream)
{
	struct view_index index;
	int ret = 0;

	while (ret == 0 && !known_is_here(&f->known, stream) && !stream->trace->session->over) {
		ret = relay_news(f, stream->trace->session);
		if (ret == 0)
			ret = link_rest(f->link, FIRST_REST_MS);
	}
	while (ret == 0 && stream->behind && known_is_here(&f->known, stream)) {
		ret = relay_index(f, stream->relay_id, &index);
		if (ret == 0 &&
		    (!tunnel_is_packet(&index) || tunnel_is_same(&index, &stream->last)))
			stream->behind = false;
	}
	return ret;
}

static int from_relay(struct follow *f, struct known_stream *stream, uint64_t offset, uint32_t len)
{
	AUTO_FREE uint8_t *data = xalloc((size_t)len + 1);
	uint32_t status = VIEW_DATA_ERROR;
	int ret = find_again(f, stream);

	if (ret == 0)
		ret = relay_bytes(f, stream, offset, data, &len, &status);
	if (ret == 0)
		out_packet(f, status, data, len);
	if (ret == 0 && len && offset == stream->offset)
		known_store_head(stream, &stream->last, data, len);
	return ret;
}

static int tunnel_on_packet(struct follow *f)
{
	const struct view_get_packet *req = (const struct view_get_packet *)f->body;
	struct known_stream *stream = known_stream(&f->known, be64toh(req->stream));
	uint64_t at, offset = be64toh(req->offset);
	uint32_t len = MIN(be32toh(req->len), MAX_LEN);

	if (!stream || offset < stream->offset)
		return out_packet(f, VIEW_DATA_ERROR, NULL, 0), 0;
	if (!stream->packet)
		return from_relay(f, stream, offset, len);
	at = offset - stream->offset;
	if (at >= stream->packet_len)
		return out_packet(f, VIEW_DATA_ERROR, NULL, 0), 0;
	len = (uint32_t)MIN((uint64_t)len, stream->packet_len - at);
	out_packet(f, VIEW_DATA, stream->packet + at, len);
	if (at + len == stream->packet_len)
		known_drop(&f->known, stream);
	return 0;
}

/* --- all of them ---------------------------------------------------------------------------- */

static const struct {
	int (*answer)(struct follow *f);
	size_t bytes;
} commands[] = {
	[VIEW_CONNECT] = { tunnel_on_connect, sizeof(struct view_connect) },
	[VIEW_LIST_SESSIONS] = { on_list, 0 },
	[VIEW_ATTACH_SESSION] = { on_attach, sizeof(struct view_attach) },
	[VIEW_GET_NEXT_INDEX] = { on_index, sizeof(uint64_t) },
	[VIEW_GET_PACKET] = { tunnel_on_packet, sizeof(struct view_get_packet) },
	[VIEW_GET_METADATA] = { tunnel_on_metadata, sizeof(uint64_t) },
	[VIEW_GET_NEW_STREAMS] = { on_new_streams, sizeof(uint64_t) },
	[VIEW_CREATE_SESSION] = { on_create, 0 },
	[VIEW_DETACH_SESSION] = { on_detach, sizeof(uint64_t) },
};

static int viewer_move(int fd, void *data, size_t len, bool sends)
{
	for (size_t done = 0; done < len;) {
		struct pollfd poll_fd = { fd, sends ? POLLOUT : POLLIN, 0 };
		ssize_t n = sends ? send(fd, (uint8_t *)data + done, len - done, MSG_NOSIGNAL) :
				    recv(fd, (uint8_t *)data + done, len - done, 0);

		if (n == 0)
			return -ECANCELED;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -ECANCELED;
		if (n < 0)
			poll(&poll_fd, 1, -1);
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int read_request(struct follow *f)
{
	struct view_request head;
	int ret = viewer_move(f->fd, &head, sizeof(head), false);

	if (ret < 0)
		return ret;
	f->command = be32toh(head.command);
	if (f->command >= ARRAY_SIZE(commands) || !commands[f->command].answer ||
	    be64toh(head.bytes) != commands[f->command].bytes ||
	    f->greeted == (f->command == VIEW_CONNECT))
		return -EPROTO;
	return viewer_move(f->fd, f->body, commands[f->command].bytes, false);
}

/* The request is repeated when the relay is back. */
static int tunnel_reply(struct follow *f)
{
	struct err err = { 0 };
	int ret = 0;

	if (!link_is_open(f->link) && !f->greeted && link_open(f->link, &err)) {
		log_error("%s", err.text);
		return -EPROTO;
	}
	do {
		if (ret < 0)
			ret = tunnel_resume(f, ret);
		f->out_len = 0;
		if (ret == 0)
			ret = commands[f->command].answer(f);
	} while (is_lost(ret) && tunnel_is_successor(f));
	return ret;
}

/* The viewer has closed the connection, or stopped waiting for a reply (Ctrl-C) and detaches. */
static void tunnel_detach(struct follow *f)
{
	int ret = 0;

	link_close(f->link);
	while (ret == 0 && read_request(f) == 0 && f->command == VIEW_DETACH_SESSION) {
		f->out_len = 0;
		ret = on_detach(f);
		if (ret == 0)
			ret = viewer_move(f->fd, f->out, f->out_len, true);
	}
}

int follow_serve(struct link *link, int fd)
{
	struct follow f = { .link = link, .fd = fd };
	int ret = 0;

	known_init(&f.known);
	link->viewer_fd = fd;
	while (ret == 0) {
		ret = read_request(&f);
		if (ret == 0)
			ret = tunnel_reply(&f);
		if (ret == -ECANCELED)
			tunnel_detach(&f);
		if (ret == 0)
			ret = viewer_move(fd, f.out, f.out_len, true);
	}
	link->viewer_fd = -1;
	link_close(link);
	known_fini(&f.known);
	free(f.out);
	return ret == -ECANCELED && !f.is_incomplete ? 0 :
	       ret == 0 || ret == -ECANCELED	     ? -ENOENT :
						       ret;
}
