/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * consumer.h - ltt-sessiond's end of the conversation with ltt-consumerd: spawns
 * it, asks it (consumer.def), and continues where the answer arrives. Owned by
 * the daemon; runs on its loop.
 */
#ifndef SESSIOND_CONSUMER_H
#define SESSIOND_CONSUMER_H

#include <stdbool.h>
#include <stdint.h>

#include "io/loop.h"
#include "io/peer.h"
#include "proto/consumer.h"

struct consumer;

/** An answer: enum err_code and its sentence; the rest of the reply where 0. */
struct con_answer {
	int code;
	const char *text;
	struct decoder *dec; /* the OUT fields; NULL where the code is not 0 */
};

typedef void (*con_done)(void *data, const struct con_answer *answer);
/** @dec: NULL: forget what came, the items come again from the beginning. */
typedef void (*con_item)(void *data, struct decoder *dec);

struct consumer_ops {
	/** Writing to an output fails (errno) or works again (0). */
	void (*output_error)(struct consumer *consumer, const struct msg_con_output_error *msg);
	/** It died, or was killed because what it said made no sense. Calls in flight
	 *  wait for its successor: consumer_give_up() or consumer_resend() has to follow,
	 *  now or later. Those that told it what it must know are dropped without an
	 *  answer: the successor is told anew. */
	void (*gone)(struct consumer *consumer, const char *why);
	/** It lives and says nothing, though it was asked; or it says something again
	 *  (consumer_silence() is 0). May be NULL. */
	void (*silent)(struct consumer *consumer);
};

struct consumer {
	struct loop *loop;
	const struct consumer_ops *ops;
	struct peer peer;
	struct loop_child child;
	bool connected;
	bool running; /* the child */
	bool telling; /* it is new, and told what it must know */
	bool broken;  /* it says what makes no sense, and was killed for it */
	uint32_t next_serial;
	uint16_t next_type;
	struct list_node calls;	 /* struct con_call: in flight */
	struct list_node held;	 /* to be asked again when there is a successor */
	bool awaited;		 /* there will be one */
	struct list_node failed; /* never sent: answered when the round is over */
	struct loop_work fail;
	struct loop_timer watch; /* while calls are in flight */
	uint64_t last_message_ns; /* when it said anything */
	uint32_t ping;		 /* serial of the question whether it lives; 0: not asked */
	bool silent;
	bool hides; /* it knows traces of form 2 (trace/packet.h): an older one may have lived on */
};

void consumer_init(struct consumer *consumer, struct loop *loop, const struct consumer_ops *ops);
/** Drops calls in flight without answering them. */
void consumer_fini(struct consumer *consumer);

/** Start the program at @path. Requests from here to consumer_resend() tell
 *  it what it must know. @socket: where it listens for the daemon after us.
 *  @mute: its standard descriptors are /dev/null. Return: 0 or negative errno. */
int consumer_spawn(struct consumer *consumer, const char *path, const char *socket,
		   bool mute) MUST_CHECK;
/** The same with the consumer at the other end of @fd (taken over). */
int consumer_attach(struct consumer *consumer, int fd) MUST_CHECK;
/** Ask it to write everything and end; `gone` follows. */
void consumer_leave(struct consumer *consumer);
/** The same by signal: one that does not listen will see it when it can. */
void consumer_terminate(struct consumer *consumer);

/** The successor knows everything: ask it what nobody has answered. */
void consumer_resend(struct consumer *consumer);
/** There is no successor for now: callers that wait hear of it. */
void consumer_give_up(struct consumer *consumer);

/** For how many milliseconds it has not answered; 0: it answers. */
uint32_t consumer_silence(const struct consumer *consumer);
pid_t consumer_pid(const struct consumer *consumer);

/** The caller with this @data does not want to hear the answers any more. */
void consumer_forget(struct consumer *consumer, const void *data);

/* Parts of CONSUMER_CALL. */
void consumer_begin(struct consumer *consumer, struct encoder *enc, uint16_t type);
void consumer_send(struct consumer *consumer, struct encoder *enc, con_item item, con_done done,
		   void *data);

/** Ask: @request is a struct req_NAME; @item and @done may be NULL. */
#define CONSUMER_CALL(consumer, name, request, item, done, data)  \
	do {                                                      \
		struct encoder enc_;                              \
                                                                  \
		consumer_begin(consumer, &enc_, MSG_##name);      \
		req_##name##_encode(&enc_, request);              \
		consumer_send(consumer, &enc_, item, done, data); \
	} while (0)

#endif
