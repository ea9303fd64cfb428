/* SPDX-License-Identifier: GPL-2.0-only */
#include "increments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sessiond/sessiond.h"

int increments_check(const struct domain_tracer *tracer, struct err *err)
{
	if (tracer->ops->maps)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       "map channels of the kernel are not there yet, as its module does not keep "
		       "counts for a session daemon that is started again; use 'lttctl enable-event "
		       "--kernel --count'");
}

static struct map *increments_map(struct sessiond *sd, const struct trigger *trigger,
				  const struct trigger_action *action, struct session **ret_session)
{
	const struct caller owner = { trigger->uid, trigger->gid };
	struct err ignored = { 0 };

	*ret_session = NULL;
	if (action->kind != ACTION_INCR_MAP ||
	    session_find(&sd->sessions, &owner, action->session, ret_session, &ignored))
		return NULL;
	return session_find_map(*ret_session, trigger->domain, action->channel);
}

static void increments_collect(struct sessiond *sd)
{
	const struct trigger *trigger;
	struct session *session;
	struct map *map;

	list_for_each(trigger, &sd->triggers.list, node)
		for (uint32_t i = 0; i < trigger->nr_actions; i++) {
			map = increments_map(sd, trigger, &trigger->actions[i], &session);
			if (map)
				map_add_rule(map, trigger->match, trigger->actions[i].key);
		}
}

/** Sessions whose maps have other rules now, and are not refreshed yet. */
struct increments_wait {
	unsigned int left;
	void (*done)(void *data);
	void *data;
};

static void increments_refreshed(void *data, uint32_t apps, uint32_t late,
				 const struct err *problem)
{
	struct increments_wait *wait = data;

	(void)apps, (void)late, (void)problem;
	if (--wait->left)
		return;
	if (wait->done)
		wait->done(wait->data);
	free(wait);
}

/** The rules of a map before a change. */
struct increments_before {
	struct map_rule *rules;
	uint32_t nr;
};

static struct increments_before increments_take(struct map *map)
{
	const struct increments_before before = { map->rules, map->nr_rules };

	map->rules = NULL;
	map->nr_rules = 0;
	return before;
}

static bool increments_changed(const struct map *map, const struct increments_before *before)
{
	return map->nr_rules != before->nr ||
	       (before->nr &&
		memcmp(map->rules, before->rules, before->nr * sizeof(*map->rules)) != 0);
}

static uint32_t increments_nr_maps(const struct sessiond *sd)
{
	const struct session *session;
	uint32_t nr = 0;

	list_for_each(session, &sd->sessions.list, node)
		nr += session->nr_maps;
	return nr;
}

/* The rules of earlier times are compared by their addresses, and not read: their trigger may be
 * free. */
bool increments_refresh(struct sessiond *sd, void (*done)(void *data), void *data)
{
	AUTO_FREE struct increments_before *before =
		xalloc((increments_nr_maps(sd) + 1) * sizeof(*before));
	struct increments_wait *wait = xalloc(sizeof(*wait));
	struct domain_tracer *tracer;
	struct session *session;
	struct map *map;
	size_t at = 0;

	*wait = (struct increments_wait){ 1, done, data };
	list_for_each(session, &sd->sessions.list, node)
		list_for_each(map, &session->maps, node)
			before[at++] = increments_take(map);
	increments_collect(sd);
	at = 0;
	list_for_each(session, &sd->sessions.list, node) {
		bool changed[DOMAINS_NR] = { false };

		list_for_each(map, &session->maps, node) {
			changed[map->domain] |= increments_changed(map, &before[at]);
			free(before[at++].rules);
		}
		domains_each(tracer, &sd->domains)
		{
			if (!changed[tracer->ops->id])
				continue;
			wait->left++;
			tracer->ops->refresh(tracer, session, increments_refreshed, wait);
		}
	}
	if (wait->left == 1) {
		free(wait);
		return false;
	}
	increments_refreshed(wait, 0, 0, NULL);
	return true;
}

void increments_problem(struct sessiond *sd, const struct trigger *trigger, char *ret, size_t len)
{
	struct session *session;

	for (uint32_t i = 0; i < trigger->nr_actions; i++) {
		const struct trigger_action *action = &trigger->actions[i];

		if (action->kind != ACTION_INCR_MAP ||
		    increments_map(sd, trigger, action, &session))
			continue;
		if (session)
			snprintf(ret, len,
				 "waits for its map channel: session '%.100s' has no map channel "
				 "'%.100s'",
				 action->session, action->channel);
		else
			snprintf(ret, len, "waits for its session: there is no session '%.200s'",
				 action->session);
		return;
	}
}
