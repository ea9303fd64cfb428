/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay.h - the state of ltt-relayd: the directory of its traces, its connected peers, the sessions
 * that are being received, and limits. Owned by main(). The main loop accepts connections and never
 * waits for a disk; sessions are stored by workers (worker.h). Viewers, syncs, repair, retention
 * and the counting of files have separate threads.
 */
#ifndef RELAYD_RELAY_H
#define RELAYD_RELAY_H

#include "io/listener.h"
#include "io/notify.h"
#include "io/tcp.h"
#include "keyring.h"
#include "relayd/archive/archiver.h"
#include "relayd/sender/relpeer.h"
#include "relayd/sender/worker.h"
#include "relayd/viewer/live.h"

#define RELAY_LOCK_FILE ".lock" /* locked by the only relay that writes into the directory */
#define RELAY_MAX_LISTENERS 8u

/** The thread that erases directories. */
enum relay_erasing {
	ERASE_NOTHING, /* it does not run */
	ERASE_RUNS,
	ERASE_AGAIN, /* it runs, and has something more to do */
};

struct relay_listener {
	struct listener listener; /* owns its descriptor */
	struct relay *relay;
	enum relay_link link;
};

struct relay {
	struct relworker main; /* the main loop: connections that have named no session yet */
	int out_fd;	       /* directory of all traces; owned by the relay */
	char *out_path;	       /* its absolute path; NULL: it is not created again (tests) */
	int lock_fd;	       /* lock of a directory that was created again; -1: none */
	bool by_session;       /* NAME/HOST-TIME instead of HOST/NAME-TIME */
	uint64_t started_ns;   /* CLOCK_REALTIME_COARSE; older files are an earlier relay's */
	uint32_t sync_us; /* time within which data is synced and acknowledged; or SYNCER_NONE */
	unsigned int max_conns, max_workers, max_viewer_fds;
	unsigned int max_files; /* limit of the sum of nr_files and live.nr_fds */
	unsigned int nr_files;	/* atomic: open descriptors of sessions; changed with the lock */
	unsigned int nr_conns;	/* atomic */

	pthread_mutex_t lock; /* of the fields below; never held during disk I/O */
	struct relworker *workers[RELWORKER_MAX];
	unsigned int nr_workers;
	struct list_node
		claim_list;	  /* struct relclaim: sessions that are received or about to be */
	struct idmap claims;	  /* the same, by name */
	unsigned int nr_sessions; /* sessions that are received */
	const char *removing;	  /* path of the session that retention removes now; or NULL */
	enum relay_erasing erasing;
	pthread_cond_t removed; /* signalled when @removing becomes NULL, and @erasing 0 */

	pthread_mutex_t output_lock; /* held while the directory is created again */
	struct relay_listener listeners[RELAY_MAX_LISTENERS];
	unsigned int nr_listeners;
	uint16_t live_port, live_tls_port; /* as viewers_port() */
	struct relpeers peers;	 /* the sending hosts and their use of resources */
	struct live live;	 /* state for the viewers' thread */
	struct keyring *keyring; /* owned by main(); NULL: there are no keys */
	int owners; /* socket that finds the owner of a local connection (tcp_owner.h) */
	unsigned int nr_handshake_steps; /* steps of handshakes in this round of the loop */
	struct loop_work round_over;
	struct notify *notify;	     /* owned by main(); NULL: no service manager (tests) */
	struct retention *retention; /* owned by main(); NULL: no session is removed */
	struct archiver *archiver;   /* owned by main(); NULL: there is no store */
	struct repairer *repairer;   /* owned by main(); NULL: no session is repaired */
};

#define RELAY_FDS_LEAST 64u

/** @out_fd: owned by the caller. @max_fds: limit of open descriptors.
 *  Return: 0; -EMFILE: the limit is less than RELAY_FDS_LEAST; other negative errno. */
int relay_init(struct relay *relay, struct loop *loop, int out_fd, unsigned int max_fds) MUST_CHECK;
/** Close all connections; unfinished packets are removed. */
void relay_fini(struct relay *relay);

int relay_listen(struct relay *relay, const struct tcp_addr *addr, enum relay_link link) MUST_CHECK;
/** Serve @fd like an accepted connection, see relconn_new(). Return: 0 or negative errno. */
int relay_serve(struct relay *relay, int fd, struct tls *tls) MUST_CHECK;

/* All functions below may be called by any worker, except those marked for the main loop. */

/** If the directory was removed, create and lock it again, and change @relay's out_fd. May wait for
 *  the disk. Return: 0 or the code in @err. */
int relay_find_output(struct relay *relay, struct err *err) MUST_CHECK;

/** Report to the service manager that @by more sessions are received (-1: one less). */
void relay_count_sessions(struct relay *relay, int by);

/** Whether another step of a TLS handshake may be made in this round of the loop: each takes about
 *  a millisecond, and other connections must not be delayed. Main loop only. */
bool relay_may_step_handshake(struct relay *relay) MUST_CHECK;

/** Count @nr more descriptors for a session of @peer. A host may have at most three quarters of the
 *  descriptors that other hosts do not use. Return: 0 or the code in @err. */
int relay_reserve_fds(struct relay *relay, struct relpeer *peer, unsigned int nr,
		      struct err *err) MUST_CHECK;
void relay_release_fds(struct relay *relay, struct relpeer *peer, unsigned int nr);

#endif
