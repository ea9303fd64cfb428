/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fired.h - the memory in which the applications of a user, or the kernel's module, note that
 * triggers fire (abi/ltt_fired.h), and the daemon's journal beside it, which they do not have: both
 * outlive the daemon, so that its successor passes on each firing that was not seen, and counts
 * those that were seen but not acted on. Owned by the domain; runs on the daemon's loop, except
 * for the thread that sleeps on the bell of applications.
 *
 * Applications may write anything into the memory, so it is read as numbers and bytes only.
 */
#ifndef DOMAIN_REC_FIRED_H
#define DOMAIN_REC_FIRED_H

#include <pthread.h>

#include "base/err.h"
#include "base/list.h"
#include "ltt_fired.h"
#include "sessiond/core/quota.h"
#include "sessiond/core/trigger.h"
#include "recorder.h"

#define FIRED_NO_SLOT UINT32_MAX

/** Figures of an action. @busy: 1: it had not ended. */
struct fired_action {
	uint64_t ran, failed, joined, busy;
};

/** struct fired_ledger - @done: firings up to this count have been acted on; the others: the
 *  trigger's figures at that time. */
struct fired_ledger {
	uint64_t done, fired, delivered, suppressed, unrecorded;
	struct fired_action actions[TRIGGER_MAX_ACTIONS];
};

/**
 * struct fired_slot - a trigger's slot. @base: the count when the slot was given to it.
 * @seen: firings up to this count are passed on. @current: number of the ledger that is valid:
 * they are written in turn, so that a daemon may be killed meanwhile.
 */
struct fired_slot {
	uint64_t trigger; /* its id; 0: the slot is free */
	uint64_t generation;
	uint64_t base, seen, current;
	uint64_t base_evicted, base_missed;
	struct fired_ledger ledger[2];
};

/** struct fired_journal - @version: FIRED_VERSION. @last: generation that was used last. */
struct fired_journal {
	uint64_t version, last;
	struct fired_slot slot[LTT_FIRED_SLOTS];
};

struct fired;

/** A record that a process has claimed or the daemon has abandoned, and since when it is. */
struct fired_pending {
	uint64_t state, since_ns;
};

/**
 * struct fired_ops - the tracer whose events fire.
 * @kind: of the keeper's entry.
 * @polls: poll() on the memory is its bell (abi/ltt_kmod.h); else a word of it is.
 * @make: make the memory. Return: its descriptor, or negative errno.
 * @pid: of a record, in the daemon's pid namespace.
 * @orphaned: the trigger of a slot was removed while there was no daemon. NULL: it is ignored.
 */
struct fired_ops {
	const char *kind;
	bool polls;
	int (*make)(const struct fired *fired);
	pid_t (*pid)(const struct fired *fired, const struct ltt_fired_record *record);
	void (*orphaned)(const struct fired *fired, uint32_t slot);
};

/** struct fired - @owner: of the functions of @ops. */
struct fired {
	struct list_node node;
	const struct fired_ops *ops;
	struct recorder *recorder;
	void *owner;
	uid_t uid; /* also the memory's id towards applications */
	struct account_id account;
	int fd, journal_fd;
	struct ltt_fired *memory;
	struct fired_journal *journal;
	struct trigger *triggers[LTT_FIRED_SLOTS];
	uint32_t nr_triggers, next_slot;
	bool adopted; /* from an earlier daemon; its interrupted firings are not reported yet */
	struct loop_work scan;
	struct loop_timer again; /* while records are claimed */
	struct loop_timer pause; /* with @ops->polls: until the bell may ring again */
	struct fired_pending pending[LTT_FIRED_RECORDS];
	int event_fd;
	struct loop_fd rung;
	pthread_t thread;
	uint32_t heard; /* value of the bell up to which firings are passed on; the thread's */
	bool stopping;
};

/** @adopt: the memory of an earlier daemon, if the keeper has it. Return: NULL: @err is set. */
struct fired *fired_new(struct recorder *recorder, const struct fired_ops *ops, void *owner,
			struct account_id account, bool adopt, struct err *err);
void fired_free(struct fired *fired);
void fired_keep(const struct fired *fired);

/** The trigger's slot; one that has none gets one. Return: FIRED_NO_SLOT: all are in use. */
uint32_t fired_slot_get(struct fired *fired, struct trigger *trigger);
/** Return: FIRED_NO_SLOT: it has none. */
uint32_t fired_slot_find(const struct fired *fired, const struct trigger *trigger);
void fired_slot_release(struct fired *fired, uint32_t slot);
/** Of triggers that count events: those since the slot was given to it. */
uint64_t fired_count(const struct fired *fired, const struct trigger *trigger);
/** Add the begins of pairs that a full table has dropped, and the events without a readable key. */
void fired_lost(const struct fired *fired, const struct trigger *trigger, uint64_t *evicted,
		uint64_t *missed);
/** Pass on all firings that there are. Triggers may come and go meanwhile. */
void fired_scan(struct fired *fired);

#endif
