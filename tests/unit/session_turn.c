/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rotation and clear in the daemon, with a fake consumer: names of archives, commands that wait for
 * a turn, turns that fail or are begun by an earlier daemon, schedules, and each state of a
 * session.
 */
#include "base/dir.h"
#include "lib/session_apps.h"
#include "sessiond/core/turn.h"
#include "sessiond/service/inherit.h"
#include "sessiond/state/state.h"

static struct session *the_session(void)
{
	return session_by_id(&harness.sd.sessions, 1);
}

/* A command that the application must confirm. */
static struct answer confirmed(int client, int app)
{
	struct told told = heard(app);

	confirm(app, &told);
	return harness_answer(client);
}

static int begin_recording(int *ret_client)
{
	int app = begin_unstarted(ret_client);

	HARNESS_SEND(*ret_client, session_start, NAME);
	CHECK_IS(confirmed(*ret_client, app).code, ==, 0);
	return app;
}

static void end_test(int client, int app)
{
	close(client);
	close(app);
	harness_end();
}

/* The verbs in each state of a session. Rotation: once after a stop; a clear: whenever. */
static void states(void)
{
	struct rep_session_rotate rep;
	struct answer a;
	int client, app;

	app = begin_unstarted(&client);
	a = HARNESS_CALL(client, session_rotate, NAME);
	CHECK(a.code == ERR_STATE && strstr(a.text, "never started"));
	CHECK_IS(HARNESS_CALL(client, session_clear, NAME).code, ==, 0);
	CHECK_IS(harness.consumer.calls[MSG_con_turn], ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	CHECK_IS(confirmed(client, app).code, ==, 0);
	for (unsigned int i = 1; i <= 3; i++) {
		a = HARNESS_CALL(client, session_rotate, NAME);
		CHECK(a.code == 0 && rep_session_rotate_decode(&a.dec, &rep) == 0);
		CHECK(rep.number == i && strstr(rep.path, harness.consumer.turn));
		CHECK(strncmp(harness.consumer.turn, "archives/2", 10) == 0);
		CHECK(!harness.consumer.clears);
	}
	CHECK_IS(HARNESS_CALL(client, session_clear, NAME).code, ==, 0);
	CHECK(harness.consumer.clears && strcmp(harness.consumer.turn, "archives/cleared-4") == 0);
	HARNESS_SEND(client, session_stop, NAME);
	CHECK_IS(confirmed(client, app).code, ==, 0);
	a = HARNESS_CALL(client, session_rotate, NAME);
	CHECK(a.code == 0 && rep_session_rotate_decode(&a.dec, &rep) == 0 && rep.number == 5);
	a = HARNESS_CALL(client, session_rotate, NAME);
	CHECK(a.code == ERR_STATE && strstr(a.text, "was rotated after it was stopped"));
	CHECK_IS(HARNESS_CALL(client, session_clear, NAME).code, ==, 0);
	a = HARNESS_CALL(client, session_rotate, NAME);
	CHECK(a.code == ERR_STATE && strstr(a.text, "was cleared after it was stopped"));
	HARNESS_SEND(client, session_start, NAME);
	CHECK_IS(confirmed(client, app).code, ==, 0);
	CHECK_IS(HARNESS_CALL(client, session_rotate, NAME).code, ==, 0);
	CHECK_IS(the_session()->chunk.archives, ==, 5);
	end_test(client, app);
}

/* Other commands wait for a turn, and a turn for them. */
static void waiting(void)
{
	struct fake_consumer *fc = &harness.consumer;
	int client, others[3], app;

	app = begin_recording(&client);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		others[i] = harness_client();
	fc->hold_type = MSG_con_turn;
	CHECK(!HARNESS_CALL(client, session_rotate, NAME).there);
	CHECK(!HARNESS_CALL(others[0], session_rotate, NAME).there);
	CHECK(!HARNESS_CALL(others[1], session_stop, NAME).there);
	CHECK(!HARNESS_CALL(others[2], session_destroy, NAME).there);
	CHECK(fc->calls[MSG_con_turn] == 1 && fc->nr_held == 1);
	CHECK_IS(the_session()->state, ==, SESSION_RECORDING);
	harness_consumer_release();
	harness_pump();
	CHECK_IS(harness_answer(client).code, ==, 0);
	CHECK_IS(harness_answer(others[0]).code, ==, 0);
	CHECK_IS(fc->calls[MSG_con_turn], ==, 2);
	CHECK_IS(confirmed(others[1], app).code, ==, 0);
	harness_pump();
	CHECK_IS(harness_answer(others[2]).code, ==, 0);
	CHECK(!the_session());
	end_test(client, app);
}

/* A turn waits for a start, and for a stop. */
static void in_transit(void)
{
	int client, other, app;

	app = begin_unstarted(&client);
	other = harness_client();
	CHECK(!HARNESS_CALL(client, session_start, NAME).there);
	CHECK(!HARNESS_CALL(other, session_rotate, NAME).there);
	CHECK_IS(confirmed(client, app).code, ==, 0);
	harness_pump();
	CHECK_IS(harness_answer(other).code, ==, 0);
	CHECK(!HARNESS_CALL(client, session_stop, NAME).there);
	CHECK(!HARNESS_CALL(other, session_clear, NAME).there);
	CHECK_IS(harness.consumer.calls[MSG_con_turn], ==, 1);
	CHECK_IS(confirmed(client, app).code, ==, 0);
	harness_pump();
	CHECK_IS(harness_answer(other).code, ==, 0);
	CHECK(harness.consumer.clears && the_session()->chunk.content == CHUNK_CLEARED);
	close(other);
	end_test(client, app);
}

static uint64_t saves_of_rotation(int client)
{
	uint64_t before = the_session()->saved.tried;

	CHECK_IS(HARNESS_CALL(client, session_rotate, NAME).code, ==, 0);
	return the_session()->saved.tried - before;
}

/* The name is saved before a consumer turns: the next daemon repeats the turn with it. Another time
 * when it has turned, and a third time only where the size of the next chunk is needed. */
static void succeeded(void)
{
	struct fake_consumer *fc = &harness.consumer;
	char dir[64], state[80], name[128];
	int client, app;

	snprintf(dir, sizeof(dir), "/tmp/ltt-turn-%d", (int)getpid());
	snprintf(state, sizeof(state), "%s/state", dir);
	CHECK_IS(mkdir(dir, 0700), ==, 0);
	app = begin_unstarted(&client);
	harness.sd.state_dir = strdup(state);
	HARNESS_SEND(client, session_start, NAME);
	CHECK_IS(confirmed(client, app).code, ==, 0);
	CHECK_IS(saves_of_rotation(client), ==, 2);
	CHECK_IS(HARNESS_CALL(client, rotation_enable, NAME, .rotate_size = 1 << 20).code, ==, 0);
	CHECK_IS(saves_of_rotation(client), ==, 3);
	fc->hold_type = MSG_con_turn;
	CHECK_IS(HARNESS_CALL(client, session_rotate, NAME, .no_wait = 1).code, ==, 0);
	snprintf(name, sizeof(name), "%s", fc->turn);
	end_test(client, app);

	harness_begin();
	inherit_init(&harness.sd.keeper.inherit);
	state_load(&harness.sd, dir);
	CHECK(the_session() && strcmp(the_session()->chunk.turning, name) == 0);
	CHECK(the_session()->chunk.number == 3 && the_session()->chunk.archives == 2);
	run_adopt(the_session()->run, run_consumer(the_session()->run, DOMAIN_USER));
	run_finish_turn(the_session()->run);
	harness_pump();
	CHECK(strcmp(fc->turning, name) == 0 && strcmp(fc->turn, name) == 0);
	CHECK(the_session()->chunk.number == 4 && !*the_session()->chunk.turning);
	harness_end();
	dir_remove(AT_FDCWD, dir);
}

/* The name stays until the turn is done, and another kind of turn finishes it before its own. */
static void failing(void)
{
	struct fake_consumer *fc = &harness.consumer;
	char first[128];
	struct answer a;
	int client, app;

	app = begin_recording(&client);
	fc->fail_type = MSG_con_turn;
	a = HARNESS_CALL(client, session_rotate, NAME);
	CHECK(a.code == ERR_OUTPUT && strstr(a.text, "could not be rotated: the test says no"));
	snprintf(first, sizeof(first), "%s", fc->turn);
	CHECK(strcmp(the_session()->chunk.turning, first) == 0);
	CHECK_IS(HARNESS_CALL(client, session_clear, NAME).code, ==, ERR_OUTPUT);
	CHECK(strcmp(fc->turn, first) == 0);
	fc->fail_type = 0;
	CHECK_IS(HARNESS_CALL(client, session_clear, NAME).code, ==, 0);
	CHECK(fc->clears && strcmp(fc->turn, "archives/cleared-2") == 0);
	CHECK(the_session()->chunk.archives == 1 && the_session()->chunk.number == 3);
	CHECK(!*the_session()->chunk.turning);
	end_test(client, app);
}

static void schedules(void)
{
	struct fake_consumer *fc = &harness.consumer;
	const unsigned int *turns = &fc->calls[MSG_con_turn];
	unsigned int before;
	struct answer a;
	int client, app;

	app = begin_recording(&client);
	a = HARNESS_CALL(client, rotation_enable, NAME, .keep_archives = 2);
	CHECK(a.code == ERR_INVALID && strstr(a.text, "no schedule"));
	a = HARNESS_CALL(client, rotation_disable, NAME, .timer = 1);
	CHECK(a.code == ERR_STATE && strstr(a.text, "not rotated after a time"));
	a = HARNESS_CALL(client, rotation_enable, NAME, .rotate_us = 10);
	CHECK(a.code == ERR_INVALID && strstr(a.text, "too short"));
	a = HARNESS_CALL(client, rotation_enable, NAME, .rotate_us = 20000, .keep_archives = 2);
	CHECK_IS(a.code, ==, 0);
	for (int i = 0; i < 100 && *turns < 3; i++)
		harness_wait(10000);
	CHECK(*turns >= 3 && fc->most == 2);
	/* one that fails is a problem of the session, and is repeated later */
	fc->fail_type = MSG_con_turn;
	for (int i = 0; i < 100 && !*session_problem(the_session()); i++)
		harness_wait(10000);
	CHECK(strstr(session_problem(the_session()), "this is retried"));
	fc->fail_type = 0;
	CHECK_IS(HARNESS_CALL(client, rotation_disable, NAME, .timer = 1).code, ==, 0);
	CHECK(!the_session()->keep_archives && !*session_problem(the_session()));
	/* by size: the consumer's count of bytes, since the last turn */
	fc->recorded = 5000;
	CHECK_IS(HARNESS_CALL(client, session_rotate, NAME).code, ==, 0);
	before = *turns;
	a = HARNESS_CALL(client, rotation_enable, NAME, .rotate_size = 4096);
	CHECK_IS(a.code, ==, 0);
	harness_wait(1100000);
	CHECK_IS(*turns, ==, before);
	fc->recorded = 9500;
	for (int i = 0; i < 200 && *turns == before; i++)
		harness_wait(10000);
	CHECK_IS(*turns, ==, before + 1);
	end_test(client, app);
}

/* Sessions that can't be rotated: a sentence. */
static void refused(void)
{
	struct answer a;
	int client;

	harness_begin();
	client = harness_client();
	CHECK_IS(HARNESS_CALL(client, session_create, .name = "s", .outdir = -1).code, ==, 0);
	a = HARNESS_CALL(client, session_rotate, NAME);
	CHECK(a.code == ERR_INVALID && strstr(a.text, "no output to rotate"));
	the_session()->snapshots = true;
	a = HARNESS_CALL(client, session_rotate, NAME);
	CHECK(a.code == ERR_UNSUPPORTED && strstr(a.text, "writes only snapshots"));
	close(client);
	harness_end();
}

int main(void)
{
	states();
	waiting();
	in_transit();
	succeeded();
	failing();
	schedules();
	refused();
	return 0;
}
