/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count.h - events of applications that are counted instead of recorded: shared memory for the
 * counters (abi/ltt_counts.h), the counters of each rule, those that each application has, and
 * their sums for clients. Runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_COUNT_H
#define DOMAIN_USER_COUNT_H

#include "proto/app.h"
#include "sessiond/domain/rec/recording.h"
#include "link.h"

struct user_session;

/*
 * Shared memory for the counters of a user's applications (abi/ltt_counts.h). Owned by
 * the session.
 */

/** Memory for counters of a user's applications. */
struct user_counts {
	struct list_node node;
	uint64_t id;
	uid_t uid;
	int fd;
	uint64_t *words;     /* read only */
	uint32_t used;	     /* words of each part that have counters */
	uint32_t part_words; /* size of a part */
	uint32_t nr_slots;   /* of the table of keys; 0: there is no table */
};

/** The account that is charged for a user's applications in the session. */
struct account_id user_account(const struct user_session *us, uid_t uid);
/** Allocate @words words at the same offset, @ret_word, of each part. Return: the memory; NULL:
 *  @err is set. */
struct user_counts *counts_get(struct user_session *us, uid_t uid, uint32_t words,
			       uint32_t *ret_word, struct err *err);
/** Create separate memory for a counter with keys. @slot_words: words of each slot's values, 1 or
 *  2. */
struct user_counts *counts_with_keys(struct user_session *us, uid_t uid, uint32_t nr_slots,
				     uint32_t slot_words, struct err *err);
void counts_free_all(struct user_session *us);
/** Fill in the message that describes the memory to an application. */
void counts_describe(const struct user_session *us, const struct user_counts *counts,
		     struct msg_app_counts *ret);
/** Add @nr words from offset @word, summed over all parts, to @to. */
void counts_add_up(const struct user_session *us, const struct user_counts *counts, uint32_t word,
		   uint32_t nr, uint64_t *to);
/** Read the key of a slot. @ret_key: LTT_COUNTS_KEY_WORDS words, untrusted. Return: whether the
 *  slot has a key. */
bool counts_key(const struct user_session *us, const struct user_counts *counts, uint32_t slot,
		uint64_t *ret_key);

/*
 * The counters of events that are counted and not recorded: by rule, event and user.
 * Owned by the session.
 */

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

/** Whether the field may have a histogram. */
static inline bool field_is_integer(const struct layout_field *field)
{
	return field->kind == LTT_KIND_INT || field->kind == LTT_KIND_ENUM;
}

/** Whether the field may be part of a key. */
static inline bool field_is_key(const struct layout_field *field)
{
	return field_is_integer(field) || field->kind == LTT_KIND_STRING ||
	       field->flags & LTT_FIELD_TEXT;
}

/** Return: the number of the integer field, or -1. */
int shape_integer(const struct shape *shape, const char *name);
/** The same for a field of a key: an integer, an enumeration or a text. */
int shape_key(const struct shape *shape, const char *name);
/** Whether the shape has the fields that the rule, which may count, needs. */
bool user_rule_suits(const struct rule *rule, const struct shape *shape);
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

/** One point and its counter, as sent to the application. */
struct counting {
	uint32_t point;
	int field; /* number of the histogram's field; -1: only hits are counted */
	const struct user_counts *counts;
	uint32_t word;
	uint32_t nr_by; /* fields of the key; 0: none */
	uint32_t by[RULE_BY_FIELDS];
	struct event_filter *filter; /* NULL: each event is counted */
};

/** Send the changes of its counters to the application. */
void link_count(struct user_link *link);
bool link_is_counted(const struct user_link *link, uint32_t point);
/** Remove the counters of points that the application has removed. @points: sorted. */
void link_uncount_points(struct user_link *link, const uint32_t *points, size_t nr);
/** Withdraw all memory for counters. */
void link_drop_counts(struct user_link *link);
void link_counts_free(struct user_link *link);

/*
 * The counts of an event by keys: the tables of the users whose applications count it are
 * merged, and counts of equal keys are added. Computed for each request; runs on the daemon's loop.
 */

/** Report the event, with the sums over all its keys, and each key. @counted: without sums. */
void keyed_report(const struct user_session *us, const struct rule *rule,
		  const struct user_stat *stat, struct domain_counted *counted,
		  const struct domain_counted_ops *ops, void *data);

#endif
