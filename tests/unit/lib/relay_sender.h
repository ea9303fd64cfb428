/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay_sender.h - a sender of a relay that a unit test runs in its own process: requests over a
 * socketpair, each with its answer. May block; for threads other than the relay's.
 */
#ifndef TESTS_RELAY_SENDER_H
#define TESTS_RELAY_SENDER_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/relay.h"
#include "relayd/relay.h"
#include "trace/packet.h"

extern const uint8_t sender_id[16]; /* of sessions and traces */

/** A connection of @relay. Return: its far end. */
int sender_connect(struct relay *relay);
/** Write a message, and @body behind it. Return: false: the relay hung up. */
bool sender_write(int fd, const struct encoder *enc, const void *body, size_t body_len);
/** Return: the code of the next answer, or -1: the relay hung up. */
int sender_answer(int fd);
/** Send hello, and begin session, trace and stream 1. Return: as sender_answer(). */
int sender_begin(int fd, const char *name, enum sync_mode sync, uint32_t live_us);
/** The header of a packet of that stream, with its checksum. */
struct packet_header sender_header(uint64_t seq, const void *body, size_t body_len);
bool sender_write_packet(int fd, const struct packet_header *header, const void *body,
			 size_t body_len);
/** How many packets the index of that stream has. */
uint64_t sender_stored(int out_fd, const char *name);

/** Send a request without a body: @name of relay.def with its fields. */
#define SENDER_ASK(fd, name, ...)                                          \
	({                                                                 \
		struct req_##name req_ = __VA_ARGS__;                      \
		uint8_t buf_[1024];                                        \
		struct encoder enc_;                                       \
                                                                           \
		encoder_init(&enc_, buf_, sizeof(buf_));                   \
		encode_header(&enc_, MSG_##name, 0, 1);                    \
		req_##name##_encode(&enc_, &req_);                         \
		sender_write(fd, &enc_, NULL, 0) ? sender_answer(fd) : -1; \
	})

#endif
