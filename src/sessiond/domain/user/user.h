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
/** Call @fn for each application. @name: of its program. */
void user_each_app(struct domain_tracer *domain,
		   void (*fn)(const struct peer *peer, const char *name, void *data), void *data);
/** Free an application whose connection was closed. */
void user_app_free(struct user_app *app);
/** Return: 0, or -EPROTO if the application violates the protocol. */
int user_app_points_add(struct user_app *app, struct msg_app_points_add *msg);
int user_app_points_remove(struct user_app *app, struct msg_app_points_remove *msg);
int user_app_channels(struct user_app *app, struct msg_app_channels *msg);
int user_app_synced(struct user_app *app, const struct msg_app_synced *msg);
/** @msg: its descriptors stay the caller's. */
int user_app_offer(struct user_app *app, const struct msg_app_buffer_offer *msg);
int user_app_buffer_failed(struct user_app *app, const struct msg_app_buffer_failed *msg);
int user_app_silent(struct user_app *app, const struct msg_app_silent *msg);
int user_app_producer(struct user_app *app, const struct msg_app_producer *msg);
int user_app_begun(struct user_app *app, const struct msg_app_begun *msg);
/* Members of the domain's table; see struct domain_ops. */
int user_check_rule(struct domain_tracer *domain, const struct session *session,
		    const struct rule_spec *spec, struct err *err) MUST_CHECK;
void user_each_refusal(struct domain_tracer *domain, const struct session *session,
		       const struct channel *channel, const struct rule *rule,
		       void (*fn)(const struct domain_refusal *refusal, void *data), void *data);
void user_each_counted(struct domain_tracer *domain, const struct session *session,
		       const struct domain_counted_ops *ops, void *data);
void user_dump(struct domain_tracer *domain, const struct session *session,
	       struct domain_dumps *ret, domain_done done, void *data);
void user_programs(struct domain_tracer *domain, const struct session *session,
		   struct domain_programs *ret, void (*fn)(const char *name, void *data),
		   void *data);
void user_await_offers(struct domain_tracer *domain, domain_done done, void *data);

#endif
