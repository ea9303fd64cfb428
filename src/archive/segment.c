/* SPDX-License-Identifier: GPL-2.0-only */
#include "segment.h"

#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "trace/crc32c.h"

#define RECORD_BYTES 128u /* most of a record, without its texts */

struct segment {
	uint8_t *data;
	uint64_t len, cap;
	struct msg_seg_trace *traces; /* its strings and ids are owned */
	uint32_t nr_traces;
	struct msg_seg_part *parts; /* their names and contents are owned */
	uint32_t nr_parts;
	uint64_t text_bytes; /* of all strings */
};

/* --- one that is made ---------------------------------------------------------------- */

struct segment *segment_new(void)
{
	struct segment *s = xalloc(sizeof(*s));

	segment_reset(s);
	return s;
}

void segment_reset(struct segment *s)
{
	for (uint32_t i = 0; i < s->nr_traces; i++) {
		free((char *)s->traces[i].path);
		free((uint8_t *)s->traces[i].uuid.data);
	}
	for (uint32_t i = 0; i < s->nr_parts; i++) {
		free((char *)s->parts[i].name);
		free((uint8_t *)s->parts[i].content.data);
	}
	s->nr_traces = s->nr_parts = 0;
	s->text_bytes = s->len = 0;
	memcpy(segment_room(s, strlen(SEGMENT_MAGIC)), SEGMENT_MAGIC, strlen(SEGMENT_MAGIC));
	s->len = strlen(SEGMENT_MAGIC);
}

struct segment *segment_free(struct segment *s)
{
	if (!s)
		return NULL;
	segment_reset(s);
	free(s->traces);
	free(s->parts);
	free(s->data);
	free(s);
	return NULL;
}

uint64_t segment_bytes(const struct segment *s)
{
	return s->len;
}

bool segment_is_empty(const struct segment *s)
{
	return s->nr_parts == 0;
}

uint32_t segment_trace(struct segment *s, const char *path, const uint8_t uuid[16])
{
	struct msg_seg_trace *trace;
	uint8_t *own;

	for (uint32_t i = 0; i < s->nr_traces; i++)
		if (strcmp(s->traces[i].path, path) == 0 &&
		    memcmp(s->traces[i].uuid.data, uuid, 16) == 0)
			return i;
	s->traces = xrealloc(s->traces, (s->nr_traces + 1) * sizeof(*s->traces));
	trace = &s->traces[s->nr_traces];
	own = xalloc(16);
	memcpy(own, uuid, 16);
	*trace = (struct msg_seg_trace){ xstrdup(path), { own, 16 } };
	s->text_bytes += strlen(path) + 16;
	return s->nr_traces++;
}

void *segment_room(struct segment *s, uint64_t bytes)
{
	if (s->cap - s->len < bytes) {
		s->cap = MAX(s->len + bytes, s->cap * 2);
		s->data = xrealloc(s->data, s->cap);
	}
	return s->data + s->len;
}

/* Whether packets @b are those after @a of the same stream's file, and fit into its part. */
static bool continues(const struct msg_seg_part *a, const struct msg_seg_part *b)
{
	return a->kind == SEGMENT_PACKETS && b->kind == SEGMENT_PACKETS && a->trace == b->trace &&
	       a->stream_class == b->stream_class && a->instance == b->instance &&
	       a->last < b->first && a->bytes + b->bytes <= SEGMENT_PART_BYTES &&
	       strcmp(a->name, b->name) == 0;
}

void segment_add(struct segment *s, const struct msg_seg_part *part)
{
	struct msg_seg_part *last = s->nr_parts ? &s->parts[s->nr_parts - 1] : NULL;
	const uint8_t *data = s->data + s->len;

	if (last && continues(last, part)) {
		last->bytes += part->bytes;
		last->last = part->last;
		last->end = part->end;
		last->crc32c = crc32c(last->crc32c, data, part->bytes);
		s->len += part->bytes;
		return;
	}
	if (s->nr_parts % 64 == 0)
		s->parts = xrealloc(s->parts, (s->nr_parts + 64) * sizeof(*s->parts));
	last = &s->parts[s->nr_parts++];
	*last = *part;
	last->name = xstrdup(part->name);
	if (part->content.len)
		last->content.data =
			memcpy(xalloc(part->content.len), part->content.data, part->content.len);
	last->at = s->len;
	last->crc32c = crc32c(0, data, part->bytes);
	s->len += part->bytes;
	s->text_bytes += strlen(part->name) + part->content.len;
}

static uint64_t segment_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void encode_footer(struct encoder *enc, const struct segment *s,
			  struct msg_seg_footer *footer, size_t room)
{
	AUTO_FREE uint8_t *traces = xalloc(room), *parts = xalloc(room);
	struct encoder list;

	encoder_init(&list, traces, room);
	for (uint32_t i = 0; i < s->nr_traces; i++)
		msg_seg_trace_add(&list, &s->traces[i]);
	footer->traces = encoder_list(&list);
	encoder_init(&list, parts, room);
	for (uint32_t i = 0; i < s->nr_parts; i++)
		msg_seg_part_add(&list, &s->parts[i]);
	footer->parts = encoder_list(&list);
	msg_seg_footer_encode(enc, footer);
}

uint32_t segment_finish(struct segment *s, const struct segment_session *session, uint64_t number,
			bool ended, const void **ret, size_t *ret_len)
{
	size_t room = s->text_bytes + strlen(session->host) + strlen(session->name) +
		      (size_t)(s->nr_traces + s->nr_parts + 1) * RECORD_BYTES;
	struct msg_seg_footer footer = { .format = SEGMENT_FORMAT,
					 .host = session->host,
					 .session = session->name,
					 .id = { session->id, SEGMENT_ID_BYTES },
					 .number = number,
					 .made_ns = segment_now_ns(),
					 .ended = ended };
	struct segment_trailer trailer = { .footer_at = s->len };
	uint8_t *to = segment_room(s, room + sizeof(trailer));
	struct encoder enc;

	encoder_init(&enc, to, room);
	encode_footer(&enc, s, &footer, room);
	trailer.footer_bytes = (uint32_t)enc.len;
	trailer.footer_crc32c = crc32c(0, to, enc.len);
	memcpy(trailer.magic, SEGMENT_MAGIC, sizeof(trailer.magic));
	memcpy(to + enc.len, &trailer, sizeof(trailer));
	s->len += enc.len + sizeof(trailer);
	*ret = s->data;
	*ret_len = s->len;
	return trailer.footer_crc32c;
}

/* --- one that is read ---------------------------------------------------------------- */

void segment_footer_fini(struct segment_footer *footer)
{
	free(footer->traces);
	free(footer->parts);
	free(footer->bytes);
	*footer = (struct segment_footer){ 0 };
}

static bool part_is_valid(const struct segment_footer *footer, const struct msg_seg_part *part,
			  uint64_t room)
{
	return part->kind >= SEGMENT_PACKETS && part->kind <= SEGMENT_TURN && part->at <= room &&
	       part->bytes <= room - part->at &&
	       (part->content.len == 0 || part->content.len == SEGMENT_CONTENT_BYTES) &&
	       (part->kind == SEGMENT_FILE || part->trace < footer->nr_traces);
}

/* The number of records in a list is the writer's word. Each has its length, and all fields of the
 * first version. */
#define TRACE_RECORD_LEAST 24u
#define PART_RECORD_LEAST 64u

static bool lists_are_possible(const struct msg_seg_footer *footer)
{
	return footer->traces.nr <= footer->traces.len / TRACE_RECORD_LEAST &&
	       footer->parts.nr <= footer->parts.len / PART_RECORD_LEAST;
}

static bool decode_lists(struct segment_footer *ret, uint64_t room)
{
	struct list traces = ret->is.traces, parts = ret->is.parts;
	struct msg_seg_trace trace;
	struct msg_seg_part part;

	ret->traces = xalloc((traces.nr + 1ul) * sizeof(*ret->traces));
	ret->parts = xalloc((parts.nr + 1ul) * sizeof(*ret->parts));
	for (uint32_t nr = traces.nr; ret->nr_traces < nr && msg_seg_trace_next(&traces, &trace);) {
		if (trace.uuid.len != 16)
			return false;
		ret->traces[ret->nr_traces++] = trace;
	}
	for (uint32_t nr = parts.nr; ret->nr_parts < nr && msg_seg_part_next(&parts, &part);) {
		if (!part_is_valid(ret, &part, room))
			return false;
		ret->parts[ret->nr_parts++] = part;
	}
	return ret->nr_traces == ret->is.traces.nr && ret->nr_parts == ret->is.parts.nr;
}

const char *segment_decode(struct segment_footer *ret, uint8_t *bytes, size_t len, uint64_t room)
{
	struct decoder dec;

	*ret = (struct segment_footer){ .bytes = bytes };
	decoder_init(&dec, bytes, len, NULL, 0);
	if (msg_seg_footer_decode(&dec, &ret->is) < 0 || ret->is.id.len != SEGMENT_ID_BYTES ||
	    !lists_are_possible(&ret->is))
		return "has a damaged footer";
	if (ret->is.format != SEGMENT_FORMAT)
		return "was written by a later version of ltt-control, which can read it";
	return decode_lists(ret, room) ? NULL : "has a damaged footer";
}

static bool trailer_is_valid(const struct segment_trailer *trailer)
{
	return memcmp(trailer->magic, SEGMENT_MAGIC, sizeof(trailer->magic)) == 0 &&
	       trailer->footer_bytes <= SEGMENT_FOOTER_MAX &&
	       trailer->footer_at <= SEGMENT_MAX_BYTES;
}

/* A footer is mostly short: one request brings it. */
#define SEGMENT_TAIL_BYTES (16u << 10)

int segment_read(struct bucket *bucket, const char *name, struct segment_footer *ret,
		 struct err *err)
{
	AUTO_FREE uint8_t *tail = NULL;
	struct segment_trailer trailer;
	const char *problem;
	uint8_t *bytes = NULL;
	size_t len, got;

	*ret = (struct segment_footer){ 0 };
	if (bucket_get(bucket, name, -(int64_t)SEGMENT_TAIL_BYTES, 0, &tail, &len, err))
		return err->code;
	if (len >= sizeof(trailer))
		memcpy(&trailer, tail + len - sizeof(trailer), sizeof(trailer));
	if (len < sizeof(trailer) || !trailer_is_valid(&trailer))
		return err_set(err, ERR_OUTPUT, "%s is no segment, or not whole", name);
	got = trailer.footer_bytes;
	if (got <= len - sizeof(trailer)) {
		bytes = xalloc(got + 1);
		memcpy(bytes, tail + len - sizeof(trailer) - got, got);
	} else if (bucket_get(bucket, name, (int64_t)trailer.footer_at, got, &bytes, &len, err)) {
		return err->code;
	}
	if (crc32c(0, bytes, got) != trailer.footer_crc32c) {
		free(bytes);
		return err_set(err, ERR_OUTPUT, "%s has a damaged footer", name);
	}
	problem = segment_decode(ret, bytes, got, trailer.footer_at);
	if (!problem)
		return 0;
	segment_footer_fini(ret);
	return err_set(err, ERR_OUTPUT, "%s %s", name, problem);
}

int segment_check_part(const char *name, const struct msg_seg_part *part, const uint8_t *bytes,
		       struct err *err)
{
	if (crc32c(0, bytes, part->bytes) == part->crc32c)
		return 0;
	return err_set(err, ERR_OUTPUT, "%s is damaged: its checksum is wrong", name);
}

int segment_read_part(struct bucket *bucket, const char *name, const struct msg_seg_part *part,
		      uint8_t **ret, struct err *err)
{
	AUTO_FREE uint8_t *bytes = NULL;
	size_t len;

	if (bucket_get(bucket, name, (int64_t)part->at, part->bytes, &bytes, &len, err) ||
	    segment_check_part(name, part, bytes, err))
		return err->code;
	*ret = TAKE(bytes);
	return 0;
}
