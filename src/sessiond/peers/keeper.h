/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * keeper.h - ltt-sessiond's side of the protocol with ltt-keeperd (keeper.def), which stores
 * descriptors that must outlive the session daemon. ltt-keeperd is started with the first entry,
 * and again if it dies. Owned by the daemon; runs on its loop. Requests are synchronous: an entry
 * is stored when keeper_put() returns.
 */
#ifndef SESSIOND_PEERS_KEEPER_H
#define SESSIOND_PEERS_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "sessiond/service/inherit.h"
#include "io/loop.h"
#include "sessiond/service/fdstore.h"

#define KEEPER_FDS INHERIT_FDS

struct keeper {
	struct loop *loop;
	char *path;    /* of its socket */
	char *program; /* NULL: ltt-keeperd is never started */
	int fd;	       /* -1: not connected */
	uint32_t serial;
	struct loop_fd source; /* reports the end of the connection */
	struct loop_child child;
	bool running; /* the child process runs */
	bool mute;    /* ltt-keeperd did not answer, and receives no further requests */
	/** Called for a new, empty ltt-keeperd: put all entries again. */
	void (*refill)(struct keeper *keeper);
	struct inherit inherit; /* descriptors in other processes, not in ltt-keeperd */
	struct fdstore *store;	/* second store of the same descriptors; may be NULL */
	char *rundir; /* of the consumers' sockets, until their descriptors were fetched */
};

/** Connect to ltt-keeperd if it runs. @rundir: directory of the sockets of the consumers, which
 *  have copies of the descriptors. Strings are copied. */
void keeper_init(struct keeper *keeper, struct loop *loop, const char *path, const char *program,
		 const char *rundir, void (*refill)(struct keeper *));
void keeper_fini(struct keeper *keeper);

/** Absent descriptors are negative. A failure is logged. */
void keeper_put(struct keeper *keeper, const char *kind, uint64_t id, const int fds[KEEPER_FDS]);
void keeper_drop(struct keeper *keeper, const char *kind, uint64_t id);
/** Fetch descriptors from ltt-keeperd, or from another process; the latter are then put, too. A
 *  user's consumer is believed about sessions of that user, @uid, only. Only before
 *  keeper_sweep(). Return: 0, or -ENOENT: no process has them. */
int keeper_get(struct keeper *keeper, uid_t uid, const char *kind, uint64_t id,
	       int ret_fds[KEEPER_FDS]) MUST_CHECK;
/** Drop all entries that @wanted rejects, and all inherited descriptors. */
void keeper_sweep(struct keeper *keeper,
		  bool (*wanted)(struct keeper *keeper, const char *kind, uint64_t id));

#endif
