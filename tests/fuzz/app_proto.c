/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt-sessiond receives arbitrary messages of an application: a session records and counts
 * everything, into both kinds of buffers; a well-behaved application is connected too and must
 * not be affected. An input is a series of messages, each behind four bytes of length.
 */
#include "../unit/lib/session_harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void feed(int app, const uint8_t *data, size_t size)
{
	while (size > sizeof(uint32_t)) {
		uint32_t len;

		memcpy(&len, data, sizeof(len));
		data += sizeof(len);
		size -= sizeof(len);
		len = (uint32_t)MIN((size_t)len, size);
		len = MIN(len, MSG_MAX_BYTES);
		if (sock_send(app, data, len, NULL, 0) < 0)
			harness_pump();
		data += len;
		size -= len;
	}
}

static void drain(int app)
{
	struct msg_header header;
	struct decoder dec;
	int fds[MSG_MAX_FDS];

	while (harness_recv(app, &header, &dec, fds))
		for (unsigned int i = 0; i < MSG_MAX_FDS; i++)
			close_fd(fds[i]);
}

/* The decent application is still connected, and the client is served. */
static void check_others(int client, int decent)
{
	struct answer a;

	drain(decent);
	HARNESS_APP_SEND(decent, app_synced, 1);
	a = HARNESS_CALL(client, session_show, .session = "s");
	CHECK(a.there && a.code == 0 && a.items[MSG_channel] == 2);
	a = HARNESS_CALL(client, stats_list, .session = "s");
	CHECK(a.there && a.code == 0);
	a = HARNESS_CALL(client, point_list, .domain = 2, .fields = 1);
	CHECK(a.there && a.code == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int client, app, decent;

	setenv("LTT_CLOCK", "monotonic", 1);
	harness_begin();
	client = harness_client();
	decent = harness_app();
	HARNESS_APP_SEND(decent, app_hello, .procname = "decent", .bits = 64);
	HARNESS_CALL(client, session_create, .name = "s", .outdir = -1);
	HARNESS_CALL(client, channel_enable, .session = "s", .domain = 2, .name = "p",
		     .ownership = OWNERSHIP_PROCESS);
	HARNESS_CALL(client, event_enable, .session = "s", .domain = 2, .channel = "p",
		     .pattern = "*");
	HARNESS_CALL(client, event_enable, .session = "s", .domain = 2, .channel = "u",
		     .pattern = "*");
	HARNESS_CALL(client, event_enable, .session = "s", .domain = 2, .channel = "u",
		     .pattern = "*", .kind = RULE_COUNT);
	HARNESS_CALL(client, event_enable, .session = "s", .domain = 2, .channel = "u",
		     .pattern = "*", .kind = RULE_HISTOGRAM, .location = "n");
	CHECK_IS(HARNESS_CALL(client, session_start, .session = "s").code, ==, 0);
	app = harness_app();
	HARNESS_APP_SEND(app, app_hello, .procname = "a", .bits = 64, .features = UINT64_MAX);
	feed(app, data, size);
	harness_pump();
	drain(app);
	check_others(client, decent);
	close(app);
	check_others(client, decent);
	close(decent);
	close(client);
	harness_end();
	return 0;
}
