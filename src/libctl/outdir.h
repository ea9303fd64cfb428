/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outdir.h - the directory of a trace. The client creates it, with its own rights, and sends a
 * descriptor, so that the daemon opens no path of a user. Owned by the caller; runs in the
 * caller's thread.
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

/** Create HOME/ltt-traces/SESSION-YYYYmmdd-HHMMSS, which must not exist. @stamp: date and time. */
int outdir_default(const char *session, const char *stamp, struct outdir *ret,
		   struct err *err) MUST_CHECK;
/** Create HOME/ltt-traces/spool/SESSION-YYYYmmdd-HHMMSS in the same way. */
int outdir_spool(const char *session, const char *stamp, struct outdir *ret,
		 struct err *err) MUST_CHECK;
/** Open a directory that the user named, and create it and its parents if they are missing. It must
 *  not contain a trace. */
int outdir_at(const char *path, struct outdir *ret, struct err *err) MUST_CHECK;
/** Remove the created directory, if it is still empty. */
void outdir_undo(struct outdir *dir);
/** Remove the created directory with its contents. */
void outdir_remove(struct outdir *dir);
/** Close and free; the directory stays. */
void outdir_fini(struct outdir *dir);

/** "YYYYmmdd-HHMMSS" now, local time. */
#define OUTDIR_STAMP_BYTES 32
void outdir_stamp(char ret[OUTDIR_STAMP_BYTES]);

#endif
