/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * viewstream.c - sends a stream to a viewer: packets in their order; if there is none, the time of
 * the last beacon, before which no event will be sent. The stored begin of a packet is the end of
 * the preceding one, which may be long before that beacon; so for viewers it is changed to the time
 * of the first record. A new stream is announced before newer data of other streams; babeltrace
 * 2.0.4 requests new streams only after it has received a packet, so it is sent an empty one.
 * Another fault of it is avoided: it crashes if the first message about a stream is a beacon with
 * the time of an event that it has shown already.
 */
#include "viewstream.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "trace/index.h"
#include "viewpast.h"

/* Viewers report an error if two streams send beacons with the same time. */
#define APART_TICKS 8u /* a nanosecond, with any clock */
#define APART_MAX 4096u

#define EMPTY_OFFSET (1ull << 62) /* of a packet that is in no file */

/* --- traces and streams -------------------------------------------------------------------- */

static void viewstream_free_trace(struct vtrace *vtrace)
{
	struct vstream *vs;

	while ((vs = list_first(&vtrace->streams, struct vstream, node))) {
		vstream_close(vs);
		live_part_done(vs->stream, vs->part);
		list_remove(&vs->node);
		free(vs);
	}
	live_trace_done(vtrace->trace);
	list_remove(&vtrace->node);
	free(vtrace);
}

static struct vtrace *viewstream_trace_of(struct vsession *vsession, struct live_trace *trace,
					  uint64_t *next_id)
{
	struct vtrace *vtrace;

	list_for_each(vtrace, &vsession->traces, node)
		if (vtrace->trace == trace)
			return vtrace;
	vtrace = xalloc(sizeof(*vtrace));
	vtrace->vsession = vsession;
	vtrace->trace = trace;
	live_trace_known(trace);
	vtrace->id = (*next_id)++;
	list_init(&vtrace->streams);
	list_append(&vsession->traces, &vtrace->node);
	return vtrace;
}

/* Whether the packet of the entry ends at @time or later; also where that can't be read. */
static bool ends_since(int index_fd, uint64_t entry, uint64_t time)
{
	struct index_entry found;

	return pread(index_fd, &found, sizeof(found), (off_t)index_offset(entry)) !=
		       sizeof(found) ||
	       be64toh(found.timestamp_end) >= time;
}

/* A viewer that reconnects after a restart of the relay need not read packets again that it has
 * shown. Where new files replace old ones it begins with the oldest. */
static void skip_known(struct vstream *vs, const struct live_state *state)
{
	struct chunk_stream file = { .config = &vs->stream->config, .cpu = vs->stream->cpu };
	const uint64_t since = vs->vtrace->vsession->since;
	uint64_t from = 0, to = index_entries(state->index_bytes);
	struct chunk_stream_names names;
	AUTO_FD int fd = -1;

	if (!since || state->file || chunk_stream_names(&file, state->first_name, &names) < 0)
		return;
	fd = chunk_read_file(vs->part->dirs->index_fd, names.index);
	while (fd >= 0 && from < to) {
		uint64_t middle = from + (to - from) / 2;

		if (ends_since(fd, middle, since))
			to = middle;
		else
			from = middle + 1;
	}
	vs->entry = from;
}

bool vsession_has_next(const struct vsession *vsession)
{
	return !list_empty(&vsession->past) || live_next_stream(vsession->session, vsession->known);
}

static struct live_stream *take_next(struct vsession *vsession)
{
	struct live_stream *stream = list_first(&vsession->past, struct live_stream, node);

	if (stream) {
		list_remove(&stream->node);
		return stream;
	}
	stream = live_next_stream(vsession->session, vsession->known);
	if (stream)
		vsession->known = stream->serial;
	return stream;
}

struct vstream *vsession_next(struct vsession *vsession, struct view_files *files,
			      uint64_t *next_id)
{
	struct live_stream *stream = take_next(vsession);
	struct live_state state;
	struct vstream *vs;

	if (!stream)
		return NULL;
	vs = xalloc(sizeof(*vs));
	vs->vtrace = viewstream_trace_of(vsession, stream->trace, next_id);
	vs->stream = stream;
	vs->id = (*next_id)++;
	vs->joined_ts = vsession->reported_ts;
	vs->files = files;
	vs->fd = -1;
	vs->part = live_part_begin(stream, stream->serial <= vsession->begin_behind);
	live_state(stream, vs->part, vsession->known, &state);
	if (stream->serial <= vsession->begin_behind) {
		vs->file = state.file;
		vs->entry = index_entries(state.index_bytes);
	} else {
		skip_known(vs, &state);
	}
	vs->vtrace->nr_active++;
	list_append(&vs->vtrace->streams, &vs->node);
	return vs;
}

struct vsession *vsession_new(struct live *live, uint64_t id, const struct view_acl *view_acl,
			      bool from_begin, uint64_t since)
{
	struct live_session *session = live_attach(live, id, view_acl);
	struct vsession *vsession;

	if (!session)
		return NULL;
	vsession = xalloc(sizeof(*vsession));
	vsession->session = session;
	vsession->id = id;
	vsession->begin_behind = from_begin ? 0 : live_last_stream(session);
	vsession->since = vsession->reported_ts = from_begin ? since : 0;
	vsession->seeks_past = vsession->since != 0;
	list_init(&vsession->past);
	list_init(&vsession->node);
	list_init(&vsession->traces);
	return vsession;
}

void vsession_free(struct vsession *vsession)
{
	struct vtrace *vtrace;

	while ((vtrace = list_first(&vsession->traces, struct vtrace, node)))
		viewstream_free_trace(vtrace);
	viewpast_drop(vsession);
	live_detach(vsession->session, vsession->known);
	list_remove(&vsession->node);
	free(vsession);
}

bool vsession_is_over(const struct vsession *vsession)
{
	return list_empty(&vsession->traces) && live_session_is_over(vsession->session) &&
	       !vsession->seeks_past && !vsession_has_next(vsession);
}

/* --- metadata ------------------------------------------------------------------------------ */

uint64_t vtrace_unsent(const struct vtrace *vtrace)
{
	uint64_t bytes = live_metadata_bytes(vtrace->trace);

	return bytes - MIN(bytes, vtrace->sent);
}

static int viewstream_read_all(int fd, void *buf, size_t len, uint64_t offset)
{
	while (len) {
		ssize_t n = pread(fd, buf, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		buf = (char *)buf + n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

int vtrace_read(struct vtrace *vtrace, void *buf, size_t len)
{
	AUTO_FD int fd = live_open_metadata(vtrace->trace);
	int ret = fd < 0 ? fd : viewstream_read_all(fd, buf, len, vtrace->sent);

	if (ret == 0)
		vtrace->sent += len;
	return ret;
}

/* --- files --------------------------------------------------------------------------------- */

struct found {
	int fd, index_fd;
	struct index_entry entry;
	struct packet_header header; /* for viewers: see begin_late() */
};

static void close_found(struct found *found)
{
	close_fd(found->fd);
	close_fd(found->index_fd);
}

static int read_header(struct found *found)
{
	int error = viewstream_read_all(found->fd, &found->header, sizeof(found->header),
					be64toh(found->entry.offset));

	return error < 0 || found->header.form == PACKET_FORM ? error : -EBADMSG;
}

static int viewstream_open_files(const struct vstream *vs, const struct live_state *state,
				 struct found *ret)
{
	const struct live_stream *stream = vs->stream;
	struct chunk_stream file = { .config = &stream->config, .cpu = stream->cpu };
	struct chunk_stream_names names;
	int error = chunk_stream_names(&file, state->first_name + vs->file, &names);

	if (error < 0)
		return error;
	ret->fd = chunk_read_file(vs->part->dirs->dir_fd, names.stream);
	if (ret->fd < 0)
		return ret->fd;
	ret->index_fd = chunk_read_file(vs->part->dirs->index_fd, names.index);
	return ret->index_fd < 0 ? ret->index_fd : 0;
}

/* The oldest file that is not being replaced. */
static uint64_t oldest_file(const struct vstream *vs, const struct live_state *state)
{
	uint32_t count = vs->stream->config.tracefile_count;

	return vs->stream->config.tracefile_size && count && state->file >= count ?
		       state->file + 1 - count :
		       0;
}

/* A packet that has only losses may be older than the last beacon. */
static int begin_late(const struct vstream *vs, struct found *found)
{
	struct packet_header *h = &found->header;
	uint64_t body = h->packet_size / 8 - MIN(h->packet_size / 8, sizeof(*h));
	size_t len = (size_t)MIN(body, (uint64_t)PACKET_FIRST_BYTES);
	uint8_t first[PACKET_FIRST_BYTES];
	int error = viewstream_read_all(found->fd, first, len,
					be64toh(found->entry.offset) + sizeof(*h));

	h->timestamp_begin =
		len ? packet_first_ts(h, first, len) : MAX(h->timestamp_begin, vs->reported_ts);
	h->timestamp_end = MAX(h->timestamp_end, h->timestamp_begin);
	return error;
}

/* Return: 1: there is a packet; 0: not in this file; negative errno. */
static int find_in_file(const struct vstream *vs, const struct live_state *state, struct found *ret)
{
	uint64_t bytes = state->index_bytes;
	struct live_state later;
	int error;

	if (vs->file == state->file && vs->entry >= index_entries(bytes))
		return 0;
	error = viewstream_open_files(vs, state, ret);
	if (error < 0)
		return error;
	if (vs->file != state->file)
		bytes = fd_bytes(ret->index_fd);
	if (vs->entry >= index_entries(bytes))
		return 0;
	error = viewstream_read_all(ret->index_fd, &ret->entry, sizeof(ret->entry),
				    index_offset(vs->entry));
	if (error == 0)
		error = read_header(ret);
	if (error == 0)
		error = begin_late(vs, ret);
	live_state(vs->stream, vs->part, 0, &later);
	if (vs->file < oldest_file(vs, &later))
		return -ESTALE; /* the opened file may be another one of that name */
	return error < 0 ? error : 1;
}

/* The next part begins with an empty packet, which has a number of its own. */
static void begin_part(struct vstream *vs, struct live_state *state)
{
	vs->part = live_part_next(vs->stream, vs->part);
	vs->file = vs->entry = 0;
	live_state(vs->stream, vs->part, vs->vtrace->vsession->known, state);
}

/* The next packet, in whichever file. Return: 1: @ret has it; 0: none is there. */
static int viewstream_find(struct vstream *vs, struct live_state *state, struct found *ret)
{
	for (;;) {
		uint64_t oldest = oldest_file(vs, state);
		int n;

		if (vs->file < oldest) {
			vs->file = oldest;
			vs->entry = 0;
		}
		n = find_in_file(vs, state, ret);
		if (n > 0)
			return 1;
		close_found(ret);
		ret->fd = ret->index_fd = -1;
		if (n == -ESTALE)
			live_state(vs->stream, vs->part, vs->vtrace->vsession->known, state);
		else if (vs->file == state->file && state->turned)
			begin_part(vs, state);
		else if (vs->file == state->file)
			return 0;
		else {
			vs->file++;
			vs->entry = 0;
		}
	}
}

void vstream_close(struct vstream *vs)
{
	if (vs->fd >= 0)
		vs->files->nr--;
	vs->fd = close_fd(vs->fd);
	vs->bytes = 0;
}

int vstream_read(struct vstream *vs, uint64_t offset, void *buf, size_t len)
{
	const struct packet_header *head = vs->fd < 0 ? &vs->empty : &vs->header;
	uint64_t at = offset - vs->offset;
	int error = vs->fd < 0 ? 0 : viewstream_read_all(vs->fd, buf, len, offset);

	if (error == 0 && at < sizeof(*head))
		memcpy(buf, (const uint8_t *)head + at, MIN(len, sizeof(*head) - at));
	return error;
}

/* --- next packet or beacon ----------------------------------------------------------------- */

static void viewstream_fill(struct view_index *ret, const struct vstream *vs,
			    const struct packet_header *h)
{
	*ret = (struct view_index){
		.offset = htobe64(vs->offset),
		.packet_size = htobe64(h->packet_size),
		.content_size = htobe64(h->content_size),
		.timestamp_begin = htobe64(h->timestamp_begin),
		.timestamp_end = htobe64(h->timestamp_end),
		.events_discarded = htobe64(h->events_discarded),
		.stream_class = htobe64(h->stream_id),
	};
}

static void viewstream_set_reported(struct vstream *vs, uint64_t ts)
{
	struct vsession *vsession = vs->vtrace->vsession;

	vs->reported_ts = ts;
	vsession->reported_ts = MAX(vsession->reported_ts, ts);
}

/* News of the stream must not be older. */
static uint64_t known_ts(const struct vstream *vs)
{
	return MAX(vs->reported_ts, vs->joined_ts);
}

static void fill_bare(struct view_index *ret, const struct vstream *vs, uint32_t status,
		      uint64_t ts)
{
	*ret = (struct view_index){
		.timestamp_begin = htobe64(ts),
		.timestamp_end = htobe64(ts),
		.stream_class = htobe64(vs->stream->config.stream_class),
		.status = htobe32(status),
	};
}

/* One without events, at a time at which nothing can be that the viewer does not know. */
static void make_empty(struct vstream *vs, const struct live_state *state,
		       const struct packet_header *next)
{
	const struct live_stream *stream = vs->stream;
	const struct packet_header *like = vs->has_header ? &vs->header :
					   next		  ? next :
							    &state->last;
	const struct packet_stream packets = { stream->trace->uuid, stream->config.stream_class,
					       stream->config.first_instance + stream->cpu,
					       stream->cpu };
	uint64_t ts = MIN(state->unknown_since, next ? next->timestamp_begin : state->beacon);

	vs->empty = packet_is_set(like) ? *like : packet_make(&packets);
	vs->empty.timestamp_begin = vs->empty.timestamp_end = MAX(known_ts(vs), ts);
	packet_set_body(&vs->empty, 0);
	viewstream_set_reported(vs, vs->empty.timestamp_end);
	vs->offset = EMPTY_OFFSET;
	vs->bytes = sizeof(vs->empty);
}

static void viewstream_announce(struct vstream *vs, const struct live_state *state,
				const struct packet_header *next, struct view_index *ret)
{
	struct vsession *vsession = vs->vtrace->vsession;

	if (vsession->notified) {
		fill_bare(ret, vs, VIEW_INDEX_RETRY, 0);
	} else {
		make_empty(vs, state, next);
		viewstream_fill(ret, vs, &vs->empty);
		ret->status = htobe32(VIEW_INDEX);
		vsession->notified = true;
	}
	ret->flags = htobe32(VIEW_NEW_STREAM);
}

static void without_packet(struct vstream *vs, const struct live_state *state,
			   struct view_index *ret)
{
	uint64_t apart = vs->id % APART_MAX * APART_TICKS;
	uint64_t beacon = state->beacon - MIN(apart, state->beacon);
	struct vtrace *vtrace = vs->vtrace;

	if (state->ended) {
		fill_bare(ret, vs, VIEW_INDEX_END, 0);
		vtrace->nr_active -= !vs->ended;
		vs->ended = true;
		if (!vtrace->nr_active)
			viewstream_free_trace(vtrace);
	} else if (beacon > known_ts(vs)) {
		fill_bare(ret, vs, VIEW_INDEX_INACTIVE, beacon);
		viewstream_set_reported(vs, beacon);
	} else {
		fill_bare(ret, vs, VIEW_INDEX_RETRY, 0);
	}
}

static void viewstream_report_packet(struct vstream *vs, const struct live_state *state,
				     struct found *found, struct view_index *ret)
{
	struct vtrace *vtrace = vs->vtrace;

	vs->fd = TAKE_FD(found->fd);
	vs->files->nr++;
	vs->offset = be64toh(found->entry.offset);
	vs->bytes = found->header.packet_size / 8;
	vs->header = found->header;
	vs->has_header = true;
	viewstream_set_reported(vs, found->header.timestamp_end);
	vs->entry++;
	viewstream_fill(ret, vs, &found->header);
	ret->status = htobe32(VIEW_INDEX);
	if (state->metadata_bytes > vtrace->sent) {
		ret->flags = htobe32(VIEW_NEW_METADATA);
		vtrace->needed = state->metadata_bytes;
	}
}

static void add_unknown_past(const struct vsession *vsession, struct live_state *state)
{
	if (list_empty(&vsession->past))
		return;
	state->is_unknown = true;
	state->unknown_since = vsession->since;
}

int vstream_index(struct vstream *vs, struct view_index *ret)
{
	struct found found CLEANUP(close_found) = { .fd = -1, .index_fd = -1 };
	struct live_state state;
	bool has;

	vstream_close(vs);
	if (!viewpast_find(vs->vtrace->vsession)) {
		fill_bare(ret, vs, VIEW_INDEX_RETRY, 0);
		return 0;
	}
	live_state(vs->stream, vs->part, vs->vtrace->vsession->known, &state);
	if (vs->files->nr >= vs->files->max) {
		log_warn_some("viewers have %u files open, which is the limit: a viewer must wait",
			      vs->files->nr);
		fill_bare(ret, vs, VIEW_INDEX_RETRY, 0);
		return 0;
	}
	has = viewstream_find(vs, &state, &found);
	if (has && found.header.timestamp_begin < vs->reported_ts)
		return -ESTALE;
	add_unknown_past(vs->vtrace->vsession, &state);
	if (state.is_unknown)
		viewstream_announce(vs, &state, has ? &found.header : NULL, ret);
	else if (has)
		viewstream_report_packet(vs, &state, &found, ret);
	else
		without_packet(vs, &state, ret);
	return 0;
}
