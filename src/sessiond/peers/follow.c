/* SPDX-License-Identifier: GPL-2.0-only */
#include "follow.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/realtime.h"

#define POLL_US 200000u	      /* where the session has no period of its own */
#define POLL_LEAST_US 100000u /* users do not read faster, and each check has a cost */
#define NO_STATE 0xff

struct follower {
	struct list_node node;
	struct command *cmd;
	struct loop_timer look;
	bool asking; /* for figures: figures() frees it then */
	bool over;
	/* state that was sent to the client */
	uint8_t state;
	char problem[sizeof(((struct session *)NULL)->troubles[0])];
	uint64_t lost;			      /* of all channels, by all causes */
	uint8_t causes[SESSION_MAX_CHANNELS]; /* that were reported to it, a bit each */
};

static void follower_report(struct follower *f, struct msg_news *news)
{
	news->at_ns = realtime_ns();
	item_news(f->cmd, news);
}

/* --- losses ------------------------------------------------------------------------ */

/* As lttctl counts them: events that a full buffer rejected while the output could not write are
 * attributed to the output. */
static uint64_t lost_to(const struct msg_totals *t, enum loss_cause cause)
{
	uint64_t stalled = MIN(t->lost_full, t->lost_stalled);

	switch (cause) {
	case LOSS_FULL:
		return t->lost_full - stalled;
	case LOSS_SIZE:
		return t->lost_size;
	case LOSS_BUSY:
		return t->lost_busy;
	case LOSS_OUTPUT:
		return t->lost_output + stalled;
	case LOSS_INVALID:
		return t->lost_invalid;
	default:
		return 0;
	}
}

static void report_losses_of(struct follower *f, const struct channel *channel,
			     const struct msg_totals *totals)
{
	uint8_t *told = &f->causes[channel->number % SESSION_MAX_CHANNELS];

	for (unsigned int cause = LOSS_FULL; cause < LOSS_NR_CAUSES; cause++) {
		struct msg_news news = {
			.kind = NEWS_LOSS,
			.channel = channel->name,
			.cause = (uint8_t)cause,
			.count = lost_to(totals, (enum loss_cause)cause),
		};

		if (news.count == 0 || *told & 1u << cause)
			continue;
		*told |= (uint8_t)(1u << cause);
		follower_report(f, &news);
	}
}

static void follower_report_losses(struct follower *f, struct session *session,
				   const struct stats *stats)
{
	const struct domains *domains = &f->cmd->sd->domains;
	struct channel *channel;
	struct msg_totals t;
	uint64_t lost = 0;

	stats_totals(stats, domains, session, NULL, &t);
	for (unsigned int cause = LOSS_FULL; cause < LOSS_NR_CAUSES; cause++)
		lost += lost_to(&t, (enum loss_cause)cause);
	if (lost == f->lost)
		return;
	f->lost = lost;
	list_for_each(channel, &session->channels, node) {
		stats_totals(stats, domains, session, channel, &t);
		report_losses_of(f, channel, &t);
	}
}

static void follower_poll_later(struct follower *f, struct session *session)
{
	uint32_t period_us = run_flush_us(session->run);

	if (session->state == SESSION_RECORDING)
		loop_timer_set(&f->look, MAX(period_us ? period_us : POLL_US, POLL_LEAST_US));
}

static void figures(void *data, const struct run_result *result)
{
	struct follower *f = data;
	struct session *session = f->over ? NULL : command_session(f->cmd);

	f->asking = false;
	if (f->over) {
		free(f);
		return;
	}
	if (!session)
		return; /* about to be notified */
	if (result->stats->known)
		follower_report_losses(f, session, result->stats);
	follower_poll_later(f, session);
}

static void follower_request(struct follower *f, struct session *session)
{
	if (f->asking)
		return;
	f->asking = true;
	loop_timer_cancel(&f->look);
	run_stats(session->run, figures, f);
}

static void follower_poll(struct loop_timer *timer)
{
	struct follower *f = container_of(timer, struct follower, look);
	struct session *session = command_session(f->cmd);

	if (session)
		follower_request(f, session);
}

/* --- state and problems --------------------------------------------------------------- */

/* A state that is only on the way to another is no news. */
static bool is_stable(enum session_state state)
{
	return state == SESSION_NEW || state == SESSION_RECORDING || state == SESSION_STOPPED;
}

static void follower_report_state(struct follower *f, struct session *session)
{
	struct msg_news news = { .kind = NEWS_STATE, .state = (uint8_t)session->state };

	if (!is_stable(session->state) || session->state == f->state)
		return;
	f->state = news.state;
	follower_report(f, &news);
	follower_request(f, session); /* also the last time, when it has stopped */
}

static void report_problem(struct follower *f, const struct session *session)
{
	const char *problem = session_problem(session);
	struct msg_news news = { .kind = *problem ? NEWS_PROBLEM : NEWS_SOLVED, .text = problem };

	snprintf(f->problem, sizeof(f->problem), "%s", problem);
	follower_report(f, &news);
}

void follow_changed(struct sessiond *sd, struct session *session)
{
	struct follower *f;

	list_for_each(f, &sd->followers, node) {
		if (f->cmd->session_id != session->id)
			continue;
		if (strcmp(f->problem, session_problem(session)) != 0)
			report_problem(f, session);
		follower_report_state(f, session);
	}
}

void follow_consumer(struct sessiond *sd, const struct consumer *consumer, enum news_kind kind,
		     const char *why)
{
	struct msg_news news = { .kind = (uint8_t)kind, .text = why };
	struct session *session;
	struct follower *f;

	list_for_each(f, &sd->followers, node) {
		session = command_session(f->cmd);
		if (session && run_uses(session->run, consumer) && run_output_open(session->run))
			follower_report(f, &news);
	}
}

/* --- followers -------------------------------------------------------------------------- */

bool follows(struct sessiond *sd, uint64_t client)
{
	struct follower *f;

	list_for_each(f, &sd->followers, node)
		if (f->cmd->client == client)
			return true;
	return false;
}

void follow_begin(struct command *cmd)
{
	struct follower *f = xalloc(sizeof(*f));

	f->cmd = cmd;
	f->state = NO_STATE;
	loop_timer_init(&f->look, cmd->sd->loop, follower_poll);
	list_append(&cmd->sd->followers, &f->node);
	follower_report_state(f, cmd->session);
	report_problem(f, cmd->session);
	follower_request(f, cmd->session);
}

/* Return: the command, which is the caller's again. */
static struct command *follower_release(struct follower *f)
{
	struct command *cmd = f->cmd;

	loop_timer_cancel(&f->look);
	list_remove(&f->node);
	f->cmd = NULL;
	f->over = true;
	if (!f->asking)
		free(f);
	return cmd;
}

void follow_destroyed(struct sessiond *sd, struct session *session, const struct run_result *result)
{
	struct follower *f, *next;

	list_for_each_safe(f, next, &sd->followers, node) {
		struct rep_session_follow rep = { 0 };
		uint8_t buf[TOTALS_BYTES];
		struct command *cmd;

		if (f->cmd->session_id != session->id)
			continue;
		cmd = follower_release(f);
		rep.problem = command_figures(cmd, result, buf, &rep.totals);
		if (rep.problem)
			reply_session_follow(cmd, &rep);
	}
}

void follow_leave(struct sessiond *sd, uint64_t client)
{
	struct follower *f, *next;

	list_for_each_safe(f, next, &sd->followers, node)
		if (f->cmd->client == client)
			command_free(follower_release(f));
}

void follow_end(struct sessiond *sd)
{
	struct follower *f;

	while ((f = list_first(&sd->followers, struct follower, node))) {
		struct command *cmd = follower_release(f);

		command_error(cmd, ERR_STATE, "the session daemon ends, and the session with it");
		command_fail(cmd);
	}
}
