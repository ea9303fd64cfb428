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

/** An application has introduced itself. @peer outlives the result. */
struct user_app *user_app_new(struct domain_tracer *domain, struct peer *peer,
			      const struct msg_app_hello *hello);
/** Its connection has ended. */
void user_app_free(struct user_app *app);
/** Return: 0, or -EPROTO if the application violates the protocol. */
int user_app_points_add(struct user_app *app, struct msg_app_points_add *msg);
int user_app_points_remove(struct user_app *app, struct msg_app_points_remove *msg);
int user_app_synced(struct user_app *app, const struct msg_app_synced *msg);
/** @msg: its descriptors stay the caller's. */
int user_app_offer(struct user_app *app, const struct msg_app_buffer_offer *msg);
int user_app_buffer_failed(struct user_app *app, const struct msg_app_buffer_failed *msg);
int user_app_producer(struct user_app *app, const struct msg_app_producer *msg);
/** Check that a rule can match. Return: 0 or the code set in @err: no event of the name has the
 *  field, and there are such events. */
int user_check_rule(struct domain_tracer *domain, const struct session *session,
		    const struct rule_spec *spec, struct err *err) MUST_CHECK;
/** Applications that can't record or count an event. @channel, @rule: the events of these; NULL: of
 *  all. */
void user_each_refusal(struct domain_tracer *domain, const struct session *session,
		       const struct channel *channel, const struct rule *rule,
		       void (*fn)(const struct domain_refusal *refusal, void *data), void *data);
void user_each_counted(struct domain_tracer *domain, const struct session *session,
		       void (*fn)(const struct domain_counted *counted, void *data), void *data);
/** Have the applications that record into @session run their state dumps again. @done is called,
 *  if there are any, when they have answered or are late. Return: their number. */
uint32_t user_dump(struct domain_tracer *domain, const struct session *session, domain_done done,
		   void *data);
/**
 * struct user_programs - of a session.
 * @recording: applications that record into it, or are about to; @apps: that could. @matched: a
 * rule matched a point of one, which may have ended. @more: names were omitted.
 */
struct user_programs {
	uint32_t recording, apps;
	bool matched, more;
};

/** @fn: of each name that applications of a scoped session have registered and no rule matched;
 *  none once a rule matched one. */
void user_programs(struct domain_tracer *domain, const struct session *session,
		   struct user_programs *ret, void (*fn)(const char *name, void *data), void *data);
/** Call @done, at once or later, when no buffer that was lost is waited for any longer. */
void user_await_offers(struct domain_tracer *domain, void (*done)(void *data), void *data);

#endif
