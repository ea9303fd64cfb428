/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay.h - the state of an ltt-relayd: where it keeps traces, which peers are connected, which
 * sessions are being received, and how much of everything may be open. Owned by
 * main(); runs on its loop. Viewers, syncs, repair, retention and counts have threads of their own.
 */
#ifndef RELAYD_RELAY_H
#define RELAYD_RELAY_H

#include "io/loop.h"
#include "io/notify.h"
#include "io/tcp.h"
#include "io/zchunk.h"
#include "keyring.h"
#include "live.h"
#include "relpeer.h"
#include "store/disk.h"
#include "syncer.h"

#define RELAY_LOCK_FILE ".lock" /* in its directory: one relay writes there */
#define RELAY_MAX_LISTENERS 8u
#define RELAY_MAX_DEVICES 8u /* that are synced */
/* Of a packet's body, taken from a socket at once: in smaller ones sender and relay get into
 * each other's way, at the same CPU per byte or more. */
#define RELAY_BODY_BYTES (1u << 20)

struct relay_listener {
	struct loop_fd source; /* owns its descriptor */
	struct relay *relay;
	enum relay_link link;
};

struct relay {
	struct loop *loop;
	int out_fd;	 /* the directory below which everything is; the relay's */
	char *out_path;	 /* its absolute path; NULL: it is not made anew (tests) */
	int lock_fd;	 /* the lock of a directory that was made anew; -1 */
	bool by_session; /* NAME/HOST-TIME instead of HOST/NAME-TIME */
	struct disk disk;
	uint64_t started_ns; /* CLOCK_REALTIME; what is older another relay has written */
	uint32_t sync_us;    /* what is acknowledged has been synced, after so long; SYNCER_NONE */
	struct syncer *syncers[RELAY_MAX_DEVICES];
	struct list_node conns;	   /* struct relconn, the oldest first */
	struct list_node sessions; /* struct relsession */
	struct idmap session_bases;
	unsigned int nr_sessions;
	unsigned int nr_conns, max_conns;
	unsigned int nr_files, max_files; /* descriptors of sessions; the rest is live.nr_fds */
	unsigned int max_viewer_fds;
	struct relay_listener listeners[RELAY_MAX_LISTENERS];
	unsigned int nr_listeners;
	struct relpeers peers;	 /* the senders, and how much of this each has */
	struct live live;	 /* what viewers may see */
	struct keyring *keyring; /* main()'s; NULL: there are no keys */
	int owners; /* socket that tells whose a connection within this machine is (tcp_owner.h) */
	struct zunpacker *unpacker;
	uint8_t *body;		/* RELAY_BODY_BYTES between socket and file, of all connections */
	unsigned int nr_shakes; /* steps of handshakes in this round of the loop */
	struct loop_work round_over;
	struct notify *notify;	     /* the program's; NULL: no service manager (tests) */
	struct retention *retention; /* main()'s; NULL: nothing is removed */
	struct repairer *repairer;   /* likewise; NULL: nothing is repaired */
};

/** @out_fd stays the caller's; @max_fds: how many descriptors there may be in all.
 *  Return: 0 or negative errno. */
int relay_init(struct relay *relay, struct loop *loop, int out_fd, unsigned int max_fds) MUST_CHECK;
/** Close all connections; what was begun and not finished is taken back. */
void relay_fini(struct relay *relay);

int relay_listen(struct relay *relay, const struct tcp_addr *addr, enum relay_link link) MUST_CHECK;
/** Serve @fd, as if it had been accepted; as in conn.h. Return: 0 or negative errno. */
int relay_serve(struct relay *relay, int fd, struct tls *tls) MUST_CHECK;

/** The keys are others: peers that they would not let in are cut off. */
void relay_recheck(struct relay *relay);

/** Find or start the thread that syncs the file system of @fd. Return: 0 or negative errno. */
int relay_find_syncer(struct relay *relay, int fd, struct syncer **ret) MUST_CHECK;

/** If the directory was removed, make and lock it anew: @relay's out_fd is the new one.
 *  Return: 0 or the code in @err. */
int relay_find_output(struct relay *relay, struct err *err) MUST_CHECK;

/** One session more, or one less: the service manager hears. */
void relay_report_sessions(const struct relay *relay);

/** May another step of a handshake be made in this round of the loop? Each takes about a
 *  millisecond, and senders have their turn in between. */
bool relay_may_shake(struct relay *relay) MUST_CHECK;

/** May @nr more descriptors be opened for a session of @peer? Counts them. A host has three
 *  quarters at most of those that no other one has. Return: 0 or the code in @err. */
int relay_take_files(struct relay *relay, struct relpeer *peer, unsigned int nr,
		     struct err *err) MUST_CHECK;
void relay_give_files(struct relay *relay, struct relpeer *peer, unsigned int nr);

#endif
