/* SPDX-License-Identifier: GPL-2.0-only */
#include "known.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define EMPTY_OFFSET (1ull << 62) /* of a packet that is in no file */

void known_init(struct known *known)
{
	*known = (struct known){ .next_id = 1, .generation = 1 };
	list_init(&known->sessions);
	idmap_init(&known->streams);
}

static void known_free_stream(struct known *known, struct known_stream *stream)
{
	known->nr_streams--;
	stream->trace->session->nr_new -= !stream->announced;
	list_remove(&stream->node);
	idmap_remove(&stream->id_node);
	known_drop(known, stream);
	free(stream->channel);
	free(stream);
}

static void known_free_trace(struct known *known, struct known_trace *trace)
{
	struct known_stream *stream;

	while ((stream = list_first(&trace->streams, struct known_stream, node)))
		known_free_stream(known, stream);
	list_remove(&trace->node);
	free(trace->path);
	free(trace->text);
	free(trace);
}

static void known_free_past(struct known_session *session, struct known_past *past)
{
	session->nr_past--;
	list_remove(&past->node);
	free(past->path);
	free(past->channel);
	free(past);
}

/* A relay does not announce those that end before known_since(), which only grows. */
static void known_prune(struct known_session *session)
{
	const uint64_t since = known_since(session);
	struct known_past *past, *next;

	list_for_each_safe(past, next, &session->past, node)
		if (past->end_ts < since)
			known_free_past(session, past);
}

static void known_remember(const struct known_stream *stream)
{
	struct known_session *session = stream->trace->session;
	struct known_past *past;

	if (session->nr_past == KNOWN_MAX_STREAMS)
		known_free_past(session, list_first(&session->past, struct known_past, node));
	past = xalloc(sizeof(*past));
	past->path = xstrdup(stream->trace->path);
	past->channel = xstrdup(stream->channel);
	past->end_ts = MAX(stream->reported_ts, stream->read_ts);
	list_append(&session->past, &past->node);
	session->nr_past++;
}

void known_forget(struct known *known, struct known_trace *trace)
{
	const struct known_stream *stream;

	known_prune(trace->session);
	list_for_each(stream, &trace->streams, node)
		known_remember(stream);
	known_free_trace(known, trace);
}

void known_fini(struct known *known)
{
	struct known_session *session;
	struct known_trace *trace;
	struct known_past *past;

	while ((session = list_first(&known->sessions, struct known_session, node))) {
		while ((trace = list_first(&session->traces, struct known_trace, node)))
			known_free_trace(known, trace);
		while ((past = list_first(&session->past, struct known_past, node)))
			known_free_past(session, past);
		list_remove(&session->node);
		free(session);
	}
	idmap_fini(&known->streams);
}

/* --- to be found ---------------------------------------------------------------------------- */

/* Two sessions may have one name: each is found once in a listing, and after a restart of the relay
 * by its lasting id, if it has one. */
static bool is_listed(const struct known *known, const struct known_session *session,
		      const struct view_session_entry *names)
{
	uint64_t id = be64toh(names->id);
	bool is_lasting = id & session->relay_id & VIEW_LASTING_ID;

	return memcmp(session->names.host, names->host, sizeof(names->host)) == 0 &&
	       memcmp(session->names.name, names->name, sizeof(names->name)) == 0 &&
	       (session->relay_id == id ||
		(session->generation != known->generation && !is_lasting));
}

struct known_session *known_list(struct known *known, const struct view_session_entry *names)
{
	struct known_session *session;

	list_for_each(session, &known->sessions, node)
		if (is_listed(known, session, names))
			break;
	if (&session->node == &known->sessions) {
		if (known->nr_sessions == KNOWN_MAX_SESSIONS)
			return NULL;
		known->nr_sessions++;
		session = xalloc(sizeof(*session));
		session->id = known->next_id++;
		session->names = *names;
		list_init(&session->traces);
		list_init(&session->past);
		list_append(&known->sessions, &session->node);
	}
	session->relay_id = be64toh(names->id);
	session->generation = known->generation;
	return session;
}

struct known_session *known_session(const struct known *known, uint64_t id)
{
	struct known_session *session;

	list_for_each(session, &known->sessions, node)
		if (session->id == id)
			return session;
	return NULL;
}

struct known_trace *known_trace(const struct known *known, uint64_t id)
{
	struct known_session *session;
	struct known_trace *trace;

	list_for_each(session, &known->sessions, node)
		list_for_each(trace, &session->traces, node)
			if (trace->id == id)
				return trace;
	return NULL;
}

struct known_stream *known_stream(const struct known *known, uint64_t id)
{
	struct idmap_node *node = idmap_find(&known->streams, id);

	return node ? container_of(node, struct known_stream, id_node) : NULL;
}

bool known_is_here(const struct known *known, const struct known_stream *stream)
{
	return stream->generation == known->generation;
}

uint64_t known_position(const struct known_session *session)
{
	const struct known_stream *stream;
	const struct known_trace *trace;
	uint64_t position = UINT64_MAX;

	list_for_each(trace, &session->traces, node)
		list_for_each(stream, &trace->streams, node)
			if (!stream->ended)
				position = MIN(position, MAX(stream->reported_ts, stream->from_ts));
	return position == UINT64_MAX ? session->reported_ts : position;
}

uint64_t known_since(const struct known_session *session)
{
	uint64_t position = known_position(session);

	return position ? position - 1 : 0;
}

/* --- streams of the relay's ----------------------------------------------------------------- */

static struct known_trace *known_trace_of(struct known *known, struct known_session *session,
					  const struct view_stream_entry *entry)
{
	struct known_trace *trace;

	list_for_each(trace, &session->traces, node)
		if (trace->generation == known->generation ?
			    trace->relay_trace == be64toh(entry->trace) :
			    strncmp(trace->path, entry->path, sizeof(entry->path)) == 0)
			break;
	if (&trace->node == &session->traces) {
		trace = xalloc(sizeof(*trace));
		trace->session = session;
		trace->id = known->next_id++;
		trace->path = xasprintf("%.*s", (int)sizeof(entry->path), entry->path);
		list_init(&trace->streams);
		list_append(&session->traces, &trace->node);
	}
	if (trace->generation != known->generation) {
		trace->generation = known->generation;
		trace->relay_trace = be64toh(entry->trace);
		trace->read = 0;
	}
	return trace;
}

/* The stream that the relay does not have yet, whose name is that of @entry and @tail. */
static struct known_stream *absent_stream(const struct known *known,
					  const struct known_trace *trace,
					  const struct view_stream_entry *entry, const char *tail)
{
	size_t len = strnlen(entry->channel, sizeof(entry->channel));
	struct known_stream *stream;

	list_for_each(stream, &trace->streams, node)
		if (!known_is_here(known, stream) && !stream->ended &&
		    strncmp(stream->channel, entry->channel, len) == 0 &&
		    strcmp(stream->channel + len, tail) == 0)
			return stream;
	return NULL;
}

/* By either name: see stream_of(). */
static bool is_of_file(const char *known, const char *channel)
{
	const char *number = strrchr(channel, '_');
	size_t len = strlen(channel);

	return strncmp(known, channel, len) == 0 &&
	       (!known[len] || (number && strcmp(known + len, number) == 0));
}

/* The viewer may have read it to its end in this trace, or in one that is forgotten. */
static void known_find_end(const struct known *known, struct known_stream *stream)
{
	const struct known_trace *trace = stream->trace;
	const struct known_stream *other;
	const struct known_past *past;

	list_for_each(other, &trace->streams, node)
		if (other->ended && is_of_file(other->channel, stream->channel)) {
			stream->again = true;
			stream->read_ts = MAX(stream->read_ts, other->reported_ts);
		}
	list_for_each(past, &trace->session->past, node)
		if (known->generation > 1 && strcmp(past->path, trace->path) == 0 &&
		    is_of_file(past->channel, stream->channel)) {
			stream->again = true;
			stream->read_ts = MAX(stream->read_ts, past->end_ts);
		}
}

/* Of a stream that has ended the relay has only the names of files: "chan_0_0" is the file of channel
 * "chan_0" on CPU 0, or the first one of channel "chan" on that CPU. */
static struct known_stream *stream_of(struct known *known, struct known_trace *trace,
				      const struct view_stream_entry *entry)
{
	struct known_stream *stream = absent_stream(known, trace, entry, "");
	const char *number = memchr(entry->channel, '\0', sizeof(entry->channel)) ?
				     strrchr(entry->channel, '_') :
				     NULL;

	if (!stream && number)
		stream = absent_stream(known, trace, entry, number);
	if (stream)
		return stream;
	if (known->nr_streams == KNOWN_MAX_STREAMS)
		return NULL;
	known->nr_streams++;
	stream = xalloc(sizeof(*stream));
	stream->trace = trace;
	stream->id = known->next_id++;
	stream->channel = xasprintf("%.*s", (int)sizeof(entry->channel), entry->channel);
	stream->from_ts = known_position(trace->session);
	known_find_end(known, stream);
	idmap_add(&known->streams, &stream->id_node, stream->id);
	list_append(&trace->streams, &stream->node);
	trace->nr_active++;
	trace->session->nr_new++;
	return stream;
}

int known_add(struct known *known, struct known_session *session,
	      const struct view_stream_entry *entry)
{
	struct known_trace *trace = known_trace_of(known, session, entry);
	struct known_stream *stream;

	if (entry->is_metadata) {
		trace->relay_id = be64toh(entry->id);
		return 0;
	}
	stream = stream_of(known, trace, entry);
	if (!stream)
		return -EPROTO;
	stream->relay_id = be64toh(entry->id);
	stream->generation = known->generation;
	stream->behind = stream->has_last;
	return 0;
}

/* --- packets -------------------------------------------------------------------------------- */

void known_drop(struct known *known, struct known_stream *stream)
{
	known->held -= stream->packet_len;
	stream->packet_len = 0;
	free(TAKE(stream->packet));
}

void known_queue(struct known *known, struct known_stream *stream, size_t len)
{
	known_drop(known, stream);
	stream->packet = xalloc(len + 1);
	stream->packet_len = len;
	known->held += len;
}

bool known_is_empty(const struct view_index *index)
{
	return be64toh(index->offset) >= EMPTY_OFFSET;
}

static bool fits(const struct packet_header *h, const struct view_index *index)
{
	return h->magic == PACKET_MAGIC && h->form == PACKET_FORM &&
	       h->packet_size == be64toh(index->packet_size) &&
	       h->content_size == be64toh(index->content_size) &&
	       h->timestamp_end == be64toh(index->timestamp_end) &&
	       h->stream_id == be64toh(index->stream_class);
}

void known_store_head(struct known_stream *stream, const struct view_index *index,
		      const void *bytes, size_t len)
{
	struct packet_header head;

	if (len < sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	if (fits(&head, index))
		stream->head = head;
}

void known_make_empty(struct known *known, struct known_stream *stream, uint64_t time,
		      struct view_index *ret)
{
	struct packet_header *head = &stream->head;

	head->timestamp_begin = head->timestamp_end = time;
	packet_set_body(head, 0);
	stream->offset = EMPTY_OFFSET;
	known_queue(known, stream, sizeof(*head));
	memcpy(stream->packet, head, sizeof(*head));
	*ret = (struct view_index){
		.offset = htobe64(EMPTY_OFFSET),
		.packet_size = htobe64(head->packet_size),
		.content_size = htobe64(head->packet_size),
		.timestamp_begin = htobe64(time),
		.timestamp_end = htobe64(time),
		.events_discarded = htobe64(stream->discarded),
		.stream_class = htobe64(stream->stream_class),
		.status = htobe32(VIEW_INDEX),
	};
}

void known_begin_at(struct known_stream *stream, uint64_t time)
{
	stream->head.timestamp_begin = time;
	memcpy(stream->packet, &stream->head, sizeof(stream->head));
}
