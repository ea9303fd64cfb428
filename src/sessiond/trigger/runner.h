/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * runner.h - the process that runs the commands of triggers, and its messages: one packet each, on
 * a socket pair. Its parent forks it again if it is killed. Private to this folder.
 */
#ifndef SESSIOND_TRIGGER_RUNNER_H
#define SESSIOND_TRIGGER_RUNNER_H

#include <stdint.h>

#define RUNNER_BYTES 16384u /* of a packet, at most */
#define RUNNER_OUTPUT_BYTES 4096u

/** The command and its environment follow, each text with its NUL. */
struct runner_request {
	uint32_t serial;
	uint32_t uid, gid;
	uint32_t seconds;
};

/** The output follows, at most RUNNER_OUTPUT_BYTES of it. */
struct runner_answer {
	uint32_t serial;
	int32_t error;	     /* errno: it was not started; 0: it was */
	int32_t wait_status; /* as of waitpid() */
	uint32_t late;	     /* 1: it was ended, as its time was over */
};

/** Serve requests until the other end is closed. Does not return. */
_Noreturn void runner_serve(int fd);

#endif
