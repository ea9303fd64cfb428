/* SPDX-License-Identifier: GPL-2.0-only */
#include "session_harness.h"

#include <sys/eventfd.h>

#include "base/log.h"
#include "sessiond/peers/apps.h"
#include "sessiond/peers/clients.h"

enum { ROUNDS = 12, SOON_NS = 100000 };

struct harness harness;
static uint8_t harness_buf[MSG_MAX_BYTES];

static void harness_reply(uint16_t type, uint32_t serial, int code, const char *text, bool rings)
{
	uint8_t buf[512];
	struct encoder enc;
	int fd = rings ? memfd_create("test", MFD_CLOEXEC) : -1;
	struct rep_con_ring rep = { .data = fd, .ctl = fd, .ctl_rw = -1, .doorbell = fd };
	struct rep_con_output_open opened = { harness.consumer.doorbell, -1 };

	if (harness.consumer.data)
		rep = (struct rep_con_ring){ harness.consumer.data, harness.consumer.ctl,
					     harness.consumer.ctl, harness.consumer.doorbell, 0 };

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, type, MSG_REPLY, serial);
	encode_u32(&enc, (uint32_t)code);
	encode_str(&enc, text);
	if (rings)
		rep_con_ring_encode(&enc, &rep);
	else if (type == MSG_con_output_open && harness.consumer.doorbell)
		rep_con_output_open_encode(&enc, &opened);
	peer_send(&harness.consumer.peer, &enc);
	close_fd(fd);
}

static void harness_stats(uint32_t serial)
{
	struct msg_con_stream stream = { .ring = harness.consumer.ring,
					 .recorded = harness.consumer.recorded,
					 .written = harness.consumer.recorded,
					 .lost_full = 7 + harness.consumer.lost,
					 .bytes = harness.consumer.recorded,
					 .used = 100,
					 .size = 1000 };
	uint8_t buf[512];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_con_stream, MSG_ITEM, serial);
	msg_con_stream_encode(&enc, &stream);
	peer_send(&harness.consumer.peer, &enc);
}

/* Return: whether the answer has descriptors of rings. */
static bool harness_note(struct fake_consumer *fc, uint16_t type, struct decoder *dec)
{
	struct req_con_metadata_append append;
	struct req_con_ring_enable enable;
	struct req_con_ring ring;

	if (type == MSG_con_metadata_append) {
		CHECK_IS(req_con_metadata_append_decode(dec, &append), ==, 0);
		if (fc->metadata_len + append.text.len >= sizeof(fc->metadata))
			fc->metadata_len = 0; /* a fuzzer's */
		CHECK_IS(append.text.len, <, sizeof(fc->metadata));
		memcpy(fc->metadata + fc->metadata_len, append.text.data, append.text.len);
		fc->metadata_len += append.text.len;
		fc->metadata[fc->metadata_len] = '\0';
	} else if (type == MSG_con_ring_enable) {
		CHECK_IS(req_con_ring_enable_decode(dec, &enable), ==, 0);
		fc->rings_on = enable.on;
	} else if (type == MSG_con_ring) {
		CHECK_IS(req_con_ring_decode(dec, &ring), ==, 0);
		fc->nr_adoptions += ring.adopt;
		fc->mode = ring.mode;
		fc->kept = ring.kept;
		fc->nr_adopted += ring.adopt && ring.data >= 0 && ring.ctl_rw >= 0;
		close_fd(ring.data);
		close_fd(ring.ctl_rw);
		close_fd(ring.module);
		if (ring.adopt)
			return false;
		fc->ring = ring.ring;
		fc->first_instance = ring.first_instance;
		fc->nr_rings_open++;
		snprintf(fc->channel, sizeof(fc->channel), "%s", ring.channel);
		return true;
	} else if (type == MSG_con_ring_close) {
		fc->nr_rings_open--;
	}
	return false;
}

/* Requests of which the contents are of interest also if they fail. */
static void harness_see(struct fake_consumer *fc, uint16_t type, struct decoder *dec)
{
	struct req_con_archive_remove remove;
	struct req_con_output_open opened;
	struct req_con_snapshot snapshot;
	struct req_con_trace_kallsyms kallsyms;
	struct req_con_turn turn;

	if (type == MSG_con_snapshot) {
		CHECK_IS(req_con_snapshot_decode(dec, &snapshot), ==, 0);
		fc->remembered = snapshot.remembered;
		close_fd(snapshot.dir);
	} else if (type == MSG_con_trace_kallsyms) {
		CHECK_IS(req_con_trace_kallsyms_decode(dec, &kallsyms), ==, 0);
		CHECK_IS(pread(kallsyms.file, fc->kallsyms, sizeof(fc->kallsyms), 0), >, 0);
		close(kallsyms.file);
	} else if (type == MSG_con_turn) {
		CHECK_IS(req_con_turn_decode(dec, &turn), ==, 0);
		snprintf(fc->turn, sizeof(fc->turn), "%s", turn.name);
		fc->clears = turn.clear;
	} else if (type == MSG_con_archive_remove) {
		CHECK_IS(req_con_archive_remove_decode(dec, &remove), ==, 0);
		fc->most = remove.most;
	} else if (type == MSG_con_output_open) {
		CHECK_IS(req_con_output_open_decode(dec, &opened), ==, 0);
		snprintf(fc->turning, sizeof(fc->turning), "%s", opened.turning);
		fc->snapshots = opened.snapshots;
		close_fd(opened.dir);
		close_fd(opened.doorbell);
	}
}

static int harness_message(struct peer *peer, const struct msg_header *header, struct decoder *dec)
{
	struct fake_consumer *fc = container_of(peer, struct fake_consumer, peer);
	bool rings;

	CHECK_IS(header->type, <, ARRAY_SIZE(fc->calls));
	fc->calls[header->type]++;
	harness_see(fc, header->type, dec);
	if (header->type == fc->hold_type) {
		if (fc->nr_held < ARRAY_SIZE(fc->held))
			fc->held[fc->nr_held++] = header->serial;
		return 0;
	}
	if (header->type == fc->fail_type) {
		harness_reply(header->type, header->serial, ERR_OUTPUT, "the test says no", false);
		return 0;
	}
	rings = harness_note(fc, header->type, dec);
	if (header->type == MSG_con_stats && fc->ring)
		harness_stats(header->serial);
	harness_reply(header->type, header->serial, 0, "", rings);
	return 0;
}

void harness_consumer_release(void)
{
	struct fake_consumer *fc = &harness.consumer;

	for (unsigned int i = 0; i < fc->nr_held; i++)
		harness_reply(fc->hold_type, fc->held[i], 0, "", false);
	fc->nr_held = 0;
	fc->hold_type = 0;
}

static void harness_closed(struct peer *peer)
{
	peer_fini(peer);
	harness.consumer.connected = false;
}

static const struct peer_ops harness_consumer_ops = { .message = harness_message,
						      .closed = harness_closed };

void harness_consumer_connect(int fd)
{
	CHECK_IS(peer_init(&harness.consumer.peer, harness.sd.loop, fd, &harness_consumer_ops), ==,
		 0);
	harness.consumer.connected = true;
}

void harness_consumer_close(void)
{
	peer_fini(&harness.consumer.peer);
	harness.consumer.connected = false;
}

static void harness_stop(struct loop_timer *timer)
{
	(void)timer;
	loop_stop(harness.sd.loop);
}

static void harness_ticked(struct loop_fd *source, uint32_t events)
{
	(void)events;
	loop_stop(source->loop);
}

/* Work that the daemon puts off to a later round has a timer of a microsecond; on a busy machine
 * the kernel reports its end only many rounds later. */
static bool harness_timer_is_near(void)
{
	return loop_next_timer_ns(harness.sd.loop) < loop_now_ns() + SOON_NS;
}

void harness_pump(void)
{
	for (int i = 0; i < ROUNDS; i = harness_timer_is_near() ? 0 : i + 1)
		CHECK_IS(loop_run(harness.sd.loop), ==, 0);
}

void harness_output(uint32_t error, const char *text)
{
	const struct msg_con_output_error msg = { .output = 1, .error = error, .text = text };
	uint8_t buf[256];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_con_output_error, 0, 0);
	msg_con_output_error_encode(&enc, &msg);
	peer_send(&harness.consumer.peer, &enc);
}

void harness_wait(uint64_t us)
{
	CHECK_IS(loop_fd_events(&harness.tick, 0), ==, 0);
	loop_timer_set(&harness.stop, us);
	CHECK_IS(loop_run(harness.sd.loop), ==, 0);
	CHECK_IS(loop_fd_events(&harness.tick, EPOLLIN), ==, 0);
	harness_pump();
}

void harness_begin(void)
{
	int fds[2];

	memset(&harness, 0, sizeof(harness));
	log_init("test", LOG_QUIET);
	CHECK_IS(sessiond_init(&harness.sd), ==, 0);
	harness.sd.recorder.long_ns = UINT64_MAX; /* all happens when the loop runs */
	loop_timer_init(&harness.stop, harness.sd.loop, harness_stop);
	CHECK_IS(loop_fd_init(&harness.tick, harness.sd.loop, eventfd(1, EFD_CLOEXEC), EPOLLIN,
			      harness_ticked),
		 ==, 0);
	CHECK_IS(sock_pair(fds), ==, 0);
	CHECK_IS(consumer_attach(&harness.sd.consumers.own.consumer, fds[0]), ==, 0);
	consumer_resend(&harness.sd.consumers.own.consumer); /* nothing to send yet */
	harness_consumer_connect(fds[1]);
}

void harness_end(void)
{
	int tick = harness.tick.fd;

	loop_timer_cancel(&harness.stop);
	loop_fd_fini(&harness.tick);
	close(tick);
	if (harness.consumer.connected)
		harness_consumer_close();
	sessiond_fini(&harness.sd);
}

int harness_client(void)
{
	int fds[2];

	CHECK_IS(sock_pair(fds), ==, 0);
	CHECK_IS(client_conn_new(&harness.sd, fds[0]), ==, 0);
	CHECK_IS(fcntl(fds[1], F_SETFL, O_NONBLOCK), ==, 0);
	return fds[1];
}

int harness_app(void)
{
	int fds[2];

	CHECK_IS(sock_pair(fds), ==, 0);
	CHECK_IS(app_conn_new(&harness.sd, fds[0]), ==, 0);
	CHECK_IS(fcntl(fds[1], F_SETFL, O_NONBLOCK), ==, 0);
	return fds[1];
}

void harness_send(int fd, const struct encoder *enc)
{
	CHECK_IS(encoder_finish(enc), ==, 0);
	CHECK_IS(sock_send(fd, enc->buf, enc->len, enc->fds, enc->nr_fds), ==, 0);
}

bool harness_recv(int fd, struct msg_header *header, struct decoder *dec, int fds[MSG_MAX_FDS])
{
	unsigned int nr_fds;
	ssize_t n = sock_recv(fd, harness_buf, sizeof(harness_buf), fds, &nr_fds);

	if (n <= 0)
		return false;
	decoder_init(dec, harness_buf, (size_t)n, fds, nr_fds);
	CHECK_IS(decode_header(dec, header), ==, 0);
	return true;
}

struct answer harness_answer(int fd)
{
	struct answer answer = { .code = -1 };
	struct msg_header header;
	struct decoder dec;
	int fds[MSG_MAX_FDS];

	while (!answer.there && harness_recv(fd, &header, &dec, fds)) {
		if (header.flags & MSG_ITEM) {
			CHECK_IS(header.type, <, ARRAY_SIZE(answer.items));
			answer.items[header.type]++;
			continue;
		}
		CHECK_IS(header.flags, ==, MSG_REPLY);
		answer.there = true;
		answer.code = (int)decode_u32(&dec);
		snprintf(answer.text, sizeof(answer.text), "%s", decode_str(&dec));
		answer.dec = dec;
	}
	return answer;
}
