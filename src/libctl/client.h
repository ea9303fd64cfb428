/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * client.h - a connection to a session daemon: a blocking socket, one request at a
 * time; the caller's callbacks receive the answer. Belongs to the thread that
 * opened it.
 *
 * A daemon that does not answer never blocks the caller: when an answer is late, a second
 * connection probes the daemon. As long as the probe is answered the call continues (a disk may
 * be slow); otherwise it fails. A caller that blocks signals passes a descriptor that becomes
 * readable when one arrives: it ends every wait.
 */
#ifndef LIBCTL_CLIENT_H
#define LIBCTL_CLIENT_H

#include <stdint.h>

#include "base/err.h"
#include "proto/client.h"
#include "proto/enums.h"

struct client;

/** One item of an answer; decode it according to its type (MSG_session, ...). Return: 0, or
 *  an enum err_code that ends the call once the rest of the answer was skipped. */
typedef int (*client_item_fn)(void *priv, unsigned int type, struct decoder *dec);

/** Called about once a second while an answer is awaited. */
typedef void (*client_waiting_fn)(void *priv, unsigned int waited_ms);

/**
 * client_open() - connect to the daemon that serves a runtime directory.
 * @interrupt: descriptor that is readable when the caller was interrupted; -1: none. An answer that
 *	       arrives within a second of that is still accepted.
 * @ret: to be freed with client_free().
 *
 * Return: 0; ERR_NO_DAEMON: no daemon runs; ERR_NO_ANSWER: the daemon does not answer;
 * ERR_DENIED: permission denied; other codes. All but 0 with a sentence in @err.
 */
int client_open(const char *rundir, int interrupt, struct client **ret, struct err *err) MUST_CHECK;
struct client *client_free(struct client *client);

/** The connection, to be polled between calls: it hangs up when the daemon ends. */
int client_fd(const struct client *client);
/** The descriptor @interrupt. */
int client_interrupt(const struct client *client);

void client_on_waiting(struct client *client, client_waiting_fn fn, void *priv);

/** struct client_daemon - facts about the daemon; valid as long as the client. */
struct client_daemon {
	const char *version;
	const char *rundir;
	uint32_t pid;
	const char *clock_why;
	uint64_t clock_hz;
	uint32_t consumer_pid;
	uint32_t consumer_silent_ms; /* 0: the consumer answers the session daemon */
	uint8_t clock;		     /* enum ltt_clock_kind */
};
const struct client_daemon *client_daemon(const struct client *client);

/** Begin a request; the caller appends its fields. Used by calls.h. */
struct encoder *client_request(struct client *client, unsigned int type);
/**
 * client_exchange() - send the request and receive the whole answer.
 * @item: may be NULL: items are skipped.
 * @ret_reply: at the OUT fields; valid until the next request.
 * Return: 0, or the code in @err: the daemon's, or one about the connection.
 */
int client_exchange(struct client *client, client_item_fn item, void *priv,
		    struct decoder *ret_reply, struct err *err) MUST_CHECK;

/** Send the request; client_take() returns its answer message by message. */
int client_send(struct client *client, struct err *err) MUST_CHECK;
/** Wait until client_take() has something to return, as client_exchange() does. Return: 0, or the
 *  code in @err. */
int client_await(struct client *client, struct err *err) MUST_CHECK;
enum client_part { CLIENT_NOTHING, CLIENT_ITEM, CLIENT_REPLY };
/**
 * client_take() - a message of the answer, without waiting for one.
 * @ret_type: of an item. @ret_dec: at its fields, or at the OUT fields of the reply; valid until
 *	      the next call.
 * Return: 0, or the code in @err: the daemon's, or one about the connection.
 */
int client_take(struct client *client, enum client_part *ret_part, unsigned int *ret_type,
		struct decoder *ret_dec, struct err *err) MUST_CHECK;

#endif
