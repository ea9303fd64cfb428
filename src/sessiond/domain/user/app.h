/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * app.h - an application of the user domain, from its introduction to the end of its
 * connection. Runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_APP_H
#define DOMAIN_USER_APP_H

#include <ltt/channel.h>

#include "user.h"

struct fired;
struct user_preset;
struct user_session;

struct user_app {
	struct list_node node;
	struct user_domain *user;
	struct peer *peer;
	struct app app;
	uint64_t start_ticks; /* of the process: with its pid, its identity */
	uint8_t silence;      /* enum app_silence */
	uint8_t silent_why;   /* enum app_reason, of that */
	bool announced;	      /* its first list of points is complete */
	bool sweep_due;	      /* it was sent APP_READY_BEGIN, and no later part */
	uint32_t recorded;    /* points below it were armed by an earlier daemon, and still are */
	uint64_t begun_ns;    /* monotonic: it began before an answer; 0: no, or it was reported */
	uint32_t begun_first; /* without those points and later ones */
	uint64_t wanted;      /* the requested offer in flight; 0: none */
	uint32_t ready_due;   /* announcements without an app_ready reply */
	uint32_t nr_refused;  /* points */
	uint32_t nr_presets;
	struct user_preset *presets[LTT_CHANNELS_MAX]; /* see preset.h */
	struct list_node links;			       /* struct user_link, by `in_app` */
	struct fired *fired; /* memory for triggers that was sent; NULL: none */
	uint32_t *fire_todo; /* points whose triggers were not sent yet */
	size_t nr_fire_todo, cap_fire_todo;
};

/** No application with this id will record any more. */
void user_close_buffers(struct user_domain *user, uint64_t app);
/** A registered point: decode, check, store. Return: the problem, or NULL. */
const char *point_add(struct app *app, struct msg_app_point *msg);

/*
 * Applications that can't record any more, since libltt's thread has ended (enum app_reason). They
 * are remembered until they end, as they are not connected any more: sessions that would record
 * them report them. Owned by the user domain; runs on the daemon's loop.
 */

void silent_free(struct user_domain *user);
/** A session starts: it has a problem if it should record silent applications. */
void silent_start(struct user_session *us);
/** Call @fn for each silent application that a rule of the session would record, and for those with
 *  silent children. @channel, @rule: as of user_each_refusal(). */
void silent_each(const struct user_session *us, const struct channel *channel,
		 const struct rule *rule,
		 void (*fn)(const struct domain_refusal *refusal, void *data), void *data);

#endif
