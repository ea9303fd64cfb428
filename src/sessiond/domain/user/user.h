/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user.h - the user domain: applications that use libltt. Owns the list of them, and the traces
 * and buffers of sessions that record them. Runs on the daemon's loop. apps.c passes it the
 * applications' messages.
 */
#ifndef DOMAIN_USER_USER_H
#define DOMAIN_USER_USER_H

#include "sessiond/domain/domain.h"
#include "io/peer.h"
#include "proto/app.h"
#include "sessiond/domain/rec/recorder.h"
#include "sessiond/core/app.h"

struct user_domain;
struct user_app;

struct domain_tracer *user_domain_new(struct recorder *recorder);
struct domain_tracer *user_domain_free(struct domain_tracer *domain);

/** Add an application that has sent its hello. @peer outlives the result. */
struct user_app *user_app_new(struct domain_tracer *domain, struct peer *peer,
			      const struct msg_app_hello *hello);
/** Free an application whose connection was closed. */
void user_app_free(struct user_app *app);
/** Return: 0, or -EPROTO if the application violates the protocol. */
int user_app_points_add(struct user_app *app, struct msg_app_points_add *msg);
int user_app_points_remove(struct user_app *app, struct msg_app_points_remove *msg);
int user_app_synced(struct user_app *app, const struct msg_app_synced *msg);
/** @msg: its descriptors stay the caller's. */
int user_app_offer(struct user_app *app, const struct msg_app_buffer_offer *msg);
int user_app_buffer_failed(struct user_app *app, const struct msg_app_buffer_failed *msg);
int user_app_silent(struct user_app *app, const struct msg_app_silent *msg);
int user_app_producer(struct user_app *app, const struct msg_app_producer *msg);
/** Check that a rule can match. Return: 0 or the code set in @err: no event of the name has the
 *  field, and there are such events. */
int user_check_rule(struct domain_tracer *domain, const struct session *session,
		    const struct rule_spec *spec, struct err *err) MUST_CHECK;
/** Call @fn for each event that an application can't record or count. @channel, @rule: only of
 *  these; NULL: of all. */
void user_each_refusal(struct domain_tracer *domain, const struct session *session,
		       const struct channel *channel, const struct rule *rule,
		       void (*fn)(const struct domain_refusal *refusal, void *data), void *data);
void user_each_counted(struct domain_tracer *domain, const struct session *session,
		       const struct domain_counted_ops *ops, void *data);
/** Request the applications that record into @session to run their state dumps again. If there are
 *  any, @done is called when they have answered or are late. Return: number of applications. */
uint32_t user_dump(struct domain_tracer *domain, const struct session *session, domain_done done,
		   void *data);
/**
 * struct user_programs - the applications of a session.
 * @recording: number of applications that record into it, or are about to. @apps: number of those
 * that may. @matched: a rule matched a point of an application, which may have ended. @more: names
 * were omitted.
 */
struct user_programs {
	uint32_t recording, apps;
	bool matched, more;
};

/** @fn: called for each name of a point of a scoped session's applications, unless a rule matched
 *  one of their points. */
void user_programs(struct domain_tracer *domain, const struct session *session,
		   struct user_programs *ret, void (*fn)(const char *name, void *data), void *data);
/** Call @done, at once or later, when no session waits for an offer of a lost ring set. */
void user_await_offers(struct domain_tracer *domain, void (*done)(void *data), void *data);

#endif
