/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * creation.h - create a session and its output directory. Undone completely on failure.
 * Owned by the caller; runs in its thread.
 */
#ifndef LIBCTL_CREATION_H
#define LIBCTL_CREATION_H

#include "client.h"
#include "outdir.h"
#include "url.h"

/**
 * struct creation - @name and @output as given, or NULL; the rest is filled in.
 * @prefix: of a made-up name; NULL: "auto".
 * @scope: only programs with this word in LTT_SCOPE are recorded; NULL: all.
 * @session: name in the end, allocated.
 * @dir: the output directory, or a relay's spool; path NULL: none.
 * @relay: what @url says, or the local one's.
 */
struct creation {
	const char *name;
	const char *prefix;
	const char *output;
	const char *url; /* URL of a relay, instead */
	bool clear_text; /* for one on another machine */
	const char *scope;
	bool no_output;
	/* as in session_create */
	uint64_t keep_free, max_size;
	enum sync_mode sync;
	uint32_t sync_us;
	uint64_t spool_size; /* at a relay: size limit of the spool; 0: no spool */
	bool compress;	     /* what goes there */
	uint32_t live_us;    /* not 0: at a relay, a local one where no url is given */
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
 * Return: 0, or the code in @err. With a spool a relay may be away (relay.away, relay.unknown).
 */
int creation_prepare(struct creation *creation, const char *relayd, struct err *err) MUST_CHECK;
/** Then: make it. Return: 0, or the code in @err; nothing is left behind then. */
int creation_make(struct creation *creation, struct client *client, struct err *err) MUST_CHECK;
void creation_fini(struct creation *creation);

#endif
