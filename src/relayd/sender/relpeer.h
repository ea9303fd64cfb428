/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relpeer.h - sending hosts ("peers") and their use of the relay's resources, which is limited, so
 * that no host exhausts them. A host is known by its authenticated name or, without encryption, by
 * the name that it sends; local users other than root and the relay's own are ".uidUID". Owned by
 * the relay; called by all of its workers. A peer exists while connections have joined it. Data is
 * counted as it is received; near the limit the files are counted again, since other programs may
 * have removed some: only relpeer_reserve() and relpeer_make() may wait for the disk.
 */
#ifndef RELAYD_SENDER_RELPEER_H
#define RELAYD_SENDER_RELPEER_H

#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/idmap.h"
#include "base/list.h"

/* Default limit of files and directories: a quarter of those that the file system can have, if it
 * limits their number. */
#define RELPEER_FILES_SHARE UINT64_MAX
#define RELPEER_FILES 1000000u

/* X(id, name in the option --quota, name in messages, default limit; 0: unlimited) */
#define RELQUOTAS(X)                                      \
	X(CONNECTIONS, "connections", "connections", 128) \
	X(SESSIONS, "sessions", "sessions at a time", 64) \
	X(TRACES, "traces", "open traces", 16384)         \
	X(STREAMS, "streams", "open streams", 16384)      \
	X(BYTES, "bytes", "bytes stored", 0)              \
	X(FILES, "files", "files and directories", RELPEER_FILES_SHARE)

#define RELPEER_RATE 2000u  /* default rate: files and directories in a second */
#define RELPEER_SESSION_RATE 100u /* default session-rate: sessions in a second */
#define RELPEER_BURST_S 10u /* seconds of these rates that are accepted at once */

enum relquota {
#define X(id, name, what, limit) RELQUOTA_##id,
	RELQUOTAS(X)
#undef X
		NR_RELQUOTAS
};

struct relquotas {
	uint64_t limits[NR_RELQUOTAS]; /* for each host; 0: unlimited */
	uint64_t rate;		       /* files and directories in a second; 0: unlimited */
	uint64_t session_rate;	       /* sessions that begin in a second; 0: unlimited */
	uint64_t idle_us;	       /* longest silence of a connected session; 0: unlimited */
};

struct relpeers {
	pthread_mutex_t lock;  /* protects all members but quotas, out_fd and by_session */
	struct list_node list; /* struct relpeer */
	struct idmap names;    /* the same, by name */
	unsigned int nr;
	struct relquotas quotas;
	int out_fd;
	bool by_session;
};

struct relpeer {
	struct list_node node;
	struct idmap_node name_node;
	struct relpeers *peers;
	char *name;
	uint64_t used[NR_RELQUOTAS];
	uint64_t reserved; /* bytes of packets that are being received */
	unsigned int
		nr_fds;	  /* of the relay's descriptors, with its lock: see relay_reserve_fds() */
	uint64_t made_ns; /* time at which its files would exist, had they been made at the rate */
	uint64_t begun_ns;	      /* likewise of its sessions, by their rate */
	uint64_t counted_ns;	      /* time of the last count of its files; 0: never */
	struct usage_count *count;    /* count of its files in progress; NULL: none */
	bool looking;		      /* a worker checks whether it has few files */
	bool unknown;		      /* its stored data has not been counted yet */
	uint64_t since[NR_RELQUOTAS]; /* @used when the count began */
};

/** Set the default quotas. */
void relquotas_init(struct relquotas *quotas);
/** Parse NAME=NUMBER (of RELQUOTAS, rate, session-rate) or idle=PERIOD. Return: 0 or -EINVAL. */
int relquotas_parse(struct relquotas *quotas, const char *text) MUST_CHECK;

void relpeers_init(struct relpeers *peers, int out_fd);
void relpeers_limit(struct relpeers *peers, const struct relquotas *wanted);
/** No host may be connected any more. */
void relpeers_fini(struct relpeers *peers);

/** Add a connection to host @name. Return: 0 or the code in @err. */
int relpeer_join(struct relpeers *peers, const char *name, struct relpeer **ret,
		 struct err *err) MUST_CHECK;
/** Remove a connection from @peer; NULL: its host was not known. */
void relpeer_leave(struct relpeer *peer);
/** Name of the host, for messages. */
const char *relpeer_name(const struct relpeer *peer);
/** Count one more resource of a kind. Return: 0 or the code in @err: the quota is reached. */
int relpeer_charge(struct relpeer *peer, enum relquota kind, struct err *err) MUST_CHECK;
/** The same for a session that begins; their rate is limited, too. */
int relpeer_begin_session(struct relpeer *peer, struct err *err) MUST_CHECK;
void relpeer_refund(struct relpeer *peer, enum relquota kind);
unsigned int relpeer_nr_connections(const struct relpeer *peer);
/** Reserve @bytes for data that is going to be stored, until relpeer_unreserve(), or
 *  relpeer_commit() when it is stored. Return: 0 or the code in @err. */
int relpeer_reserve(struct relpeer *peer, uint64_t bytes, struct err *err) MUST_CHECK;
void relpeer_unreserve(struct relpeer *peer, uint64_t bytes);
void relpeer_commit(struct relpeer *peer, uint64_t bytes);

/** Count @nr more files and directories. Return: 0 or the code in @err. */
int relpeer_make(struct relpeer *peer, unsigned int nr, struct err *err) MUST_CHECK;
/** The same for files that replace others: only the rate is limited. */
void relpeer_replace(struct relpeer *peer, unsigned int nr);
/** Time that the host must wait before it may create the next file, because of the rate, or because
 *  its files are not counted yet; 0: none. */
uint64_t relpeer_wait_us(struct relpeer *peer);

#endif
