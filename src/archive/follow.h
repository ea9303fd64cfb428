/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follow.h - archives the sessions of a relay while it receives them (proto/archive.def). A thread
 * reads the relay's messages; others put segments, each of one session at a time. It ends with its
 * relay; a successor reads from the store what is there.
 */
#ifndef ARCHIVE_FOLLOW_H
#define ARCHIVE_FOLLOW_H

#include "session.h"

struct follow_config {
	const char *url;
	const char *dir; /* of the relay's sessions */
	int relay_fd;
	uint64_t segment_bytes;
	uint64_t period_us; /* longest time until data is put */
};

/** Return: an exit status, when the relay has ended. */
int verb_follow(const struct follow_config *config);

#endif
