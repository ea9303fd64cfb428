/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counts.c - memory in which the applications of a user count events of a
 * session (abi/ltt_counts.h). It is theirs to scribble on, so it is only ever read as
 * numbers; its pages exist and its size is sealed, so that reading can't fail.
 */
#include "counts.h"

#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "io/memfile.h"
#include "session.h"
#include "sessiond/admission.h"

#define PART_BYTES 16384u
#define PART_WORDS ((uint32_t)(PART_BYTES / sizeof(uint64_t)))
#define COUNTS_FDS 1u

static uint32_t nr_parts(const struct user_session *us)
{
	return us->rec.recorder->config.nr_cpus + 1;
}

static uint64_t bytes_of(const struct user_session *us)
{
	return (uint64_t)nr_parts(us) * PART_BYTES;
}

static struct quotas *user_counts_quotas_of(const struct user_session *us)
{
	return us->rec.recorder->config.quotas;
}

/* How much is counted, the user's applications decide. */
struct account_id user_account(const struct user_session *us, uid_t uid)
{
	return (struct account_id){ uid, uid != us->rec.session->uid };
}

static int user_counts_charge(const struct user_session *us, uid_t uid, struct err *err)
{
	struct account_id account = user_account(us, uid);

	if (quota_take_or_explain(user_counts_quotas_of(us), account, QUOTA_MEMORY, bytes_of(us),
				  err))
		return err->code;
	if (quota_take_or_explain(user_counts_quotas_of(us), account, QUOTA_DESCRIPTORS, COUNTS_FDS,
				  err)) {
		quota_give(user_counts_quotas_of(us), account, QUOTA_MEMORY, bytes_of(us));
		return err->code;
	}
	return 0;
}

static void pay_back(const struct user_session *us, uid_t uid)
{
	struct account_id account = user_account(us, uid);

	quota_give(user_counts_quotas_of(us), account, QUOTA_MEMORY, bytes_of(us));
	quota_give(user_counts_quotas_of(us), account, QUOTA_DESCRIPTORS, COUNTS_FDS);
}

static int user_counts_make(struct user_session *us, struct user_counts *counts, struct err *err)
{
	AUTO_FD int fd = -1;
	int ret = memfile_new("ltt-counts", bytes_of(us), &fd);
	void *map;

	if (ret < 0)
		return err_errno(err, ERR_NO_MEMORY, -ret, "no memory for the counters");
	if (!admission_has_room(fd, ADMISSION_KEPT))
		return err_set(err, ERR_LIMIT,
			       "the session daemon has nearly reached its limit of open files");
	map = mmap(NULL, bytes_of(us), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err_set(err, ERR_NO_MEMORY, "the session daemon can't map the counters");
	counts->words = map;
	counts->fd = TAKE_FD(fd);
	return 0;
}

static struct user_counts *counts_new(struct user_session *us, uid_t uid, struct err *err)
{
	AUTO_FREE struct user_counts *counts = xalloc(sizeof(*counts));

	if (user_counts_charge(us, uid, err))
		return NULL;
	if (user_counts_make(us, counts, err)) {
		pay_back(us, uid);
		return NULL;
	}
	counts->id = us->rec.recorder->next_id++;
	counts->uid = uid;
	list_append(&us->counts, &counts->node);
	return TAKE(counts);
}

static bool user_counts_has_room(const struct user_counts *counts, uid_t uid, uint32_t words)
{
	return counts->uid == uid && words <= PART_WORDS - counts->used;
}

struct user_counts *counts_get(struct user_session *us, uid_t uid, uint32_t words,
			       uint32_t *ret_word, struct err *err)
{
	struct user_counts *counts, *found = NULL;

	list_for_each(counts, &us->counts, node)
		if (!found && user_counts_has_room(counts, uid, words))
			found = counts;
	if (!found)
		found = counts_new(us, uid, err);
	if (found) {
		*ret_word = found->used;
		found->used += words;
	}
	return found;
}

void counts_free_all(struct user_session *us)
{
	struct user_counts *counts, *next;

	list_for_each_safe(counts, next, &us->counts, node) {
		list_remove(&counts->node);
		munmap(counts->words, bytes_of(us));
		close_fd(counts->fd);
		pay_back(us, counts->uid);
		free(counts);
	}
}

void counts_describe(const struct user_session *us, const struct user_counts *counts,
		     struct msg_app_counts *ret)
{
	*ret = (struct msg_app_counts){
		.counts = counts->id,
		.session = us->rec.session->id,
		.memory = counts->fd,
		.nr_parts = nr_parts(us),
		.part_bytes = PART_BYTES,
	};
}

void counts_add_up(const struct user_session *us, const struct user_counts *counts, uint32_t word,
		   uint32_t nr, struct ltt_counts *sums)
{
	uint64_t *to = (uint64_t *)sums;

	for (uint32_t part = 0; part < nr_parts(us); part++) {
		const uint64_t *from = counts->words + (size_t)part * PART_WORDS + word;

		for (uint32_t i = 0; i < nr; i++)
			to[i] += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	}
}
