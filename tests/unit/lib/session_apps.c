/* SPDX-License-Identifier: GPL-2.0-only */
#include "session_apps.h"

int outdir(void)
{
	return open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void new_session(int client)
{
	int fd = outdir();
	struct answer a =
		HARNESS_CALL(client, session_create, .name = "s", .path = "/tmp", .outdir = fd);

	close(fd);
	CHECK(a.there && a.code == 0);
}

struct answer enable(int client, const char *pattern)
{
	return HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_USER, .pattern = pattern);
}

void record(int client, const char *pattern)
{
	new_session(client);
	CHECK_IS(enable(client, pattern).code, ==, 0);
	CHECK_IS(HARNESS_CALL(client, session_start, NAME).code, ==, 0);
}

void send_point(int app, uint32_t id, const char *name, const char *format, uint8_t bits,
		bool complete)
{
	struct msg_app_field field = { .name = "n", .kind = LTT_KIND_INT, .size_bits = bits };
	struct msg_app_point point = { .id = id,
				       .name = name,
				       .kind = format ? LTT_EVENT_MARKER : LTT_EVENT_TRACEPOINT,
				       .loglevel = 13,
				       .format = format ? format : "",
				       .file = "f.c" };
	uint8_t fields[256], points[512];
	struct encoder enc;

	encoder_init(&enc, fields, sizeof(fields));
	msg_app_field_add(&enc, &field);
	point.fields = encoder_list(&enc);
	encoder_init(&enc, points, sizeof(points));
	msg_app_point_add(&enc, &point);
	HARNESS_APP_SEND(app, app_points_add, .points = encoder_list(&enc), .complete = complete);
}

void remove_point(int app, uint32_t id)
{
	const struct msg_app_point_ref ref = { id };
	struct encoder enc;
	uint8_t buf[64];

	encoder_init(&enc, buf, sizeof(buf));
	msg_app_point_ref_add(&enc, &ref);
	HARNESS_APP_SEND(app, app_points_remove, .points = encoder_list(&enc));
}

int new_app(const char *name, uint8_t producer)
{
	int app = harness_app();

	HARNESS_APP_SEND(app, app_hello, .abi = 1, .features = APP_FEATURE_TRIGGERS, .pid = 77,
			 .procname = name, .bits = 64,
			 .producer = producer, .start_ns = 1700000000000000000ull);
	return app;
}

int begin_unstarted(int *ret_client)
{
	int app;

	harness_begin();
	*ret_client = harness_client();
	app = new_app("web", 0);
	send_point(app, 1, "x:y", NULL, 32, true);
	new_session(*ret_client);
	CHECK_IS(enable(*ret_client, "*").code, ==, 0);
	return app;
}

void hear(int app, struct told *told)
{
	struct msg_header header;
	struct decoder dec;
	int fds[MSG_MAX_FDS];

	while (harness_recv(app, &header, &dec, fds)) {
		struct msg_app_arming arming;
		struct msg_app_buffer buffer = { .data = -1, .ctl = -1, .doorbell = -1 };
		struct msg_app_sync sync;
		struct msg_app_ready ready;
		struct msg_app_arm arm;

		CHECK_IS(header.type, <, ARRAY_SIZE(told->nr));
		told->nr[header.type]++;
		if (header.type == MSG_app_buffer) {
			CHECK_IS(msg_app_buffer_decode(&dec, &buffer), ==, 0);
			CHECK(buffer.data >= 0 && buffer.ctl >= 0 && buffer.doorbell >= 0);
			told->ring = buffer.ring;
			told->exclusive = buffer.exclusive;
			close(buffer.data);
			close(buffer.ctl);
			close(buffer.doorbell);
		} else if (header.type == MSG_app_arm || header.type == MSG_app_disarm) {
			bool on = header.type == MSG_app_arm;

			CHECK_IS(msg_app_arm_decode(&dec, &arm), ==, 0);
			while (msg_app_arming_next(&arm.armings, &arming)) {
				told->armings += on;
				told->disarmings += !on;
				told->point = arming.point;
				told->event = arming.event;
				CHECK(arming.ring);
			}
		} else if (header.type == MSG_app_sync) {
			CHECK_IS(msg_app_sync_decode(&dec, &sync), ==, 0);
			told->sync = sync.serial;
		} else if (header.type == MSG_app_ready) {
			CHECK_IS(msg_app_ready_decode(&dec, &ready), ==, 0);
			told->ready_part = ready.part;
		}
	}
}

struct told heard(int app)
{
	struct told told = { 0 };

	harness_pump();
	hear(app, &told);
	return told;
}

void confirm(int app, const struct told *told)
{
	HARNESS_APP_SEND(app, app_synced, told->sync);
	harness_pump();
}
