/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - one stream at a relay: packets arrive in pieces, go to the file as they come,
 * and count when all of them is there and right. Owned by a session; runs on the relay's
 * loop.
 */
#ifndef RELAYD_STREAM_H
#define RELAYD_STREAM_H

#include "base/err.h"
#include "base/list.h"
#include "live.h"

#define RELSTREAM_MAX_PACKET (1ull << 32) /* bytes */

struct relstream {
	struct list_node node;
	uint32_t id;
	struct stream_config config;
	struct stream_file file;
	bool has_last;
	struct packet_header last; /* that is stored */
	struct live_stream *live;  /* as viewers see it; NULL: they don't */

	/* the packet that is coming */
	struct packet_header coming;
	uint64_t came; /* bytes of its body */
	uint32_t crc;
	bool sum_behind; /* coming.crc32c has come behind it */
};

/** @config->channel is copied. Finds out what is stored. Return: 0 or the code in @err. */
int relstream_new(uint32_t id, const struct stream_config *config, uint32_t cpu,
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

#endif
