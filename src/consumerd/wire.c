/* SPDX-License-Identifier: GPL-2.0-only */
#include "wire.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/uio.h>

#include "now.h"
#include "trace/crc32c.h"

#define CONNECT_MS 1000u
#define HANDSHAKE_NS 5000000000ull
#define SLICE_MS 10u /* of a wait, between two looks at what else there is */
/* What lies in the kernel is not on its way: a slow line must not make it much. */
#define SEND_BUF_BYTES (512 << 10)
/* Summed and sent at once, while the cache has it; smaller ones would let the line run dry. */
#define PIECE_BYTES (512u << 10)

void wire_init(struct wire *w)
{
	*w = (struct wire){ .patience_ms = WIRE_PATIENCE_MS };
	chan_init(&w->chan, -1, NULL);
}

void wire_close(struct wire *w)
{
	chan_fini(&w->chan);
	w->chan.fd = close_fd(w->chan.fd);
	frames_fini(&w->frames);
}

const char *wire_problem(const struct wire *w)
{
	return chan_problem(&w->chan);
}

/* Nothing is to be read between requests: if something is, it is the end. */
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

static int await(struct wire *w, short events, unsigned int most_ms)
{
	struct pollfd poll_fd = { .fd = w->chan.fd, .events = events };
	unsigned int waited = 0;
	int n = 0;

	while (n == 0 && waited < most_ms) {
		unsigned int ms = w->meanwhile ? MIN(most_ms - waited, SLICE_MS) : most_ms;

		n = poll(&poll_fd, 1, (int)ms);
		if (n < 0)
			return errno == EINTR ? 0 : -errno;
		waited += ms;
		if (n == 0 && w->meanwhile) {
			int ret = w->meanwhile(w->data);

			if (ret < 0)
				return ret;
		}
	}
	return n == 0 ? -ETIMEDOUT : 0;
}

/* Each step is waited for, and all of them have a time, too: who answers a byte a second
 * would keep us for long. */
static int shake_hands(struct wire *w)
{
	uint64_t until = now_ns() + HANDSHAKE_NS;
	int ret;

	while ((ret = chan_open(&w->chan)) == -EAGAIN) {
		ret = await(w, chan_wants_write(&w->chan) ? POLLOUT : POLLIN, w->patience_ms);
		if (ret < 0 || now_ns() > until)
			return ret < 0 ? ret : -ETIMEDOUT;
	}
	return ret;
}

int wire_connect(struct wire *w, const struct tcp_addr *addr, struct tls_keys *keys,
		 const char *host)
{
	const int bytes = SEND_BUF_BYTES;
	struct tls *tls = NULL;
	int fd, ret;

	wire_close(w);
	fd = tcp_connect_begin(addr);
	if (fd < 0)
		return fd;
	chan_init(&w->chan, fd, NULL);
	ret = await(w, POLLOUT, CONNECT_MS);
	if (ret == 0)
		ret = tcp_connect_end(fd);
	if (ret < 0)
		return ret;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	if (keys)
		ret = tls_new_client(keys, fd, host, &tls);
	chan_init(&w->chan, fd, tls);
	return ret < 0 ? ret : shake_hands(w);
}

/* Take @n sent bytes off the front. Return: the first piece that has some left. */
static unsigned int advance(struct iovec *iov, unsigned int nr, size_t n)
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

static int send_all(struct wire *w, struct iovec *iov, unsigned int nr)
{
	while (nr) {
		ssize_t n = chan_send(&w->chan, iov, nr);
		int ret = n < 0 ? (int)n : 0;

		if (n == -EAGAIN)
			ret = await(w, POLLOUT, w->patience_ms);
		if (ret < 0)
			return ret;
		if (n > 0) {
			unsigned int done = advance(iov, nr, (size_t)n);

			iov += done;
			nr -= done;
		}
	}
	return 0;
}

static struct iovec make_piece(const struct wire_body *body, const uint8_t *at, size_t len)
{
	if (body->packer && len)
		at = zpacker_pack(body->packer, at, len, &len);
	return (struct iovec){ (void *)at, len };
}

static uint64_t piece_bytes(const struct wire_body *body)
{
	if (body->packer)
		return ZPIECE_BYTES;
	return body->summed ? PIECE_BYTES : body->bytes;
}

static int send_request(struct wire *w, const struct encoder *enc, const struct wire_body *body)
{
	const uint8_t *at = body ? body->data : NULL;
	uint64_t left = body ? body->bytes : 0;
	uint32_t tail, sum = body ? body->sum : 0;
	uint8_t head[FRAME_HEAD_BYTES];
	struct iovec iov[4] = { { head, sizeof(head) }, { enc->buf, enc->len } };
	unsigned int nr = 2;
	int ret;

	frame_head(head, enc->len);
	do {
		size_t len = body ? (size_t)MIN(left, piece_bytes(body)) : 0;

		if (len)
			iov[nr++] = make_piece(body, at, len);
		at += len;
		left -= len;
		if (body && body->summed) {
			sum = crc32c(sum, at - len, len);
			tail = htole32(sum);
			if (!left)
				iov[nr++] = (struct iovec){ &tail, sizeof(tail) };
		}
		ret = send_all(w, iov, nr);
		nr = 0;
	} while (ret == 0 && left);
	return ret;
}

static int fill(struct wire *w)
{
	uint8_t *at;
	size_t room = frames_room(&w->frames, &at);
	ssize_t n;

	if (!room)
		return -ENOMEM;
	n = chan_recv(&w->chan, at, room);
	if (n < 0)
		return n == -EAGAIN ? await(w, POLLIN, w->patience_ms) : (int)n;
	if (n == 0)
		return -ECONNRESET;
	frames_filled(&w->frames, (size_t)n);
	return 0;
}

static int receive(struct wire *w, uint16_t type, uint32_t serial, struct decoder *ret)
{
	struct msg_header header;
	const uint8_t *msg;
	size_t len;
	int n;

	while ((n = frames_next(&w->frames, &msg, &len)) == 0) {
		int error = fill(w);

		if (error < 0)
			return error;
	}
	if (n < 0)
		return n;
	decoder_init(ret, msg, len, NULL, 0);
	if (decode_header(ret, &header) < 0 || header.type != type || header.serial != serial ||
	    header.flags != MSG_REPLY)
		return -EBADMSG;
	return 0;
}

/* Who is slow is given more time, so that a packet gets through in the end. */
static void judge(struct wire *w, int error)
{
	if (error == -ETIMEDOUT)
		w->patience_ms = MIN(w->patience_ms * 2, 16 * WIRE_PATIENCE_MS);
	else if (error == 0)
		w->patience_ms = WIRE_PATIENCE_MS;
}

int wire_send(struct wire *w, const struct encoder *enc, const struct wire_body *body)
{
	int error = w->chan.fd < 0 ? -ENOTCONN : encoder_finish(enc);

	if (error == 0)
		error = send_request(w, enc, body);
	if (error < 0)
		judge(w, error);
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
	int error = receive(w, type, serial, ret);
	const char *text;
	uint32_t code;

	judge(w, error);
	if (error < 0)
		return error;
	code = decode_outcome(ret, &text);
	if (ret->bad)
		return -EBADMSG;
	if (code)
		err_set(err, (enum err_code)code, "%s", text);
	return code ? -EREMOTEIO : 0;
}
