/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * link.h - the connection to one daemon, up or not. Owned and run by the
 * helper thread; no call blocks.
 *
 *     IDLE   no daemon: the runtime directory is watched, no timer runs
 *     RETRY  retry at a given time (just started, overloaded, or protocol violation)
 *     UP     connected
 *
 * The messages of a link are derived from the state of the process whenever its
 * socket takes more, so nothing is queued: at most one message is kept that did not fit into the
 * socket, and nothing is read meanwhile.
 */
#ifndef TRACER_AGENT_LINK_H
#define TRACER_AGENT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "tracer/base/env.h"
#include "watch.h"
#include "proto/codec.h"

/* Events that the process does not record: enum app_silence, enum app_reason. */
struct agent_silence {
	uint8_t silence, reason;
};

enum agent_link_state { LINK_IDLE, LINK_RETRY, LINK_UP };

/**
 * struct agent_link
 * @index: its number, in agent_links and towards agent_points and agent_buffers.
 * @retry_at: LINK_RETRY: when, on the clock of agent_now_ms().
 * @tries: consecutive attempts that found a socket without a listener.
 * @busy_ms: pause after something else appeared in a watched directory.
 * @penalty_ms: how long to wait before reconnecting after a protocol violation; 0 after app_ready.
 * @queued: a daemon runs but its queue of connections is full.
 * @expected: not connected, but the next daemon is to come: threads wait for it.
 * @hang_ups: consecutive connections that the owner of the socket has closed unanswered.
 * @confirmed: generation of the points up to which the link is confirmed; 0: none.
 * @answered: the same in the last announcement that app_ready has answered.
 * @begun_ms: when a thread began without that, on the clock of agent_now_ms(), until a daemon has
 *     acknowledged it; 0: none did. @begun_first: @answered at that time.
 * @reported_begins: number of such begins that the helper has seen before it sent its messages.
 * @sent_begun, @announced_begun: its value that was sent to the daemon, and the one that was sent
 *     before the last complete announcement, which app_ready acknowledges.
 * @round: number of this connection, by which buffers are confirmed. Never 0 while up.
 * @instance: instance of the daemon's state; valid if @has_instance is set.
 * @unanswered: app_ready has not answered the last complete announcement.
 * @announced: generation of the points in the last announcement; 0 before.
 * @sent_silence: the silence that was sent to the daemon.
 * @sent_channels: agent_channels_generation() of the list that was sent to the daemon; 0: none.
 * @sent_producer: the value of enum ring_producer that was sent to the daemon.
 * @tx_fds: descriptors to send with the message in @tx; owned by a buffer that outlives it.
 * @sock_dev, @sock_ino, @sock_changed: identity of the socket of the last connection.
 */
struct agent_link {
	unsigned int index;
	enum agent_link_state state;
	int fd;
	struct agent_watch watch;
	int64_t retry_at;
	unsigned int tries;
	int busy_ms;
	int penalty_ms;
	bool queued;
	bool expected;
	unsigned int hang_ups;
	uint32_t confirmed, answered, begun_first, reported_begins;
	int64_t begun_ms __attribute__((aligned(8))); /* on i386, too */
	int64_t sent_begun, announced_begun;
	uint32_t round;
	uint64_t instance;
	bool has_instance;
	bool unanswered;
	uint32_t announced;
	uint32_t sent_channels;
	struct agent_silence sent_silence;
	uint8_t sent_producer;
	dev_t sock_dev;
	ino_t sock_ino;
	struct timespec sock_changed;
	int tx_fds[2];
	unsigned int nr_tx_fds;
	size_t tx_len;
	uint8_t *tx; /* MSG_MAX_BYTES */
};

extern struct agent_link agent_links[AGENT_LINKS];

/** Any thread: daemons learn of it from the helper's next message. Return: the one before. */
struct agent_silence agent_links_set_silence(uint8_t silence, uint8_t reason);
/** Any thread. */
struct agent_silence agent_links_silence(void);

int64_t agent_now_ms(void);

void agent_links_init(void);
/** In the child: the helper that owned the descriptors is in the parent. */
void agent_links_after_fork_child(void);

/** The connections, for a move to another table of descriptors. Return: their number. */
size_t agent_links_fds(int *ret_fds, size_t max);
/** After the move: take the new numbers of the descriptors from agent_alone_moved(). */
void agent_links_moved(void);

/** Connect if it is time, and send pending messages. @woken: something happened. */
void agent_link_step(struct agent_link *link, bool woken);
/** The socket is readable, writable or broken: poll()'s answer. */
void agent_link_ready(struct agent_link *link, short revents);
/** The events to poll() for. */
short agent_link_events(const struct agent_link *link);

/** Any thread: whether all daemons that are connected were sent it. */
bool agent_links_have_sent_silence(void);

/** Send the messages that are due to daemons that are connected. */
void agent_links_send_due(void);

/** The process stops recording: send all messages that are due, with @connect also to a daemon that
 *  the helper has not connected to yet, and wait at most @ms until the daemons have read them. */
void agent_links_take_leave(bool connect, int ms);

/** Send the contents of @enc (built in link->tx). */
void agent_link_send(struct agent_link *link, const struct encoder *enc);

/** Note whether nothing is in flight: there is no daemon, and none is expected, or it has answered
 *  all messages. Return: the same. */
bool agent_link_confirm(struct agent_link *link, uint32_t generation);
/** Any thread: a thread begins without that. Daemons that have not confirmed these points miss its
 *  events, and are sent a message. */
void agent_links_begin(uint32_t generation);

#endif
