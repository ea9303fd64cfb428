/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * keeper.h - ltt-sessiond's side of the protocol with ltt-keeperd (keeper.def), which stores
 * descriptors that must outlive the session daemon. It is started with the first entry, and
 * again if it dies. Owned by the daemon; runs on its loop. Requests are synchronous: an entry is
 * stored when keeper_put() returns.
 */
#ifndef SESSIOND_KEEPER_H
#define SESSIOND_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "inherit.h"
#include "io/loop.h"
#include "fdstore.h"

#define KEEPER_FDS INHERIT_FDS

struct keeper {
	struct loop *loop;
	char *path;    /* of its socket */
	char *program; /* NULL: it is never started */
	int fd;	       /* -1: not connected */
	uint32_t serial;
	struct loop_fd source; /* reports its end */
	struct loop_child child;
	bool running; /* our child */
	bool mute;    /* it did not answer, and gets no further requests */
	/** A new one is empty: put everything. */
	void (*refill)(struct keeper *keeper);
	struct inherit inherit; /* descriptors that it does not have, from other processes */
	struct fdstore *store;	/* in which the keeper's descriptors are stored, too; may be NULL */
	char *consumer;		/* the consumer's socket, until its descriptors were fetched */
};

/** Connect to a running one. @consumer: socket of the process that has copies of the
 *  descriptors. Strings are copied. */
void keeper_init(struct keeper *keeper, struct loop *loop, const char *path, const char *program,
		 const char *consumer, void (*refill)(struct keeper *));
void keeper_fini(struct keeper *keeper);

/** Absent descriptors are negative. A failure is logged. */
void keeper_put(struct keeper *keeper, const char *kind, uint64_t id, const int fds[KEEPER_FDS]);
void keeper_drop(struct keeper *keeper, const char *kind, uint64_t id);
/** Fetch descriptors from it, or from another process: then they are put, too. Only before
 *  keeper_sweep(). Return: 0, or -ENOENT: no process has them. */
int keeper_get(struct keeper *keeper, const char *kind, uint64_t id,
	       int ret_fds[KEEPER_FDS]) MUST_CHECK;
/** Drop all entries that @wanted rejects; nothing is taken over any more. */
void keeper_sweep(struct keeper *keeper,
		  bool (*wanted)(struct keeper *keeper, const char *kind, uint64_t id));

#endif
