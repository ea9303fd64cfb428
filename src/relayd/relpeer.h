/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relpeer.h - hosts that send, by the names that they have proven (or, in the clear, said; users of
 * this machine other than root and the relay's own are ".uidUID", whatever they say), and
 * what each has of a relay: so that none of them takes what is there for all. Owned by
 * the relay; all its workers call it, a peer being there as long as they have joined it. Data is
 * counted as it comes; where it is nearly too much, the disk is asked again, as files go by other
 * ways, too: by relpeer_reserve() and relpeer_make(), which alone may wait for it.
 */
#ifndef RELAYD_RELPEER_H
#define RELAYD_RELPEER_H

#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/idmap.h"
#include "base/list.h"

/* Of files and directories, unless a number is said: a quarter of all that the file system can
 * have, where it has a number. */
#define RELPEER_FILES_SHARE UINT64_MAX
#define RELPEER_FILES 1000000u

/* name (of the option, too), what a sentence calls it, how many there may be: 0: any number */
#define RELQUOTAS(X)                                      \
	X(CONNECTIONS, "connections", "connections", 128) \
	X(SESSIONS, "sessions", "sessions at a time", 64) \
	X(TRACES, "traces", "open traces", 16384)         \
	X(STREAMS, "streams", "open streams", 16384)      \
	X(BYTES, "bytes", "bytes stored", 0)              \
	X(FILES, "files", "files and directories", RELPEER_FILES_SHARE)

#define RELPEER_RATE 2000u  /* files and directories a second, if nothing else is said */
#define RELPEER_BURST_S 10u /* of which so many may come at once */

enum relquota {
#define X(id, name, what, limit) RELQUOTA_##id,
	RELQUOTAS(X)
#undef X
		NR_RELQUOTAS
};

struct relquotas {
	uint64_t limits[NR_RELQUOTAS]; /* of each host; 0: none */
	uint64_t rate;		       /* files and directories a second; 0: any number */
	uint64_t idle_us;	       /* a session that sends nothing is cut off; 0: never */
};

struct relpeers {
	pthread_mutex_t lock;  /* of all but quotas, out_fd and by_session */
	struct list_node list; /* struct relpeer */
	struct idmap names;    /* the same */
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
	uint64_t reserved; /* bytes of packets that are coming: not stored, but promised */
	unsigned int
		nr_fds;	  /* of the relay's descriptors, with its lock: see relay_reserve_fds() */
	uint64_t made_ns; /* when all files that it has made would be, one after the other */
	uint64_t counted_ns;	      /* when the disk was asked; 0: never */
	struct usage_count *count;    /* its files are being counted; NULL: they are not */
	bool looking;		      /* a worker looks whether they are few */
	bool unknown;		      /* what it has is not known at all yet */
	uint64_t since[NR_RELQUOTAS]; /* @used when the count began */
};

/** As they are usually. */
void relquotas_init(struct relquotas *quotas);
/** NAME=NUMBER, of RELQUOTAS, rate=NUMBER or idle=PERIOD. Return: 0 or -EINVAL. */
int relquotas_parse(struct relquotas *quotas, const char *text) MUST_CHECK;

void relpeers_init(struct relpeers *peers, int out_fd);
void relpeers_limit(struct relpeers *peers, const struct relquotas *wanted);
/** No host is connected any more. */
void relpeers_fini(struct relpeers *peers);

/** Another connection of @name. Return: 0 or the code in @err. */
int relpeer_join(struct relpeers *peers, const char *name, struct relpeer **ret,
		 struct err *err) MUST_CHECK;
/** A connection of @peer was closed; NULL: its host was not known. */
void relpeer_leave(struct relpeer *peer);
/** Name of the host, for messages. */
const char *relpeer_name(const struct relpeer *peer);
/** Count one more resource of a kind. Return: 0 or the code in @err: the quota is reached. */
int relpeer_charge(struct relpeer *peer, enum relquota kind, struct err *err) MUST_CHECK;
void relpeer_refund(struct relpeer *peer, enum relquota kind);
unsigned int relpeer_nr_connections(const struct relpeer *peer);
/** May it store @bytes more? They count from now on, until relpeer_unreserve(), or for good with
 *  relpeer_commit(): they are stored. Return: 0 or the code in @err. */
int relpeer_reserve(struct relpeer *peer, uint64_t bytes, struct err *err) MUST_CHECK;
void relpeer_unreserve(struct relpeer *peer, uint64_t bytes);
void relpeer_commit(struct relpeer *peer, uint64_t bytes);

/** May it make @nr more files and directories? They count. Return: 0 or the code in @err. */
int relpeer_make(struct relpeer *peer, unsigned int nr, struct err *err) MUST_CHECK;
/** The same for such as take the place of others. */
void relpeer_replace(struct relpeer *peer, unsigned int nr);
/** How long it has to wait before it may make the next one, as it has made many or is not counted
 *  yet; 0: not at all. */
uint64_t relpeer_wait_us(struct relpeer *peer);

#endif
