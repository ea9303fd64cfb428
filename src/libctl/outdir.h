/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outdir.h - the directory that receives a trace. The client creates it, with its own rights,
 * and sends a descriptor: the daemon opens no path on its behalf. Owned by its maker; runs in
 * the maker's thread.
 */
#ifndef LIBCTL_OUTDIR_H
#define LIBCTL_OUTDIR_H

#include <stdbool.h>

#include "base/err.h"

struct outdir {
	char *path; /* absolute */
	int fd;	    /* -1: none */
	bool made;  /* did not exist before */
};

#define OUTDIR_NONE                                   \
	{                                             \
		.path = NULL, .fd = -1, .made = false \
	}

/** HOME/ltt-traces/SESSION-YYYYmmdd-HHMMSS, always a new one; @stamp that date and time. */
int outdir_default(const char *session, const char *stamp, struct outdir *ret,
		   struct err *err) MUST_CHECK;
/** HOME/ltt-traces/spool/SESSION-YYYYmmdd-HHMMSS, likewise. */
int outdir_spool(const char *session, const char *stamp, struct outdir *ret,
		 struct err *err) MUST_CHECK;
/** A directory that the user named: made if missing, with those above it. It
 *  may not hold a trace. */
int outdir_at(const char *path, struct outdir *ret, struct err *err) MUST_CHECK;
/** Remove the created directory, if it is still empty. */
void outdir_undo(struct outdir *dir);
/** Remove a directory that was made, with all that is in it. */
void outdir_remove(struct outdir *dir);
/** Close and free; the directory stays. */
void outdir_fini(struct outdir *dir);

/** "YYYYmmdd-HHMMSS" now, local time. */
#define OUTDIR_STAMP_BYTES 32
void outdir_stamp(char ret[OUTDIR_STAMP_BYTES]);

/** Newest HOME/ltt-traces/SESSION-YYYYmmdd-HHMMSS[-N]; allocated, or NULL. */
char *outdir_newest(const char *session);

#endif
