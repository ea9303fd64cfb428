/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spoolfacts.h - file in a spool with the facts about its session, so that the spool can be sent
 * after the session's end: text with lines `key value`, at most a page. The consumer that uses
 * the spool writes the file and has it locked; lttctl reads it.
 */
#ifndef IO_SPOOLFACTS_H
#define IO_SPOOLFACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/str.h"
#include "io/relayurl.h"

#define SPOOLFACTS_FILE ".spool"
#define SPOOLFACTS_URL_BYTES 2048

struct spoolfacts {
	char name[NAME_MAX_BYTES + 1]; /* of the session */
	char stamp[NAME_MAX_BYTES + 1];
	char url[SPOOLFACTS_URL_BYTES]; /* of its relay, or a comma-separated list */
	char chosen[RELAYURL_BYTES];	/* the URL of these whose relay is used; empty: none yet */
	uint8_t id[16];
	uint8_t link; /* enum relay_link */
	uint8_t sync; /* enum sync_mode */
	bool compress;
	bool ended; /* the session has ended, and the rest of its data is in the spool */
	uint32_t sync_us, live_us;
};

/** Return: 0 or negative errno. */
int spoolfacts_write(int fd, const struct spoolfacts *facts) MUST_CHECK;
/** Return: 0; -EINVAL: a line is missing or malformed; other negative errno. */
int spoolfacts_read(int fd, struct spoolfacts *ret) MUST_CHECK;

#endif
