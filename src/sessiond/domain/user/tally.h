/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tally.h - events of applications that are counted instead of recorded, and histograms of their
 * fields: a tally for each rule that counts, with a counter for each event name and each user.
 * Tallies live as long as the session, which owns them, as their counts remain. Runs on the
 * daemon's loop.
 */
#ifndef DOMAIN_USER_TALLY_H
#define DOMAIN_USER_TALLY_H

#include "counts.h"
#include "sessiond/domain/rec/recording.h"

/** The counter of an event, for a user's applications. */
struct user_place {
	struct user_place *next;
	uid_t uid;
	uint32_t word, nr_words;
	struct user_counts *counts; /* NULL: it could not be allocated */
};

/** An event that is counted, or was. */
struct user_stat {
	const char *name;    /* name of @shape */
	struct shape *shape; /* shape of the first point */
	uint64_t since_ns;
	struct account_id account; /* charged for the name */
	struct user_place *places;
};

/** A rule whose events are counted. */
struct user_tally {
	struct list_node node;
	struct idmap_node by_rule;     /* by its address */
	const struct channel *channel; /* channel and rule are freed with the session */
	const struct rule *rule;
	void *stats; /* tsearch by name: struct user_stat */
};

/** Whether the rule also matches points of this shape. */
bool user_rule_takes(const struct rule *rule, const struct shape *shape);
struct user_tally *tally_get(struct user_session *us, const struct channel *channel,
			     const struct rule *rule);
/** The counter of an event for the user's applications. Return: NULL if there is no memory. */
struct user_place *tally_place(struct user_session *us, struct user_tally *tally, uid_t uid,
			       struct shape *shape);
/** Retry allocations that have failed. */
void tallies_retry(struct user_session *us);
void tallies_free(struct user_session *us);

#endif
