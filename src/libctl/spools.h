/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spools.h - spools of sessions at a relay, in the caller's HOME/ltt-traces/spool. Runs in the
 * caller's thread.
 */
#ifndef LIBCTL_SPOOLS_H
#define LIBCTL_SPOOLS_H

#include <stdbool.h>

#include "base/err.h"
#include "io/spoolfacts.h"

struct spool_info {
	char *path;
	int fd;	    /* of the directory */
	bool ours;  /* it is a spool, by its place or its file */
	bool known; /* by these, which an earlier version did not store: */
	struct spoolfacts facts;
	bool locked;		 /* a consumer, or another lttctl, has it */
	uint64_t bytes, packets; /* in the spool; the relay may have the first of them */
	uint64_t since_ns;	 /* CLOCK_REALTIME, of the oldest; 0: nothing waits */
};

/** HOME/ltt-traces/spool, allocated; NULL: there is no home. */
char *spools_dir(void);
/** @name: in there, or a path. Return: 0, or the code in @err. */
int spools_open(const char *name, struct spool_info *ret, struct err *err) MUST_CHECK;
void spools_fini(struct spool_info *spool);
/** Remove it with all that is in it. Return: 0, or the code in @err: it is in use. */
int spools_remove(struct spool_info *spool, struct err *err) MUST_CHECK;

#endif
