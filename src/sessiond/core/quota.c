/* SPDX-License-Identifier: GPL-2.0-only */
#include "quota.h"

#include <inttypes.h>
#include <search.h>
#include <string.h>

#include "base/mem.h"

static const struct {
	const char *name, *what;
} kinds[NR_QUOTAS] = {
#define X(id, name, what) [QUOTA_##id] = { name, what },
	QUOTAS(X)
#undef X
};

const char *quota_name(enum quota kind)
{
	return kinds[kind].name;
}

enum quota quota_by_name(const char *name)
{
	unsigned int kind = 0;

	while (kind < NR_QUOTAS && strcmp(kinds[kind].name, name) != 0)
		kind++;
	return (enum quota)kind;
}

static int quota_compare(const void *a, const void *b)
{
	const struct account_id *x = &((const struct quota_account *)a)->id;
	const struct account_id *y = &((const struct quota_account *)b)->id;

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return x->guest - y->guest;
}

void quotas_init(struct quotas *quotas, uid_t self)
{
	memset(quotas, 0, sizeof(*quotas));
	quotas->self = self;
}

void quotas_fini(struct quotas *quotas)
{
	while (quotas->accounts) {
		struct quota_account *account = *(struct quota_account **)quotas->accounts;

		tdelete(account, &quotas->accounts, quota_compare);
		free(account);
	}
}

static struct quota_account *quota_find(const struct quotas *quotas, struct account_id id)
{
	const struct quota_account probe = { .id = id };
	void **found = tfind(&probe, &quotas->accounts, quota_compare);

	return found ? *found : NULL;
}

static struct quota_account *quota_get(struct quotas *quotas, struct account_id id)
{
	struct quota_account *account = quota_find(quotas, id);

	if (account)
		return account;
	account = xalloc(sizeof(*account));
	account->id = id;
	tsearch(account, &quotas->accounts, quota_compare);
	return account;
}

static bool quota_is_bound(const struct quotas *quotas, struct account_id id)
{
	return !quotas->lenient && id.uid != 0 && id.uid != quotas->self;
}

int quota_take(struct quotas *quotas, struct account_id id, enum quota kind, uint64_t amount)
{
	struct quota_use *use;
	uint64_t limit, left;

	if (!quotas)
		return 0;
	use = &quota_get(quotas, id)->use[kind];
	limit = quotas->limits[kind];
	left = limit > use->used ? limit - use->used : 0;
	if (limit && quota_is_bound(quotas, id) && amount > left) {
		use->refused++;
		return QUOTA_FULL;
	}
	use->used += amount;
	return 0;
}

uint64_t quota_left(const struct quotas *quotas, struct account_id id, enum quota kind)
{
	const struct quota_account *account = quota_find(quotas, id);
	uint64_t limit = quotas->limits[kind], used = account ? account->use[kind].used : 0;

	if (!limit || !quota_is_bound(quotas, id))
		return UINT64_MAX;
	return limit > used ? limit - used : 0;
}

/* An empty account is freed: uids come and go. */
static void forget_empty(struct quotas *quotas, struct quota_account *account)
{
	for (unsigned int kind = 0; kind < NR_QUOTAS; kind++)
		if (account->use[kind].used || account->use[kind].refused)
			return;
	tdelete(account, &quotas->accounts, quota_compare);
	free(account);
}

void quota_give(struct quotas *quotas, struct account_id id, enum quota kind, uint64_t amount)
{
	struct quota_account *account = quotas ? quota_find(quotas, id) : NULL;

	if (!account)
		return;
	account->use[kind].used -= MIN(amount, account->use[kind].used);
	if (account->use[kind].used == 0)
		forget_empty(quotas, account);
}

int quota_take_or_explain(struct quotas *quotas, struct account_id id, enum quota kind,
			  uint64_t amount, struct err *err)
{
	if (quota_take(quotas, id, kind, amount) != QUOTA_FULL)
		return 0;
	return err_set(err, ERR_LIMIT,
		       "user %u%s has %" PRIu64 " of %" PRIu64 " %s, and %" PRIu64
		       " more exceed this limit; free some, or let root start ltt-sessiond with a higher "
		       "--quota=%s=NUMBER ('lttctl quota' shows all)",
		       (unsigned int)id.uid, id.guest ? ", in root's sessions," : "",
		       quota_find(quotas, id)->use[kind].used, quotas->limits[kind],
		       kinds[kind].what, amount, kinds[kind].name);
}

struct walk {
	void (*fn)(const struct quota_account *account, void *data);
	void *data;
};

static void quota_visit(const void *node, VISIT which, void *closure)
{
	const struct walk *walk = closure;

	if (which == postorder || which == leaf)
		walk->fn(*(struct quota_account *const *)node, walk->data);
}

void quotas_each(const struct quotas *quotas,
		 void (*fn)(const struct quota_account *account, void *data), void *data)
{
	struct walk walk = { fn, data };

	twalk_r(quotas->accounts, quota_visit, &walk);
}
