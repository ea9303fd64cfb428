/* SPDX-License-Identifier: GPL-2.0-only */
/* The codec: round trips, every truncation, growth in both directions, lists, descriptors. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "proto/app.h"
#include "proto/client.h"
#include "proto/consumer.h"
#include "check.h"

static uint8_t buf[MSG_MAX_BYTES];

static void round_trip(void)
{
	struct req_event_enable in = { .session = "s",
				       .domain = 2,
				       .channel = "",
				       .pattern = "web:*",
				       .exclude = NULL,
				       .loglevel_type = 1,
				       .loglevel = -7,
				       .kind = 1,
				       .location = "l",
				       .fetch = "f",
				       .file = "/f",
				       .places = "p",
				       .filter = "x",
				       .sampling = "1/2",
				       .by = "b",
				       .nearest = 1 };
	struct req_event_enable out;
	struct encoder enc;
	struct decoder dec;

	encoder_init(&enc, buf, sizeof(buf));
	req_event_enable_encode(&enc, &in);
	CHECK_IS(encoder_finish(&enc), ==, 0);
	decoder_init(&dec, buf, enc.len, NULL, 0);
	CHECK_IS(req_event_enable_decode(&dec, &out), ==, 0);
	CHECK(strcmp(out.pattern, "web:*") == 0 && strcmp(out.exclude, "") == 0);
	CHECK(out.loglevel == -7 && out.loglevel_type == 1 && out.kind == 1);
	CHECK(strcmp(out.location, "l") == 0 && strcmp(out.fetch, "f") == 0);
	CHECK(strcmp(out.file, "/f") == 0 && strcmp(out.places, "p") == 0);
	CHECK(strcmp(out.filter, "x") == 0 && strcmp(out.sampling, "1/2") == 0);
	CHECK(strcmp(out.by, "b") == 0 && dec.p == dec.end);

	/* every truncation is an error or a clean end between two fields */
	for (size_t len = 0; len < enc.len; len++) {
		uint8_t *exact = malloc(len ? len : 1);

		memcpy(exact, buf, len);
		decoder_init(&dec, exact, len, NULL, 0);
		if (req_event_enable_decode(&dec, &out) == 0)
			CHECK(!out.nearest && out.pattern && out.session &&
			      (out.loglevel == -7 || (out.loglevel == 0 && out.kind == 0)));
		free(exact);
	}
	/* a newer sender's tail is skipped */
	memset(buf + enc.len, 0x5a, 20);
	decoder_init(&dec, buf, enc.len + 20, NULL, 0);
	CHECK(req_event_enable_decode(&dec, &out) == 0 && out.loglevel == -7);
}

static void lists(void)
{
	static uint8_t points[4096], fields[1024];
	struct encoder enc, point_enc, field_enc;
	struct msg_app_points_add add, msg;
	struct msg_app_point point;
	struct msg_app_field field;
	struct decoder dec;
	int nr = 0;

	encoder_init(&field_enc, fields, sizeof(fields));
	msg_app_field_add(&field_enc, &(struct msg_app_field){ .name = "a", .size_bits = 32 });
	msg_app_field_add(&field_enc, &(struct msg_app_field){ .name = "b", .size_bits = 8 });
	encoder_init(&point_enc, points, sizeof(points));
	for (uint32_t i = 0; i < 3; i++)
		msg_app_point_add(&point_enc,
				  &(struct msg_app_point){ .id = i,
							   .name = "p:n",
							   .fields = encoder_list(&field_enc) });
	encoder_init(&enc, buf, sizeof(buf));
	add = (struct msg_app_points_add){ .points = encoder_list(&point_enc), .complete = 1 };
	msg_app_points_add_encode(&enc, &add);
	CHECK_IS(encoder_finish(&enc), ==, 0);
	decoder_init(&dec, buf, enc.len, NULL, 0);
	CHECK(msg_app_points_add_decode(&dec, &msg) == 0 && msg.points.nr == 3 && msg.complete);
	while (msg_app_point_next(&msg.points, &point)) {
		CHECK(point.id == (uint32_t)nr && point.fields.nr == 2);
		CHECK(msg_app_field_next(&point.fields, &field) && strcmp(field.name, "a") == 0);
		CHECK(msg_app_field_next(&point.fields, &field) && field.size_bits == 8);
		CHECK(!msg_app_field_next(&point.fields, &field));
		nr++;
	}
	CHECK_IS(nr, ==, 3);
	/* a lying count */
	buf[0] = 9;
	decoder_init(&dec, buf, enc.len, NULL, 0);
	CHECK_IS(msg_app_points_add_decode(&dec, &msg), ==, -EBADMSG);
}

static void descriptors(void)
{
	struct msg_app_buffer in = {
		.ring = 1, .data = 5, .ctl = 6, .doorbell = -1, .channel = "c"
	};
	struct msg_app_buffer out;
	int fds[2] = { 70, 71 };
	struct encoder enc;
	struct decoder dec;

	encoder_init(&enc, buf, sizeof(buf));
	msg_app_buffer_encode(&enc, &in);
	CHECK(enc.nr_fds == 2 && enc.fds[1] == 6);
	decoder_init(&dec, buf, enc.len, fds, 2);
	CHECK_IS(msg_app_buffer_decode(&dec, &out), ==, 0);
	CHECK(out.data == 70 && out.ctl == 71 && out.doorbell == -1);
	CHECK(fds[0] == -1 && fds[1] == -1);

	/* fewer came than were announced: nothing changes hands */
	fds[0] = 70;
	decoder_init(&dec, buf, enc.len, fds, 1);
	CHECK(msg_app_buffer_decode(&dec, &out) == -EBADMSG && fds[0] == 70);
	/* absent when the sender ends before it */
	decoder_init(&dec, buf, 16, NULL, 0);
	CHECK(msg_app_buffer_decode(&dec, &out) == 0 && out.data == -1);
}

static void overflow(void)
{
	uint8_t small[10];
	struct encoder enc;

	encoder_init(&enc, small, sizeof(small));
	encode_str(&enc, "far too long for this");
	encode_u8(&enc, 1);
	CHECK(encoder_finish(&enc) == -EMSGSIZE && enc.len <= sizeof(small));
}

static void random_bytes(void)
{
	struct req_channel_enable request;
	struct msg_app_points_add points;
	struct msg_con_stream stream;
	struct msg_app_point point;
	struct decoder dec;

	srand(1);
	for (int i = 0; i < 200000; i++) {
		size_t len = (size_t)rand() % 64;
		uint8_t *exact = malloc(len ? len : 1);

		for (size_t j = 0; j < len; j++)
			exact[j] = (uint8_t)(rand() % (i % 2 ? 4 : 256));
		decoder_init(&dec, exact, len, NULL, 0);
		if (req_channel_enable_decode(&dec, &request) == 0)
			CHECK(request.name);
		decoder_init(&dec, exact, len, NULL, 0);
		if (msg_app_points_add_decode(&dec, &points) == 0)
			while (msg_app_point_next(&points.points, &point))
				CHECK(point.name);
		decoder_init(&dec, exact, len, NULL, 0);
		if (msg_con_stream_decode(&dec, &stream) != 0)
			CHECK(dec.bad);
		free(exact);
	}
}

int main(void)
{
	round_trip();
	lists();
	descriptors();
	overflow();
	random_bytes();
	return 0;
}
