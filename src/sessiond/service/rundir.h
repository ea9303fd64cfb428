/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rundir.h - the runtime directory, with the daemon's sockets and its lock: at most one daemon runs
 * in a directory. Owned by main().
 */
#ifndef SESSIOND_SERVICE_RUNDIR_H
#define SESSIOND_SERVICE_RUNDIR_H

#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"
#include "fdstore.h"

struct rundir {
	char *path;
	char *pidfile;
	int lock;    /* held as long as the daemon lives */
	int clients; /* listening sockets */
	int apps;
	struct stat clients_made; /* identity of the socket file */
	struct stat apps_made;
	bool clients_lent; /* the socket belongs to a service manager, which keeps listening */
	bool apps_lent;
	gid_t group; /* group of the clients' socket; (gid_t)-1: no such group */
};

/**
 * rundir_lock() - find or create the directory, and lock it for this daemon. If a service manager
 * listens in the directory for this daemon (@store), clients can't reach an earlier daemon that
 * still runs: it is requested to leave its sessions to this one (SIGUSR1). Return: 0 or the code in
 * @err.
 */
int rundir_lock(struct rundir *dir, const struct fdstore *store, struct err *err);
/** Create the sockets, or take over the manager's. @group: name of the group that may
 *  connect to root's daemon; NULL: the default one, which may be missing. */
int rundir_listen(struct rundir *dir, const char *group, struct fdstore *store, struct err *err);
/** Write the process id. @path: NULL: sessiond.pid in the directory. */
int rundir_write_pid(struct rundir *dir, const char *path, struct err *err);
/** Store the sockets for a successor, or (@keep false) remove them from the store. */
void rundir_store(const struct rundir *dir, struct fdstore *store, bool keep);
/** End without removing the sockets and their copies in the store, for a successor. */
void rundir_leave(struct rundir *dir);
/** Remove the created files and close the descriptors. */
void rundir_fini(struct rundir *dir);

#endif
