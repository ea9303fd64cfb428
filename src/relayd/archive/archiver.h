/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * archiver.h - a relay's connection to ltt-archive, which puts the sessions in the relay's
 * directory into a store (archive.def), and the relay's knowledge of the store's contents. Owned by
 * main(); the connection runs on the main loop. Workers and retention call the functions below;
 * none waits for ltt-archive, which may be slow, hung or absent.
 *
 * A relay that starts knows nothing of the store: ltt-archive reports it again for each session.
 */
#ifndef RELAYD_ARCHIVE_ARCHIVER_H
#define RELAYD_ARCHIVE_ARCHIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "io/loop.h"

#define ARCHIVER_PROBLEM_BYTES 200u

struct archiver;
/** A session, or an archive of one. It is owned by the archiver, and valid while it is received. */
struct archived;

#define ARCHIVER_SILENCE_US 60000000u

/** @spawner_fd: of spawner_start(); owned from now on, also if it fails. @silence_us: after which
 *  an ltt-archive that does not answer is killed. Return: 0 or negative errno. */
int archiver_new(struct archiver **ret, struct loop *loop, int spawner_fd,
		 uint64_t silence_us) MUST_CHECK;
/** All sessions have been left. @archiver: may be NULL. */
struct archiver *archiver_free(struct archiver *archiver);
/** Whether the processes of @spawner_fd have ended, and so the loop. @archiver: may be NULL. */
bool archiver_is_lost(const struct archiver *archiver);

/*
 * Any thread. An archiver, or a session, that is NULL: the relay has no store.
 */

/** A session with this id (RELAY_ID_BYTES) is received into the directory @path. */
struct archived *archiver_receive(struct archiver *archiver, const char *path, const uint8_t *id);
/** It has new data. */
void archived_note(struct archived *session);
/** Its sender waits until its data is in the store. */
void archived_flush(struct archived *session);
/** It is not received any more. @ended: its sender has reported its end. */
void archived_leave(struct archived *session, bool ended);
/** The last packet of a stream up to which all are in the store. Return: false: none is. */
bool archived_durable(const struct archived *session, const char *trace, uint32_t stream_class,
		      uint32_t instance, uint64_t *ret_seq);
/** Why the store takes no data, a sentence; "": it does. */
void archived_problem(const struct archived *session, char ret[ARCHIVER_PROBLEM_BYTES]);

/** A scan has found a session that may not be received, or an archive. @over: its sender will not
 *  reconnect. Return: whether the store has all of it. */
bool archiver_has(struct archiver *archiver, const char *path, bool over, bool is_archive);
/** The scan is complete: forget sessions that neither it nor the one before has found. */
void archiver_sweep(struct archiver *archiver);

#endif
