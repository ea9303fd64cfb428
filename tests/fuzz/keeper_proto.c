/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt-keeperd receives arbitrary messages: each command is answered once, or its connection
 * is closed; another client is served all the while, and finds the descriptor that it stored
 * under a name that no input uses. An input is a series of messages, each behind two bytes of
 * length; three descriptors are attached to each.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/fuzz_fds.h"
#include "lib/fuzz_loop.h"
#include "io/sock.h"
#include "keeperd/holder.h"
#include "proto/keeper.h"

static struct holder holder;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void changed(struct holder *h)
{
	MUST_HOLD(h == &holder);
}

static int visit(void)
{
	int fds[2];

	MUST_HOLD(sock_pair(fds) == 0);
	MUST_HOLD(fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0);
	MUST_HOLD(fcntl(fds[1], F_SETFL, O_NONBLOCK) == 0);
	MUST_HOLD(holder_serve(&holder, fds[0]) == 0);
	return fds[1];
}

/* Return: replies that came; *ret_fds descriptors with them; -1: hung up. */
static int replies(int fd, unsigned int *ret_fds)
{
	static uint8_t buf[MSG_MAX_BYTES];
	int fds[MSG_MAX_FDS], nr = 0;
	unsigned int nr_fds;
	struct msg_header header;
	struct decoder dec;
	ssize_t n;

	while ((n = sock_recv(fd, buf, sizeof(buf), fds, &nr_fds)) > 0) {
		for (unsigned int i = 0; i < nr_fds; i++)
			close(fds[i]);
		*ret_fds += nr_fds;
		decoder_init(&dec, buf, (size_t)n, NULL, 0);
		MUST_HOLD(decode_header(&dec, &header) == 0);
		nr += !!(header.flags & MSG_REPLY);
	}
	return n == 0 ? -1 : nr;
}

static void feed(int fd, const uint8_t *data, size_t size)
{
	while (size > 2) {
		size_t len = data[0] | (size_t)data[1] << 8;
		int fds[3] = { fuzz_tick.fd, fuzz_tick.fd, fuzz_tick.fd };
		unsigned int got = 0;
		int nr;

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		if (sock_send(fd, data, len, fds, 3) < 0)
			return;
		fuzz_pump();
		nr = replies(fd, &got);
		if (nr < 0)
			return;
		MUST_HOLD(nr == 1 && got <= 3);
		data += len;
		size -= len;
	}
}

static void ask(int fd, uint16_t type, const char *name)
{
	struct req_keep_put put = { name, fuzz_tick.fd, fuzz_tick.fd, -1 };
	struct req_keep_get get = { name };
	uint8_t buf[256];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, type, 0, 1);
	if (type == MSG_keep_put)
		req_keep_put_encode(&enc, &put);
	else
		req_keep_get_encode(&enc, &get);
	MUST_HOLD(encoder_finish(&enc) == 0);
	MUST_HOLD(sock_send(fd, enc.buf, enc.len, enc.fds, enc.nr_fds) == 0);
	fuzz_pump();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char name[] = "a name that a fuzzer does not find";
	unsigned int got = 0;
	int decent, visitor, before;

	if (!fuzz_loop)
		fuzz_loop_begin();
	before = fuzz_open_fds();
	holder_init(&holder, fuzz_loop, changed);
	decent = visit();
	visitor = visit();
	ask(decent, MSG_keep_put, name);
	feed(visitor, data, size);
	close(visitor);
	ask(decent, MSG_keep_get, name);
	MUST_HOLD(replies(decent, &got) == 2 && got == 2);
	close(decent);
	fuzz_pump();
	holder_fini(&holder);
	MUST_HOLD(holder_is_idle(&holder));
	MUST_HOLD(fuzz_open_fds() == before);
	return 0;
}
