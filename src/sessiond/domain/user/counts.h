/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counts.h - memory in which the applications of a user count events of a session
 * (abi/ltt_counts.h). Applications may write anything into it, so it is read as numbers only; its
 * pages are allocated and its size is sealed, so that reading can't fail. Owned by the session;
 * runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_COUNTS_H
#define DOMAIN_USER_COUNTS_H

#include "base/err.h"
#include "base/list.h"
#include "proto/app.h"
#include "sessiond/core/quota.h"

struct user_session;

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
/** Create memory for @words counters of one word, which the caller allocates. */
struct user_counts *counts_of_words(struct user_session *us, uid_t uid, uint32_t words,
				    struct err *err);
/** The same memory of an earlier daemon. @fd: taken over, if it is such memory. Return: NULL: it is
 *  not. */
struct user_counts *counts_restore(struct user_session *us, uid_t uid, uint64_t id, uint32_t words,
				   int fd);
/** Bytes of the memory. */
uint64_t counts_bytes_of(const struct user_session *us, const struct user_counts *counts);
/** Report that events of a user's applications can't be counted: no user can make another user's
 *  start fail. */
void counts_problem(struct user_session *us, uid_t uid, const struct err *err);
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

#endif
