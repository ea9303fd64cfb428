/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ltt_fired.h - memory in which applications note that triggers have fired.
 *
 * One memfd for the applications of a user, created and sealed by the session daemon. Each trigger
 * has a slot, whose count of firings is exact: it is added to atomically, and outlives the process.
 * A firing may have a record, too: its time, its process, and values of the event's fields.
 *
 * A process claims a free record, adds to the slot, writes the record, and marks it as ready. One
 * that is killed before the addition has not fired; one that is killed after it has fired without a
 * record, as if none had been free. So the daemon finds, for each addition that it sees, a claimed
 * or ready record, or there is none.
 *
 * At last the process adds to the bell, on which a thread of the daemon sleeps (futex). All of this
 * may be done in a signal handler. Applications may overwrite the whole memory: the daemon accepts
 * any value in any word.
 *
 * Events of the kernel fire in memory of the module (ltt_kmod.h), laid out in the same way; only
 * the daemon maps it, and poll() is its bell.
 */
#ifndef LTT_ABI_FIRED_H
#define LTT_ABI_FIRED_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define LTT_FIRED_SLOTS 256u
#define LTT_FIRED_RECORDS 1024u /* a power of two */
#define LTT_FIRED_PROBES 16u	/* records that are tried, until a firing has none */
#define LTT_FIRED_VALUES 16u
#define LTT_FIRED_TEXT 64u
#define LTT_FIRED_EVENT 96u

/** struct ltt_fired_slot - the counts of a trigger. A cache line, as many CPUs may add to it. */
struct ltt_fired_slot {
	uint64_t fired;	  /* or, of a trigger that counts: events */
	uint64_t evicted; /* begins that a full table of pairs has dropped */
	uint64_t missed;  /* begins and ends whose key could not be read */
	uint64_t unused[5];
};

/** Kinds of values; those of the daemon (enum firing_kind). */
enum ltt_fired_kind {
	LTT_FIRED_NONE = 0, /* the event does not have the field, or it has no value */
	LTT_FIRED_SIGNED = 1,
	LTT_FIRED_UNSIGNED = 2,
	LTT_FIRED_DOUBLE = 3,
	LTT_FIRED_STRING = 4,
	LTT_FIRED_CUT = 5, /* a text that was longer */
};

/** struct ltt_fired_record - @generation: of the slot. @duration: of a pair, in units of the trace
 *  clock. @bytes: of the texts. @event: cut, and not terminated then; as is @comm. */
struct ltt_fired_record {
	uint64_t at_ns; /* CLOCK_REALTIME */
	uint64_t duration;
	uint64_t program; /* the daemon's number of the application */
	uint32_t generation;
	uint32_t pid, tid; /* in the application's own pid namespace */
	uint32_t nr_values;
	char comm[16];
	char event[LTT_FIRED_EVENT];
	uint8_t kind[LTT_FIRED_VALUES];
	uint8_t bytes[LTT_FIRED_VALUES];
	union {
		uint64_t bits;
		double real;
		char text[LTT_FIRED_TEXT];
	} value[LTT_FIRED_VALUES];
};

/* State of a record: 0 if it is free; else one of these, the slot, and a number that is not used
 * again. */
#define LTT_FIRED_CLAIMED 1u
#define LTT_FIRED_READY 2u
#define LTT_FIRED_ABANDONED 3u /* by the daemon; its process frees it, if it still exists */
#define LTT_FIRED_STATE(step, slot, number) \
	((uint64_t)(step) | (uint64_t)(slot) << 8 | (uint64_t)(number) << 16)
#define LTT_FIRED_STEP(state) ((uint32_t)((state)&0xff))
#define LTT_FIRED_SLOT(state) ((uint32_t)((state) >> 8 & 0xff))
#define LTT_FIRED_NUMBER(state) ((state) >> 16)

/** struct ltt_fired - @sleeping: not 0 while the daemon has to be woken. @next: number of the next
 *  claim. */
struct ltt_fired {
	uint32_t bell;
	uint32_t sleeping;
	uint64_t unused[7];
	uint64_t next;
	uint64_t unused_too[7];
	struct ltt_fired_slot slot[LTT_FIRED_SLOTS];
	uint64_t state[LTT_FIRED_RECORDS];
	struct ltt_fired_record record[LTT_FIRED_RECORDS];
};

/* The same in programs of 32 bits. */
_Static_assert(sizeof(struct ltt_fired_slot) == 64 && sizeof(struct ltt_fired_record) == 1208,
	       "the layout of 64 bits");
_Static_assert(sizeof(struct ltt_fired) == 128 + LTT_FIRED_SLOTS * 64 + LTT_FIRED_RECORDS * 1216,
	       "the layout of 64 bits");

#endif
