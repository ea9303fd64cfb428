/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counts.h - memory for the counters of a user's applications, one piece for each user and session.
 * Owned by the session.
 */
#ifndef DOMAIN_USER_COUNTS_H
#define DOMAIN_USER_COUNTS_H

#include "proto/app.h"
#include "sessiond/domain/rec/recording.h"

struct user_session;

/** Memory for counters of a user's applications. */
struct user_counts {
	struct list_node node;
	uint64_t id;
	uid_t uid;
	int fd;
	uint64_t *words; /* read only */
	uint32_t used;	 /* words of each part */
};

/** The account that is charged for a user's applications in the session. */
struct account_id user_account(const struct user_session *us, uid_t uid);
/** Allocate this many words at one place of each part. Return: the memory, or NULL and @err is
 *  set. */
struct user_counts *counts_get(struct user_session *us, uid_t uid, uint32_t words,
			       uint32_t *ret_word, struct err *err);
void counts_free_all(struct user_session *us);
/** Describe it to an application. */
void counts_describe(const struct user_session *us, const struct user_counts *counts,
		     struct msg_app_counts *ret);
/** Add the @nr words there, summed over all parts, to @sums. */
void counts_add_up(const struct user_session *us, const struct user_counts *counts, uint32_t word,
		   uint32_t nr, struct ltt_counts *sums);

#endif
