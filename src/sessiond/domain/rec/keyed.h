/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * keyed.h - the counts of an event by keys (abi/ltt_counts.h): tables of several users, or of the
 * kernel at several times, are merged, and counts of equal keys are added. Owned by the caller;
 * runs on the daemon's loop.
 */
#ifndef DOMAIN_REC_KEYED_H
#define DOMAIN_REC_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ltt_counts.h"
#include "sessiond/domain/domain.h"

struct rule;
struct shape;

/** A key, with its bucket apart from it. @value: hits, and with a histogram the sum. */
struct keyed_entry {
	uint64_t key[LTT_COUNTS_KEY_WORDS];
	uint32_t bucket;
	uint64_t value[2];
};

/** @rest: hits without a key. */
struct keyed_list {
	struct keyed_entry *entries;
	size_t nr, cap;
	struct ltt_counts_rest rest;
};

/** Whether the shape has the fields that the rule, which may count, needs. */
bool keyed_rule_suits(const struct rule *rule, const struct shape *shape);
/** Add the counts of a key of @nr_by fields. @key: LTT_COUNTS_KEY_WORDS words, untrusted; it is
 *  ignored if it is damaged. */
void keyed_list_add(struct keyed_list *list, const uint64_t *key, uint32_t nr_by, uint64_t count,
		    uint64_t sum);
/** Add the entries of another list. */
void keyed_list_append(struct keyed_list *list, const struct keyed_list *more);
/** Add up the entries of equal keys. */
void keyed_list_merge(struct keyed_list *list);
void keyed_list_fini(struct keyed_list *list);
/** Report the event, with the sums over all its keys, and each key. @shape: of the event.
 *  @counted: without sums. */
void keyed_report(struct keyed_list *list, const struct rule *rule, const struct shape *shape,
		  struct domain_counted *counted, const struct domain_counted_ops *ops, void *data);

#endif
