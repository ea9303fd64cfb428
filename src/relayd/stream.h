/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - one stream at a relay: packets arrive in chunks, are written to the file at
 * once, and are valid when they are complete and their checksum is right. Owned by a session;
 * runs in the session's worker.
 */
#ifndef RELAYD_STREAM_H
#define RELAYD_STREAM_H

#include "base/err.h"
#include "base/idmap.h"
#include "base/list.h"
#include "live.h"

#define RELSTREAM_MAX_PACKET (1ull << 32) /* bytes */

struct relstream {
	struct list_node node;
	struct idmap_node id_node, file_node; /* of the session */
	uint32_t id;
	struct stream_config config;
	struct stream_file file;
	bool has_last;
	struct packet_header last; /* of the last stored packet */
	struct live_stream *live;  /* its entry for viewers; NULL: not live */

	/* the packet that is being received */
	struct packet_header coming;
	uint64_t came; /* received bytes of its body */
	uint32_t crc;
	bool sum_behind; /* coming.crc32c was received after the body */

	/* a packet that is received in parts, stored in a hidden file until it is complete */
	int part_fd; /* while a part is received; -1: none */
	struct packet_header begun;
	uint64_t begun_bytes; /* received bytes of its body; 0: no such packet */
	bool refused;	      /* the preceding packet or part was rejected */
};

/** @config->channel is copied. Finds out what is stored; the last packet of a file that was written
 *  before @since_ns (CLOCK_REALTIME) has to be right. Return: 0 or the code in @err. */
int relstream_new(uint32_t id, const struct stream_config *config, uint32_t cpu, uint64_t since_ns,
		  struct relstream **ret, struct err *err);
void relstream_free(struct relstream *stream);
/** Let viewers of @session see it; NULL: there are none. */
void relstream_show(struct relstream *stream, struct live_session *session);

/*
 * A packet: where one of these returns other than 0 (the code in @err), it is over, and the
 * file as it was.
 */
int relstream_begin(struct relstream *stream, const struct packet_header *header, struct err *err);
int relstream_body(struct relstream *stream, const void *data, size_t len, struct err *err);
/** The checksum that it has to have, where its header has none. */
void relstream_sum(struct relstream *stream, uint32_t sum);
int relstream_finish(struct relstream *stream, struct err *err);
/** It will not be finished. */
void relstream_undo(struct relstream *stream);

/*
 * The same in parts: what has come stays where the line breaks, and the next connection goes on
 * behind it. Readers see the packet when it is whole.
 */
/** @at: bytes of its body that came before. */
int relstream_part_begin(struct relstream *stream, const struct packet_header *header, uint64_t at,
			 struct err *err);
int relstream_part(struct relstream *stream, const void *data, size_t len, struct err *err);
/** All of a part has come. Return: 0 or the code in @err. */
int relstream_part_finish(struct relstream *stream, struct err *err);
/** Find the part that an earlier connection has left. */
void relstream_part_find(struct relstream *stream);
/** A part does not come to its end: what came of it stays. */
void relstream_part_close(struct relstream *stream);
/** The rest does not come. */
void relstream_part_drop(struct relstream *stream);

#endif
