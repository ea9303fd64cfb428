/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the crashes of the machine's programs of which a user has snapshots, in
 * HOME/.ltt-crash-state: JSON, for the user alone. Its locks let one process save a crash and one
 * wait for it; a crash that comes meanwhile joins the one that waits, whose snapshot is made after
 * it. Used by lttctl crash --save.
 */
#ifndef CTL_CRASH_STATE_H
#define CTL_CRASH_STATE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "settings.h"

#define CRASH_NAME_BEGIN "crash-" /* of the directory of a snapshot */

/** struct crash_state - @fd: the file; it has the locks until it is closed. */
struct crash_state {
	int fd;
	struct json_object *json;
};

/** Return: false: there is no HOME that can be written. */
bool crash_state_open(struct crash_state *ret);
/** Wait for the turn of this process. @ret_joined: number of crashes that joined this one.
 *  Return: false: it has joined another one, nothing is to be done. */
bool crash_state_wait(struct crash_state *state, uint64_t *ret_joined);
/** Whether the program may have one more snapshot now. If not, that is counted. */
bool crash_state_admit(struct crash_state *state, const struct crash_settings *settings, uid_t uid,
		       const char *program);
/** A snapshot of the program was made; the user's oldest ones beyond the limit are removed. */
void crash_state_add(struct crash_state *state, const struct crash_settings *settings, uid_t uid,
		     const char *program, const char *directory);
/** A snapshot could not be made. @problem: a sentence. */
void crash_state_fail(struct crash_state *state, const char *problem);
void crash_state_close(struct crash_state *state);

/** Add the user's counts to an object: "nr_kept", "suppressed", "failed", "problem". */
void crash_state_report(struct json_object *o);

#endif
