/* SPDX-License-Identifier: GPL-2.0-only */
#include "counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/event.h"

struct counters {
	char *text;
	struct counter *all;
	uint32_t nr;
};

static bool counters_add(struct counters *counters, char *pair)
{
	char *comma = strchr(pair, ',');
	struct counter *counter;

	if (!comma || comma == pair || !comma[1] || strchr(comma + 1, ','))
		return false;
	*comma = '\0';
	counters->all = xrealloc(counters->all, (counters->nr + 1) * sizeof(*counters->all));
	counter = &counters->all[counters->nr++];
	*counter = (struct counter){ .event = pair,
				     .field = comma + 1,
				     .name = xasprintf("%s.%s", pair, comma + 1) };
	return true;
}

struct counters *counters_new(const char *spec)
{
	struct counters *counters = xalloc(sizeof(*counters));
	char *rest, *pair;

	counters->text = rest = xstrdup(spec ? spec : "");
	while (spec && (pair = strsep(&rest, ";")))
		if (!counters_add(counters, pair)) {
			counters_free(counters);
			return NULL;
		}
	return counters;
}

void counters_free(struct counters *counters)
{
	for (uint32_t i = 0; counters && i < counters->nr; i++)
		free(counters->all[i].name);
	if (counters) {
		free(counters->all);
		free(counters->text);
	}
	free(counters);
}

uint32_t counters_count(const struct counters *counters)
{
	return counters->nr;
}

bool counters_have(const struct counters *counters, const char *event)
{
	for (uint32_t i = 0; i < counters->nr; i++)
		if (strcmp(counters->all[i].event, event) == 0)
			return true;
	return false;
}

static bool counters_value(const struct event *event, const char *field, double *ret)
{
	const struct value *value = value_member(event->fields, field);

	if (!value || !type_is_scalar(value->type))
		return false;
	*ret = value->type->kind == TYPE_FLOAT ? value->d :
	       value->type->is_signed	       ? (double)(int64_t)value->u :
						 (double)value->u;
	return true;
}

struct counter *counters_next(struct counters *counters, const struct event *event, uint32_t *at,
			      double *ret)
{
	while (*at < counters->nr) {
		struct counter *counter = &counters->all[(*at)++];

		if (strcmp(event->ec->name, counter->event) == 0 &&
		    counters_value(event, counter->field, ret))
			return counter;
	}
	return NULL;
}
