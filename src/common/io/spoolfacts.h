/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spoolfacts.h - what a spool's hidden file says of the session that it belongs to, so that what
 * lies there can be sent when the session is over: text, a `key value` a line, in a page. The
 * consumer that uses the spool writes it and has it locked; lttctl reads it.
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
	char url[SPOOLFACTS_URL_BYTES]; /* of its relay, or of some between commas */
	char chosen[RELAYURL_BYTES];	/* the one of these that has the session; empty: none has */
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
