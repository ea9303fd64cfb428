/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * create.h - create a session and its output directory, for `create` and `record`. Undone
 * completely on failure.
 */
#ifndef CTL_CREATE_H
#define CTL_CREATE_H

#include "libctl/outdir.h"
#include "libctl/url.h"
#include "proto/enums.h"
#include "verb.h"

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

/** Return: 0, or the code in ctl->err; nothing is left behind then. */
int create_session(struct ctl *ctl, struct creation *creation) MUST_CHECK;
/** Store it as current session and last trace; failures are warnings. */
void create_remember(struct ctl *ctl, const struct creation *creation, bool current);
void creation_fini(struct creation *creation);

#endif
