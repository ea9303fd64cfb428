/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon without main(): the owner of the buffers that an application records into, and the
 * points that are not recorded into them.
 */
#include "lib/session_apps.h"

/* One process, its own buffers: closed when it goes, counted all the same. */
static void per_process(void)
{
	struct fake_consumer *fc = &harness.consumer;
	int client, app;
	struct told told;

	harness_begin();
	client = harness_client();
	new_session(client);
	CHECK_IS(HARNESS_CALL(client, channel_enable, NAME, .domain = 2, .name = "c",
			      .ownership = OWNERSHIP_PROCESS)
			 .code,
		 ==, 0);
	CHECK_IS(enable(client, "*").code, ==, 0);
	CHECK_IS(HARNESS_CALL(client, session_start, NAME).code, ==, 0);
	CHECK_IS(fc->nr_rings_open, ==, 0);
	app = new_app("../evil\n", 0);
	send_point(app, 1, "x:y", NULL, 32, true);
	told = heard(app);
	CHECK(told.armings == 1 && fc->nr_rings_open == 1 && strcmp(fc->channel, "c") == 0);
	CHECK(strstr(fc->metadata, "tracer_buffering_scheme = \"pid\""));
	CHECK(strstr(fc->metadata, "procname = \"../evil\\012\""));
	close(app);
	harness_pump();
	CHECK(fc->nr_rings_open == 0 && fc->calls[MSG_con_ring_close] == 1);
	fc->recorded = 55;
	CHECK_IS(HARNESS_CALL(client, session_show, NAME).items[MSG_channel], ==, 1);
	CHECK_IS(HARNESS_CALL(client, session_destroy, NAME).code, ==, 0);
	harness_end();
}

/* Without rseq a process gets rings of its own beside the user's shared ones. */
static void exclusive(void)
{
	struct fake_consumer *fc = &harness.consumer;
	int client, app, slow;
	struct told told;
	uint64_t shared;

	harness_begin();
	client = harness_client();
	record(client, "*");
	app = new_app("web", 0);
	send_point(app, 1, "x:y", NULL, 32, true);
	told = heard(app);
	CHECK(told.armings == 1 && !told.exclusive && fc->first_instance == 0);
	shared = told.ring;
	slow = new_app("slow", 1);
	send_point(slow, 9, "x:y", NULL, 32, true);
	told = heard(slow);
	CHECK(told.armings == 1 && told.exclusive && told.ring != shared && told.event == 0);
	CHECK_IS(fc->first_instance, >=, harness.sd.limits.nr_cpus);
	CHECK_IS(strncmp(fc->channel, "channel0_p", 10), ==, 0);
	/* the first one gives rseq up: the new set is armed before the old is taken */
	HARNESS_APP_SEND(app, app_producer, 1);
	told = heard(app);
	CHECK(told.armings == 1 && told.disarmings == 1 && told.exclusive);
	CHECK(told.nr[MSG_app_buffer] == 1 && told.nr[MSG_app_buffer_drop] == 1);
	CHECK_IS(fc->nr_rings_open, ==, 3);
	close(app);
	close(slow);
	harness_pump();
	CHECK_IS(fc->nr_rings_open, ==, 1); /* the shared one stays */
	harness_end();
}

static void conflicts(void)
{
	int client, app, other;
	struct answer a;
	struct told told;

	harness_begin();
	client = harness_client();
	app = new_app("one", 0);
	send_point(app, 1, "sub_ev", "n %d", 32, true);
	other = new_app("two", 0);
	send_point(other, 1, "sub_ev", "n %ld", 64, true);
	heard(app);
	heard(other);
	new_session(client);
	a = enable(client, "sub_*");
	CHECK(a.code == 0 && a.items[MSG_conflict] == 1);
	HARNESS_SEND(client, session_start, NAME);
	told = heard(app);
	CHECK_IS(told.armings, ==, 1);
	confirm(app, &told);
	told = heard(other);
	CHECK_IS(told.armings, ==, 0);
	CHECK_IS(harness_answer(client).code, ==, 0);
	a = HARNESS_CALL(client, session_show, NAME);
	CHECK_IS(a.items[MSG_conflict], ==, 1);
	close(other); /* it is still reported when the process has ended */
	a = HARNESS_CALL(client, session_show, NAME);
	CHECK_IS(a.items[MSG_conflict], ==, 1);
	close(app);
	harness_end();
}

int main(void)
{
	per_process();
	exclusive();
	conflicts();
	return 0;
}
