/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * consumer.h - ltt-sessiond's side of the protocol with ltt-consumerd (consumer.def): starts it,
 * sends requests, and calls back with the answers. Owned by the daemon; runs on its loop.
 */
#ifndef SESSIOND_PEERS_CONSUMER_H
#define SESSIOND_PEERS_CONSUMER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/loop.h"
#include "io/peer.h"
#include "proto/consumer.h"

struct caller;
struct consumer;

/** An answer: enum err_code and its sentence; with code 0 also the rest of the reply. */
struct con_answer {
	int code;
	const char *text;
	struct decoder *dec; /* the OUT fields; NULL where the code is not 0 */
	/* The request set up the state of a consumer that has ended: it is sent to the successor
	 * again, as a new request. The code is ERR_CONSUMER. */
	bool superseded;
};

typedef void (*con_done)(void *data, const struct con_answer *answer);
/** @dec: NULL: discard the received items, they are sent again from the beginning. */
typedef void (*con_item)(void *data, struct decoder *dec);

struct consumer_ops {
	/** Writing to an output fails (errno) or works again (0). */
	void (*output_error)(struct consumer *consumer, const struct msg_con_output_error *msg);
	/** An application has damaged a ring set. */
	void (*ring_damaged)(struct consumer *consumer, const struct msg_con_ring_damaged *msg);
	/** The consumer died, or was killed because of a malformed message. Calls in flight wait
	 *  for its successor, until consumer_give_up() or consumer_resend() is called. Calls that
	 *  set up its state are superseded, see struct con_answer. */
	void (*gone)(struct consumer *consumer, const char *why);
	/** The consumer does not answer; or answers again (consumer_silence() is 0). May be
	 *  NULL. */
	void (*silent)(struct consumer *consumer);
};

struct consumer {
	struct loop *loop;
	const struct consumer_ops *ops;
	struct peer peer;
	struct loop_child child;
	bool connected;
	bool running;	     /* the child process runs */
	bool receives_state; /* it is new: requests set up its state until consumer_resend() */
	bool killed;	     /* while it is silent: it can't end, see procstate.h */
	bool leaving;	     /* it was requested to end: requests are for its successor */
	bool broken;	     /* it sent a malformed message, and was killed */
	uint32_t next_serial;
	uint16_t next_type;
	struct list_node calls;	 /* struct con_call: in flight */
	struct list_node held;	 /* calls to be sent again to a successor */
	bool awaited;		 /* a successor will be started */
	struct list_node failed; /* calls that were not sent: fail after the round of the loop */
	struct loop_work fail;
	struct loop_timer watch;  /* armed while calls are in flight: checks that it answers */
	uint64_t last_message_ns; /* time of its last message */
	uint32_t ping;		  /* serial of the probe in flight; 0: none */
	uint32_t oldest;	  /* serial of the oldest request, at the last check */
	bool silent;
};

void consumer_init(struct consumer *consumer, struct loop *loop, const struct consumer_ops *ops);
/** Drops calls in flight without answering them. */
void consumer_fini(struct consumer *consumer);

/** Start the program at @path. Requests from here to consumer_resend() set up its state.
 *  @socket: where it listens for the next session daemon. @user: it becomes that user, for good;
 *  NULL: it does not. It has our standard descriptors. Return: 0 or negative errno. */
int consumer_spawn(struct consumer *consumer, const char *path, const char *socket,
		   const struct caller *user) MUST_CHECK;
/** The same with the consumer at the other end of @fd (taken over). */
int consumer_attach(struct consumer *consumer, int fd) MUST_CHECK;
/** Request the consumer to write all data and end; `gone` follows. Later requests are for its
 *  successor. */
void consumer_leave(struct consumer *consumer);
/** The same by a signal, for a consumer that does not answer. */
void consumer_terminate(struct consumer *consumer);

/** The socket of a user's consumer, or of the kernel's. */
struct consumer_socket {
	uid_t uid;
	char path[256];
};
/** Its place in the directory @rundir. */
void consumer_socket_of(const char *rundir, uid_t uid, struct consumer_socket *ret);
/** The place of the kernel's; its `uid` is 0. */
void consumer_socket_of_kernel(const char *rundir, struct consumer_socket *ret);
/** The next one of a user in an open directory. Return: whether there is one. */
bool consumer_socket_next(DIR *dir, const char *rundir, struct consumer_socket *ret);

/** The successor has its state: send the unanswered requests again. */
void consumer_resend(struct consumer *consumer);
/** There is no successor for now: fail the calls that have waited for one for @ns; 0: all, and
 *  later ones. */
void consumer_give_up(struct consumer *consumer, uint64_t ns);

/** Milliseconds since the consumer stopped answering; 0: it answers. */
uint32_t consumer_silence(const struct consumer *consumer);
pid_t consumer_pid(const struct consumer *consumer);

/** Cancel the callbacks of the caller with this @data. Return: whether there were any. */
bool consumer_forget(struct consumer *consumer, const void *data);

/* Parts of CONSUMER_CALL. */
void consumer_begin(struct consumer *consumer, struct encoder *enc, uint16_t type);
void consumer_send(struct consumer *consumer, struct encoder *enc, con_item item, con_done done,
		   void *data);

/** Send a request: @request is a struct req_NAME; @item and @done may be NULL. */
#define CONSUMER_CALL(consumer, name, request, item, done, data)  \
	do {                                                      \
		struct encoder enc_;                              \
                                                                  \
		consumer_begin(consumer, &enc_, MSG_##name);      \
		req_##name##_encode(&enc_, request);              \
		consumer_send(consumer, &enc_, item, done, data); \
	} while (0)

#endif
