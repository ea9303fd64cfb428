// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * In-process probes: functions of the program as listeners. A probe is one
 * listener at each point of its name while it is armed. The list of probes is
 * under the registry's lock; calls run between reader_enter() and reader_exit().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ltt/probe.h>

#include "registry.h"
#include "tracer/ring/ring.h"

#define MAX_DEPTH 4u

/**
 * struct ltt_probe
 * @format: expected of markers; NULL until the first one appears.
 * @skipped: counted by traced threads.
 */
struct ltt_probe {
	struct limbo limbo;
	struct ltt_probe *next;
	ltt_probe_call call;
	void *priv;
	char *format;
	uint32_t armed;
	uint64_t skipped __attribute__((aligned(8))); /* on i386, too */
	char name[];
};

static struct ltt_probe *probes, **last = &probes;
static __thread uint32_t depth __attribute__((tls_model("initial-exec")));

bool probe_nest(void)
{
	if (depth >= MAX_DEPTH)
		return false;
	depth++;
	return true;
}

void probe_unnest(void)
{
	depth--;
}

void probe_call(struct ltt_probe *probe, const struct ltt_site *site, const void *payload,
		size_t len, size_t extra)
{
	const struct site_state *state = __atomic_load_n(&site->owner, __ATOMIC_ACQUIRE);

	if (!state)
		return;
	if (!probe_nest()) {
		__atomic_add_fetch(&probe->skipped, 1, __ATOMIC_RELAXED);
		return;
	}
	const struct ltt_event_view view = {
		.size = sizeof(view),
		.event = state->event,
		.fields = state->fields,
		.nr_fields = state->nr_fields,
		.payload = payload,
		.len = len + extra,
	};

	probe->call(probe->priv, &view);
	probe_unnest();
}

/* --- which points ------------------------------------------------------------------ */

/* Without an expected format, the first marker of the name decides. */
static bool adopt_format(struct ltt_probe *probe, const struct ltt_event *event)
{
	if (!probe->format)
		probe->format = strdup(event->format);
	return probe->format != NULL;
}

static bool agrees(struct ltt_probe *probe, const struct point_state *point)
{
	const struct ltt_event *event = point->pub.event;

	if (event->kind != LTT_EVENT_MARKER)
		return true;
	return adopt_format(probe, event) && strcmp(probe->format, event->format) == 0;
}

static int connect_point(struct ltt_probe *probe, struct point_state *point)
{
	struct listener *l = listener_new(NULL, probe);
	int res;

	if (!l)
		return -ENOMEM;
	res = point_attach(point, l);
	if (res < 0)
		free(l);
	return res;
}

static void disconnect_point(struct ltt_probe *probe, struct point_state *point)
{
	struct listener *l = point->listeners;

	while (l && l->hook.probe != probe)
		l = l->next;
	if (l)
		point_detach(point, l);
}

static void site_probe_disconnect(struct ltt_probe *probe)
{
	struct point_state *point;

	for (point = point_named(probe->name); point; point = point_next_named(point))
		disconnect_point(probe, point);
}

static int connect_all(struct ltt_probe *probe)
{
	struct point_state *point;
	int res = 0;

	for (point = point_named(probe->name); point && res == 0; point = point_next_named(point))
		if (agrees(probe, point))
			res = connect_point(probe, point);
	if (res < 0)
		site_probe_disconnect(probe);
	return res;
}

/* Also an unarmed probe notes the format, so that the earliest one counts. */
void probe_point_added(struct point_state *point)
{
	for (struct ltt_probe *probe = probes; probe; probe = probe->next) {
		if (strcmp(probe->name, point->pub.event->name) != 0)
			continue;
		if (agrees(probe, point) && probe->armed)
			(void)!connect_point(probe, point); /* no memory: not called there */
	}
}

/* --- registering ---------------------------------------------------------------------- */

static struct ltt_probe *new_probe(const char *name, const char *format, ltt_probe_call call,
				   void *priv)
{
	struct ltt_probe *probe = calloc(1, sizeof(*probe) + strlen(name) + 1);

	if (!probe)
		return NULL;
	strcpy(probe->name, name);
	probe->call = call;
	probe->priv = priv;
	probe->format = format ? strdup(format) : NULL;
	if (!format || probe->format)
		return probe;
	free(probe);
	return NULL;
}

static void destroy_probe(struct limbo *limbo)
{
	struct ltt_probe *probe = (struct ltt_probe *)limbo; /* its first member */

	free(probe->format);
	free(probe);
}

static uint32_t site_probe_count_points(struct ltt_probe *probe, bool agreeing)
{
	struct point_state *point;
	uint32_t nr = 0;

	for (point = point_named(probe->name); point; point = point_next_named(point))
		nr += agrees(probe, point) == agreeing;
	return nr;
}

int ltt_probe_register(const char *name, const char *format, ltt_probe_call call, void *priv,
		       struct ltt_probe **ret_probe)
{
	struct ltt_probe *probe;
	int res;

	if (!name || !name[0] || !call || !ret_probe)
		return -EINVAL;
	site_register_rest();
	registry_lock();
	probe = new_probe(name, format, call, priv);
	res = probe ? 0 : -ENOMEM;
	if (probe) {
		*last = probe;
		last = &probe->next;
		res = site_probe_count_points(probe, false) ? LTT_PROBE_CONFLICT : 0;
		*ret_probe = probe;
	}
	registry_unlock();
	return res;
}

static void unlink_probe(struct ltt_probe *probe)
{
	struct ltt_probe **at = &probes;

	while (*at != probe)
		at = &(*at)->next;
	*at = probe->next;
	if (last == &probe->next)
		last = at;
}

void ltt_probe_unregister(struct ltt_probe *probe)
{
	if (!probe)
		return;
	registry_lock();
	site_probe_disconnect(probe);
	unlink_probe(probe);
	limbo_add(&probe->limbo, destroy_probe);
	registry_unlock();
}

int ltt_probe_arm(struct ltt_probe *probe)
{
	int res = 0;

	registry_lock();
	if (!probe->armed)
		res = connect_all(probe);
	if (res == 0)
		res = (int)++probe->armed;
	registry_unlock();
	return res;
}

int ltt_probe_disarm(struct ltt_probe *probe)
{
	int res = -EALREADY;

	registry_lock();
	if (probe->armed) {
		res = (int)--probe->armed;
		if (!res)
			site_probe_disconnect(probe);
	}
	registry_unlock();
	return res;
}

int ltt_probe_synchronize(void)
{
	if (depth)
		return -EDEADLK;
	limbo_drain();
	return 0;
}

/* --- listing ------------------------------------------------------------------------------ */

int ltt_probe_conflicts(struct ltt_probe *probe,
			int (*each)(void *data, const struct ltt_probe_conflict *conflict),
			void *data)
{
	struct point_state *point;
	int nr = 0, res = 0;

	registry_lock();
	for (point = point_named(probe->name); point && !res; point = point_next_named(point)) {
		const struct ltt_event *event = point->pub.event;
		const struct ltt_probe_conflict conflict = {
			.name = probe->name,
			.expected = probe->format,
			.found = event->format,
			.file = event->file,
			.line = event->line,
			.nr_sites = point->pub.nr_sites,
		};

		if (agrees(probe, point))
			continue;
		nr++;
		res = each ? each(data, &conflict) : 0;
	}
	registry_unlock();
	return res ? res : nr;
}

int ltt_probes_list(int (*each)(void *data, const struct ltt_probe_info *probe), void *data)
{
	int res = 0;

	registry_lock();
	for (struct ltt_probe *probe = probes; probe && !res; probe = probe->next) {
		const struct ltt_probe_info info = {
			.size = sizeof(info),
			.probe = probe,
			.name = probe->name,
			.format = probe->format,
			.call = probe->call,
			.priv = probe->priv,
			.armed = probe->armed,
			.nr_points = site_probe_count_points(probe, true),
			.skipped = __atomic_load_n(&probe->skipped, __ATOMIC_RELAXED),
		};

		res = each(data, &info);
	}
	registry_unlock();
	return res;
}

static uint32_t count_listeners(const struct point_state *point)
{
	uint32_t nr = 0;

	for (const struct listener *l = point->listeners; l; l = l->next)
		nr++;
	return nr;
}

int ltt_points_list(int (*each)(void *data, const struct ltt_point_info *point), void *data)
{
	int res = 0;

	site_register_rest();
	registry_lock();
	for (struct point_state *point = point_first(); point && !res; point = point->next) {
		const struct ltt_point_info info = {
			.size = sizeof(info),
			.event = point->pub.event,
			.fields = point->pub.fields,
			.nr_fields = point->pub.nr_fields,
			.nr_sites = point->pub.nr_sites,
			.nr_listeners = count_listeners(point),
		};

		res = each(data, &info);
	}
	registry_unlock();
	return res;
}
