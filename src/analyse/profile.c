/* SPDX-License-Identifier: GPL-2.0-only */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/event.h"

#define NOISES 3.0
#define LEAST 0.05 /* of the larger figure */

struct profile *profile_new(int64_t from_ns, int64_t until_ns)
{
	struct profile *profile = xalloc(sizeof(*profile));

	idmap_init(&profile->map);
	profile->from_ns = from_ns;
	profile->duration_ns = event_ns_between(from_ns, until_ns) + 1;
	return profile;
}

void profile_free(struct profile *profile)
{
	struct profile_item *item;

	if (!profile)
		return;
	idmap_fini(&profile->map);
	while ((item = profile->items)) {
		profile->items = item->next;
		histogram_fini(&item->histogram);
		for (uint32_t i = 0; item->slices && i < PROFILE_SLICES; i++)
			histogram_fini(&item->slices[i]);
		free(item->slices);
		free(item);
	}
	free(profile);
}

static uint64_t profile_hash(enum profile_kind kind, const char *name)
{
	return idmap_hash_text(name) + (uint64_t)kind;
}

struct profile_item *profile_find(const struct profile *profile, enum profile_kind kind,
				  const char *name)
{
	struct idmap_node *node = idmap_find(&profile->map, profile_hash(kind, name));

	for (; node; node = idmap_next(&profile->map, node)) {
		struct profile_item *item = container_of(node, struct profile_item, node);

		if (item->kind == kind && strcmp(item->name, name) == 0)
			return item;
	}
	return NULL;
}

/* Return: NULL: there are too many. */
static struct profile_item *profile_item_of(struct profile *profile, enum profile_kind kind,
					    const char *name)
{
	struct profile_item *item = profile_find(profile, kind, name);

	if (item || profile->nr_items == PROFILE_ITEMS_MOST) {
		profile->left_out += !item;
		return item;
	}
	item = xalloc(sizeof(*item) + strlen(name) + 1);
	item->kind = kind;
	strcpy(item->name, name);
	if (kind == PROFILE_SPANS)
		item->slices = xalloc(PROFILE_SLICES * sizeof(*item->slices));
	item->next = profile->items;
	profile->items = item;
	profile->nr_items++;
	idmap_add(&profile->map, &item->node, profile_hash(kind, name));
	return item;
}

static uint32_t profile_slice(const struct profile *profile, int64_t ns)
{
	double part = (double)event_ns_between(profile->from_ns, ns) / (double)profile->duration_ns;

	return MIN((uint32_t)(part * PROFILE_SLICES), PROFILE_SLICES - 1);
}

void profile_take_event(struct profile *profile, const struct event *event)
{
	struct profile_item *item = profile_item_of(profile, PROFILE_EVENTS, event->ec->name);

	profile->events++;
	if (item)
		item->counts[profile_slice(profile, event->ns)]++;
}

void profile_take_span(struct profile *profile, const struct span *span)
{
	struct profile_item *item = profile_item_of(profile, PROFILE_SPANS, span->name);
	uint32_t slice = profile_slice(profile, span->from_ns);

	if (!item)
		return;
	item->counts[slice]++;
	histogram_add(&item->histogram, span->ns);
	histogram_add(&item->slices[slice], span->ns);
}

/* libm would be one more library to load at each start of lttctl. */
static double profile_root(double square)
{
	double root = square > 1 ? square : 1;

	for (int i = 0; i < 100 && root * root > square * (1 + 1e-12); i++)
		root = (root + square / root) / 2;
	return square > 0 ? root : 0;
}

/* --- figures ------------------------------------------------------------------------------ */

static double profile_slice_value(const struct profile *profile, const struct profile_item *item,
				  uint32_t slice, enum profile_figure figure)
{
	double seconds = (double)profile->duration_ns / 1e9 / PROFILE_SLICES;

	if (figure == PROFILE_RATE)
		return (double)item->counts[slice] / seconds;
	return (double)histogram_quantile(&item->slices[slice], figure == PROFILE_P50 ? 500 : 990);
}

/* Of all of it: the sum of the counts, or the quantile of all durations. */
static double profile_whole_value(const struct profile *profile, const struct profile_item *item,
				  enum profile_figure figure)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < PROFILE_SLICES; i++)
		count += item->counts[i];
	if (figure == PROFILE_RATE)
		return (double)count / ((double)profile->duration_ns / 1e9);
	return (double)histogram_quantile(&item->histogram, figure == PROFILE_P50 ? 500 : 990);
}

struct profile_value profile_value_of(const struct profile *profile,
				      const struct profile_item *item, enum profile_figure figure)
{
	struct profile_value value = { 0 };
	double sum = 0, squares = 0;
	uint32_t nr = 0;

	if (!item)
		return value;
	for (uint32_t i = 0; i < PROFILE_SLICES; i++) {
		double one = profile_slice_value(profile, item, i, figure);

		if (figure != PROFILE_RATE && !item->counts[i])
			continue;
		sum += one;
		squares += one * one;
		nr++;
	}
	value.value = profile_whole_value(profile, item, figure);
	if (nr < 2)
		value.noise = value.value;
	else
		value.noise = profile_root((squares - sum * sum / nr) / (nr - 1) / nr);
	return value;
}

bool profile_differs(const struct profile_value *a, const struct profile_value *b)
{
	double larger = MAX(a->value, b->value), difference = larger - MIN(a->value, b->value);
	double noise = a->noise * a->noise + b->noise * b->noise; /* its square */

	return difference * difference > NOISES * NOISES * noise && difference > LEAST * larger;
}
