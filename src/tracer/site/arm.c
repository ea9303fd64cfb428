// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arms and disarms points: a session's ring set becomes a listener of a point. Called by the helper
 * thread on the daemon's requests.
 */
#include <errno.h>
#include <stdlib.h>

#include "registry.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/rseq.h"

static struct listener *site_arm_find_set(const struct point_state *point,
					  const struct ring_set *set)
{
	struct listener *l = set ? point->listeners : NULL;

	while (l && (!l->hook.binding || l->binding.set != set))
		l = l->next;
	return l;
}

/* A listener that is there already under another id, or for the set that is replaced, is replaced
 * by the new one. */
static int site_arm_point(struct point_state *point, const struct binding *binding,
			  struct ring_set *replaces)
{
	struct listener *present = site_arm_find_set(point, binding->set);
	struct listener *old = site_arm_find_set(point, replaces);
	struct listener *l;
	int res = 0;

	if (present && present->binding.id == binding->id &&
	    present->binding.preparation == binding->preparation &&
	    present->binding.session == binding->session) {
		if (old && old != present)
			point_detach(point, old);
		return 1;
	}
	l = listener_new(binding, NULL);
	if (!l)
		return -ENOMEM;
	if (present && old && present != old)
		point_detach(point, old);
	if (present || old)
		point_swap(point, present ? present : old, l);
	else
		res = point_attach(point, l);
	if (res < 0)
		free(l);
	return res;
}

int site_arm(uint32_t id, struct ring_set *set, uint32_t session, uint32_t event_id,
	     uint32_t preparation, struct ring_set *replaces)
{
	struct point_state *point;
	struct binding binding;
	int res;

	registry_lock();
	/* see site_stop_sequences() */
	binding = ring_binding_prepared(set, event_id, session, preparation);
	point = point_find(id);
	res = point ? site_arm_point(point, &binding, replaces) : -ENOENT;
	registry_unlock();
	limbo_drain_if_full();
	return res;
}

static int site_disarm_point(struct point_state *point, const struct ring_set *set)
{
	struct listener *l = site_arm_find_set(point, set);

	if (!l)
		return -ENOENT;
	point_detach(point, l);
	return 0;
}

int site_disarm(uint32_t id, struct ring_set *set)
{
	struct point_state *point;
	int res;

	registry_lock();
	point = point_find(id);
	res = point ? site_disarm_point(point, set) : -ENOENT;
	registry_unlock();
	limbo_drain_if_full();
	return res;
}

void site_disarm_all(struct ring_set *set)
{
	registry_lock();
	for (struct point_state *point = point_first(); point; point = point->next)
		site_disarm_point(point, set);
	registry_unlock();
}

void site_stop_sequences(void)
{
	ring_stop_sequences();
	registry_lock();
	for (struct point_state *point = point_first(); point; point = point->next) {
		for (struct listener *l = point->listeners; l; l = l->next) {
			ring_binding_stop(&l->binding);
			counter_stop(&l->counter);
		}
	}
	registry_unlock();
}

void site_stop_set(const struct ring_set *set)
{
	registry_lock();
	for (struct point_state *point = point_first(); point; point = point->next) {
		struct listener *l = site_arm_find_set(point, set);

		if (l)
			ring_binding_stop(&l->binding);
	}
	registry_unlock();
}
