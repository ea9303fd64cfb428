/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h - the ring sets that applications record into. Owned by the recording.
 */
#ifndef DOMAIN_USER_RING_H
#define DOMAIN_USER_RING_H

#include "sessiond/domain/rec/recording.h"

struct user_app;
struct user_session;

/** The ring set of the trace channel that an application records into. */
struct ring *ring_get(struct trace_channel *trace_channel, struct user_app *app);
/** Close the ring sets and the trace that belong to this application only. */
void rings_close_of(struct user_session *us, uint64_t app);

#endif
