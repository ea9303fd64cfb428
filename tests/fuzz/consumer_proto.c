/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages on the consumer's control connection: decoder, handlers and workers,
 * for real. The input is a row of messages, each behind a u16 length; outputs
 * have no directory, so that nothing is written anywhere.
 */
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "consumerd/control.h"
#include "proto/consumer.h"

static unsigned int asked, answered;

static void on_send(struct control *control, const struct encoder *enc)
{
	struct msg_header header;
	struct decoder dec;

	(void)control;
	if (encoder_finish(enc) < 0)
		__builtin_trap();
	decoder_init(&dec, enc->buf, enc->len, NULL, 0);
	if (decode_header(&dec, &header) < 0)
		__builtin_trap();
	answered += !!(header.flags & MSG_REPLY);
}

static bool over;

static void on_end(struct control *c)
{
	(void)c;
}

static void on_ended(struct control *control)
{
	over = true;
	loop_stop(control->loop);
}

/* A fuzzer requests as much memory as it can name: only small rings are made. */
static bool too_big(const uint8_t *data, size_t len)
{
	struct req_con_ring req;
	struct msg_header header;
	struct decoder dec;

	decoder_init(&dec, data, len, NULL, 0);
	return decode_header(&dec, &header) == 0 && header.type == MSG_con_ring &&
	       req_con_ring_decode(&dec, &req) == 0 && !req.adopt &&
	       (req.nr_rings > 64 || req.num_subbuf > 64 || req.subbuf_size > 65536);
}

static void one_message(struct control *control, const uint8_t *data, size_t len)
{
	struct msg_header header;
	struct decoder dec;

	decoder_init(&dec, data, len, NULL, 0);
	if (decode_header(&dec, &header) < 0)
		return;
	asked++;
	control_message(control, &header, &dec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct control_ops ops = { .send = on_send, .end = on_end, .ended = on_ended };
	struct loop *loop;
	struct control control;

	asked = answered = 0;
	over = false;
	if (loop_new(&loop) < 0 || control_init(&control, loop, &ops) < 0)
		__builtin_trap();
	while (size >= 2) {
		size_t len = MIN((size_t)(data[0] | data[1] << 8), size - 2);

		if (!too_big(data + 2, len))
			one_message(&control, data + 2, len);
		data += 2 + len;
		size -= 2 + len;
	}
	if (!list_empty(&control.all)) {
		control_end(&control, false);
		if (loop_run(loop) < 0 || !over)
			__builtin_trap();
	}
	if (asked != answered) /* each command once */
		__builtin_trap();
	control_fini(&control);
	loop_free(loop);
	return 0;
}
