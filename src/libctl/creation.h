/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * creation.h - create a session and its output directory. On failure neither remains.
 * Owned by the caller; runs in its thread.
 */
#ifndef LIBCTL_CREATION_H
#define LIBCTL_CREATION_H

#include "client.h"
#include "outdir.h"
#include "url.h"

/**
 * struct creation - @name and @output as given, or NULL; the rest is filled in.
 * @prefix: prefix of a generated name; NULL: "auto".
 * @scope: only programs with this word in LTT_SCOPE are recorded; NULL: all.
 * @session: final name, allocated.
 * @dir: the output directory, or a relay's spool; path NULL: none.
 * @relay: the relay of @url, or the relay on this host.
 */
struct creation {
	const char *name;
	const char *prefix;
	const char *output;
	const char *url; /* URL of a relay, in place of @output */
	bool clear_text; /* the connection is not encrypted, also to another host */
	const char *scope;
	bool no_output;
	/* as in session_create */
	uint64_t keep_free, max_size;
	enum sync_mode sync;
	uint32_t sync_us;
	uint64_t spool_size; /* with a relay: size limit of the spool; 0: no spool */
	bool snapshots;	     /* only snapshots are written */
	bool compress;	     /* with a relay: compress the data that is sent */
	uint32_t live_us;    /* not 0: a live session; its relay is on this host if @url is NULL */
	char *session;
	struct outdir dir;
	struct relay_url relay;
};

#define CREATION_INIT              \
	{                          \
		.dir = OUTDIR_NONE \
	}

/**
 * creation_prepare() - check the name, and find the relay if the trace goes to one.
 * @relayd: program of a relay to start for a live session without a URL; NULL: find it.
 * Return: 0, or the code in @err. With a spool, the relay may be unreachable (relay.away,
 * relay.unknown).
 */
int creation_prepare(struct creation *creation, const char *relayd, struct err *err) MUST_CHECK;
/** Create the session after creation_prepare(). Return: 0, or the code in @err, and nothing
 *  remains. */
int creation_make(struct creation *creation, struct client *client, struct err *err) MUST_CHECK;
void creation_fini(struct creation *creation);

#endif
