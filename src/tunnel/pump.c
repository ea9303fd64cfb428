/* SPDX-License-Identifier: GPL-2.0-only */
#include "pump.h"

#include <errno.h>
#include <poll.h>

#define FLOW_BYTES 16384u

/* One way. */
struct flow {
	struct chan *from, *to;
	uint8_t buf[FLOW_BYTES];
	size_t begin, end;
};

/* Return: 0: it waits; negative: it is over. */
static int flow_on(struct flow *f)
{
	ssize_t n = 0;

	while (n >= 0) {
		struct iovec iov = { f->buf + f->begin, f->end - f->begin };

		if (f->begin == f->end) {
			n = chan_recv(f->from, f->buf, sizeof(f->buf));
			f->begin = 0;
			f->end = n > 0 ? (size_t)n : 0;
			if (n == 0)
				return -ECONNRESET;
		} else {
			n = chan_send(f->to, &iov, 1);
			f->begin += n > 0 ? (size_t)n : 0;
		}
	}
	return n == -EAGAIN ? 0 : (int)n;
}

/* All that was deciphered has been taken when a flow waits for bytes. */
static short waits_for(const struct flow *in, const struct flow *out)
{
	return (short)((in->begin == in->end ? POLLIN : 0) |
		       (out->begin != out->end ? POLLOUT : 0));
}

void pump(struct chan *relay, struct chan *here)
{
	struct flow in = { .from = relay, .to = here }, out = { .from = here, .to = relay };
	struct pollfd fds[2] = { { .fd = relay->fd }, { .fd = here->fd } };

	while (flow_on(&in) == 0 && flow_on(&out) == 0) {
		fds[0].events = waits_for(&in, &out);
		fds[1].events = waits_for(&out, &in);
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
	}
}
