/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session_harness.h - the whole of ltt-sessiond in a test program, without its main(): the
 * commands and the user domain are the daemon's own, the consumer is a fake, and clients and
 * applications are the other ends of socket pairs. One thread; harness_pump() handles all
 * messages and timers that are due.
 */
#ifndef TESTS_SESSION_HARNESS_H
#define TESTS_SESSION_HARNESS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../check.h"
#include "io/peer.h"
#include "io/sock.h"
#include "proto/app.h"
#include "proto/client.h"
#include "proto/consumer.h"
#include "proto/enums.h"
#include "sessiond/sessiond.h"

/* --- the fake consumer ---------------------------------------------------------- */

struct fake_consumer {
	struct peer peer;
	bool connected;
	unsigned int calls[32]; /* requests by type */
	uint16_t fail_type;	/* requests of this type fail; 0: none does */
	uint16_t hold_type;	/* these wait for harness_consumer_release(); 0: none does */
	uint32_t held[16];	/* serials of those that wait */
	unsigned int nr_held;
	bool rings_on;		 /* by the last con_ring_enable */
	uint64_t ring;		 /* the last one that was opened */
	uint64_t recorded;	 /* its events, for con_stats */
	uint64_t lost;		 /* its events beyond 7 that a full buffer rejected */
	uint32_t first_instance; /* of that ring */
	char channel[300];	 /* of that ring */
	char metadata[1 << 20];	 /* all text that was appended */
	size_t metadata_len;
	unsigned int nr_rings_open;
	int data, ctl, doorbell;   /* of ring sets; 0: an empty file */
	unsigned int nr_adoptions; /* requests to adopt a ring set */
	unsigned int nr_adopted;   /* ring sets whose descriptors were sent */
	char turn[128];		   /* name of the last con_turn, */
	bool clears;		   /* and whether it is a clear */
	uint32_t most;		   /* archives, of the last con_archive_remove */
	char turning[128];	   /* of the last con_output_open */
	bool snapshots;		   /* of the last con_output_open */
	uint8_t mode, kept;	   /* of the last con_ring */
	uint8_t remembered;	   /* of the last con_snapshot */
	uint8_t kallsyms[1024];	   /* of the last con_trace_kallsyms */
};

struct harness {
	struct sessiond sd;
	struct fake_consumer consumer;
	struct loop_timer stop;
	struct loop_fd tick; /* always readable: ends a round of the loop */
};

/** The only one; reset by harness_begin(). */
extern struct harness harness;

/** The daemon's consumer is at the other end of @fd from now on. */
void harness_consumer_connect(int fd);
/** The consumer closes its connection. */
void harness_consumer_close(void);
/** The consumer answers the requests that wait. Not for con_ring, which has descriptors. */
void harness_consumer_release(void);
/** The consumer reports that the output fails with @error (errno), or works again (0). */
void harness_output(uint32_t error, const char *text);

/* --- the daemon --------------------------------------------------------------------- */

/** Start the daemon with a fake consumer. */
void harness_begin(void);
void harness_end(void);
/** Run the daemon's loop for a few rounds; wait only for timers that expire within 100 us. */
void harness_pump(void);
/** Run the daemon's loop for @us of real time. */
void harness_wait(uint64_t us);

/* --- clients and applications ------------------------------------------------------- */

/** Connect a client. Return: its end. */
int harness_client(void);
/** Connect an application. Return: its end. */
int harness_app(void);
void harness_send(int fd, const struct encoder *enc);
/** Receive one message; @dec is valid until the next one. Return: false if there is none. */
bool harness_recv(int fd, struct msg_header *header, struct decoder *dec, int fds[MSG_MAX_FDS]);

struct answer {
	bool there;
	int code; /* -1: no answer has come */
	char text[512];
	unsigned int items[80]; /* by type */
	struct decoder dec;	/* at the OUT fields */
};

/** Receive up to the first reply, and count the items before it. */
struct answer harness_answer(int fd);

/** Send a client's request without waiting for its reply. */
#define HARNESS_SEND(fd, name, ...)                       \
	do {                                              \
		struct req_##name req_ = { __VA_ARGS__ }; \
		uint8_t buf_[8192];                       \
		struct encoder enc_;                      \
                                                          \
		encoder_init(&enc_, buf_, sizeof(buf_));  \
		encode_header(&enc_, MSG_##name, 0, 1);   \
		req_##name##_encode(&enc_, &req_);        \
		harness_send(fd, &enc_);                  \
	} while (0)

/** Send a client's request, run the daemon, and receive the reply. */
#define HARNESS_CALL(fd, name, ...)                  \
	({                                           \
		HARNESS_SEND(fd, name, __VA_ARGS__); \
		harness_pump();                      \
		harness_answer(fd);                  \
	})

/** Send an application's message. */
#define HARNESS_APP_SEND(fd, name, ...)                   \
	do {                                              \
		struct msg_##name msg_ = { __VA_ARGS__ }; \
		uint8_t buf_[8192];                       \
		struct encoder enc_;                      \
                                                          \
		encoder_init(&enc_, buf_, sizeof(buf_));  \
		encode_header(&enc_, MSG_##name, 0, 0);   \
		msg_##name##_encode(&enc_, &msg_);        \
		harness_send(fd, &enc_);                  \
	} while (0)

#endif
