/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay.h - the state of an ltt-relayd: where it keeps traces, which peers are connected, which
 * sessions are being received, and how much of everything may be open. Owned by main(). The main
 * loop accepts connections and waits for no disk; sessions are stored by workers (worker.h).
 * Viewers, syncs, repair, retention and counts have threads of their own, too.
 */
#ifndef RELAYD_RELAY_H
#define RELAYD_RELAY_H

#include "io/loop.h"
#include "io/notify.h"
#include "io/tcp.h"
#include "keyring.h"
#include "live.h"
#include "relpeer.h"
#include "worker.h"

#define RELAY_LOCK_FILE ".lock" /* in its directory: one relay writes there */
#define RELAY_MAX_LISTENERS 8u

struct relay_listener {
	struct loop_fd source; /* owns its descriptor */
	struct relay *relay;
	enum relay_link link;
};

struct relay {
	struct relworker main; /* the main loop: connections that have named no session yet */
	int out_fd;	       /* the directory below which everything is; the relay's */
	char *out_path;	       /* its absolute path; NULL: it is not made anew (tests) */
	int lock_fd;	       /* the lock of a directory that was made anew; -1 */
	bool by_session;       /* NAME/HOST-TIME instead of HOST/NAME-TIME */
	uint64_t started_ns;   /* CLOCK_REALTIME; older files are those of an earlier relay */
	uint32_t sync_us; /* what is acknowledged has been synced, after so long; SYNCER_NONE */
	unsigned int max_conns, max_workers, max_viewer_fds;
	unsigned int max_files; /* descriptors of sessions, and live.nr_fds */
	unsigned int nr_files;	/* atomic: of sessions; changed with the lock */
	unsigned int nr_conns;	/* atomic */

	pthread_mutex_t lock; /* of what follows; never held while a disk is waited for */
	struct relworker *workers[RELWORKER_MAX];
	unsigned int nr_workers;
	struct list_node
		claim_list;	  /* struct relclaim: sessions that are received or about to be */
	struct idmap claims;	  /* the same */
	unsigned int nr_sessions; /* that are received */
	const char *removing;	  /* path of a session that retention removes now; NULL: of none */
	pthread_cond_t removed;	  /* it is NULL again */

	pthread_mutex_t output_lock; /* held while the directory is made anew */
	struct relay_listener listeners[RELAY_MAX_LISTENERS];
	unsigned int nr_listeners;
	struct relpeers peers;	 /* the senders, and how much of this each has */
	struct live live;	 /* what viewers may see */
	struct keyring *keyring; /* main()'s; NULL: there are no keys */
	int owners; /* socket that tells whose a connection within this machine is (tcp_owner.h) */
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

/* From here on all may be called by any worker, but for what is said to be the main loop's. */

/** If the directory was removed, make and lock it anew: @relay's out_fd is the new one. May wait
 *  for its disk. Return: 0 or the code in @err. */
int relay_find_output(struct relay *relay, struct err *err) MUST_CHECK;

/** Report to the service manager that @by more sessions are received (-1: one less). */
void relay_count_sessions(struct relay *relay, int by);

/** May another step of a handshake be made in this round of the loop? Each takes about a
 *  millisecond, and others have their turn in between. The main loop's. */
bool relay_may_shake(struct relay *relay) MUST_CHECK;

/** May @nr more descriptors be opened for a session of @peer? Counts them. A host has three
 *  quarters at most of those that no other one has. Return: 0 or the code in @err. */
int relay_reserve_fds(struct relay *relay, struct relpeer *peer, unsigned int nr,
		      struct err *err) MUST_CHECK;
void relay_release_fds(struct relay *relay, struct relpeer *peer, unsigned int nr);

#endif
