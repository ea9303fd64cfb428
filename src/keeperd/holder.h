/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holder.h - the descriptors that ltt-keeperd stores, and its protocol (keeper.def).
 * Owned by main(); runs on its loop.
 */
#ifndef KEEPERD_HOLDER_H
#define KEEPERD_HOLDER_H

#include <stdbool.h>

#include "base/list.h"
#include "io/loop.h"

struct holder {
	struct loop *loop;
	struct list_node entries;
	struct list_node clients;
	unsigned int nr_entries;
	/** Called when a client was added or removed. */
	void (*changed)(struct holder *holder);
};

void holder_init(struct holder *holder, struct loop *loop, void (*changed)(struct holder *holder));
/** Close all connections and all descriptors. */
void holder_fini(struct holder *holder);
/** Serve the connection @fd (taken over). Return: 0 or negative errno. */
int holder_serve(struct holder *holder, int fd) MUST_CHECK;
/** Whether nothing is stored and no client is connected. */
bool holder_is_idle(const struct holder *holder);

#endif
