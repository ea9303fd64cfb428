/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * segment.h - an object of an archive: packets of a session's streams, new metadata, small files.
 * It is never changed. Its bytes:
 *
 *     SEGMENT_MAGIC
 *     the parts: whole packets as in a stream's file, whole packets of metadata, pieces of files
 *     the footer: msg_seg_footer (proto/segment.def)
 *     struct segment_trailer
 *
 * A packet may be in several segments: a relay that has lost its disk is sent packets again. Its
 * trace, stream and number tell that it is the same. Not thread safe.
 */
#ifndef ARCHIVE_SEGMENT_H
#define ARCHIVE_SEGMENT_H

#include <stdbool.h>

#include "base/err.h"
#include "bucket.h"
#include "proto/segment.h"

#define SEGMENT_MAGIC "LTTSEG1\n" /* 8 bytes */
#define SEGMENT_FORMAT 1u
#define SEGMENT_SUFFIX ".seg" /* of its name */
#define SEGMENT_ID_BYTES 16u
#define SEGMENT_CONTENT_BYTES 32u /* of the name of a file's content */
/* Parts and footer; of parts a packet of RELSTREAM_MAX_PACKET bytes is the largest. */
#define SEGMENT_MAX_BYTES (5ull << 30) /* the largest object of one PUT, by S3's API */
#define SEGMENT_FOOTER_MAX (64u << 20)
/* Packets of a stream are one part up to this size: what is read and checked at once. */
#define SEGMENT_PART_BYTES (128u << 10)

/** Fixed: they are in footers. */
enum segment_kind {
	SEGMENT_PACKETS = 1,
	SEGMENT_METADATA = 2,
	SEGMENT_FILE = 3,
	SEGMENT_TURN = 4, /* packets before `first` are in an archive, or cleared */
};

struct segment_trailer {
	uint64_t footer_at;
	uint32_t footer_bytes;
	uint32_t footer_crc32c;
	char magic[8];
} __attribute__((packed));

/** Of which session a segment is. */
struct segment_session {
	const char *host, *name;
	uint8_t id[SEGMENT_ID_BYTES];
};

/* --- one that is made ---------------------------------------------------------------- */

struct segment;

struct segment *segment_new(void);
struct segment *segment_free(struct segment *segment);
/** Begin another one, with the same memory. */
void segment_reset(struct segment *segment);
/** Bytes of its parts so far; of its memory no more than twice as much is used. */
uint64_t segment_bytes(const struct segment *segment);
bool segment_is_empty(const struct segment *segment);
/** The place of a trace in its list, to which it is added. */
uint32_t segment_trace(struct segment *segment, const char *path, const uint8_t uuid[16]);
/** Room for @bytes behind the last part; valid until the next call. */
void *segment_room(struct segment *segment, uint64_t bytes);
/** Add @part, whose bytes are in the room, and are none of a turn; its place, checksum, strings and
 *  content are taken care of. Packets that continue the part before become part of that. */
void segment_add(struct segment *segment, const struct msg_seg_part *part);
/** The finished object, owned by the segment, which is not changed any more. Return: the checksum
 *  of its footer, which has those of the parts: their bytes are not read once more. */
uint32_t segment_finish(struct segment *segment, const struct segment_session *session,
			uint64_t number, bool ended, const void **ret, size_t *ret_len);

/* --- one that is read ---------------------------------------------------------------- */

struct segment_footer {
	uint8_t *bytes; /* owned */
	struct msg_seg_footer is;
	struct msg_seg_trace *traces; /* owned */
	uint32_t nr_traces;
	struct msg_seg_part
		*parts; /* owned; each is within the object, with a valid trace and kind */
	uint32_t nr_parts;
};

/** Read the footer of the object @name. Return: 0 or the code in @err. */
int segment_read(struct bucket *bucket, const char *name, struct segment_footer *ret,
		 struct err *err) MUST_CHECK;
/** Check the checksum of a part's bytes. Return: 0 or the code in @err. */
int segment_check_part(const char *name, const struct msg_seg_part *part, const uint8_t *bytes,
		       struct err *err) MUST_CHECK;
/** Read a part, and check its checksum. @ret: allocated. Return: 0 or the code in @err. */
int segment_read_part(struct bucket *bucket, const char *name, const struct msg_seg_part *part,
		      uint8_t **ret, struct err *err) MUST_CHECK;
/** Decode a footer. @bytes: owned by @ret from now on. @room: bytes of the object before it.
 *  Return: NULL, or the problem, as a phrase to follow the object's name. */
const char *segment_decode(struct segment_footer *ret, uint8_t *bytes, size_t len, uint64_t room);
void segment_footer_fini(struct segment_footer *footer);

#endif
