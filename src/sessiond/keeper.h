/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * keeper.h - ltt-sessiond's end of the conversation with ltt-keeperd (keeper.def),
 * which holds descriptors that must outlive us. It is started with the first
 * thing to hold, and again if it dies. Owned by the daemon; runs on its loop. Each
 * request is answered at once, and waited for: what is put is held when
 * keeper_put() returns.
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
	struct loop_fd source; /* tells that it is gone */
	struct loop_child child;
	bool running; /* our child */
	bool mute;    /* it did not answer, and is asked nothing more */
	/** A new one holds nothing yet: put everything. */
	void (*refill)(struct keeper *keeper);
	struct inherit inherit; /* what it does not have, from others */
	struct fdstore *store;	/* with a second keeper behind it; may be NULL */
	char *consumer;		/* socket of one of them, until it has been asked */
};

/** Connect to one that is there. @consumer: socket of the process that holds the same. Strings are
 *  copied. */
void keeper_init(struct keeper *keeper, struct loop *loop, const char *path, const char *program,
		 const char *consumer, void (*refill)(struct keeper *));
void keeper_fini(struct keeper *keeper);

/** Absent descriptors are negative. A failure is logged. */
void keeper_put(struct keeper *keeper, const char *kind, uint64_t id, const int fds[KEEPER_FDS]);
void keeper_drop(struct keeper *keeper, const char *kind, uint64_t id);
/** Descriptors that it holds, or another process: then they are put, too. Only before
 *  keeper_sweep(). Return: 0, or -ENOENT: nobody has them. */
int keeper_get(struct keeper *keeper, const char *kind, uint64_t id,
	       int ret_fds[KEEPER_FDS]) MUST_CHECK;
/** Drop everything that @wanted does not want; nothing is taken over any more. */
void keeper_sweep(struct keeper *keeper,
		  bool (*wanted)(struct keeper *keeper, const char *kind, uint64_t id));

#endif
