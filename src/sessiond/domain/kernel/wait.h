/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait.h - commands that wait until a change is in force in the module. Owned by the session; each
 * is completed once.
 */
#ifndef DOMAIN_KERNEL_WAIT_H
#define DOMAIN_KERNEL_WAIT_H

#include "io/loop.h"
#include "base/list.h"
#include "sessiond/domain/domain.h"

struct kernel_session;

/** A command that waits until a change is in force. */
struct kernel_wait {
	struct list_node node;
	struct kernel_session *ks;
	struct loop_timer late;
	domain_done done;
	void *data;
};

/** @done is called from the loop, after the next walk, or after a second without progress. */
void kernel_wait_new(struct kernel_session *ks, domain_done done, void *data);
/** Restart the timeout, as there is progress. */
void kernel_waits_extend(struct kernel_session *ks);
/** Complete all waiting commands: the change is in force, or the session ends. */
void kernel_waits_finish(struct kernel_session *ks);

#endif
