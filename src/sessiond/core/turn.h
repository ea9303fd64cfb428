/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turn.h - the open chunk of a session's output, and the turn to the next one: a rotation makes an
 * archive of it, a clear removes it. Part of struct session; pure: times are arguments.
 */
#ifndef CORE_TURN_H
#define CORE_TURN_H

#include <stdbool.h>
#include <stdint.h>

#define TURN_NAME_BYTES 80u

/** Contents of the open chunk. */
enum chunk_content {
	CHUNK_RECORDED, /* events, or a session that records, or was never started */
	CHUNK_ROTATED,	/* none: the session was stopped before the last turn, a rotation */
	CHUNK_CLEARED,	/* none, and the last turn was a clear */
};

/**
 * struct session_chunk - the open chunk.
 * @number: from 1; that of its archive, later.
 * @turning: name of the turn that was begun and is not done, relative to the output; empty: none.
 *	It is saved before a consumer is requested to turn, and a later consumer finishes it.
 * @began_ns: CLOCK_REALTIME; 0: nothing was recorded yet. @ends_ns: likewise, with @turning; 0: not
 *	known, as an earlier daemon has begun it.
 * @turned_ns: CLOCK_MONOTONIC of the last turn, or of the start after which the chunk has events.
 * @turned_bytes: written by the session until the last turn.
 * @archives: number of them, as far as known.
 */
struct session_chunk {
	uint32_t number;
	char turning[TURN_NAME_BYTES];
	uint64_t began_ns, ends_ns;
	uint64_t turned_ns, turned_bytes;
	enum chunk_content content;
	uint32_t archives;
};

/** The session is started: the chunk has events from now on. */
void chunk_record(struct session_chunk *chunk, uint64_t now_real_ns, uint64_t now_ns);
/** Begin a turn: choose its name. */
void chunk_turn(struct session_chunk *chunk, bool clear, uint64_t now_real_ns);
/** Its name at one of the session's consumers, by a number from 0: each of them removes
 *  its own cleared files. */
void chunk_turn_name(const struct session_chunk *chunk, unsigned int part,
		     char ret[TURN_NAME_BYTES]);
/** Whether the turn that was begun is a clear. */
bool chunk_clears(const struct session_chunk *chunk);
/** The turn is done. */
void chunk_turned(struct session_chunk *chunk, bool recording, uint64_t now_real_ns,
		  uint64_t now_ns);

#endif
