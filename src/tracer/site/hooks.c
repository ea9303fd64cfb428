// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The hook table of a site (hook.h). An event loads the pointer to a table once, and
 * may use that table after a larger one has replaced it; so each change is made in all
 * generations of the table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "registry.h"

#define FIRST_CAP 4u

static bool is_free(const struct hook *hook)
{
	return !hook->binding && !hook->probe && !hook->counter && !hook->trigger;
}

static bool hooks_is_same(const struct hook *a, const struct hook *b)
{
	return a->binding == b->binding && a->probe == b->probe && a->counter == b->counter &&
	       a->trigger == b->trigger;
}

/* The first entry that equals @hook; nr where there is none. */
static uint32_t hooks_find(const struct hook_table *table, const struct hook *hook)
{
	uint32_t i = 0;

	while (i < table->nr && !hooks_is_same(&table->hook[i], hook))
		i++;
	return i;
}

static uint32_t find_free(const struct hook_table *table)
{
	uint32_t i = 0;

	while (i < table->nr && !is_free(&table->hook[i]))
		i++;
	return i;
}

static void hooks_store(struct hook_table *table, uint32_t at, const struct hook *hook)
{
	for (; table && at < table->cap; table = table->older) {
		__atomic_store_n(&table->hook[at].binding, hook->binding, __ATOMIC_RELEASE);
		__atomic_store_n(&table->hook[at].preparation, hook->preparation, __ATOMIC_RELEASE);
		__atomic_store_n(&table->hook[at].closed_for, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&table->hook[at].probe, hook->probe, __ATOMIC_RELEASE);
		__atomic_store_n(&table->hook[at].field, hook->field, __ATOMIC_RELAXED);
		__atomic_store_n(&table->hook[at].counter, hook->counter, __ATOMIC_RELEASE);
		__atomic_store_n(&table->hook[at].trigger, hook->trigger, __ATOMIC_RELEASE);
		if (at >= table->nr)
			__atomic_store_n(&table->nr, at + 1, __ATOMIC_RELEASE);
	}
}

void site_set_only(struct ltt_site *site, const struct binding *only)
{
	__atomic_store_n(&site->only, only, __ATOMIC_RELEASE);
}

/* After each change of the table, and before the grace period behind it. */
static void find_only(struct site_state *site)
{
	const struct hook *hook = NULL;
	unsigned int listeners = 0;
	bool alone;

	for (uint32_t i = 0; i < site->table->nr; i++) {
		if (is_free(&site->table->hook[i]))
			continue;
		hook = &site->table->hook[i];
		listeners++;
	}
	alone = listeners == 1 && !hook->preparation;
	if (site->site)
		site_set_only(site->site, alone ? hook->binding : NULL);
	for (struct hook_table *table = site->table; table; table = table->older)
		__atomic_store_n(&table->only, alone ? hook->trigger : NULL, __ATOMIC_RELEASE);
}

static void hooks_report(struct ltt_site *site, int listened)
{
	const size_t least = offsetof(struct ltt_site, changed) + sizeof(site->changed);

	if (site->size >= least && site->changed)
		site->changed(site, listened);
}

static void hooks_count(struct site_state *site, int change)
{
	if (!site->site)
		return;
	site->nr_hooks += (uint32_t)change;
	if (site->nr_hooks == 1 && change > 0) {
		__atomic_or_fetch(&site->site->armed, LTT_SITE_LISTENED, __ATOMIC_RELEASE);
		typed_site_armed(site);
		hooks_report(site->site, 1);
	} else if (site->nr_hooks == 0) {
		__atomic_and_fetch(&site->site->armed, ~LTT_SITE_LISTENED, __ATOMIC_RELEASE);
		typed_site_disarmed(site);
		hooks_report(site->site, 0);
	}
}

int hooks_reserve(struct site_state *site)
{
	struct hook_table *old = site->table;
	uint32_t cap = old ? old->cap * 2 : FIRST_CAP;
	struct hook_table *table;

	if (old && find_free(old) < old->cap)
		return 0;
	table = calloc(1, sizeof(*table) + cap * sizeof(table->hook[0]));
	if (!table)
		return -ENOMEM;
	table->cap = cap;
	table->older = old;
	if (old) {
		table->nr = old->nr;
		table->only = old->only;
		memcpy(table->hook, old->hook, old->nr * sizeof(old->hook[0]));
	}
	site->table = table;
	if (site->site)
		__atomic_store_n(&site->site->hooks, table, __ATOMIC_RELEASE);
	return 0;
}

void hooks_insert(struct site_state *site, const struct hook *hook)
{
	hooks_store(site->table, find_free(site->table), hook);
	find_only(site);
	hooks_count(site, 1);
}

void hooks_remove(struct site_state *site, const struct hook *hook)
{
	static const struct hook nobody;
	uint32_t at = site->table ? hooks_find(site->table, hook) : 0;

	if (!site->table || at == site->table->nr)
		return;
	hooks_store(site->table, at, &nobody);
	find_only(site);
	hooks_count(site, -1);
}

void hooks_replace(struct site_state *site, const struct hook *old, const struct hook *hook)
{
	uint32_t at = site->table ? hooks_find(site->table, old) : 0;

	if (!site->table || at == site->table->nr)
		return;
	hooks_store(site->table, at, hook);
	find_only(site);
}

void hooks_drop_set(struct site_state *site, const struct ring_set *set)
{
	for (uint32_t i = 0; site->table && i < site->table->nr; i++) {
		const struct hook hook = site->table->hook[i];

		if (hook.binding && hook.binding->set == set)
			hooks_remove(site, &hook);
	}
}

void hooks_free(struct site_state *site)
{
	while (site->table) {
		struct hook_table *older = site->table->older;

		free(site->table);
		site->table = older;
	}
}
