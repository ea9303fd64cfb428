/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - the traces of a session in the user domain: one for each user or application. Owned by
 * the recording.
 */
#ifndef DOMAIN_USER_TRACE_H
#define DOMAIN_USER_TRACE_H

#include "sessiond/domain/rec/recording.h"

struct user_app;
struct user_session;

struct trace *trace_get(struct user_session *us, struct user_app *app,
			const struct channel *channel);
/** Create the trace of the session's owner at the start, so that readers always find a trace. */
void trace_prepare(struct user_session *us);
struct trace *trace_find(struct user_session *us, const struct user_app *app,
			 const struct channel *channel);
/** Append the beginning of the metadata of a user's trace. */
void trace_describe(struct trace *trace);

#endif
