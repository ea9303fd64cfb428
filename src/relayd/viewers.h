/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * viewers.h - all viewers of live sessions, and the thread that serves them: it has a
 * loop and descriptors of its own and shares nothing with the relay's but `struct live`,
 * so that no viewer, and no disk that reads slowly, delays what is being received.
 * Started and ended by main().
 */
#ifndef RELAYD_VIEWERS_H
#define RELAYD_VIEWERS_H

#include "io/loop.h"
#include "io/tcp.h"
#include "keyring.h"
#include "live.h"
#include "viewstream.h"

#define VIEWERS_MAX_LISTENERS 8u

/** Where viewers come from: a user of this machine, an IPv4 address, or a network of 2^64 IPv6
 *  addresses. */
struct viewers_origin {
	uint8_t key[16];
	unsigned int nr; /* viewers */
};

struct viewers_listener {
	struct loop_fd source; /* owns its descriptor */
	struct viewers *viewers;
	enum relay_link link;
};

struct viewers {
	struct loop *loop;
	struct live *live;
	struct list_node list; /* struct viewer, the oldest first */
	unsigned int nr, max;
	void *origins; /* tsearch: struct viewers_origin */
	uint64_t next_id;
	struct view_files files;
	struct keyring *keyring; /* main()'s; NULL: there are no keys */
	int owners; /* socket that reports the user of a connection; -1: not available */
	struct viewers_listener listeners[VIEWERS_MAX_LISTENERS];
	unsigned int nr_listeners;
	struct loop_fd stop;	 /* an eventfd: the thread ends */
	struct loop_fd new_keys; /* an eventfd */
	pthread_t thread;
	bool runs;
};

/** @loop: theirs; @max_fds: that they may have open. Return: 0 or negative errno. */
int viewers_init(struct viewers *viewers, struct loop *loop, struct live *live,
		 unsigned int max_fds) MUST_CHECK;
/** Ends the thread, and all connections. */
void viewers_fini(struct viewers *viewers);

/** Before the thread runs. Return: 0 or negative errno. */
int viewers_listen(struct viewers *viewers, const struct tcp_addr *addr,
		   enum relay_link link) MUST_CHECK;
/** Return: 0 or negative errno. */
int viewers_start(struct viewers *viewers) MUST_CHECK;

/** From any thread: the keys, or rights of viewers, are others. */
void viewers_recheck(struct viewers *viewers);

/** Serve @fd, as if it had been accepted; the rest as in viewer.h. One origin has half of the
 *  room at most; where there is none left, the origin with the most viewers gives up one that
 *  follows nothing. */
int viewers_serve(struct viewers *viewers, int fd, struct tls *tls, bool everything,
		  const uint8_t origin[16]) MUST_CHECK;
/** A viewer leaves. */
void viewers_leave(struct viewers *viewers, struct viewers_origin *origin);

#endif
