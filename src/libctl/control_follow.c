/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_follow.c - calls of ltt/control.h that report changes of a session. */
#include "calls.h"
#include "control.h"

int ltt_ctl_fd(const struct ltt_ctl *ctl)
{
	return ctl->client ? client_fd(ctl->client) : -1;
}

int ltt_ctl_follow(struct ltt_ctl *ctl, const char *session)
{
	struct req_session_follow req = { .session = session };

	if (control_begin(ctl) != 0)
		return ctl->err.code;
	req_session_follow_encode(client_request(ctl->client, MSG_session_follow), &req);
	if (client_send(ctl->client, &ctl->err) != 0)
		return control_failed(ctl);
	ctl->following = true;
	return 0;
}

/* A change, in ctl->news. Return: 0 or the code in ctl->err. */
static int control_take_news(struct ltt_ctl *ctl, struct decoder *dec)
{
	struct msg_news m;

	if (msg_news_decode(dec, &m) != 0)
		return err_set(&ctl->err, ERR_BAD_MESSAGE, "malformed news of the session daemon");
	ctl->news = (struct ltt_ctl_news){
		.kind = (enum ltt_ctl_news_kind)m.kind,
		.state = (enum ltt_ctl_state)m.state,
		.at_ns = m.at_ns,
		.text = m.text,
		.channel = m.channel,
		.cause = (enum ltt_ctl_loss)m.cause,
		.count = m.count,
	};
	return 0;
}

/* The last news: the connection can be used for other calls again. */
static int control_take_end(struct ltt_ctl *ctl, struct decoder *dec)
{
	struct rep_session_follow rep;
	struct msg_totals m;

	ctl->following = false;
	if (rep_session_follow_decode(dec, &rep) != 0)
		return err_set(&ctl->err, ERR_BAD_MESSAGE,
			       "malformed answer of the session daemon to 'session_follow'");
	ctl->news = (struct ltt_ctl_news){
		.kind = LTT_CTL_NEWS_DESTROYED,
		.text = rep.problem,
		.channel = "",
	};
	if (msg_totals_next(&rep.totals, &m)) {
		control_fill_totals(&ctl->totals, &m);
		ctl->news.totals = &ctl->totals;
	}
	return 0;
}

/* Return: 0 or the code in ctl->err; @ret_found: ctl->news is a change. */
static int control_take_part(struct ltt_ctl *ctl, enum client_part part, unsigned int type,
			     struct decoder *dec, bool *ret_found)
{
	if (part == CLIENT_REPLY) {
		*ret_found = true;
		return control_take_end(ctl, dec);
	}
	*ret_found = type == MSG_news; /* a newer daemon sends more */
	return *ret_found ? control_take_news(ctl, dec) : 0;
}

static int control_begin_news(struct ltt_ctl *ctl)
{
	control_forget(ctl);
	if (ctl->following && !ctl->watching)
		return 0;
	return err_set(&ctl->err, ctl->client ? ERR_INVALID : ERR_NO_DAEMON,
		       "the connection follows no session; call ltt_ctl_follow()");
}

/* Nothing else will come. */
static int control_news_failed(struct ltt_ctl *ctl)
{
	ctl->following = false;
	return control_failed(ctl);
}

int ltt_ctl_next_news(struct ltt_ctl *ctl, const struct ltt_ctl_news **ret_news)
{
	enum client_part part = CLIENT_ITEM;
	struct decoder dec;
	unsigned int type;
	bool found = false;

	if (control_begin_news(ctl) != 0)
		return ctl->err.code;
	while (!found && part != CLIENT_NOTHING) {
		if (client_take(ctl->client, &part, &type, &dec, &ctl->err) != 0)
			return control_news_failed(ctl);
		if (part != CLIENT_NOTHING && control_take_part(ctl, part, type, &dec, &found) != 0)
			return ctl->err.code;
	}
	*ret_news = found ? &ctl->news : NULL;
	return 0;
}

int ltt_ctl_await_news(struct ltt_ctl *ctl, const struct ltt_ctl_news **ret_news)
{
	const struct ltt_ctl_news *news = NULL;

	while (!news) {
		if (control_begin_news(ctl) != 0)
			return ctl->err.code;
		if (client_await(ctl->client, &ctl->err) != 0)
			return control_news_failed(ctl);
		if (ltt_ctl_next_news(ctl, &news) != 0)
			return ctl->err.code;
	}
	*ret_news = news;
	return 0;
}
