/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wire.h - a connection to a relay as a worker uses it: requests, and their answers in the same
 * order, each wait bounded. Owned by a link; runs in the worker's thread, which may have
 * something to look after meanwhile.
 */
#ifndef CONSUMERD_SINK_WIRE_H
#define CONSUMERD_SINK_WIRE_H

#include <stdbool.h>

#include "base/err.h"
#include "io/chan.h"
#include "io/frame.h"
#include "io/tcp.h"
#include "io/zchunk.h"
#include "proto/codec.h"

/** Called now and then while the other side is waited for. Return: 0; 1: something else is to be
 *  done, so wait only as long as the line moves; or negative errno: don't wait any longer. */
typedef int (*wire_meanwhile)(void *data);

struct wire {
	struct chan chan;	       /* its descriptor is -1: not connected */
	unsigned int reply_timeout_ms; /* for the other side to take or send a byte */
	uint16_t tired_of;	       /* type of the answer that did not come in time */
	uint16_t type;		       /* of the last request, */
	uint32_t serial;	       /* and its number */
	unsigned int unanswered;       /* requests */
	uint64_t rate; /* bytes/s that the line took, also of connections before; 0: unknown */
	uint64_t rate_ns, rate_bytes; /* when, and at how many, the measurement in progress began */
	int send_buf;		      /* bytes of the socket's */
	struct frames frames;
	wire_meanwhile meanwhile; /* NULL: nothing is to be done */
	void *data;
};

/**
 * struct wire_body - what goes behind a request, as it is.
 * @summed: its checksum goes behind it, which is made as it is sent: so it is read but once,
 *          and the other side has something to do from the beginning.
 * @sum: CRC-32C of what comes before.
 * @packer: compresses it in chunks; NULL: it is sent as it is.
 */
struct wire_body {
	const void *data;
	uint64_t bytes;
	bool summed;
	uint32_t sum;
	struct zpacker *packer;
};

#define WIRE_TIMEOUT_MS 2000u
#define WIRE_TIMEOUT_MAX_MS 32000u

void wire_init(struct wire *wire);
/** Connect anew. @keys: by TLS, with the relay that has a certificate for @host; NULL: in
 *  the clear. Return: 0 or negative errno, and perhaps wire_problem(). */
int wire_connect(struct wire *wire, const struct tcp_addr *addr, struct tls_keys *keys,
		 const char *host) MUST_CHECK;
/** Why TLS failed, until wire_close(); "" where it did not. */
const char *wire_problem(const struct wire *wire);
void wire_close(struct wire *wire);
/** Wait until @fd can be read, no longer than for a connection. Return: 0 or negative errno. */
int wire_await(struct wire *wire, int fd) MUST_CHECK;
/** Is there a connection, and has the other side not ended it? While no answer is due. */
bool wire_is_up(struct wire *wire);

/** Bytes/s that the line takes, as measured, else as TCP expects. */
uint64_t wire_rate(const struct wire *wire);

/** Begin a request in @enc, with the next serial. */
void wire_begin(struct wire *wire, struct encoder *enc, void *buf, size_t cap, uint16_t type);
/** Send it with @body (NULL: none) behind it. Return: 0, or negative errno: the connection is of
 *  no use any more. */
int wire_send(struct wire *wire, const struct encoder *enc,
	      const struct wire_body *body) MUST_CHECK;
/** Has an answer come, or some of it? */
bool wire_has_answer(const struct wire *wire);
/**
 * wire_receive() - wait for the answer to the oldest request that has none yet.
 * @ret: the answer, behind its outcome; valid until the next one.
 * @err: where the other side refuses: its code and sentence.
 * Return: 0; -EREMOTEIO: refused; other negative errno: the connection is of no use any more.
 */
int wire_receive(struct wire *wire, uint16_t type, uint32_t serial, struct decoder *ret,
		 struct err *err) MUST_CHECK;

#endif
