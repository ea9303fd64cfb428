/* SPDX-License-Identifier: GPL-2.0-only */
/* ring_steps.h - the records that tests stop a process in, behind every instruction. */
#ifndef TESTS_RING_STEPS_H
#define TESTS_RING_STEPS_H

#include "step_child.h"
#include "testset.h"

#define RING_STEPS_LEN 40

/* Where the record is made in its ring. USUAL: behind others, in the shortest way, which wants
 * hints that hold: nearly always, as it is made within one epoch of the clock. */
enum ring_place { FIRST, BEHIND, USUAL, CROSSING, WRAPPING, FULL };

struct ring_scenario {
	const char *name;
	uint32_t id;
	enum ring_place place;
	uint32_t mode;
	int exclusive;
	const char *contexts; /* in front of the payload; NULL: none */
};

enum { NR_RING_SCENARIOS = 21 };
extern const struct ring_scenario ring_scenarios[NR_RING_SCENARIOS];

/** One ring, with the records in it. */
struct ring_steps {
	struct testset t;
	struct ring_set *set;
	struct binding binding;
	struct hook hook;
	uint32_t ring;
	uint32_t preparation, contexts_bytes;
	uint64_t calls;
	uint8_t payload[RING_STEPS_LEN + LTT_PAYLOAD_SLACK]; /* of a child's record */
};

/** Record a payload of @len bytes. */
void ring_steps_record(struct ring_steps *b, uint32_t len);

/** Make the scenario's ring, with everything in it that is to precede the record. */
void ring_steps_make(struct ring_steps *b, const struct ring_scenario *s);

/** Free the ring set of ring_steps_make(). */
void ring_steps_free(struct ring_steps *b);

/** Return: a child that is stopped in front of a record. */
pid_t ring_steps_child(struct ring_steps *b);

/** step_begin(), then one run of each scenario: no step goes into the dynamic linker. */
void ring_steps_begin(void);

#endif
