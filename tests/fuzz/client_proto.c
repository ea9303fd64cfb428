/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt-sessiond receives arbitrary messages of a client: the real commands, a
 * session that records and an application that has points. An input is a series
 * of messages, each behind four bytes of length, as prototool makes them.
 */
#include "../unit/lib/session_harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void point(int app, uint32_t id, const char *name)
{
	struct msg_app_point p = { .id = id, .name = name, .kind = 1, .loglevel = 13, .file = "f" };
	uint8_t points[256];
	struct encoder enc;

	encoder_init(&enc, points, sizeof(points));
	msg_app_point_add(&enc, &p);
	HARNESS_APP_SEND(app, app_points_add, .points = encoder_list(&enc), .complete = 1);
}

static void feed(int client, const uint8_t *data, size_t size)
{
	while (size > sizeof(uint32_t)) {
		uint32_t len;
		int fd;

		memcpy(&len, data, sizeof(len));
		data += sizeof(len);
		size -= sizeof(len);
		len = (uint32_t)MIN((size_t)len, size);
		len = MIN(len, MSG_MAX_BYTES);
		fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (sock_send(client, data, len, &fd, len & 1 ? 0 : 1) < 0)
			harness_pump();
		close(fd);
		data += len;
		size -= len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int client, app;

	setenv("LTT_CLOCK", "monotonic", 1); /* its frequency need not be measured */
	harness_begin();
	client = harness_client();
	app = harness_app();
	HARNESS_APP_SEND(app, app_hello, .procname = "a", .bits = 64);
	point(app, 1, "web:a");
	point(app, 2, "web:b");
	HARNESS_CALL(client, session_create, .name = "s", .outdir = -1);
	HARNESS_CALL(client, event_enable, .session = "s", .domain = 2, .pattern = "web:*");
	HARNESS_SEND(client, session_start, .session = "s");
	feed(client, data, size);
	harness_pump();
	while (harness_answer(client).there)
		;
	close(client);
	harness_pump();
	close(app);
	harness_end();
	return 0;
}
