/* SPDX-License-Identifier: GPL-2.0-only */
#include "counts.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/memfile.h"
#include "session.h"
#include "sessiond/peers/admission.h"

#define PART_BYTES 16384u
#define PART_WORDS ((uint32_t)(PART_BYTES / sizeof(uint64_t)))
#define COUNTS_FDS 1u

static uint32_t nr_parts(const struct user_session *us)
{
	return us->rec.recorder->config.nr_cpus + 1;
}

static uint64_t parts_bytes(const struct user_session *us, const struct user_counts *counts)
{
	return (uint64_t)nr_parts(us) * counts->part_words * sizeof(uint64_t);
}

uint64_t counts_bytes_of(const struct user_session *us, const struct user_counts *counts)
{
	return parts_bytes(us, counts) +
	       (uint64_t)counts->nr_slots * sizeof(struct ltt_counts_slot);
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

static int user_counts_charge(const struct user_session *us, const struct user_counts *counts,
			      struct err *err)
{
	struct account_id account = user_account(us, counts->uid);

	if (quota_take_or_explain(user_counts_quotas_of(us), account, QUOTA_MEMORY,
				  counts_bytes_of(us, counts), err))
		return err->code;
	if (quota_take_or_explain(user_counts_quotas_of(us), account, QUOTA_DESCRIPTORS, COUNTS_FDS,
				  err)) {
		quota_give(user_counts_quotas_of(us), account, QUOTA_MEMORY,
			   counts_bytes_of(us, counts));
		return err->code;
	}
	return 0;
}

static void pay_back(const struct user_session *us, const struct user_counts *counts)
{
	struct account_id account = user_account(us, counts->uid);

	quota_give(user_counts_quotas_of(us), account, QUOTA_MEMORY, counts_bytes_of(us, counts));
	quota_give(user_counts_quotas_of(us), account, QUOTA_DESCRIPTORS, COUNTS_FDS);
}

static int user_counts_map(const struct user_session *us, struct user_counts *counts, int fd,
			   struct err *err)
{
	void *map;

	if (!admission_has_room(fd, ADMISSION_KEPT))
		return err_set(err, ERR_LIMIT,
			       "the session daemon has nearly reached its limit of open files");
	map = mmap(NULL, counts_bytes_of(us, counts), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err_set(err, ERR_NO_MEMORY, "the session daemon can't map the counters");
	counts->words = map;
	counts->fd = fd;
	return 0;
}

static int user_counts_make(struct user_session *us, struct user_counts *counts, struct err *err)
{
	AUTO_FD int fd = -1;
	int ret = memfile_new("ltt-counts", counts_bytes_of(us, counts), &fd);

	if (ret < 0)
		return err_errno(err, ERR_NO_MEMORY, -ret, "no memory for the counters");
	if (user_counts_map(us, counts, fd, err))
		return err->code;
	(void)TAKE_FD(fd);
	return 0;
}

/* @fd: existing memory; negative: it is made. */
static struct user_counts *counts_new(struct user_session *us, uid_t uid, uint32_t part_words,
				      uint32_t nr_slots, int fd, struct err *err)
{
	AUTO_FREE struct user_counts *counts = xalloc(sizeof(*counts));

	counts->uid = uid;
	counts->part_words = part_words;
	counts->nr_slots = nr_slots;
	if (user_counts_charge(us, counts, err))
		return NULL;
	if (fd < 0 ? user_counts_make(us, counts, err) : user_counts_map(us, counts, fd, err)) {
		pay_back(us, counts);
		return NULL;
	}
	counts->id = us->rec.recorder->next_id++;
	list_append(&us->counts, &counts->node);
	return TAKE(counts);
}

static bool user_counts_has_room(const struct user_counts *counts, uid_t uid, uint32_t words)
{
	return counts->uid == uid && words <= counts->part_words - counts->used;
}

struct user_counts *counts_get(struct user_session *us, uid_t uid, uint32_t words,
			       uint32_t *ret_word, struct err *err)
{
	struct user_counts *counts, *found = NULL;

	list_for_each(counts, &us->counts, node)
		if (!found && user_counts_has_room(counts, uid, words))
			found = counts;
	if (!found)
		found = counts_new(us, uid, PART_WORDS, 0, -1, err);
	if (found) {
		*ret_word = found->used;
		found->used += words;
	}
	return found;
}

struct user_counts *counts_with_keys(struct user_session *us, uid_t uid, uint32_t nr_slots,
				     uint32_t slot_words, struct err *err)
{
	uint32_t words = LTT_COUNTS_REST_WORDS + nr_slots * slot_words;
	uint32_t page_words = (uint32_t)sysconf(_SC_PAGESIZE) / sizeof(uint64_t);
	uint32_t part_words = (words + page_words - 1) / page_words * page_words;
	struct user_counts *counts = counts_new(us, uid, part_words, nr_slots, -1, err);

	if (counts)
		counts->used = part_words;
	return counts;
}

struct user_counts *counts_of_words(struct user_session *us, uid_t uid, uint32_t words,
				    struct err *err)
{
	struct user_counts *counts = counts_new(us, uid, words, 0, -1, err);

	if (counts)
		counts->used = words;
	return counts;
}

struct user_counts *counts_restore(struct user_session *us, uid_t uid, uint64_t id, uint32_t words,
				   int fd)
{
	const uint64_t bytes = (uint64_t)nr_parts(us) * words * sizeof(uint64_t);
	struct err ignored = { 0 };
	struct user_counts *counts =
		memfile_check(fd, bytes) < 0 ? NULL : counts_new(us, uid, words, 0, fd, &ignored);

	if (!counts)
		return NULL;
	counts->used = words;
	counts->id = id;
	us->rec.recorder->next_id = MAX(us->rec.recorder->next_id, id + 1);
	return counts;
}

void counts_problem(struct user_session *us, uid_t uid, const struct err *err)
{
	if (user_account(us, uid).guest)
		us->rec.recorder->config.trouble(us->rec.session, TROUBLE_BUFFERS, err->text);
	else
		recording_problem(&us->rec, TROUBLE_BUFFERS, err->code, "events can't be counted",
				  err->text);
}

void counts_free_all(struct user_session *us)
{
	struct user_counts *counts, *next;

	list_for_each_safe(counts, next, &us->counts, node) {
		list_remove(&counts->node);
		munmap(counts->words, counts_bytes_of(us, counts));
		close_fd(counts->fd);
		pay_back(us, counts);
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
		.part_bytes = counts->part_words * (uint32_t)sizeof(uint64_t),
		.nr_slots = counts->nr_slots,
	};
}

void counts_add_up(const struct user_session *us, const struct user_counts *counts, uint32_t word,
		   uint32_t nr, uint64_t *to)
{
	for (uint32_t part = 0; part < nr_parts(us); part++) {
		const uint64_t *from = counts->words + (size_t)part * counts->part_words + word;

		for (uint32_t i = 0; i < nr; i++)
			to[i] += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	}
}

bool counts_key(const struct user_session *us, const struct user_counts *counts, uint32_t slot,
		uint64_t *ret_key)
{
	const char *table = (const char *)counts->words + parts_bytes(us, counts);
	const struct ltt_counts_slot *from = (const void *)table;

	if (__atomic_load_n(&from[slot].tag, __ATOMIC_ACQUIRE) <= LTT_COUNTS_TAG_WRITING)
		return false;
	for (uint32_t i = 0; i < LTT_COUNTS_KEY_WORDS; i++)
		ret_key[i] = __atomic_load_n(&from[slot].key[i], __ATOMIC_RELAXED);
	return true;
}
