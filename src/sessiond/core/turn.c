/* SPDX-License-Identifier: GPL-2.0-only */
#include "turn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TURN_CLEARED "archives/cleared-" /* in the directory where a consumer hides it */
#define TURN_TIME_BYTES 32u

void chunk_record(struct session_chunk *chunk, uint64_t now_real_ns, uint64_t now_ns)
{
	if (chunk->began_ns && chunk->content == CHUNK_RECORDED)
		return;
	chunk->content = CHUNK_RECORDED;
	chunk->began_ns = now_real_ns;
	chunk->turned_ns = now_ns;
}

/* As in LTTng's names of archives. */
static void turn_time(uint64_t ns, char ret[TURN_TIME_BYTES])
{
	time_t s = (time_t)(ns / 1000000000u);
	struct tm tm = { 0 };

	gmtime_r(&s, &tm);
	strftime(ret, TURN_TIME_BYTES, "%Y%m%dT%H%M%S+0000", &tm);
}

void chunk_turn(struct session_chunk *chunk, bool clear, uint64_t now_real_ns)
{
	char begin[TURN_TIME_BYTES], end[TURN_TIME_BYTES];

	turn_time(chunk->began_ns, begin);
	turn_time(now_real_ns, end);
	chunk->ends_ns = now_real_ns;
	if (clear)
		snprintf(chunk->turning, sizeof(chunk->turning), TURN_CLEARED "%" PRIu32,
			 chunk->number);
	else
		snprintf(chunk->turning, sizeof(chunk->turning), "archives/%s-%s-%" PRIu32, begin,
			 end, chunk->number);
}

void chunk_turn_name(const struct session_chunk *chunk, unsigned int part,
		     char ret[TURN_NAME_BYTES])
{
	if (part && chunk_clears(chunk))
		snprintf(ret, TURN_NAME_BYTES, TURN_CLEARED "%" PRIu32 "-%u", chunk->number, part);
	else
		snprintf(ret, TURN_NAME_BYTES, "%s", chunk->turning);
}

bool chunk_clears(const struct session_chunk *chunk)
{
	return strncmp(chunk->turning, TURN_CLEARED, strlen(TURN_CLEARED)) == 0;
}

void chunk_turned(struct session_chunk *chunk, bool recording, uint64_t now_real_ns,
		  uint64_t now_ns)
{
	bool clear = chunk_clears(chunk);

	chunk->archives += !clear;
	chunk->number++;
	chunk->turning[0] = '\0';
	chunk->began_ns = chunk->ends_ns ? chunk->ends_ns : now_real_ns;
	chunk->turned_ns = now_ns;
	chunk->content = recording ? CHUNK_RECORDED : clear ? CHUNK_CLEARED : CHUNK_ROTATED;
}
