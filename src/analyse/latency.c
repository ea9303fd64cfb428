/* SPDX-License-Identifier: GPL-2.0-only */
#include "latency.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct latency *latency_new(uint32_t most_slowest)
{
	struct latency *latency = xalloc(sizeof(*latency));

	idmap_init(&latency->map);
	latency->groups = xalloc(LATENCY_GROUPS_MOST * sizeof(struct latency_group *));
	latency->slowest = xalloc((most_slowest + 1) * sizeof(*latency->slowest));
	latency->most_slowest = most_slowest;
	return latency;
}

static void latency_forget(struct latency_slow *slow)
{
	free(slow->name);
	free(slow->procname);
}

void latency_free(struct latency *latency)
{
	if (!latency)
		return;
	idmap_fini(&latency->map);
	for (uint32_t i = 0; i < latency->nr_groups; i++) {
		histogram_fini(&latency->groups[i]->histogram);
		free(latency->groups[i]);
	}
	for (uint32_t i = 0; i < latency->nr_slowest; i++)
		latency_forget(&latency->slowest[i]);
	free(latency->groups);
	free(latency->slowest);
	free(latency);
}

struct latency_group *latency_group_of(struct latency *latency, const char *label)
{
	uint64_t hash = idmap_hash_text(label);
	struct idmap_node *node = idmap_find(&latency->map, hash);
	struct latency_group *group;

	for (; node; node = idmap_next(&latency->map, node)) {
		group = container_of(node, struct latency_group, node);
		if (strcmp(group->label, label) == 0)
			return group;
	}
	if (latency->nr_groups == LATENCY_GROUPS_MOST)
		return NULL;
	group = xalloc(sizeof(*group) + strlen(label) + 1);
	strcpy(group->label, label);
	group->number = latency->nr_groups;
	latency->groups[latency->nr_groups++] = group;
	idmap_add(&latency->map, &group->node, hash);
	return group;
}

/* Of equal ones the first stays in front. */
static void latency_take_slow(struct latency *latency, const struct latency_group *group,
			      const struct span *span)
{
	struct latency_slow *slowest = latency->slowest;
	uint32_t at = latency->nr_slowest;

	if (at == latency->most_slowest && (!at || span->ns <= slowest[at - 1].span.ns))
		return;
	while (at && slowest[at - 1].span.ns < span->ns)
		at--;
	memmove(&slowest[at + 1], &slowest[at], (latency->nr_slowest - at) * sizeof(*slowest));
	slowest[at] = (struct latency_slow){ .span = *span, .group = group };
	slowest[at].span.name = NULL;
	slowest[at].span.procname = NULL;
	slowest[at].name = xstrdup(span->name);
	slowest[at].procname =
		xasprintf("%.*s", (int)MIN(span->procname_len, (size_t)256),
			  span->procname ? span->procname : "");
	if (latency->nr_slowest == latency->most_slowest)
		latency_forget(&slowest[latency->most_slowest]);
	else
		latency->nr_slowest++;
}

void latency_take(struct latency *latency, struct latency_group *group, const struct span *span)
{
	if (!group) {
		latency->left_out++;
		return;
	}
	histogram_add(&group->histogram, span->ns);
	group->lossy += span->lossy;
	group->failed += span->failed;
	latency_take_slow(latency, group, span);
}

static int latency_compare(const void *a, const void *b)
{
	const struct latency_group *x = *(const struct latency_group *const *)a;
	const struct latency_group *y = *(const struct latency_group *const *)b;

	if (x->histogram.total != y->histogram.total)
		return x->histogram.total > y->histogram.total ? -1 : 1;
	return strcmp(x->label, y->label);
}

void latency_sort(struct latency *latency)
{
	qsort(latency->groups, latency->nr_groups, sizeof(struct latency_group *), latency_compare);
}
