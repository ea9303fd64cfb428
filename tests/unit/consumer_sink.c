/* SPDX-License-Identifier: GPL-2.0-only */
/* A stream and its sink: every state with every event; the packets that a stream writes to a sink
 * that answers late, rejects, loses acknowledged packets, or stored more than the ring shows. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "consumerd/sink/sink.h"
#include "consumerd/worker/stream.h"

#define SIZE 8192u
#define START (5ull << LTT_TS_BITS)

/* --- states ----------------------------------------------------------------------- */

static void check_stream_states(void)
{
	static const enum stream_state want[STREAM_STATES][STREAM_EVENTS] = {
		/* LOSES_PLACE, IS_PLACED, SENDS, IS_ANSWERED */
		{ STREAM_UNPLACED, STREAM_READY, STREAM_UNPLACED, STREAM_UNPLACED },
		{ STREAM_UNPLACED, STREAM_READY, STREAM_SENT, STREAM_READY },
		{ STREAM_UNPLACED, STREAM_SENT, STREAM_SENT, STREAM_READY },
	};

	for (unsigned int s = 0; s < STREAM_STATES; s++)
		for (unsigned int e = 0; e < STREAM_EVENTS; e++)
			CHECK_IS(stream_next((enum stream_state)s, (enum stream_event)e), ==,
				 want[s][e]);
}

/* --- a scripted sink --------------------------------------------------- */

static struct sink_ops ops;
static struct sink sink = { .ops = &ops };
static struct sink_stream out;
static struct packet_header written[8]; /* by order */
static unsigned int nr_written;
static int fate, knowledge;
static struct packet_header last; /* as reported by place() */
static bool refuses_once;	  /* settle() reports the packet in flight as failed */
static bool is_attached;

static struct sink_stream *double_open(struct sink *s, const struct stream_config *config,
				       uint32_t cpu)
{
	(void)s;
	(void)config;
	(void)cpu;
	return &out;
}

static int double_place(struct sink_stream *o, const struct ring_reader *old,
			struct packet_header *ret_last, uint64_t *cut)
{
	(void)o;
	(void)cut;
	if (old)
		return SINK_UNKNOWN;
	if (is_attached)
		return SINK_SAME;
	if (knowledge > 0)
		is_attached = true;
	*ret_last = last;
	return knowledge;
}

static int double_write(struct sink_stream *o, const struct packet_header *header,
			const uint8_t *body)
{
	(void)o;
	(void)body;
	written[nr_written++ % 8] = *header;
	return fate;
}

/* The packet in flight has arrived, or not. */
static int double_settle(struct sink *s)
{
	int error = refuses_once ? -EPIPE : 0;

	(void)s;
	refuses_once = false;
	out.done(out.data, error);
	return ops.way == SINK_SPOOLS ? 0 : error;
}

static int double_close(struct sink_stream *o, enum sink_end how)
{
	(void)o;
	CHECK_IS(how, ==, SINK_ENDED);
	return 0;
}

static struct ltt_ring_prod prod;
static struct ltt_ring_cons cons;
static struct disk disk;
static struct chunk_trace trace = { .uuid = "0123456789abcde", .disk = &disk };
static struct stream_config config = { .trace = &trace, .disk = &disk, .channel = (char *)"c" };
static struct stats_box box;
static struct stream stream;
static uint8_t data[SIZE * 2];

static void start(struct sink_ops with)
{
	const struct ltt_ring_desc desc = {
		.data_size = SIZE,
		.subbuf_size = SIZE / 2,
		.max_record = 1024,
		.clock = LTT_CLOCK_MONOTONIC,
	};

	ops = with;
	ops.open = double_open;
	ops.place = double_place;
	ops.write = double_write;
	ops.close = double_close;
	list_init(&sink.streams);
	memset(&prod, 0, sizeof(prod));
	memset(&cons, 0, sizeof(cons));
	memset(&stream, 0, sizeof(stream));
	prod.pub = reader_first_pub(START);
	prod.last_ts = START;
	nr_written = 0;
	fate = SINK_STORED;
	knowledge = SINK_SAME;
	refuses_once = is_attached = false;
	last = (struct packet_header){ 0 };
	reader_init(&stream.reader, &desc, &prod, data, &cons, START);
	stream_init(&stream, &sink, &config, 0, &box);
}

/* One record of 16 bytes; @lost before it. */
static void publish(uint64_t lost)
{
	uint64_t parity = (prod.pub & LTT_PUB_PARITY) ^ LTT_PUB_PARITY;

	prod.last_ts += 5;
	prod.lost_full += lost;
	prod.count[!!parity] = prod.count[!parity] + 1;
	prod.pub = (prod.last_ts >> LTT_TS_BITS & 0xffffff) << LTT_PUB_EPOCH_SHIFT | parity |
		   ((prod.pub + 16) & LTT_POS_MASK);
}

static struct stats stats_now(void)
{
	struct stats stats;

	stats_read(&box, &stats);
	return stats;
}

/* --- cases ---------------------------------------------------------------------------- */

static void check_stored(void)
{
	start((struct sink_ops){ 0 });
	publish(0);
	CHECK(stream_cut(&stream, STREAM_TAKE) == 1 && nr_written == 1);
	CHECK(cons.consumed == 16 && stream.state == STREAM_READY);
	CHECK(stats_now().written == 1 && stats_now().packets == 1);
	CHECK(stream_cut(&stream, STREAM_TAKE) == 0 && nr_written == 1);
}

/* The first packet that counts a loss has an empty one before it. */
static void check_opening(void)
{
	start((struct sink_ops){ 0 });
	publish(3);
	CHECK(stream_cut(&stream, STREAM_TAKE) == 1 && nr_written == 2);
	CHECK(written[0].packet_size == sizeof(written[0]) * 8 && !written[0].events_discarded);
	CHECK_IS(written[1].packet_size, ==, (sizeof(written[0]) + 16) * 8);
	CHECK(written[1].events_discarded == 3 && written[1].packet_seq_num == 1);
}

/* Space is released when the outcome is known, and not before. */
static void check_in_flight(void)
{
	start((struct sink_ops){ .settle = double_settle });
	fate = SINK_SENDING;
	publish(0);
	CHECK(stream_cut(&stream, STREAM_TAKE) == 1 && nr_written == 1);
	CHECK(cons.consumed == 0 && stream.state == STREAM_SENT && stats_now().written == 0);
	CHECK_IS(sink_settle(&sink), ==, 0);
	CHECK(cons.consumed == 16 && stream.state == STREAM_READY && stats_now().written == 1);
	CHECK(stream_write_again(&stream) == 0 && nr_written == 1);
}

/* Two records, the second behind a failed attempt for the first. */
static void fail_and_cut(bool keeps)
{
	start((struct sink_ops){ .way = keeps ? SINK_SPOOLS : SINK_LOCAL });
	fate = -ENOSPC;
	publish(0);
	CHECK_IS(stream_cut(&stream, STREAM_TAKE), ==, -ENOSPC);
	CHECK_IS(cons.consumed, ==, 0);
	publish(0);
	fate = SINK_STORED;
	CHECK(stream_cut(&stream, STREAM_TAKE) == 1 && nr_written == 2);
}

static void check_failure(void)
{
	fail_and_cut(true);
	CHECK(memcmp(&written[0], &written[1], sizeof(written[0])) == 0 && cons.consumed == 16);
	fail_and_cut(false);
	CHECK(written[1].packet_size == written[0].packet_size + 16 * 8 && cons.consumed == 32);
}

/* A packet that did not arrive has another way. */
static void check_another_way(void)
{
	start((struct sink_ops){ .way = SINK_SPOOLS, .settle = double_settle });
	fate = SINK_SENDING;
	publish(0);
	CHECK_IS(stream_cut(&stream, STREAM_TAKE), ==, 1);
	refuses_once = true;
	CHECK(sink_settle(&sink) == 0 && stream.state == STREAM_SENT && cons.consumed == 0);
	fate = SINK_STORED;
	CHECK(stream_write_again(&stream) == 1 && nr_written == 2 && cons.consumed == 16);
	CHECK_IS(memcmp(&written[0], &written[1], sizeof(written[0])), ==, 0);
}

static void send_and_break(void)
{
	start((struct sink_ops){ .way = SINK_DIRECT, .settle = double_settle });
	knowledge = SINK_HAS;
	fate = SINK_SENDING;
	publish(0);
	CHECK(stream_cut(&stream, STREAM_TAKE) == 1 && nr_written == 1);
	refuses_once = true;
	CHECK(sink_settle(&sink) == -EPIPE && stream.state == STREAM_SENT);
	is_attached = false;
}

/* The connection broke before the answer: the relay reports its last packet on the next one. */
static void check_broken(void)
{
	send_and_break();
	last = written[0];
	publish(0);
	CHECK(stream_cut(&stream, STREAM_TAKE) == 1 && nr_written == 2);
	CHECK(written[1].stream_pos == 16 && written[1].packet_seq_num == 1);
	send_and_break();
	CHECK(stream_cut(&stream, STREAM_TAKE) == 1 && nr_written == 2);
	CHECK(written[1].stream_pos == 0 && written[1].packet_seq_num == 0);
}

/* A relay that has less than it acknowledged: the difference is lost. */
static void check_forgotten(void)
{
	start((struct sink_ops){ .way = SINK_DIRECT });
	knowledge = SINK_HAS;
	for (int i = 0; i < 3; i++) {
		publish(0);
		CHECK_IS(stream_cut(&stream, STREAM_TAKE), ==, 1);
	}
	is_attached = false;
	last = written[0];
	publish(0);
	CHECK_IS(stream_cut(&stream, STREAM_TAKE), ==, 1);
	CHECK(written[3].lost_output == 2 && written[3].events_discarded == 2);
	CHECK(stats_now().lost_output == 2 && stats_now().written == 2);
}

/* Nothing is written before the relay has reported where to continue. */
static void check_unplaced(void)
{
	uint64_t cut = 0;

	start((struct sink_ops){ .way = SINK_DIRECT });
	publish(0);
	publish(0);
	cons.consumed = 16;
	knowledge = -ENOTCONN;
	CHECK(stream_adopt(&stream, &cut) == 0 && stream.state == STREAM_UNPLACED);
	CHECK(stream_cut(&stream, STREAM_TAKE) == -ENOTCONN && nr_written == 0);
	knowledge = SINK_CONTINUES;
	last = (struct packet_header){ .magic = PACKET_MAGIC,
				       .packet_size = (sizeof(last) + 16) * 8,
				       .timestamp_end = START + 5,
				       .events_recorded = 1,
				       .packet_seq_num = 6 };
	CHECK(stream_cut(&stream, STREAM_TAKE) == 1 && nr_written == 1);
	CHECK(written[0].packet_seq_num == 7 && written[0].stream_pos == 16);
	CHECK(written[0].events_recorded == 2 && cons.consumed == 32);
}

/* Where nothing is stored, nothing counts as lost either. */
static void check_discarded(void)
{
	start((struct sink_ops){ 0 });
	fate = SINK_DISCARDED;
	publish(2);
	CHECK(stream_cut(&stream, STREAM_LAST) == 1 && cons.consumed == 16);
	CHECK(!stats_now().packets && !stats_now().written);
	stream_fini(&stream);
	CHECK(!stats_now().lost_output);
}

/* Events that a full output could not take are counted, in the trace, too, where the account has
 * room. */
static void check_given_up(void)
{
	start((struct sink_ops){ 0 });
	fate = -ENOSPC;
	publish(0);
	CHECK_IS(stream_cut(&stream, STREAM_LAST), ==, -ENOSPC);
	fate = SINK_STORED;
	stream_fini(&stream);
	CHECK(nr_written == 3 && written[2].lost_output == 1);
	CHECK_IS(written[2].packet_size, ==, sizeof(written[0]) * 8);
	CHECK(stats_now().lost_output == 1 && stats_now().written == 0 && cons.consumed == 16);
}

int main(void)
{
	check_stream_states();
	check_stored();
	check_opening();
	check_in_flight();
	check_failure();
	check_another_way();
	check_broken();
	check_forgotten();
	check_unplaced();
	check_discarded();
	check_given_up();
	return 0;
}
