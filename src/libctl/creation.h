/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * creation.h - create a session and its output directory. On failure neither remains.
 * Owned by the caller; runs in its thread.
 */
#ifndef LIBCTL_CREATION_H
#define LIBCTL_CREATION_H

#include "client.h"
#include "ltt/control.h"
#include "outdir.h"
#include "url.h"

/**
 * struct creation - @asked: borrowed, checked; the rest is filled in.
 * @session: final name, allocated.
 * @dir: the output directory, or a relay's spool; path NULL: none.
 * @relay: the relay of the URL; of a live session without one: the relay on this host.
 */
struct creation {
	const struct ltt_ctl_create_options *asked;
	char *session;
	struct outdir dir;
	struct relay_url relay;
};

#define CREATION_INIT(options)                         \
	{                                              \
		.asked = (options), .dir = OUTDIR_NONE \
	}

/**
 * creation_prepare() - check the name, and find the relay if the trace goes to one.
 * @relayd: program of a relay to start for a live session without a URL; else unused.
 * Return: 0, or the code in @err. With a spool, the relay may be unreachable (relay.away,
 * relay.unknown).
 */
int creation_prepare(struct creation *creation, const char *relayd, struct err *err) MUST_CHECK;
/** Create the session after creation_prepare(). Return: 0, or the code in @err, and nothing
 *  remains. */
int creation_make(struct creation *creation, struct client *client, struct err *err) MUST_CHECK;
void creation_fini(struct creation *creation);

#endif
