/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wire.h - a connection to a relay as a worker uses it: requests, and their answers in the same
 * order, each wait bounded. Owned by a link; runs in the worker's thread, which may have other
 * duties during a wait.
 */
#ifndef CONSUMERD_SINK_WIRE_H
#define CONSUMERD_SINK_WIRE_H

#include <stdbool.h>

#include "base/err.h"
#include "io/chan.h"
#include "io/frame.h"
#include "base/splice.h"
#include "io/tcp.h"
#include "io/zchunk.h"
#include "proto/codec.h"

/** Called periodically while the relay is waited for. Return: 0; 1: the worker has other duties, so
 *  the wait ends WIRE_TIMEOUT_MS after the last byte was transferred; negative errno: the wait ends
 *  at once, with this error. */
typedef int (*wire_meanwhile)(void *data);

struct wire {
	struct chan chan;	       /* its descriptor is -1: not connected */
	unsigned int reply_timeout_ms; /* longest wait without a byte transferred */
	uint16_t timed_out_type;       /* type of the request whose answer timed out; 0: none */
	uint16_t type;		       /* type of the last request */
	uint32_t serial;	       /* number of the last request */
	unsigned int unanswered;       /* number of requests without an answer */
	unsigned int behind_large;     /* number of requests since the last large one */
	uint64_t rate; /* measured bytes/s, kept when the connection is made anew; 0: unknown */
	uint64_t rate_ns,
		rate_bytes; /* start of the current measurement: time, bytes acknowledged */
	int send_buf;	    /* bytes of the socket's send buffer; 0: the kernel's default */
	bool spliced;	    /* the socket may refer to pages of rings */
	bool expects_tls;   /* the relay has rejected a connection without TLS */
	struct frames frames;
	wire_meanwhile meanwhile; /* NULL: the worker has no other duties */
	void *data;		  /* argument of meanwhile() */
};

/**
 * struct wire_body - data that follows a request, unencoded.
 * @summed: the checksum follows the data. It is computed chunk by chunk while the data is sent, so
 *          memory is read only once.
 * @sum: CRC-32C of the data that precedes @data.
 * @packer: compresses the data in chunks; NULL: the data is sent uncompressed.
 * @source: the ring that @data is in, to be spliced, if it is at least a page and is sent as it is;
 *          NULL: it is sent from the mapping. A spliced body must not change before the answer.
 */
struct wire_body {
	const void *data;
	uint64_t bytes;
	bool summed;
	uint32_t sum;
	struct zpacker *packer;
	const struct splice_source *source;
};

#define WIRE_TIMEOUT_MS 2000u
#define WIRE_TIMEOUT_MAX_MS 32000u

void wire_init(struct wire *wire);
/** Connect anew. @keys: by TLS, with a relay whose certificate is valid for @host; NULL: without
 *  encryption. Return: 0 or negative errno; wire_problem() then explains an error of TLS. */
int wire_connect(struct wire *wire, const struct tcp_addr *addr, struct tls_keys *keys,
		 const char *host) MUST_CHECK;
/** The reason why TLS failed, or was missing; "" if it did not. Valid until wire_close(). */
const char *wire_problem(const struct wire *wire);
void wire_close(struct wire *wire);
/** Wait until @fd is readable, with the timeout of a connection. Return: 0 or negative errno. */
int wire_await(struct wire *wire, int fd) MUST_CHECK;
/** Whether the connection is open and the relay has not closed it. Only while no answer is due. */
bool wire_is_up(struct wire *wire);

/** Throughput in bytes/s, as measured, or else as estimated from TCP's window and round-trip
 *  time. */
uint64_t wire_rate(const struct wire *wire);

/** Begin a request in @enc, with the next serial. */
void wire_begin(struct wire *wire, struct encoder *enc, void *buf, size_t cap, uint16_t type);
/** Send the request, followed by @body (NULL: none). Return: 0; negative errno: the connection must
 *  be closed. */
int wire_send(struct wire *wire, const struct encoder *enc,
	      const struct wire_body *body) MUST_CHECK;
/** Whether an answer, or a part of one, has been received. */
bool wire_has_answer(const struct wire *wire);
/**
 * wire_receive() - wait for the answer to the oldest request that has none yet.
 * @ret: the payload of the answer, after its outcome; valid until the next call.
 * @err: if the relay refuses the request: its code and sentence.
 * Return: 0; -EREMOTEIO: refused; other negative errno: the connection must be closed.
 */
int wire_receive(struct wire *wire, uint16_t type, uint32_t serial, struct decoder *ret,
		 struct err *err) MUST_CHECK;

#endif
