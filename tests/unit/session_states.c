/* SPDX-License-Identifier: GPL-2.0-only */
/* Every pair of session state and event; names, owners, time spent recording. */
#include <string.h>

#include "check.h"
#include "sessiond/core/session.h"

/* The rules of the table, stated once more in another form. */
static void all_pairs(void)
{
	unsigned int done = 0, later = 0, refused = 0;

	for (int state = 0; state < SESSION_NR_STATES; state++) {
		for (int event = 0; event < SESSION_NR_EVENTS; event++) {
			bool idle = state == SESSION_NEW || state == SESSION_STOPPED ||
				    state == SESSION_RECORDING;
			enum session_state next = SESSION_NR_STATES;
			enum session_outcome outcome = session_next(
				(enum session_state)state, (enum session_event)event, &next);

			done += outcome == SESSION_DONE;
			later += outcome == SESSION_LATER;
			refused += outcome == SESSION_REFUSED;
			/* a session that is being destroyed is left if its data can't be written */
			if (state == SESSION_DESTROYING)
				CHECK_IS(outcome == SESSION_DONE, ==, event == SESSION_EV_STOPPED);
			/* a command that finds an operation in progress waits for its end */
			else if (!idle && (event == SESSION_EV_START || event == SESSION_EV_STOP ||
					   event == SESSION_EV_DESTROY))
				CHECK_IS(outcome, ==, SESSION_LATER);
			/* an idle session can always be destroyed */
			else if (event == SESSION_EV_DESTROY)
				CHECK(outcome == SESSION_DONE && next == SESSION_DESTROYING);
			/* operations end only where one is going on */
			if (idle && (event == SESSION_EV_STARTED || event == SESSION_EV_STOPPED))
				CHECK_IS(outcome, ==, SESSION_REFUSED);
			/* a change leads to a state of the right kind */
			if (outcome == SESSION_DONE && event == SESSION_EV_START)
				CHECK(next == SESSION_STARTING && state != SESSION_RECORDING);
			if (outcome == SESSION_DONE && event == SESSION_EV_STARTED)
				CHECK(next == SESSION_RECORDING && state == SESSION_STARTING);
			if (outcome == SESSION_DONE && event == SESSION_EV_STOP)
				CHECK(next == SESSION_STOPPING && state == SESSION_RECORDING);
			if (outcome == SESSION_DONE && event == SESSION_EV_STOPPED)
				CHECK(next == SESSION_STOPPED && !idle);
			if (outcome == SESSION_DONE && event == SESSION_EV_REFUSED)
				CHECK(next == SESSION_NEW && state == SESSION_STARTING);
			if (outcome != SESSION_DONE)
				CHECK_IS(next, ==, SESSION_NR_STATES);
		}
	}
	CHECK(done == 11 && later == 6);
	CHECK_IS(done + later + refused, ==, SESSION_NR_STATES * SESSION_NR_EVENTS);
}

static void time_spent(void)
{
	const struct caller me = { 1000, 1000 };
	struct sessions sessions;
	struct session *s;
	struct err err = { 0 };

	sessions_init(&sessions, NULL);
	CHECK_IS(session_create(&sessions, &me, "a", "/tmp/a", 42, &s, &err), ==, 0);
	CHECK_IS(session_recording_ns(s, 500), ==, 0);
	CHECK_IS(session_apply_event(s, SESSION_EV_STOP, 500), ==, SESSION_REFUSED);
	CHECK_IS(s->state, ==, SESSION_NEW);
	CHECK_IS(session_apply_event(s, SESSION_EV_START, 1000), ==, SESSION_DONE);
	CHECK_IS(session_apply_event(s, SESSION_EV_STARTED, 1100), ==, SESSION_DONE);
	CHECK_IS(session_recording_ns(s, 1500), ==, 500);
	CHECK_IS(session_apply_event(s, SESSION_EV_STOP, 2000), ==, SESSION_DONE);
	CHECK_IS(session_recording_ns(s, 9999), ==, 1000);
	CHECK_IS(session_apply_event(s, SESSION_EV_STOPPED, 2500), ==, SESSION_DONE);
	CHECK_IS(session_apply_event(s, SESSION_EV_START, 3000), ==, SESSION_DONE);
	CHECK_IS(session_apply_event(s, SESSION_EV_STOPPED, 3010), ==, SESSION_DONE); /* undone */
	CHECK_IS(session_recording_ns(s, 9999), ==, 1010);
	sessions_fini(&sessions);
	CHECK_IS(sessions.nr, ==, 0);
}

static void owners(void)
{
	const struct caller root = { 0, 0 }, a = { 1000, 1000 }, b = { 1001, 1001 };
	struct sessions sessions;
	struct session *of_a, *of_b, *found;
	struct err err = { 0 };

	sessions_init(&sessions, NULL);
	CHECK_IS(session_create(&sessions, &a, "web", "", 1, &of_a, &err), ==, 0);
	CHECK_IS(session_create(&sessions, &a, "web", "", 1, &found, &err), ==, ERR_SESSION_EXISTS);
	memset(&err, 0, sizeof(err));
	CHECK_IS(session_create(&sessions, &b, "web", "", 1, &of_b, &err), ==, 0);
	CHECK_IS(of_a->id, !=, of_b->id);
	CHECK(session_find(&sessions, &a, "web", &found, &err) == 0 && found == of_a);
	CHECK(session_find(&sessions, &b, "web", &found, &err) == 0 && found == of_b);
	CHECK(!session_visible(of_a, &b) && session_visible(of_a, &root));
	CHECK_IS(session_find(&sessions, &root, "web", &found, &err), ==, ERR_INVALID);
	memset(&err, 0, sizeof(err));
	CHECK_IS(session_apply_event(of_b, SESSION_EV_DESTROY, 1), ==, SESSION_DONE);
	CHECK(session_find(&sessions, &root, "web", &found, &err) == 0 && found == of_a);
	CHECK_IS(session_find(&sessions, &b, "web", &found, &err), ==, ERR_NO_SESSION);
	memset(&err, 0, sizeof(err));
	CHECK_IS(session_find(&sessions, &a, "wbe", &found, &err), ==, ERR_NO_SESSION);
	CHECK(strstr(err.text, "did you mean 'web'"));
	/* a name is free again while its old owner is being written out */
	CHECK_IS(session_create(&sessions, &b, "web", "", 1, &found, &err), ==, 0);
	sessions_fini(&sessions);
}

static void bad_names(void)
{
	static const char *const bad[] = { "", ".hidden", "a/b", "a\nb", "a\x7f", "\xff" };
	const struct caller me = { 1000, 1000 };
	struct sessions sessions;
	struct session *s = NULL;
	char longest[300];

	sessions_init(&sessions, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = { 0 };

		CHECK_IS(session_create(&sessions, &me, bad[i], "", 1, &s, &err), ==, ERR_INVALID);
		CHECK(err.text[0] && sessions.nr == 0);
	}
	memset(longest, 'x', sizeof(longest));
	for (size_t len = 253; len < 257; len++) {
		struct err err = { 0 };

		longest[len] = '\0';
		CHECK_IS(session_create(&sessions, &me, longest, "", 1, &s, &err), ==,
			 (len <= 254 ? 0 : ERR_INVALID));
		longest[len] = 'x';
	}
	sessions_fini(&sessions);
}

static void limit(struct session *session, const char *scope)
{
	session_set(session, &(struct session_settings){ .scope = scope });
}

static void scopes(void)
{
	const struct caller root = { 0, 0 }, a = { 1000, 1000 };
	struct sessions sessions;
	struct session *of_root, *of_a;
	struct err err = { 0 };

	sessions_init(&sessions, NULL);
	CHECK_IS(session_create(&sessions, &root, "all", "", 1, &of_root, &err), ==, 0);
	CHECK_IS(session_create(&sessions, &a, "web", "", 1, &of_a, &err), ==, 0);
	CHECK(session_admits(of_root, 1000, "") && session_admits(of_a, 1000, "x:y"));
	CHECK(!session_admits(of_a, 1001, "") && !session_admits(of_a, 0, ""));
	limit(of_root, "f00");
	limit(of_a, "f00");
	CHECK(session_admits(of_root, 1001, "f00") && session_admits(of_a, 1000, "b:f00:c"));
	CHECK(session_admits(of_a, 1000, "b:f00") && !session_admits(of_a, 1001, "f00"));
	CHECK(!session_admits(of_a, 1000, "") && !session_admits(of_a, 1000, "f001:af00:f0"));
	limit(of_a, "");
	CHECK(session_admits(of_a, 1000, ""));
	sessions_fini(&sessions);
}

int main(void)
{
	all_pairs();
	time_spent();
	owners();
	scopes();
	bad_names();
	return 0;
}
