/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spoolfacts.h - the facts about a session in its spool's hidden file, so that the spool can be
 * sent after the session's end: text, a `key value` a line, in a page. The consumer that uses
 * the spool writes it and has it locked; lttctl reads it.
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
	char chosen[RELAYURL_BYTES];	/* the one of these that stores the session; empty: none */
	uint8_t id[16];
	uint8_t link; /* enum relay_link */
	uint8_t sync; /* enum sync_mode */
	bool compress;
	uint32_t sync_us, live_us;
};

/** Return: 0 or negative errno. */
int spoolfacts_write(int fd, const struct spoolfacts *facts) MUST_CHECK;
/** Return: 0; -EINVAL: something is missing; other negative errno. */
int spoolfacts_read(int fd, struct spoolfacts *ret) MUST_CHECK;

#endif
