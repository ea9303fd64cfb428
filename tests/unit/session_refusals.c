/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon without main(): forbidden messages of applications and clients cost them an answer, a
 * point or the connection, and affect no other peer.
 */
#include <errno.h>

#include "base/dir.h"
#include "lib/session_apps.h"
#include "sessiond/core/app.h"

/* Invalid messages of applications cost them their connection, or that point. */
static void liars(void)
{
	int app, client;
	struct answer a;
	uint8_t junk[64] = { 3, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff };

	harness_begin();
	client = harness_client();
	/* points before hello */
	app = harness_app();
	send_point(app, 1, "x:y", NULL, 32, true);
	harness_pump();
	CHECK(send(app, junk, 8, MSG_NOSIGNAL) < 0 && errno == EPIPE);
	close(app);
	/* hello twice */
	app = new_app("a", 0);
	HARNESS_APP_SEND(app, app_hello, .bits = 64);
	harness_pump();
	CHECK(list_empty(&harness.sd.apps));
	close(app);
	/* no list */
	app = new_app("a", 0);
	CHECK_IS(send(app, junk, sizeof(junk), MSG_NOSIGNAL), ==, sizeof(junk));
	harness_pump();
	CHECK(list_empty(&harness.sd.apps));
	close(app);
	/* impossible points: the others stay */
	app = new_app("a", 0);
	send_point(app, 1, "x:y", NULL, 33, false);
	send_point(app, 2, "x\ny", NULL, 32, false);
	send_point(app, 3, "x:z", NULL, 32, false);
	send_point(app, 3, "x:again", NULL, 32, true);
	CHECK_IS(heard(app).nr[MSG_app_point_refused], ==, 3);
	a = HARNESS_CALL(client, point_list, .domain = 2);
	CHECK_IS(a.items[MSG_point], ==, 3); /* invalid points are listed, with the reason */
	remove_point(app, 1);
	harness_pump();
	a = HARNESS_CALL(client, point_list, .domain = 2);
	CHECK_IS(a.items[MSG_point], ==, 2);
	for (uint32_t i = 10; i < 200; i++)
		send_point(app, i, "x\ny", NULL, 32, true);
	harness_pump();
	a = HARNESS_CALL(client, point_list, .domain = 2);
	CHECK_IS(a.items[MSG_point], ==, 1 + APP_MAX_REFUSED);
	close(app);
	harness_end();
}

static void bad_requests(void)
{
	static const char *const no_places[] = {
		"x", "1 2 3", "1 2 3 4 app", "1 2 3 99999999999999999999 a b", "1 2 3 1 ab",
		"1 2 3 -1 a b",
	};
	struct answer a;
	uint8_t junk[32] = { 2, 0, 0, 0, 9, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f };
	int client;

	harness_begin();
	client = harness_client();
	CHECK_IS(send(client, junk, sizeof(junk), 0), ==, sizeof(junk));
	harness_pump();
	CHECK_IS(harness_answer(client).code, ==, ERR_BAD_MESSAGE);
	junk[0] = 200;
	CHECK_IS(send(client, junk, sizeof(junk), 0), ==, sizeof(junk));
	harness_pump();
	CHECK_IS(harness_answer(client).code, ==, ERR_UNKNOWN_COMMAND);
	new_session(client);
	CHECK_IS(HARNESS_CALL(client, session_create, .name = "s", .outdir = -1).code, ==,
		 ERR_SESSION_EXISTS);
	CHECK_IS(HARNESS_CALL(client, session_create, .name = "t", .path = "/x", .outdir = -1).code,
		 ==, ERR_INVALID);
	CHECK_IS(HARNESS_CALL(client, event_enable, NAME, .domain = 1, .pattern = "*").code, ==,
		 ERR_UNSUPPORTED);
	CHECK_IS(HARNESS_CALL(client, event_disable, NAME, .domain = 2, .pattern = "*").code, ==,
		 ERR_NO_CHANNEL);
	CHECK_IS(HARNESS_CALL(client, channel_enable, NAME, .domain = 2, .name = "a/b").code, ==,
		 ERR_INVALID);
	CHECK_IS(HARNESS_CALL(client, channel_enable, NAME, .domain = 2, .name = "c").code, ==, 0);
	CHECK_IS(HARNESS_CALL(client, channel_enable, NAME, .domain = 2, .name = "c").code, ==,
		 ERR_CHANNEL_EXISTS);
	CHECK_IS(HARNESS_CALL(client, channel_disable, NAME, .domain = 2, .name = "c").code, ==, 0);
	CHECK_IS(HARNESS_CALL(client, channel_enable, NAME, .domain = 2, .name = "c",
			      .subbuf_size = 1 << 20)
			 .code,
		 ==, ERR_INVALID);
	CHECK_IS(HARNESS_CALL(client, channel_enable, NAME, .domain = 2, .name = "c").code, ==, 0);
	CHECK_IS(enable(client, "a").code, ==, 0); /* in the only channel */
	a = HARNESS_CALL(client, event_enable, NAME, .domain = 2, .channel = "new", .pattern = "x");
	CHECK_IS(a.code, ==, 0);				/* made, with the defaults */
	CHECK_IS(enable(client, "a").code, ==, ERR_NO_CHANNEL); /* which one? */
	CHECK_IS(HARNESS_CALL(client, event_enable, NAME, .domain = 2, .channel = "c",
			      .pattern = "a")
			 .code,
		 ==, ERR_EVENT_EXISTS);
	CHECK_IS(HARNESS_CALL(client, event_disable, NAME, .domain = 2, .channel = "c",
			      .pattern = "b")
			 .code,
		 ==, ERR_NO_EVENT);
	CHECK_IS(HARNESS_CALL(client, event_disable, NAME, .domain = 2, .channel = "c",
			      .pattern = "a")
			 .code,
		 ==, 0);
	a = HARNESS_CALL(client, event_enable, NAME, .domain = 2, .channel = "c", .pattern = "a");
	CHECK_IS(a.code, ==, 0); /* enabled again */
	for (size_t i = 0; i < ARRAY_SIZE(no_places); i++)
		CHECK_IS(HARNESS_CALL(client, point_list, .domain = 2, .after = no_places[i]).code,
			 ==, ERR_INVALID);
	harness_end();
}

static unsigned int nr_descriptors(void)
{
	AUTO_DIR DIR *dir = dir_open(AT_FDCWD, "/proc/self/fd");
	unsigned int nr = 0;

	CHECK(dir);
	while (dir_next(dir))
		nr++;
	return nr;
}

/* Descriptors of a request that is refused are closed, wherever it is refused. */
static void refused_descriptors(void)
{
	unsigned int before;
	int client, fd;

	harness_begin();
	client = harness_client();
	new_session(client);
	fd = outdir();
	before = nr_descriptors();
	for (int i = 0; i < 10; i++) {
		uint8_t buf[64];
		struct encoder enc;

		CHECK_IS(HARNESS_CALL(client, session_create, .name = "s", .path = "/tmp",
				      .outdir = fd)
				 .code,
			 ==, ERR_SESSION_EXISTS);
		CHECK_IS(HARNESS_CALL(client, session_create, .name = "a/b", .path = "/tmp",
				      .outdir = fd)
				 .code,
			 !=, 0);
		/* one that can't be read to its end, and one that has no descriptor in it */
		encoder_init(&enc, buf, sizeof(buf));
		encode_header(&enc, MSG_session_create, 0, 1);
		encode_u32(&enc, INT32_MAX); /* the length of its name */
		CHECK_IS(sock_send(client, enc.buf, enc.len, &fd, 1), ==, 0);
		harness_pump();
		CHECK_IS(harness_answer(client).code, !=, 0);
		encoder_init(&enc, buf, sizeof(buf));
		encode_header(&enc, MSG_session_show, 0, 1);
		encode_str(&enc, "s");
		CHECK_IS(sock_send(client, enc.buf, enc.len, &fd, 1), ==, 0);
		harness_pump();
		CHECK(harness_answer(client).there);
		CHECK_IS(nr_descriptors(), ==, before);
	}
	close(fd);
	close(client);
	harness_end();
}

/* More requests than may wait of one connection: the others are refused at once. */
static void too_many_waiting(void)
{
	const unsigned int most = 256;
	struct answer a;
	int client;

	harness_begin();
	client = harness_client();
	new_session(client);
	CHECK_IS(enable(client, "*").code, ==, 0);
	CHECK_IS(HARNESS_CALL(client, session_start, NAME).code, ==, 0);
	harness.consumer.hold_type = MSG_con_output_flush;
	for (unsigned int i = 0; i < most; i++) {
		HARNESS_SEND(client, session_stop, NAME);
		harness_pump();
	}
	CHECK(!harness_answer(client).there);
	a = HARNESS_CALL(client, session_stop, NAME);
	CHECK(a.there && a.code == ERR_BUSY && strstr(a.text, "wait"));
	a = HARNESS_CALL(client, session_list, .settled = 0);
	CHECK(a.there && a.code == ERR_BUSY);
	harness_consumer_release();
	harness_pump();
	CHECK(harness_answer(client).there); /* those that waited */
	close(client);
	harness_end();
}

int main(void)
{
	liars();
	too_many_waiting();
	bad_requests();
	refused_descriptors();
	return 0;
}
