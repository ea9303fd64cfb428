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
	bool ours;  /* the directory is a spool, as its path or SPOOLFACTS_FILE shows */
	bool known; /* @facts were found */
	struct spoolfacts facts;
	bool locked;		 /* a consumer, or another lttctl, uses the spool */
	uint64_t bytes, packets; /* in the spool; the relay may have the first of them */
	uint64_t since_ns;	 /* CLOCK_REALTIME of the oldest data; 0: there is none */
};

/** HOME/ltt-traces/spool, allocated. Return: 0, or the code in @err: ERR_INVALID: there is no
 *  home. */
int spools_dir(char **ret, struct err *err) MUST_CHECK;
/** Open a spool. @name: name in the directory above, or a path. Return: 0, or the code in @err. */
int spools_open(const char *name, struct spool_info *ret, struct err *err) MUST_CHECK;
void spools_fini(struct spool_info *spool);
/** Whether the directory has been empty for a minute: its data was sent, and the caller ended
 *  before it removed the directory. A new one is that of a session that is being created. */
bool spools_is_sent(const struct spool_info *spool);
/** Remove a spool with its contents. Return: 0, or the code in @err: it is in use. */
int spools_remove(struct spool_info *spool, struct err *err) MUST_CHECK;

#endif
