/* SPDX-License-Identifier: GPL-2.0-only */
/* viewer_answer.c - replies to the requests of a viewer: one function for each command. */
#include "viewer.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "viewpast.h"

#define STATUS_BYTES sizeof(uint32_t)

static int reply_status(struct viewer *v, uint32_t status)
{
	uint32_t *reply = viewer_reply(v, STATUS_BYTES);

	if (!reply)
		return -ENOMEM;
	*reply = htobe32(status);
	return 0;
}

/* --- introductions ------------------------------------------------------------------------ */

static int viewer_answer_on_connect(struct viewer *v, const void *body)
{
	const struct view_connect *req = body;
	struct view_connect *reply;

	if (v->greeted || be32toh(req->major) != VIEW_MAJOR)
		return -EPROTO;
	v->greeted = true;
	v->minor = MIN(be32toh(req->minor), VIEW_MINOR);
	reply = viewer_reply(v, sizeof(*reply));
	if (!reply)
		return -ENOMEM;
	reply->viewer = htobe64(++v->viewers->next_id);
	reply->major = htobe32(VIEW_MAJOR);
	reply->minor = htobe32(v->minor);
	return 0;
}

static int on_create_session(struct viewer *v, const void *body)
{
	(void)body;
	v->created = true;
	return reply_status(v, VIEW_CREATED);
}

/* --- which sessions ------------------------------------------------------------------------ */

struct listing {
	const struct viewer *viewer;
	uint8_t *at; /* NULL: only count */
	size_t bytes, room;
	uint32_t nr;
};

static size_t write_short(uint8_t *at, const struct live_session *s, unsigned int streams)
{
	struct view_session_entry entry = {
		.id = htobe64(s->id),
		.period_us = htobe32(s->period_us),
		.viewers = htobe32(s->nr_viewers),
		.streams = htobe32(streams),
	};

	/* names that are longer are cut off; the last byte stays a NUL */
	memcpy(entry.host, s->host, MIN(strlen(s->host), sizeof(entry.host) - 1));
	memcpy(entry.name, s->name, MIN(strlen(s->name), sizeof(entry.name) - 1));
	if (at)
		memcpy(at, &entry, sizeof(entry));
	return sizeof(entry);
}

static size_t write_long(uint8_t *at, const struct live_session *s, unsigned int streams)
{
	size_t host = strlen(s->host), name = strlen(s->name);
	struct view_session_long entry = {
		.id = htobe64(s->id),
		.period_us = htobe32(s->period_us),
		.viewers = htobe32(s->nr_viewers),
		.streams = htobe32(streams),
		.host_bytes = htobe32((uint32_t)host),
		.name_bytes = htobe32((uint32_t)name),
		.format = htobe32(s->ctf_2),
	};

	if (at) {
		memcpy(at, &entry, sizeof(entry));
		memcpy(at + sizeof(entry), s->host, host);
		memcpy(at + sizeof(entry) + host, s->name, name);
	}
	return sizeof(entry) + host + name;
}

static void list_one(const struct live_session *s, unsigned int streams, void *data)
{
	struct listing *to = data;
	bool is_long = to->viewer->minor >= VIEW_MINOR_LONG_NAMES;
	size_t bytes = (is_long ? write_long : write_short)(NULL, s, streams);

	if (s->ctf_2 && to->viewer->minor < VIEW_MINOR_CTF_2)
		return;
	if (to->at && bytes > to->room - to->bytes)
		return; /* it came meanwhile */
	if (to->at)
		(is_long ? write_long : write_short)(to->at + to->bytes, s, streams);
	to->bytes += bytes;
	to->nr++;
}

static int on_list_sessions(struct viewer *v, const void *body)
{
	struct listing count = { .viewer = v }, listing = { .viewer = v };
	uint32_t nr;
	uint8_t *reply;

	(void)body;
	live_each(v->viewers->live, &v->view_acl, list_one, &count);
	reply = viewer_reply(v, sizeof(nr) + count.bytes);
	if (!reply)
		return -ENOMEM;
	listing.at = reply + sizeof(nr);
	listing.room = count.bytes;
	live_each(v->viewers->live, &v->view_acl, list_one, &listing);
	nr = htobe32(listing.nr);
	memcpy(reply, &nr, sizeof(nr));
	v->out_end = sizeof(nr) + listing.bytes;
	return 0;
}

static struct vsession *viewer_answer_find_session(const struct viewer *v, uint64_t id)
{
	struct vsession *vsession;

	list_for_each(vsession, &v->sessions, node)
		if (vsession->id == id)
			return vsession;
	return NULL;
}

/* --- which streams -------------------------------------------------------------------------- */

static void write_stream(struct view_stream_entry *ret, const struct vtrace *vtrace, uint64_t id,
			 const char *channel, int cpu)
{
	const char *path = vtrace->trace->path;

	ret->id = htobe64(id);
	ret->trace = htobe64(vtrace->id);
	memcpy(ret->path, path, MIN(strlen(path), sizeof(ret->path) - 1));
	if (cpu < 0) {
		ret->is_metadata = htobe32(1);
		memcpy(ret->channel, "metadata", 8);
	} else {
		snprintf(ret->channel, sizeof(ret->channel), "%s_%d", channel, cpu);
	}
}

/* As many as fit, metadata streams beside the first one of their trace. */
static uint32_t write_streams(struct viewer *v, struct vsession *vsession,
			      struct view_stream_entry *to)
{
	struct vstream *vs;
	uint32_t nr = 0;

	while (nr + 2 <= VIEWER_MAX_STREAMS &&
	       (vs = vsession_next(vsession, &v->viewers->files, &v->next_id))) {
		const struct vtrace *vtrace = vs->vtrace;

		if (vs->id == vtrace->id + 1) /* just made for it */
			write_stream(&to[nr++], vtrace, vtrace->id, NULL, -1);
		write_stream(&to[nr++], vtrace, vs->id, vs->stream->config.channel,
			     (int)vs->stream->cpu);
	}
	return nr;
}

/* Whether the viewer could not read the session. That shows with its first metadata. */
static bool is_hidden(const struct viewer *v, const struct vsession *vsession)
{
	return v->minor < VIEW_MINOR_CTF_2 && live_session_is_ctf_2(vsession->session);
}

static int reply_streams(struct viewer *v, struct vsession *vsession, uint32_t status)
{
	bool hidden = vsession && is_hidden(v, vsession);
	bool more = vsession && !hidden && viewpast_find(vsession) && vsession_has_next(vsession);
	size_t most = more ? VIEWER_MAX_STREAMS * sizeof(struct view_stream_entry) : 0;
	struct view_streams *reply = viewer_reply(v, sizeof(*reply) + most);
	uint32_t nr = 0;

	if (!reply)
		return -ENOMEM;
	if (vsession)
		vsession->notified = false;
	if (more)
		nr = write_streams(v, vsession, (struct view_stream_entry *)(reply + 1));
	if (vsession && !nr && status != VIEW_ATTACHED)
		status = hidden			    ? VIEW_STREAMS_END :
			 viewpast_lacks(vsession)   ? VIEW_STREAMS_ERROR :
			 vsession_is_over(vsession) ? VIEW_STREAMS_END :
						      VIEW_NO_STREAMS;
	reply->status = htobe32(nr ? VIEW_STREAMS : status);
	reply->nr = htobe32(nr);
	v->out_end = sizeof(*reply) + nr * sizeof(struct view_stream_entry);
	return 0;
}

static int on_attach_session(struct viewer *v, const void *body)
{
	const struct view_attach *req = body;
	uint64_t id = be64toh(req->session);
	uint32_t from = be32toh(req->from);
	struct vsession *vsession;

	if (!v->created)
		return reply_streams(v, NULL, VIEW_NOT_CREATED);
	if (from != VIEW_FROM_BEGIN && from != VIEW_FROM_NOW)
		return reply_streams(v, NULL, VIEW_BAD_FROM);
	if (viewer_answer_find_session(v, id))
		return reply_streams(v, NULL, VIEW_ATTACHED_ALREADY);
	if (v->nr_sessions == VIEWER_MAX_SESSIONS)
		return reply_streams(v, NULL, VIEW_NO_SUCH_SESSION);
	vsession = vsession_new(v->viewers->live, id, &v->view_acl, from == VIEW_FROM_BEGIN,
				be64toh(req->since));
	if (!vsession)
		return reply_streams(v, NULL, VIEW_NO_SUCH_SESSION);
	if (is_hidden(v, vsession)) {
		vsession_free(vsession);
		return reply_streams(v, NULL, VIEW_NO_SUCH_SESSION);
	}
	list_append(&v->sessions, &vsession->node);
	v->nr_sessions++;
	return reply_streams(v, vsession, VIEW_ATTACHED);
}

static int on_get_new_streams(struct viewer *v, const void *body)
{
	uint64_t id;

	memcpy(&id, body, sizeof(id));
	return reply_streams(v, viewer_answer_find_session(v, be64toh(id)), VIEW_STREAMS_ERROR);
}

static int on_detach_session(struct viewer *v, const void *body)
{
	struct vsession *vsession;
	uint64_t id;

	memcpy(&id, body, sizeof(id));
	vsession = viewer_answer_find_session(v, be64toh(id));
	if (!vsession)
		return reply_status(v, VIEW_NOT_ATTACHED);
	vsession_free(vsession);
	v->nr_sessions--;
	return reply_status(v, VIEW_DETACHED);
}

/* --- data ----------------------------------------------------------------------------------- */

static struct vtrace *viewer_answer_find_trace(const struct viewer *v, uint64_t id)
{
	struct vsession *vsession;
	struct vtrace *vtrace;

	list_for_each(vsession, &v->sessions, node)
		list_for_each(vtrace, &vsession->traces, node)
			if (vtrace->id == id)
				return vtrace;
	return NULL;
}

static struct vstream *viewer_answer_find_stream(const struct viewer *v, uint64_t id)
{
	struct vsession *vsession;
	struct vtrace *vtrace;
	struct vstream *vs;

	list_for_each(vsession, &v->sessions, node)
		list_for_each(vtrace, &vsession->traces, node)
			list_for_each(vs, &vtrace->streams, node)
				if (vs->id == id)
					return vs;
	return NULL;
}

static int on_get_metadata(struct viewer *v, const void *body)
{
	struct view_metadata *reply;
	struct vtrace *vtrace;
	size_t len = 0;
	uint32_t status = VIEW_METADATA_ERROR;
	uint64_t id;

	memcpy(&id, body, sizeof(id));
	vtrace = viewer_answer_find_trace(v, be64toh(id));
	if (vtrace) {
		len = (size_t)MIN(vtrace_unsent(vtrace), (uint64_t)VIEWER_MAX_DATA);
		status = len ? VIEW_METADATA : VIEW_NO_METADATA;
	}
	reply = viewer_reply(v, sizeof(*reply) + len);
	if (!reply)
		return -ENOMEM;
	if (len && vtrace_read(vtrace, reply + 1, len) < 0) {
		status = VIEW_METADATA_ERROR;
		len = 0;
		v->out_end = sizeof(*reply);
	}
	reply->len = htobe64(len);
	reply->status = htobe32(status);
	return 0;
}

/* Metadata has no packets. Its reply has the position up to which the session is known, for a
 * viewer of an earlier relay, which may know streams that are not registered at this one. */
static void metadata_index(const struct vtrace *vtrace, struct view_index *ret)
{
	ret->status = htobe32(vtrace ? VIEW_INDEX_END : VIEW_INDEX_ERROR);
	if (vtrace)
		ret->timestamp_end = htobe64(live_session_beacon(vtrace->vsession->session));
}

static int on_get_next_index(struct viewer *v, const void *body)
{
	struct view_index *reply = viewer_reply(v, sizeof(*reply));
	struct vstream *vs;
	uint64_t id;
	int ret;

	memcpy(&id, body, sizeof(id));
	vs = viewer_answer_find_stream(v, be64toh(id));
	if (!reply)
		return -ENOMEM;
	if (!vs)
		return metadata_index(viewer_answer_find_trace(v, be64toh(id)), reply), 0;
	ret = vstream_index(vs, reply);
	if (ret == -ESTALE)
		log_warn_some("an event was received after a beacon of a later time: a viewer that "
			      "has received the beacon is disconnected; the trace has the event");
	return ret;
}

static int reply_packet(struct viewer *v, struct view_packet **ret, uint32_t status, uint32_t len)
{
	*ret = viewer_reply(v, sizeof(**ret) + len);
	if (!*ret)
		return -ENOMEM;
	(*ret)->status = htobe32(status);
	(*ret)->len = htobe32(len);
	return 0;
}

/* The bytes of it that lie in the packet that is being fetched. */
static uint32_t within(const struct vstream *vs, uint64_t offset, uint32_t len)
{
	uint64_t left;

	if (offset < vs->offset || offset - vs->offset >= vs->bytes)
		return 0;
	left = vs->bytes - (offset - vs->offset);
	return (uint32_t)MIN(MIN((uint64_t)len, left), (uint64_t)VIEWER_MAX_DATA);
}

static int on_get_packet(struct viewer *v, const void *body)
{
	const struct view_get_packet *req = body;
	uint64_t offset = be64toh(req->offset);
	struct vstream *vs = viewer_answer_find_stream(v, be64toh(req->stream));
	uint32_t len = vs ? within(vs, offset, be32toh(req->len)) : 0;
	bool early = vs && vs->vtrace->needed > vs->vtrace->sent;
	struct view_packet *reply;
	int ret;

	if (early || !len) {
		ret = reply_packet(v, &reply, VIEW_DATA_ERROR, 0);
		if (ret == 0 && early)
			reply->flags = htobe32(VIEW_NEW_METADATA);
		return ret;
	}
	ret = reply_packet(v, &reply, VIEW_DATA, len);
	if (ret < 0)
		return ret;
	ret = vstream_read(vs, offset, reply + 1, len);
	if (ret == 0 && offset + len == vs->offset + vs->bytes)
		vstream_close(vs);
	return ret;
}

/* --- all of them ----------------------------------------------------------------------------- */

static const struct {
	int (*answer)(struct viewer *v, const void *body);
	int bytes;
} commands[] = {
	[VIEW_CONNECT] = { viewer_answer_on_connect, sizeof(struct view_connect) },
	[VIEW_LIST_SESSIONS] = { on_list_sessions, 0 },
	[VIEW_ATTACH_SESSION] = { on_attach_session, sizeof(struct view_attach) },
	[VIEW_GET_NEXT_INDEX] = { on_get_next_index, sizeof(uint64_t) },
	[VIEW_GET_PACKET] = { on_get_packet, sizeof(struct view_get_packet) },
	[VIEW_GET_METADATA] = { on_get_metadata, sizeof(uint64_t) },
	[VIEW_GET_NEW_STREAMS] = { on_get_new_streams, sizeof(uint64_t) },
	[VIEW_CREATE_SESSION] = { on_create_session, 0 },
	[VIEW_DETACH_SESSION] = { on_detach_session, sizeof(uint64_t) },
};

int viewer_body_bytes(uint32_t command)
{
	if (command >= ARRAY_SIZE(commands) || !commands[command].answer)
		return -1;
	return commands[command].bytes;
}

int viewer_answer(struct viewer *v, uint32_t command, const uint8_t *body)
{
	if (!v->greeted && command != VIEW_CONNECT)
		return -EPROTO;
	if (viewer_body_bytes(command) < 0) {
		v->closing = true;
		return reply_status(v, VIEW_UNKNOWN_COMMAND);
	}
	return commands[command].answer(v, body);
}
