/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - one stream at a relay: packets arrive in chunks, are written to the file at
 * once, and are valid when they are complete and their checksum is right. Owned by a session;
 * runs in the session's worker.
 *
 * Over a slow connection a packet is received in parts. These are stored in a hidden file of the
 * stream, behind the header, so that they are kept when the connection breaks, and the next
 * connection continues after them. When all were received, the packet is appended to the stream's
 * file like any other; readers see it from then on.
 */
#ifndef RELAYD_STORE_STREAM_H
#define RELAYD_STORE_STREAM_H

#include "base/err.h"
#include "base/idmap.h"
#include "base/list.h"
#include "relayd/viewer/live.h"

#define RELSTREAM_MAX_PACKET (1ull << 32) /* bytes */

struct relstream {
	struct list_node node;
	struct idmap_node id_node, file_node; /* of the session */
	uint32_t id;
	struct stream_config config;
	struct chunk_stream file;
	struct packet_header last; /* of the last stored packet; not set: there is none */
	struct live_stream *live;  /* its entry for viewers; NULL: not live */

	/* the packet that is being received */
	struct packet_header incoming;
	uint64_t received; /* received bytes of its body */
	uint32_t crc;
	bool checksum_follows; /* incoming.crc32c was received after the body */
	int part_fd;	       /* the hidden file, while a part is received; -1: none */
	bool refused;	       /* the preceding packet or part was rejected */
};

/** Open a stream, and find its last stored packet, and the parts of the next one: then @received is
 *  not 0. @config->channel is copied. Return: 0 or the code in @err. */
int relstream_new(uint32_t id, const struct stream_config *config, uint32_t cpu,
		  struct relstream **ret, struct err *err);
void relstream_free(struct relstream *stream);
/** Close the stream's files, which are moved; relstream_resume(): continue those that are in their
 *  place, which begin after the last stored packet. Return: 0 or negative errno. */
void relstream_leave(struct relstream *stream);
int relstream_resume(struct relstream *stream) MUST_CHECK;
/** Add the stream to @session for viewers; NULL: not a live session. */
void relstream_show(struct relstream *stream, struct live_session *session);

/*
 * Reception of a packet, or of a part. If one of these functions fails (returns the code in @err),
 * the packet is discarded with all of its parts, and the file is unchanged.
 */
int relstream_begin(struct relstream *stream, const struct packet_header *header, struct err *err);
/** @at: bytes of the packet's body that were received before. */
int relstream_begin_part(struct relstream *stream, const struct packet_header *header, uint64_t at,
			 struct err *err);
int relstream_body(struct relstream *stream, const void *data, size_t len, struct err *err);
/** Set the expected checksum, if the header has none. */
void relstream_sum(struct relstream *stream, uint32_t sum);
/** Finish a packet, or a part, that was received completely. If @received is 0 after it, the packet
 *  is stored. Return: 0 or the code in @err. */
int relstream_finish(struct relstream *stream, struct err *err);
/** Discard the unfinished packet; the received bytes of an unfinished part stay. */
void relstream_undo(struct relstream *stream);
/** Discard the received parts of a packet. */
void relstream_drop_parts(struct relstream *stream);

#endif
