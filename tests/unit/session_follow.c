/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clients that follow a session: the content and time of their notifications, each sent once; one
 * that leaves while figures are in flight for it, one that reads nothing, the end of the session
 * and of the daemon.
 */
#include "lib/session_apps.h"
#include "sessiond/peers/clients.h"

#define MAX_NEWS 16

struct heard {
	unsigned int nr;
	struct msg_news news[MAX_NEWS];
	char texts[MAX_NEWS][200];
	bool answered;
	uint32_t code;
	char text[300];
	struct msg_totals totals;
};

static void take_reply(struct heard *heard, struct decoder *dec)
{
	struct rep_session_follow rep;
	const char *text;

	heard->answered = true;
	heard->code = decode_outcome(dec, &text);
	snprintf(heard->text, sizeof(heard->text), "%s", text);
	if (heard->code == 0)
		CHECK(rep_session_follow_decode(dec, &rep) == 0 &&
		      msg_totals_next(&rep.totals, &heard->totals));
}

static struct heard hear_news(int client)
{
	struct heard heard = { 0 };
	struct msg_header header;
	struct decoder dec;
	int fds[MSG_MAX_FDS];

	harness_pump();
	while (harness_recv(client, &header, &dec, fds)) {
		struct msg_news *news = &heard.news[heard.nr];

		if (header.flags == MSG_REPLY) {
			take_reply(&heard, &dec);
			continue;
		}
		CHECK(header.type == MSG_news && heard.nr < MAX_NEWS);
		CHECK(msg_news_decode(&dec, news) == 0 && news->at_ns > 1600000000000000000ull);
		snprintf(heard.texts[heard.nr++], sizeof(heard.texts[0]), "%s%s", news->text,
			 news->channel);
	}
	return heard;
}

static int follow(void)
{
	int client = harness_client();

	HARNESS_SEND(client, session_follow, NAME);
	return client;
}

static bool is_state(const struct heard *h, unsigned int i, enum session_state state)
{
	return h->nr > i && h->news[i].kind == NEWS_STATE && h->news[i].state == state;
}

static bool is_loss(const struct heard *h, unsigned int i)
{
	return h->nr > i && h->news[i].kind == NEWS_LOSS && h->news[i].cause == LOSS_FULL &&
	       h->news[i].count == 7 && strcmp(h->texts[i], "channel0") == 0;
}

static void life(void)
{
	int client, one, two, app = begin_unstarted(&client);
	struct told told;
	struct heard h;

	one = follow();
	h = hear_news(one);
	CHECK(h.nr == 2 && is_state(&h, 0, SESSION_NEW) && h.news[1].kind == NEWS_SOLVED);
	HARNESS_SEND(one, session_follow, NAME);
	h = hear_news(one);
	CHECK(h.answered && h.code == ERR_BUSY);

	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	told = heard(app);
	CHECK_IS(hear_news(one).nr, ==, 0); /* nothing is settled yet */
	confirm(app, &told);
	CHECK(harness_answer(client).there);
	h = hear_news(one);
	CHECK(h.nr == 2 && is_state(&h, 0, SESSION_RECORDING) && is_loss(&h, 1));
	two = follow();
	h = hear_news(two);
	CHECK(h.nr == 3 && is_state(&h, 0, SESSION_RECORDING) && is_loss(&h, 2));

	harness_output(28, "can't write");
	harness_output(28, "can't write");
	h = hear_news(one);
	CHECK(h.nr == 1 && h.news[0].kind == NEWS_PROBLEM);
	CHECK(strstr(h.texts[0], "can't write: No space left"));
	CHECK_IS(hear_news(two).nr, ==, 1);
	harness_output(0, "");
	h = hear_news(one);
	CHECK(h.nr == 1 && h.news[0].kind == NEWS_SOLVED);

	/* figures are requested again, but nothing new is lost */
	memset(harness.consumer.calls, 0, sizeof(harness.consumer.calls));
	harness_wait(500000);
	CHECK_IS(harness.consumer.calls[MSG_con_stats], >, 1);
	CHECK_IS(hear_news(one).nr, ==, 0);
	harness.consumer.lost = 1; /* for the same cause */
	harness_wait(500000);
	CHECK_IS(hear_news(one).nr, ==, 0);

	HARNESS_SEND(client, session_destroy, NAME);
	told = heard(app);
	confirm(app, &told);
	h = hear_news(one);
	CHECK(h.answered && h.code == 0);
	h = hear_news(two);
	CHECK(h.answered && h.code == 0);
	close(one);
	close(two);
	close(app);
	harness_end();
}

/* A session that records. Return: its application. */
static int begin_recording(int *client)
{
	int app = begin_unstarted(client);
	struct told told;

	CHECK(!HARNESS_CALL(*client, session_start, NAME).there);
	told = heard(app);
	confirm(app, &told);
	CHECK(harness_answer(*client).there);
	return app;
}

/* Its figures are in flight when it leaves; a session without followers is not polled. */
static void leaves(void)
{
	struct fake_consumer *fc = &harness.consumer;
	int client, one, app = begin_recording(&client);

	fc->hold_type = MSG_con_stats;
	one = follow();
	harness_pump();
	CHECK(fc->nr_held == 1 && !list_empty(&harness.sd.followers));
	close(one);
	harness_pump();
	CHECK(list_empty(&harness.sd.followers));
	harness_consumer_release();
	harness_pump();
	memset(fc->calls, 0, sizeof(fc->calls));
	harness_wait(500000);
	CHECK_IS(fc->calls[MSG_con_stats], ==, 0);
	close(app);
	harness_end();
}

/* A client requests figures of a session while another client destroys it: the consumer closes the
 * output first, and has no figures of it any more when it handles that request. */
static void destroyed_meanwhile(void)
{
	struct fake_consumer *fc = &harness.consumer;
	int client, one, shower, lister, app = begin_recording(&client);
	struct answer a;
	struct told told;
	struct heard h;

	fc->hold_type = MSG_con_stats;
	one = follow();
	shower = harness_client();
	lister = harness_client();
	HARNESS_SEND(shower, session_show, NAME);
	HARNESS_SEND(lister, session_list);
	harness_pump();
	CHECK_IS(fc->nr_held, ==, 3);
	HARNESS_SEND(client, session_destroy, NAME);
	told = heard(app);
	confirm(app, &told);
	harness_pump();
	a = harness_answer(client);
	CHECK(a.there && a.code == 0);
	h = hear_news(one);
	CHECK(h.answered && h.code == 0);
	a = harness_answer(shower);
	CHECK(a.there && a.code == ERR_NO_SESSION);
	a = harness_answer(lister);
	CHECK(a.there && a.code == 0 && a.items[MSG_session] == 0);
	harness_consumer_release();
	harness_pump();
	CHECK_IS(harness_answer(client).there, ==, false);
	close(app);
	harness_end();
}

static unsigned int nr_followers(void)
{
	const struct list_node *node;
	unsigned int nr = 0;

	for (node = harness.sd.followers.next; node != &harness.sd.followers; node = node->next)
		nr++;
	return nr;
}

/* A follower that reads nothing is charged to its user, and disturbs no other. */
static void reads_nothing(void)
{
	int mute, one, client, nr = 0;
	struct client *c;

	harness_begin();
	client = harness_client();
	record(client, "*");
	harness.sd.quotas.limits[QUOTA_BACKLOG] = 4096;
	mute = follow();
	harness_pump();
	list_for_each(c, &harness.sd.clients, node)
		c->peer.uid = 4242; /* some user; root has no limits */
	one = follow();
	harness_pump();
	for (; nr_followers() == 2 && nr < 20000; nr++) {
		harness_output(nr % 2 ? 0 : 28, "can't write");
		CHECK_IS(hear_news(one).nr, >, 0);
	}
	CHECK_IS(nr, <, 20000);
	CHECK_IS(nr_followers(), ==, 1);
	harness_output(nr % 2 ? 0 : 28, "can't write");
	CHECK_IS(hear_news(one).nr, ==, 1);
	CHECK(HARNESS_CALL(client, session_list).there);
	close(mute);
	close(one);
	harness_end();
}

/* Not a consumer that dies for ever, but one after the other, and the daemon's own end. */
static void ends(void)
{
	int client, one;
	struct heard h;

	harness_begin();
	client = harness_client();
	record(client, "*");
	one = follow();
	CHECK_IS(hear_news(one).nr, >=, 2);
	harness_consumer_close();
	h = hear_news(one);
	CHECK(h.nr == 1 && h.news[0].kind == NEWS_PROBLEM && strstr(h.texts[0], "consumer daemon"));
	sessiond_end(&harness.sd);
	h = hear_news(one);
	CHECK(h.answered && h.code == ERR_STATE && strstr(h.text, "the session daemon ends"));
	CHECK(list_empty(&harness.sd.followers));
	close(one);
	harness_end();
}

int main(void)
{
	life();
	leaves();
	destroyed_meanwhile();
	reads_nothing();
	ends();
	return 0;
}
