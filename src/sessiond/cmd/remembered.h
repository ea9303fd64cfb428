/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * remembered.h - events that other sessions of a session's owner remember, and that are copied
 * beside its trace and into its snapshots. Runs on the daemon's loop.
 */
#ifndef SESSIOND_CMD_REMEMBERED_H
#define SESSIOND_CMD_REMEMBERED_H

#include "cmd.h"

#define REMEMBERED_NAME_BYTES 256u

/** The next session, behind the one with the id @after (0: the first), whose events are copied for
 *  @to: it remembers some of programs, or of the kernel, and @to records these. NULL: none. */
const struct session *remembered_next(const struct sessions *sessions, const struct session *to,
				      uint64_t after);
/** The directory of the session's events. */
void remembered_name(const struct session *session, char ret[REMEMBERED_NAME_BYTES]);
/** A request to the consumer of @from for these events; without a place to which they go. */
struct req_con_snapshot remembered_request(const struct session *from, const struct session *to);

#endif
