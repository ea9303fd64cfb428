/* SPDX-License-Identifier: GPL-2.0-only */
#include "wire.h"

#include <endian.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/uio.h>

#include "consumerd/now.h"
#include "trace/crc32c.h"

/* TCP retransmits a SYN after 1 s, then after 2 s: the longer time allows for two lost SYNs, the
 * shorter one is used if the worker has other duties or did not set meanwhile(). */
#define CONNECT_MS 3200u
#define CONNECT_WANTED_MS 1000u
#define HANDSHAKE_NS 5000000000ull
#define SLICE_MS 10u /* between two calls of meanwhile() during a wait */
#define POLL_MS 100u /* between two readings of TCP_INFO during a wait without meanwhile() */
/* The send buffer holds at most the bytes that the connection transfers in a second, so that data
 * in the kernel is not mistaken for data in flight. */
#define SEND_BUF_MIN_BYTES (16 << 10)
#define SEND_BUF_BYTES (512 << 10)
#define SAMPLE_BYTES (16u << 10) /* that suffice to measure the throughput */
#define SAMPLE_MIN_BYTES 4096u	 /* that suffice after SAMPLE_NS */
#define SAMPLE_NS 500000000ull
/* Retransmission timeouts: a segment that is lost three times is sent after 1 + 2 + 4 of them. */
#define TIMEOUTS 8u
/* Bytes that are summed and sent at a time: they are still in the cache when they are sent. With
 * smaller chunks the send buffer would run empty meanwhile. */
#define CHUNK_BYTES (512u << 10)
/* Bodies that are smaller are cheaper to send. */
#define SPLICE_MIN_BYTES 4096u

void wire_init(struct wire *w)
{
	*w = (struct wire){ .reply_timeout_ms = WIRE_TIMEOUT_MS };
	chan_init(&w->chan, -1, NULL);
}

/* Data that the socket still has would be sent after its pages were released and overwritten. */
static void abort_spliced(struct wire *w)
{
	const struct linger at_once = { .l_onoff = 1 };

	if (w->spliced)
		(void)setsockopt(w->chan.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	w->spliced = false;
}

void wire_close(struct wire *w)
{
	abort_spliced(w);
	chan_fini(&w->chan);
	w->chan.fd = close_fd(w->chan.fd);
	frames_fini(&w->frames);
	w->unanswered = 0;
}

const char *wire_problem(const struct wire *w)
{
	return w->expects_tls ? TLS_EXPECTED : chan_problem(&w->chan);
}

/* The relay sends nothing between requests: a readable socket was closed, or is out of step. */
bool wire_is_up(struct wire *w)
{
	struct pollfd poll_fd = { .fd = w->chan.fd, .events = POLLIN };

	return w->chan.fd >= 0 && poll(&poll_fd, 1, 0) == 0;
}

void wire_begin(struct wire *w, struct encoder *enc, void *buf, size_t cap, uint16_t type)
{
	w->type = type;
	encoder_init(enc, buf, cap);
	encode_header(enc, type, 0, ++w->serial);
}

/* --- throughput of the connection ------------------------------------------------------- */

static struct tcp_info read_tcp_info(const struct wire *w)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (w->chan.fd >= 0)
		(void)!getsockopt(w->chan.fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	return info;
}

uint64_t wire_rate(const struct wire *w)
{
	struct tcp_info info;

	if (w->rate)
		return w->rate;
	info = read_tcp_info(w);
	return (uint64_t)info.tcpi_snd_cwnd * info.tcpi_snd_mss * 1000000 / MAX(info.tcpi_rtt, 1u);
}

static void bound_in_flight(struct wire *w)
{
	uint64_t rate = wire_rate(w);
	int bytes = (int)MIN(MAX(rate, (uint64_t)SEND_BUF_MIN_BYTES), (uint64_t)SEND_BUF_BYTES);

	if (bytes < SEND_BUF_BYTES && bytes / 2 < w->send_buf && bytes > w->send_buf / 2)
		return;
	if (bytes == SEND_BUF_BYTES && !w->send_buf) /* the kernel's own sizing suits a fast one */
		return;
	if (bytes != w->send_buf)
		setsockopt(w->chan.fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	w->send_buf = bytes;
}

static void begin_sample(struct wire *w, const struct tcp_info *info)
{
	w->rate_ns = now_ns();
	w->rate_bytes = info->tcpi_bytes_acked;
}

/* Whether a request is in flight whose body suffices to measure the throughput: smaller ones wait
 * for the relay's work, however fast the connection is. */
static bool has_large(const struct wire *w)
{
	return w->unanswered > w->behind_large;
}

/* Only time with large requests in flight is measured. If none is left, the round-trip time of the
 * last one is subtracted, as the connection was idle for that time. */
static void sample_rate(struct wire *w)
{
	uint64_t took = now_ns() - w->rate_ns, bytes, sample, way;
	bool goes_on = has_large(w);
	struct tcp_info info;

	if (goes_on && took < SAMPLE_NS)
		return;
	info = read_tcp_info(w);
	bytes = info.tcpi_bytes_acked - MIN(w->rate_bytes, (uint64_t)info.tcpi_bytes_acked);
	if (bytes < SAMPLE_MIN_BYTES && goes_on)
		return;
	way = goes_on ? 0 : (uint64_t)info.tcpi_min_rtt * 1000;
	sample = bytes * 1000000 / (MAX(took - MIN(took, way), 1000u) / 1000);
	if (bytes >= SAMPLE_BYTES || (bytes >= SAMPLE_MIN_BYTES && took >= SAMPLE_NS)) {
		w->rate = sample > w->rate ? sample : (w->rate + sample) / 2;
		bound_in_flight(w);
	}
	begin_sample(w, &info);
}

/* Longest wait without an acknowledgement, by the relay's TCP or by the relay itself. */
static uint64_t timeout_of(const struct wire *w, const struct tcp_info *info, bool wanted)
{
	uint64_t timeout_us = info->tcpi_rtt + 4ull * info->tcpi_rttvar;
	uint64_t ms = MIN(TIMEOUTS * timeout_us / 1000, (uint64_t)WIRE_TIMEOUT_MAX_MS);

	return wanted ? WIRE_TIMEOUT_MS : MAX(ms, (uint64_t)w->reply_timeout_ms);
}

static uint64_t connect_timeout(const struct wire *w, bool wanted)
{
	return wanted || !w->meanwhile ? CONNECT_WANTED_MS : CONNECT_MS;
}

/* Wait until @fd is ready, or no byte has been transferred for the timeout. */
static int await_fd(struct wire *w, int fd, short events, bool connecting)
{
	struct pollfd poll_fd = { .fd = fd, .events = events };
	uint64_t moved = 0, last_ns = now_ns(), ms;

	for (;;) {
		struct tcp_info info;
		int wanted = 0, n = poll(&poll_fd, 1, w->meanwhile ? SLICE_MS : POLL_MS);

		if (n != 0)
			return n < 0 && errno != EINTR ? -errno : 0;
		if (w->meanwhile)
			wanted = w->meanwhile(w->data);
		if (wanted < 0)
			return wanted;
		info = read_tcp_info(w);
		if (info.tcpi_bytes_acked + info.tcpi_bytes_received != moved)
			last_ns = now_ns();
		moved = info.tcpi_bytes_acked + info.tcpi_bytes_received;
		ms = connecting ? connect_timeout(w, wanted) : timeout_of(w, &info, wanted);
		if (now_ns() - last_ns > ms * 1000000)
			return -ETIMEDOUT;
	}
}

static int wire_await_chan(struct wire *w, short events, bool connecting)
{
	return await_fd(w, w->chan.fd, events, connecting);
}

int wire_await(struct wire *w, int fd)
{
	return await_fd(w, fd, POLLIN, true);
}

/* --- connecting --------------------------------------------------------------------------- */

/* The steps together are limited as well as each of them: a relay that answers one byte a second
 * would otherwise delay the worker without limit. */
static int wire_shake_hands(struct wire *w)
{
	uint64_t until = now_ns() + HANDSHAKE_NS;
	int ret;

	while ((ret = chan_open(&w->chan)) == -EAGAIN) {
		ret = wire_await_chan(w, chan_wants_write(&w->chan) ? POLLOUT : POLLIN, false);
		if (ret < 0 || now_ns() > until)
			return ret < 0 ? ret : -ETIMEDOUT;
	}
	return ret;
}

int wire_connect(struct wire *w, const struct tcp_addr *addr, struct tls_keys *keys,
		 const char *host)
{
	struct tls *tls = NULL;
	int fd, ret;

	wire_close(w);
	w->expects_tls = false;
	fd = tcp_connect_begin(addr);
	if (fd < 0)
		return fd;
	chan_init(&w->chan, fd, NULL);
	ret = wire_await_chan(w, POLLOUT, true);
	if (ret == 0)
		ret = tcp_connect_end(fd);
	if (ret < 0)
		return ret;
	w->send_buf = 0;
	bound_in_flight(w);
	if (keys)
		ret = tls_new_client(keys, fd, host, &tls);
	chan_init(&w->chan, fd, tls);
	return ret < 0 ? ret : wire_shake_hands(w);
}

/* Take @n sent bytes off the front. Return: the first buffer that has some left. */
static unsigned int wire_advance(struct iovec *iov, unsigned int nr, size_t n)
{
	unsigned int i = 0;

	for (; i < nr && n >= iov[i].iov_len; i++)
		n -= iov[i].iov_len;
	if (i < nr) {
		iov[i].iov_base = (char *)iov[i].iov_base + n;
		iov[i].iov_len -= n;
	}
	return i;
}

static int wire_send_all(struct wire *w, struct iovec *iov, unsigned int nr)
{
	while (nr) {
		ssize_t n = chan_send(&w->chan, iov, nr);
		int ret = n < 0 ? (int)n : 0;

		if (n == -EAGAIN)
			ret = wire_await_chan(w, POLLOUT, false);
		if (ret < 0)
			return ret;
		if (n > 0) {
			unsigned int done = wire_advance(iov, nr, (size_t)n);

			iov += done;
			nr -= done;
		}
	}
	return 0;
}

static struct iovec make_chunk(const struct wire_body *body, const uint8_t *at, size_t len)
{
	if (body->packer && len)
		at = zpacker_pack(body->packer, at, len, &len);
	return (struct iovec){ (void *)at, len };
}

static uint64_t chunk_bytes(const struct wire_body *body)
{
	if (body->packer)
		return ZCHUNK_BYTES;
	return body->summed ? CHUNK_BYTES : body->bytes;
}

/* --- splicing ----------------------------------------------------------------------------- */

struct wire_room {
	struct wire *wire;
	int error; /* of the wait */
};

static int wire_await_room(void *data)
{
	struct wire_room *room = data;

	room->error = wire_await_chan(room->wire, POLLOUT, false);
	return room->error;
}

/* If splice() fails, the rest is sent, which succeeds, or returns the error of the socket. */
static int wire_splice(struct wire *w, const struct wire_body *body, const uint8_t *at,
		       uint64_t len, bool more)
{
	struct wire_room room = { .wire = w };
	struct iovec rest;
	uint64_t moved;
	int ret, sent;

	w->spliced = true;
	ret = splice_move(body->source, at, len, w->chan.fd, NULL, more, wire_await_room, &room,
			  &moved);
	if (ret == 0 || room.error)
		return ret;
	rest = (struct iovec){ (void *)(at + moved), (size_t)(len - moved) };
	sent = wire_send_all(w, &rest, 1);
	if (sent == 0)
		splice_warn(body->source, ret);
	return sent;
}

static bool wire_can_splice(const struct wire *w, const struct wire_body *body)
{
	return body && body->source && !body->packer && !w->chan.tls &&
	       body->bytes >= SPLICE_MIN_BYTES;
}

static int wire_send_spliced(struct wire *w, struct iovec head[2], const struct wire_body *body)
{
	const uint8_t *at = body->data;
	uint64_t left = body->bytes;
	uint32_t tail, sum = body->sum;
	struct iovec end = { &tail, sizeof(tail) };
	int ret = wire_send_all(w, head, 2);

	while (ret == 0 && left) {
		uint64_t len = MIN(left, chunk_bytes(body));

		if (body->summed)
			sum = crc32c(sum, at, len);
		left -= len;
		ret = wire_splice(w, body, at, len, left || body->summed);
		at += len;
	}
	tail = htole32(sum);
	return ret == 0 && body->summed ? wire_send_all(w, &end, 1) : ret;
}

static int wire_send_request(struct wire *w, const struct encoder *enc,
			     const struct wire_body *body)
{
	const uint8_t *at = body ? body->data : NULL;
	uint64_t left = body ? body->bytes : 0;
	uint32_t tail, sum = body ? body->sum : 0;
	uint8_t head[FRAME_HEAD_BYTES];
	struct iovec iov[4] = { { head, sizeof(head) }, { enc->buf, enc->len } };
	unsigned int nr = 2;
	int ret;

	frame_head(head, enc->len);
	if (wire_can_splice(w, body))
		return wire_send_spliced(w, iov, body);
	do {
		size_t len = body ? (size_t)MIN(left, chunk_bytes(body)) : 0;

		if (len)
			iov[nr++] = make_chunk(body, at, len);
		at += len;
		left -= len;
		if (body && body->summed) {
			sum = crc32c(sum, at - len, len);
			tail = htole32(sum);
			if (!left)
				iov[nr++] = (struct iovec){ &tail, sizeof(tail) };
		}
		ret = wire_send_all(w, iov, nr);
		nr = 0;
	} while (ret == 0 && left);
	return ret;
}

static int wire_fill(struct wire *w)
{
	uint8_t *at;
	size_t room = frames_room(&w->frames, &at);
	ssize_t n;

	if (!room)
		return -ENOMEM;
	n = chan_recv(&w->chan, at, room);
	if (n < 0)
		return n == -EAGAIN ? wire_await_chan(w, POLLIN, false) : (int)n;
	if (n == 0)
		return -ECONNRESET;
	frames_filled(&w->frames, (size_t)n);
	return 0;
}

static void wire_note_alert(struct wire *w)
{
	size_t len = w->frames.end - w->frames.begin;

	w->expects_tls = !w->chan.tls && len && tls_is_alert(w->frames.buf + w->frames.begin, len);
}

static int wire_receive_reply(struct wire *w, uint16_t type, uint32_t serial, struct decoder *ret)
{
	struct msg_header header;
	const uint8_t *msg;
	size_t len;
	int n;

	while ((n = frames_next(&w->frames, &msg, &len)) == 0) {
		int error = wire_fill(w);

		if (error < 0) {
			wire_note_alert(w);
			return error;
		}
	}
	if (n < 0) {
		wire_note_alert(w);
		return n;
	}
	decoder_init(ret, msg, len, NULL, 0);
	if (decode_header(ret, &header) < 0 || header.type != type || header.serial != serial ||
	    header.flags != MSG_REPLY)
		return -EBADMSG;
	return 0;
}

/* Each timeout doubles the next one, so that a packet reaches a slow relay in the end. Only an
 * answer of the type that timed out resets it: others may be faster. */
static void wire_adapt_timeout(struct wire *w, uint16_t type, int error)
{
	bool is_measured = has_large(w);

	if (error == -ETIMEDOUT) {
		w->reply_timeout_ms = MIN(w->reply_timeout_ms * 2, WIRE_TIMEOUT_MAX_MS);
		w->timed_out_type = type;
	} else if (error == 0 && (!w->timed_out_type || w->timed_out_type == type)) {
		w->reply_timeout_ms = WIRE_TIMEOUT_MS;
		w->timed_out_type = 0;
	}
	if (error < 0)
		w->unanswered = 0;
	else
		w->unanswered -= MIN(w->unanswered, 1u);
	if (error == 0 && !w->unanswered)
		w->spliced = false;
	if (is_measured && (error == 0 || error == -ETIMEDOUT))
		sample_rate(w);
}

int wire_send(struct wire *w, const struct encoder *enc, const struct wire_body *body)
{
	int error = w->chan.fd < 0 ? -ENOTCONN : encoder_finish(enc);
	bool large = body && body->bytes >= SAMPLE_BYTES;

	if (error == 0 && large && !has_large(w)) {
		struct tcp_info info = read_tcp_info(w);

		begin_sample(w, &info);
	}
	if (error == 0) {
		w->unanswered++;
		w->behind_large = large ? 0 : w->behind_large + 1;
		error = wire_send_request(w, enc, body);
	}
	if (error < 0)
		wire_adapt_timeout(w, w->type, error);
	return error;
}

bool wire_has_answer(const struct wire *w)
{
	struct pollfd poll_fd = { .fd = w->chan.fd, .events = POLLIN };

	return w->frames.begin != w->frames.end || poll(&poll_fd, 1, 0) > 0;
}

int wire_receive(struct wire *w, uint16_t type, uint32_t serial, struct decoder *ret,
		 struct err *err)
{
	int error = wire_receive_reply(w, type, serial, ret);
	const char *text;
	uint32_t code;

	wire_adapt_timeout(w, type, error);
	if (error < 0)
		return error;
	code = decode_outcome(ret, &text);
	if (ret->bad)
		return -EBADMSG;
	if (code)
		err_set(err, (enum err_code)code, "%s", text);
	return code ? -EREMOTEIO : 0;
}
