/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exec.h - runs the commands of triggers, as their owners. The daemon itself may start nothing but
 * its own daemons (io/confine.h), so a process that is forked before it is confined does it: the
 * runner, which receives requests from the daemon alone, and ends with it. A command has 30 s, an
 * environment of a few variables, no input; its output goes to the daemon's log, at most
 * a few KiB of it.
 */
#ifndef SESSIOND_TRIGGER_EXEC_H
#define SESSIOND_TRIGGER_EXEC_H

#include "io/loop.h"
#include "sessiond/core/trigger.h"

#define EXEC_SECONDS 30u

/** @problem: NULL: the command ended with status 0. */
typedef void (*exec_done)(void *data, const char *problem);

struct exec {
	struct loop_fd source; /* the runner's socket; its descriptor is -1: there is no runner */
	struct list_node waiting; /* struct exec_request */
	uint32_t serial;
};

/** Fork the runner: before threads are created and rights are dropped. Return: its socket, or
 *  negative errno. */
int exec_fork(void) MUST_CHECK;
/** @fd: of exec_fork(), owned from now on; negative: no command can be run. */
void exec_init(struct exec *exec, struct loop *loop, int fd);
/** Commands that run are left to the runner, which ends them. */
void exec_fini(struct exec *exec);
/** Run the command of @action; @done is called once, later or at once. */
void exec_begin(struct exec *exec, const struct trigger *trigger,
		const struct trigger_action *action, const struct firing *firing, exec_done done,
		void *data);

#endif
