/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon without main(): commands, applications and the consumer's answers
 * in all orders that matter, from create to destroy.
 */
#include <poll.h>

#include "lib/session_apps.h"

static void life(void)
{
	struct fake_consumer *fc = &harness.consumer;
	int client, app;
	struct told told;
	struct answer a;
	struct rep_session_start start;

	harness_begin();
	client = harness_client();
	app = new_app("web", 0);
	send_point(app, 5, "web:a", NULL, 32, false);
	send_point(app, 6, "web:b", NULL, 32, true);
	told = heard(app);
	CHECK_IS(told.nr[MSG_app_welcome], ==, 1);
	CHECK_IS(told.nr[MSG_app_ready], ==, 1); /* nothing to wait for */

	a = HARNESS_CALL(client, session_start, NAME);
	CHECK_IS(a.code, ==, ERR_NO_SESSION);
	new_session(client);
	a = HARNESS_CALL(client, session_start, NAME);
	CHECK_IS(a.code, ==, ERR_NO_CHANNEL);
	a = enable(client, "web:a");
	CHECK(a.there && a.code == 0);
	CHECK_IS(enable(client, "web:a").code, ==, ERR_EVENT_EXISTS);

	/* start waits for the application */
	a = HARNESS_CALL(client, session_start, NAME);
	CHECK(!a.there);
	told = heard(app);
	CHECK(told.nr[MSG_app_buffer] == 1 && told.armings == 1 && told.point == 5);
	CHECK(told.event == 0 && told.nr[MSG_app_statedump] == 1 && told.nr[MSG_app_sync] == 1);
	CHECK(fc->rings_on && strstr(fc->metadata, "web:a") && !strstr(fc->metadata, "web:b"));
	confirm(app, &told);
	a = harness_answer(client);
	CHECK(a.there && a.code == 0);
	CHECK(rep_session_start_decode(&a.dec, &start) == 0 && start.apps == 1 && start.late == 0);
	CHECK_IS(HARNESS_CALL(client, session_start, NAME).code, ==, ERR_STATE);

	/* a rule while it records: the same waiting */
	a = enable(client, "web:*");
	CHECK(!a.there);
	told = heard(app);
	CHECK(told.nr[MSG_app_buffer] == 0 && told.armings == 1 && told.point == 6);
	CHECK(told.event == 1 && told.nr[MSG_app_statedump] == 0);
	confirm(app, &told);
	CHECK_IS(harness_answer(client).code, ==, 0);

	/* and off again: the other rule still wants web:a */
	a = HARNESS_CALL(client, event_disable, NAME, .domain = 2, .pattern = "web:*");
	told = heard(app);
	CHECK(told.disarmings == 1 && told.point == 6);
	confirm(app, &told);
	CHECK(harness_answer(client).there);

	/* a library comes, and goes */
	send_point(app, 7, "web:a", NULL, 32, false);
	told = heard(app);
	CHECK(told.armings == 1 && told.point == 7 && told.event == 0); /* the same class */

	fc->recorded = 1234;
	a = HARNESS_CALL(client, session_show, NAME);
	CHECK(a.there && a.code == 0 && a.items[MSG_session] == 1 && a.items[MSG_channel] == 1);
	CHECK_IS(a.items[MSG_rule], ==, 2);
	a = HARNESS_CALL(client, session_list);
	CHECK(a.there && a.items[MSG_session] == 1);
	CHECK_IS(HARNESS_CALL(client, session_create, .name = "other", .outdir = -1).code, ==, 0);
	CHECK_IS(HARNESS_CALL(client, session_list).items[MSG_session], ==, 2);
	CHECK_IS(HARNESS_CALL(client, session_list, .name = "other").items[MSG_session], ==, 1);
	a = HARNESS_CALL(client, session_list, .name = "none");
	CHECK(a.there && a.code == 0 && a.items[MSG_session] == 0);
	CHECK_IS(HARNESS_CALL(client, session_destroy, .session = "other").code, ==, 0);
	a = HARNESS_CALL(client, point_list, .domain = 2, .fields = 1);
	CHECK(a.there && a.items[MSG_point] == 3);

	/* off at once; reported when nothing is in flight any more */
	a = HARNESS_CALL(client, session_stop, NAME);
	CHECK(!a.there && !fc->rings_on);
	told = heard(app);
	CHECK_IS(told.disarmings, ==, 2);
	confirm(app, &told);
	a = harness_answer(client);
	CHECK(a.there && a.code == 0);
	CHECK_IS(HARNESS_CALL(client, session_stop, NAME).code, ==, ERR_STATE);

	/* started again: the same ring set, the same ids */
	HARNESS_SEND(client, session_start, NAME);
	told = heard(app);
	CHECK(told.nr[MSG_app_buffer] == 0 && told.armings == 2 && fc->calls[MSG_con_ring] == 1);
	CHECK(fc->rings_on && fc->calls[MSG_con_output_open] == 1);
	confirm(app, &told);
	CHECK_IS(harness_answer(client).code, ==, 0);
	a = HARNESS_CALL(client, session_destroy, NAME);
	CHECK(!a.there);
	told = heard(app);
	confirm(app, &told);
	a = harness_answer(client);
	CHECK(a.there && a.code == 0 && fc->calls[MSG_con_output_close] == 1);
	told = heard(app);
	CHECK_IS(told.nr[MSG_app_buffer_drop], ==, 1);
	CHECK_IS(HARNESS_CALL(client, session_stop, NAME).code, ==, ERR_NO_SESSION);
	close(client);
	close(app);
	harness_end();
}

/* An application that comes while a session records is armed before app_ready. */
static void latecomer(void)
{
	int client, app;
	struct told told;

	harness_begin();
	client = harness_client();
	record(client, "*");
	harness.consumer.hold_type = MSG_con_metadata_append;
	app = new_app("late", 0);
	send_point(app, 1, "x:y", NULL, 32, true);
	told = heard(app);
	CHECK(told.nr[MSG_app_ready] == 0 && told.armings == 0);
	harness.consumer.hold_type = 0;
	harness.consumer.calls[MSG_con_metadata_append] = 0;
	/* the held batch is never answered: a second application gets nowhere either,
	 * but the daemon serves on */
	CHECK_IS(HARNESS_CALL(client, hello).code, ==, 0);
	close(app);
	harness_pump();
	harness_end();

	harness_begin();
	client = harness_client();
	record(client, "*");
	app = new_app("late", 0);
	send_point(app, 1, "x:y", NULL, 32, true);
	told = heard(app);
	CHECK(told.nr[MSG_app_ready] == 1 && told.armings == 1 && told.nr[MSG_app_statedump] == 1);
	close(app);
	harness_end();
}

/* The application confirms its messages; then the client receives its answer. */
static void confirmed(int client, int app)
{
	struct told told = heard(app);
	struct answer a;

	CHECK(told.sync && !harness_answer(client).there);
	confirm(app, &told);
	a = harness_answer(client);
	CHECK(a.there && a.code == 0);
}

/* A ring set whose process has ended may have noted its number of events not sampled just now:
 * the metadata is written before the stop goes on, or a kill or the session's end could lose it. */
static void sampled(void)
{
	struct fake_consumer *fc = &harness.consumer;
	const unsigned int *flushes = &fc->calls[MSG_con_output_flush];
	struct session *session;
	struct told told;
	int client, app;

	app = begin_unstarted(&client);
	HARNESS_SEND(client, session_start, NAME);
	confirmed(client, app);
	session = session_by_id(&harness.sd.sessions, 1);
	session->sampled = true;
	fc->hold_type = MSG_con_metadata_append;
	domains_clock_remark(&harness.sd.domains, session, "/* remark */\n");
	harness_pump();
	CHECK_IS(fc->nr_held, ==, 1);
	CHECK(!HARNESS_CALL(client, session_stop, NAME).there);
	told = heard(app);
	confirm(app, &told);
	CHECK(!harness_answer(client).there && *flushes == 0);
	harness_consumer_release();
	for (int i = 0; i < 500 && *flushes == 0; i++) { /* its position is saved, too */
		poll(NULL, 0, 2);
		harness_pump();
	}
	CHECK(harness_answer(client).there && *flushes == 1);
	close(app);
	harness_end();
}

/* A site that is armed while its ring set is still off records nothing, and that is not
 * counted: a start waits for a slow consumer before it arms running applications. */
static void slow_restart(void)
{
	struct fake_consumer *fc = &harness.consumer;
	struct told told;
	int client, app;

	app = begin_unstarted(&client);
	HARNESS_SEND(client, session_start, NAME);
	confirmed(client, app);
	HARNESS_SEND(client, session_stop, NAME);
	confirmed(client, app);
	fc->hold_type = MSG_con_ring_enable;
	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	told = heard(app);
	CHECK(fc->nr_held == 1 && told.armings == 0);
	harness_consumer_release();
	told = heard(app);
	CHECK(told.armings == 1 && told.nr[MSG_app_buffer] == 0);
	confirm(app, &told);
	CHECK(harness_answer(client).there);
	close(app);
	harness_end();
}

/* Figures are final: they are taken when the applications have confirmed that nothing
 * is in flight. An application that does not answer is waited for once. */
static void in_flight(void)
{
	const unsigned int *flushes = &harness.consumer.calls[MSG_con_output_flush];
	struct answer a;
	int client, app;

	app = begin_unstarted(&client);
	HARNESS_SEND(client, session_start, NAME);
	confirmed(client, app);
	CHECK(!HARNESS_CALL(client, session_stop, NAME).there && *flushes == 0);
	confirmed(client, app);
	CHECK_IS(*flushes, ==, 1);

	HARNESS_SEND(client, session_start, NAME);
	confirmed(client, app);
	CHECK(!HARNESS_CALL(client, session_stop, NAME).there && *flushes == 1);
	harness_wait(1100000);
	a = harness_answer(client);
	CHECK(a.there && a.code == 0 && *flushes == 2);
	CHECK(HARNESS_CALL(client, session_destroy, NAME).there && *flushes == 3);
	close(app);
	harness_end();
}

/* A silent application delays the starting client by one second and no other. */
static void mute(void)
{
	struct rep_session_start start;
	int client, other, app;
	struct answer a;

	app = begin_unstarted(&client);
	other = harness_client();
	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	CHECK(HARNESS_CALL(other, session_list).there);
	/* commands on the busy session wait for their turn */
	CHECK(!HARNESS_CALL(other, session_stop, NAME).there);
	harness_wait(1100000);
	a = harness_answer(client);
	CHECK(a.there && a.code == 0 && rep_session_start_decode(&a.dec, &start) == 0);
	CHECK(start.apps == 1 && start.late == 1);
	harness_wait(2000); /* for the state dump */
	a = harness_answer(other);
	CHECK(a.there && a.code == 0); /* the stop, after it */
	close(app);
	harness_end();
}

static void auto_names(void)
{
	struct rep_session_create one, two;
	struct answer a;
	int client;

	harness_begin();
	client = harness_client();
	a = HARNESS_CALL(client, session_create, .name = "", .outdir = -1);
	CHECK(a.code == 0 && rep_session_create_decode(&a.dec, &one) == 0);
	CHECK(strncmp(one.name, "auto-", 5) == 0 && one.id == 1);
	a = HARNESS_CALL(client, session_create, .name = "", .outdir = -1);
	CHECK(a.code == 0 && rep_session_create_decode(&a.dec, &two) == 0 && two.id == 2);
	harness_end();
}

/* Clients that go while they wait, and the daemon's end at any moment. */
static void partings(void)
{
	int client, app;

	app = begin_unstarted(&client);
	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	HARNESS_SEND(client, session_destroy, NAME);
	HARNESS_SEND(client, session_show, NAME);
	close(client);
	harness_pump();
	close(app); /* no application is left to wait for */
	harness_pump();
	CHECK_IS(harness.sd.sessions.nr, ==, 1);
	harness_end(); /* and the put-off destroy is dropped */

	app = begin_unstarted(&client);
	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	CHECK(!HARNESS_CALL(client, session_destroy, NAME).there);
	harness_end(); /* in the middle of all */
	close(client);
	close(app);
}

#define MANY 100u
#define SLICE 10u

static int many_points(int *ret_client)
{
	int app = begin_unstarted(ret_client);
	char name[32];

	for (uint32_t i = 2; i <= MANY; i++) {
		snprintf(name, sizeof(name), "x:many_%u", i);
		send_point(app, i, name, NULL, 32, i == MANY);
		if (i % 10 == 0)
			harness_pump();
	}
	(void)heard(app);
	return app;
}

/* One round of the loop after the other, until @nr points are armed. Return: the most that one
 * round armed. */
static unsigned int most_of_a_round(int app, unsigned int nr, struct told *told)
{
	unsigned int most = 0;

	for (int i = 0; i < 100000 && told->armings < nr; i++) {
		unsigned int before = told->armings;

		CHECK_IS(loop_run(harness.sd.loop), ==, 0);
		hear(app, told);
		most = MAX(most, told->armings - before);
	}
	return most;
}

/* Points that come at once, or are there when a session starts, are armed in slices: other messages
 * are served between them. The application is requested to confirm once all are armed. */
static void slices(void)
{
	struct told told = { 0 };
	int client, app;

	app = many_points(&client);
	harness.sd.recorder.slice = SLICE;
	HARNESS_SEND(client, session_start, NAME);
	CHECK_IS(most_of_a_round(app, MANY, &told), <=, 2 * SLICE);
	CHECK(told.armings == MANY && told.disarmings == 0);
	harness_wait(2000);
	hear(app, &told);
	CHECK(told.armings == MANY && told.nr[MSG_app_sync] == 1);
	confirm(app, &told);
	CHECK_IS(harness_answer(client).code, ==, 0);

	/* the same without a message: no rule wants them, and then one does */
	HARNESS_SEND(client, event_disable, NAME, .domain = 2, .pattern = "*");
	for (int i = 0; i < 100000 && told.disarmings < MANY; i++) {
		CHECK_IS(loop_run(harness.sd.loop), ==, 0);
		hear(app, &told);
	}
	harness_wait(2000);
	hear(app, &told);
	CHECK(told.disarmings == MANY && told.nr[MSG_app_sync] == 2);
	confirm(app, &told);
	CHECK_IS(harness_answer(client).code, ==, 0);
	memset(&told, 0, sizeof(told));
	HARNESS_SEND(client, event_enable, NAME, .domain = 2, .pattern = "*");
	CHECK_IS(most_of_a_round(app, MANY, &told), <=, 2 * SLICE);
	harness_wait(2000);
	hear(app, &told);
	CHECK(told.armings == MANY && told.nr[MSG_app_sync] == 1);
	confirm(app, &told);
	CHECK_IS(harness_answer(client).code, ==, 0);
	close(app);
	harness_end();
}

/* Points that go together cost one pass through all armings. */
static void removals(void)
{
	struct told told = { 0 };
	uint64_t passes;
	int client, app;

	app = many_points(&client);
	HARNESS_SEND(client, session_start, NAME);
	(void)most_of_a_round(app, MANY, &told);
	harness_wait(2000);
	hear(app, &told);
	confirm(app, &told);
	CHECK(told.armings == MANY && harness_answer(client).code == 0);

	harness.sd.recorder.passes = 0;
	for (uint32_t i = 1; i <= MANY / 2; i++)
		remove_point(app, i);
	told = heard(app);
	passes = harness.sd.recorder.passes;
	CHECK(passes > 0 && passes <= MANY / 8);
	CHECK(told.armings == 0 && told.disarmings == 0);

	/* one that comes again, and one whose number another one has now */
	remove_point(app, MANY);
	remove_point(app, MANY - 1);
	send_point(app, MANY, "x:other", NULL, 32, false);
	send_point(app, 1, "x:y", NULL, 32, true);
	told = heard(app);
	harness_wait(2000);
	hear(app, &told);
	CHECK(told.armings == 2 && told.disarmings == 0);
	CHECK_IS(HARNESS_CALL(client, point_list, .domain = 2).items[MSG_point], ==, MANY / 2);
	close(app);
	harness_end();
}

/* A request that comes while the session starts is decoded again after that, with the descriptor
 * that it brought. */
static void put_off_with_descriptor(void)
{
	int client, app = begin_unstarted(&client), other = harness_client();
	int dir = open("/tmp", O_PATH | O_CLOEXEC);
	struct told told;
	struct answer a;

	CHECK(dir >= 0);
	HARNESS_SEND(client, session_start, NAME);
	told = heard(app);
	HARNESS_SEND(other, snapshot_record, NAME, .path = "tmp", .dir = dir);
	harness_pump();
	close(dir);
	confirm(app, &told);
	CHECK_IS(harness_answer(client).code, ==, 0);
	a = harness_answer(other);
	CHECK(a.code == ERR_INVALID && strstr(a.text, "absolute"));
	close(other);
	close(app);
	harness_end();
}

/* A new rule is planned for the points that it matches alone. */
static void one_rule(void)
{
	struct told told = { 0 };
	int client, app;

	app = many_points(&client);
	HARNESS_SEND(client, session_start, NAME);
	(void)most_of_a_round(app, MANY, &told);
	harness_wait(2000);
	hear(app, &told);
	confirm(app, &told);
	CHECK(harness_answer(client).code == 0);

	harness.sd.recorder.visits = 0;
	HARNESS_SEND(client, event_enable, NAME, .domain = 2, .channel = "channel0",
		     .pattern = "x:*7", .filter = "y == 1");
	told = heard(app);
	confirm(app, &told);
	CHECK_IS(harness_answer(client).code, ==, 0);
	CHECK(harness.sd.recorder.visits > 0 && harness.sd.recorder.visits <= MANY / 4);
	close(app);
	harness_end();
}

int main(void)
{
	life();
	latecomer();
	sampled();
	slow_restart();
	in_flight();
	mute();
	auto_names();
	partings();
	slices();
	removals();
	one_rule();
	put_off_with_descriptor();
	return 0;
}
