/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * viewers.h - all viewers of live sessions, and the thread that serves them: it has a separate loop
 * and separate descriptors, and shares only `struct live` and the keyring with the relay's other
 * threads, so that neither viewers nor a slow disk delay the reception of data.
 * Started and ended by main().
 */
#ifndef RELAYD_VIEWER_VIEWERS_H
#define RELAYD_VIEWER_VIEWERS_H

#include "io/listener.h"
#include "io/tcp.h"
#include "live.h"
#include "relayd/keyring.h"
#include "viewstream.h"

#define VIEWERS_MAX_LISTENERS 8u

/** The origin of viewers, for limits: a local user, an IPv4 address, or an IPv6 network (/64). */
struct viewers_origin {
	uint8_t key[16];
	unsigned int nr; /* viewers */
};

struct viewers_listener {
	struct listener listener; /* owns its descriptor */
	struct viewers *viewers;
	enum relay_link link;
	struct tcp_addr addr; /* with the port that the kernel chose */
};

struct viewers {
	struct loop *loop;
	struct live *live;
	struct list_node list; /* struct viewer, the oldest first */
	unsigned int nr, max;
	void *origins; /* tsearch: struct viewers_origin */
	uint64_t next_id;
	struct view_files files;
	struct keyring *keyring; /* owned by main(); NULL: there are no keys */
	int owners; /* socket that reports the user of a connection; -1: not available */
	struct viewers_listener listeners[VIEWERS_MAX_LISTENERS];
	unsigned int nr_listeners;
	struct loop_fd stop;	 /* an eventfd: end the thread */
	struct loop_fd new_keys; /* an eventfd: check all viewers again */
	pthread_t thread;
	bool runs;
};

/** @loop: the thread's. @max_fds: limit of open descriptors. Return: 0 or negative errno. */
int viewers_init(struct viewers *viewers, struct loop *loop, struct live *live,
		 unsigned int max_fds) MUST_CHECK;
/** End the thread, and close all connections. */
void viewers_fini(struct viewers *viewers);

/** Open an address, before the thread runs. Return: 0 or negative errno. */
int viewers_listen(struct viewers *viewers, const struct tcp_addr *addr,
		   enum relay_link link) MUST_CHECK;
/** The first port for viewers that connect with TLS, or without; else any; 0: there is none. */
uint16_t viewers_port(const struct viewers *viewers, bool tls) MUST_CHECK;
/** Return: 0 or negative errno. */
int viewers_start(struct viewers *viewers) MUST_CHECK;

/** Check all viewers again, as keys or rights have changed. Any thread. */
void viewers_recheck(struct viewers *viewers);

/** Serve @fd like an accepted connection, see viewer_new(). One origin may have at most half of the
 *  viewers that are allowed; if all are connected, an idle viewer of the origin with the most
 *  viewers is disconnected. */
int viewers_serve(struct viewers *viewers, int fd, struct tls *tls, bool everything,
		  const uint8_t origin[16]) MUST_CHECK;
/** Remove a viewer from the counts. */
void viewers_leave(struct viewers *viewers, struct viewers_origin *origin);

#endif
