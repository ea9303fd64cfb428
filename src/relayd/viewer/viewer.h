/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * viewer.h - one connection of a viewer. It sends requests and
 * receives replies, one at a time: the relay stores at most one request, one reply of bounded
 * size, and the sessions that the viewer follows. Owned by `struct viewers`; runs in the
 * viewers' thread.
 */
#ifndef RELAYD_VIEWER_VIEWER_H
#define RELAYD_VIEWER_VIEWER_H

#include "io/chan.h"
#include "proto/viewproto.h"
#include "viewers.h"
#include "viewstream.h"

#define VIEWER_MAX_BODY 20u
#define VIEWER_MAX_DATA (256u << 10) /* bytes of a packet or of metadata in one reply */
#define VIEWER_MAX_STREAMS 128u	     /* streams in one reply */
#define VIEWER_MAX_SESSIONS 64u	     /* sessions that one viewer follows */

struct viewer {
	struct loop_fd source; /* owns its descriptor */
	struct chan chan;
	struct loop_timer timer; /* limits the silence of the viewer */
	struct loop_timer proof; /* next check of its certificate */
	struct list_node node;
	struct viewers *viewers;
	struct viewers_origin *origin;
	struct view_acl view_acl;
	bool greeted, created;
	bool closing; /* close the connection after the reply */
	uint32_t minor;
	uint64_t next_id;
	struct list_node sessions; /* struct vsession */
	unsigned int nr_sessions;

	uint8_t in[sizeof(struct view_request) + VIEWER_MAX_BODY];
	size_t in_len;
	uint8_t *out; /* the reply; NULL: none is being sent */
	size_t out_begin, out_end;
};

/** The viewer owns @fd and @tls (NULL: unencrypted). @everything: it may see all sessions; else
 *  those that all local users may see, or, with @tls, those that its name permits. @origin: counts
 *  the viewer already; viewers_leave() is called also on failure. Return: 0 or negative errno. */
int viewer_new(struct viewers *viewers, int fd, struct tls *tls, bool everything,
	       struct viewers_origin *origin) MUST_CHECK;
void viewer_free(struct viewer *viewer);
/** Check the viewer again, after a change of the keys or rights, or the expiry of its certificate:
 *  it is freed if it is not permitted any more. */
void viewer_recheck(struct viewer *viewer);

/* --- shared by viewer.c, which sends and receives bytes, and viewer_answer.c
 * -------------------- */

/** Number of bytes that follow a request's header; -1: unknown request. */
int viewer_body_bytes(uint32_t command);
/** Answer a request, by viewer_reply(). Return: 0; negative: the connection must be closed. */
int viewer_answer(struct viewer *viewer, uint32_t command, const uint8_t *body) MUST_CHECK;
/** Allocate a reply of @bytes, zeroed. Return: NULL: no memory. */
void *viewer_reply(struct viewer *viewer, size_t bytes) MUST_CHECK;

#endif
