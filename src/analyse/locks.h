/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * locks.h - waits for mutexes, spin locks and read-write locks, and the threads that held them
 * meanwhile, from the events of `--wrap=pthread` and, for mutexes, of LTTng-UST's library. Owned by
 * an overview. A mutex stands for each of these locks here.
 *
 * The holder of a mutex is the thread that has acquired it and not unlocked it; several threads may
 * hold one for reading. As each thread records after the call, the next holder's event can come
 * before the unlock: a hold also ends when another thread acquires the mutex. Waits for conditions
 * release the mutex; in traces of LTTng they have no events.
 */
#ifndef ANALYSE_LOCKS_H
#define ANALYSE_LOCKS_H

#include "base/idmap.h"
#include "base/list.h"

#define LOCKS_EVENTS "*_pthread:pthread_*,*_pthread:sem_*"
#define LOCKS_MUTEXES_MOST (1u << 16)
#define LOCKS_WAITERS_MOST 256u	    /* of one mutex, whose holders are found */
#define LOCKS_READERS_MOST 4096u    /* of one mutex, that are known at a time */
#define LOCKS_UNEXPLAINED_NS 100000 /* as long as a wait, of calls without a known holder */

struct callchain;
struct callsite;
struct callsites;
struct event;
struct locks;
struct overview_process;
struct overview_thread;

enum locks_action {
	LOCKS_NONE,
	LOCKS_REQUEST,
	LOCKS_ACQUIRE,
	LOCKS_TRY,
	LOCKS_RELEASE,
	LOCKS_WAIT,  /* for a condition: the mutex is released */
	LOCKS_AGAIN, /* and acquired at the end */
};

enum locks_kind { LOCKS_MUTEX, LOCKS_SPIN, LOCKS_RWLOCK, LOCKS_NR_KINDS };

/**
 * struct locks_hold - @ns: how long. @chain: of the call that locked; NULL: unknown.
 * @uncertain: its begin or end was not recorded. @shared: for reading.
 * @depth: acquisitions of it by this thread, of locks.c.
 */
struct locks_hold {
	const struct overview_thread *thread; /* NULL: none is known */
	const struct callchain *chain;
	int64_t from_ns;
	uint64_t ns;
	bool uncertain, shared;
	uint32_t depth;
};

/** struct locks_mutex - of a process. @longest: hold of all. @released_ns: end of the last hold, or
 *  the first event. @now: the holds. */
struct locks_mutex {
	struct idmap_node node;
	struct locks_mutex *next;
	const struct locks *locks;
	const struct overview_process *process;
	struct callsite *place; /* NULL: unknown */
	uint64_t address;
	enum locks_kind kind;
	uint64_t acquired, waited, wait_ns;
	struct locks_hold longest;
	bool lossy;
	/* of locks.c */
	struct locks_hold *now;
	uint32_t nr_now, size_now;
	int64_t released_ns;
	struct list_node waiters;
};

/** struct locks_request - the call in which a thread is; member of struct overview_thread.
 *  @most: the hold that took most of the wait, @most_ns; @holds: all of them, @held_ns of it. */
struct locks_request {
	struct list_node node;
	const struct overview_thread *thread;
	struct locks_mutex *mutex; /* NULL: none */
	bool chosen;		   /* by the user */
	bool shared;		   /* for reading */
	const struct callchain *chain;
	int64_t from_ns;
	struct locks_hold most;
	uint64_t most_ns, held_ns, holds;
};

/** struct locks_wait - @holder: the longest one of @holds, which took @held_ns of it.
 *  @lossy: events of the trace were lost meanwhile. @open: it had not ended. */
struct locks_wait {
	const struct locks_mutex *mutex;
	const struct overview_thread *thread;
	const struct callchain *chain;
	int64_t from_ns;
	uint64_t ns, held_ns, holds;
	struct locks_hold holder;
	bool lossy, open;
};

/** struct locks_site - the waits for locks of one kind by one chain of calls; NULL: unknown. */
struct locks_site {
	struct idmap_node node;
	struct locks_site *next;
	enum locks_kind kind;
	const struct callchain *chain;
	uint64_t waited, wait_ns;
};

/** struct locks_watch - is called with each wait, and each hold, when it ends. */
struct locks_watch {
	void (*wait)(void *priv, const struct locks_wait *wait);
	void (*hold)(void *priv, const struct locks_mutex *mutex, const struct locks_hold *hold);
	void *priv;
};

/**
 * struct locks
 * @waits: the longest ones, @nr_waits of them; sorted by locks_end(). @by_site: all of them.
 * @acquired, @waited, @wait_ns: totals. @left_out: events of mutexes beyond LOCKS_MUTEXES_MOST.
 * @watch: of the user; or NULL.
 * @unexplained: calls of LOCKS_UNEXPLAINED_NS or more while the mutex had no holder, as by a thread
 *      that did not run; they are no waits.
 */
struct locks {
	struct locks_mutex *mutexes;
	struct locks_site *by_site;
	struct locks_wait *waits;
	uint32_t nr_waits, most_waits, nr_mutexes;
	uint64_t acquired, waited, wait_ns, left_out, unexplained;
	struct idmap map, sites_map;
	struct callsites *sites;
	const struct locks_watch *watch;
};

struct locks *locks_new(struct callsites *sites, uint32_t most_waits);
void locks_free(struct locks *locks);

/** "mutex", "spin", "rwlock". */
const char *locks_kind_name(enum locks_kind kind);
/** The action that events of this name record. */
enum locks_action locks_action_of(const char *name);
/** The event is the next one in time of this thread. */
void locks_take(struct locks *locks, struct overview_thread *thread, enum locks_action action,
		const struct event *event);
/** Any event of this thread: while events are lost, it shows that the thread no longer waits. */
void locks_pass(struct overview_thread *thread);
/** After the last event, at @ns: waits that have not ended are those up to here. */
void locks_end(struct locks *locks, int64_t ns);
/** The mutexes with waits, sorted by their sum; allocated. */
const struct locks_mutex **locks_busiest(const struct locks *locks, size_t *ret_nr);

#endif
