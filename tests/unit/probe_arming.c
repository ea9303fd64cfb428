/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes: counted arming, several on one point, sites that come later, lists, nesting, and
 * refusals. */
#include <errno.h>
#include <string.h>

#include <ltt/marker.h>
#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "check.h"
#include "tracer_alone.h"

LTT_TRACEPOINT(p, event, (int x), LTT_NOTICE, ltt_int(int, x, x))
LTT_TRACEPOINT(p, other, (int x), LTT_NOTICE, ltt_int(int, x, x))

static void count(void *priv, const struct ltt_event_view *view)
{
	(void)view;
	++*(int *)priv;
}

static struct ltt_probe *connect_counter(const char *name, int *counter)
{
	struct ltt_probe *probe = NULL;

	CHECK_IS(ltt_probe_register(name, NULL, count, counter, &probe), ==, 0);
	return probe;
}

static void test_counts(void)
{
	int calls = 0;
	struct ltt_probe *probe = connect_counter("p:event", &calls);

	ltt_trace(p, event, 1);
	CHECK(calls == 0 && !ltt_enabled(p, event));
	CHECK_IS(ltt_probe_disarm(probe), ==, -EALREADY);
	CHECK(ltt_probe_arm(probe) == 1 && ltt_probe_arm(probe) == 2);
	ltt_trace(p, event, 1);
	ltt_trace(p, other, 1);
	CHECK_IS(calls, ==, 1);
	CHECK_IS(ltt_probe_disarm(probe), ==, 1);
	ltt_trace(p, event, 1);
	CHECK_IS(calls, ==, 2);
	CHECK(ltt_probe_disarm(probe) == 0 && !ltt_enabled(p, event));
	ltt_trace(p, event, 1);
	CHECK_IS(calls, ==, 2);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	ltt_probe_unregister(probe);
	CHECK(!ltt_enabled(p, event));
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
}

static void test_many_on_one(void)
{
	enum { MANY = 100 };
	int calls[MANY] = { 0 };
	struct ltt_probe *probe[MANY];

	for (int i = 0; i < MANY; i++) {
		probe[i] = connect_counter("p:event", &calls[i]);
		CHECK_IS(ltt_probe_arm(probe[i]), ==, 1);
	}
	ltt_trace(p, event, 1);
	for (int i = 0; i < MANY; i++)
		CHECK_IS(calls[i], ==, 1);
	for (int i = 0; i < MANY; i += 2)
		ltt_probe_unregister(probe[i]);
	ltt_trace(p, event, 1);
	for (int i = 0; i < MANY; i++)
		CHECK_IS(calls[i], ==, 1 + i % 2);
	CHECK(ltt_enabled(p, event));
	for (int i = 1; i < MANY; i += 2)
		ltt_probe_unregister(probe[i]);
	CHECK(!ltt_enabled(p, event));
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
}

/* --- sites that come and go -------------------------------------------------------- */

static const struct ltt_field late_fields[] = {
	{ .name = "x",
	  .kind = LTT_KIND_INT,
	  .size_bits = 32,
	  .base = 10,
	  .flags = LTT_FIELD_SIGNED },
};
static const struct ltt_event late_event = {
	.size = sizeof(struct ltt_event),
	.field_size = sizeof(struct ltt_field),
	.nr_fields = 1,
	.name = "p:late",
	.fields = late_fields,
	.file = "late.c",
	.function = "",
	.kind = LTT_EVENT_TRACEPOINT,
	.loglevel = LTT_INFO,
};
static struct ltt_site late[2] = {
	{ .size = sizeof(struct ltt_site), .event = &late_event },
	{ .size = sizeof(struct ltt_site), .event = &late_event },
};
static struct ltt_site *const late_first[] = { &late[0], NULL, &late[0] };
static struct ltt_site *const late_second[] = { &late[1], &late[0] };

static void hit(struct ltt_site *site)
{
	unsigned char payload[4 + LTT_PAYLOAD_SLACK] = { 1 };

	if (ltt_site_armed(site))
		ltt_emit(site, payload, 4, 0);
}

static void test_later_sites(void)
{
	int calls = 0;
	struct ltt_probe *probe = connect_counter("p:late", &calls);

	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	ltt_sites_register(late_first, late_first + 3, LTT_SITE_ABI);
	hit(&late[0]);
	hit(&late[1]);
	CHECK_IS(calls, ==, 1);
	ltt_sites_register(late_second, late_second + 2, LTT_SITE_ABI);
	hit(&late[0]);
	hit(&late[1]);
	CHECK_IS(calls, ==, 3);
	ltt_sites_unregister(late_first, late_first + 3);
	hit(&late[0]);
	hit(&late[1]);
	CHECK(calls == 4 && !late[0].armed && !late[0].owner && !late[0].hooks);
	ltt_sites_unregister(late_second, late_second + 2);
	hit(&late[1]);
	CHECK(calls == 4 && !late[1].armed);
	ltt_sites_register(late_first, late_first + 3, LTT_SITE_ABI);
	hit(&late[0]);
	CHECK_IS(calls, ==, 5);
	ltt_probe_unregister(probe);
	ltt_sites_unregister(late_first, late_first + 3);
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
}

/* --- a site's own function ------------------------------------------------------------ */

static int nr_changes, listened_last = -1;

static void note_change(struct ltt_site *site, int listened)
{
	CHECK_IS(!!ltt_site_armed(site), ==, listened);
	nr_changes++;
	listened_last = listened;
}

static void changes_are(int nr, int listened)
{
	CHECK_IS(nr_changes, ==, nr);
	CHECK_IS(listened_last, ==, listened);
}

static void test_changed(void)
{
	struct ltt_event event = late_event;
	struct ltt_site site = { .size = sizeof(site), .event = &event, .changed = note_change };
	struct ltt_site *const list[] = { &site };
	int calls = 0;
	struct ltt_probe *probe = connect_counter("p:changed", &calls);
	struct ltt_probe *second = connect_counter("p:changed", &calls);

	event.name = "p:changed";
	ltt_sites_register(list, list + 1, LTT_SITE_ABI);
	changes_are(0, -1);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	changes_are(1, 1);
	CHECK_IS(ltt_probe_arm(second), ==, 1); /* not the first listener */
	changes_are(1, 1);
	CHECK_IS(ltt_probe_disarm(probe), ==, 0); /* not the last one */
	changes_are(1, 1);
	CHECK_IS(ltt_probe_disarm(second), ==, 0);
	changes_are(2, 0);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	changes_are(3, 1);
	ltt_sites_unregister(list, list + 1);
	changes_are(3, 1);
	site.size = LTT_SITE_LEAST; /* a site of older headers has no such member */
	ltt_sites_register(list, list + 1, LTT_SITE_ABI);
	CHECK(ltt_site_armed(&site) && nr_changes == 3);
	ltt_sites_unregister(list, list + 1);
	site.size = sizeof(site);
	ltt_sites_register(list, list + 1, LTT_SITE_ABI); /* the listener was there first */
	changes_are(4, 1);
	ltt_probe_unregister(probe);
	changes_are(5, 0);
	ltt_probe_unregister(second);
	ltt_sites_unregister(list, list + 1);
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
}

/* --- descriptions of another size, and broken ones --------------------------------- */

struct longer_field {
	struct ltt_field field;
	uint64_t new_member;
};
static const struct longer_field longer_fields[] = {
	{ { .name = "a", .kind = LTT_KIND_INT, .size_bits = 8, .base = 10 }, 77 },
	{ { .name = "b", .kind = LTT_KIND_INT, .size_bits = 16, .base = 16 }, 88 },
};
static int64_t longer_sum;

static void see_longer(void *priv, const struct ltt_event_view *view)
{
	int64_t a = 0, b = 0;

	(void)priv;
	CHECK_IS(ltt_view_int(view, ltt_view_field(view, "a"), &a), ==, 0);
	CHECK_IS(ltt_view_int(view, ltt_view_field(view, "b"), &b), ==, 0);
	longer_sum = a + b;
}

static void test_newer_program(void)
{
	static const unsigned char payload[3 + LTT_PAYLOAD_SLACK] = { 1, 2, 0 };
	struct ltt_event event = late_event;
	struct ltt_site site = { .size = sizeof(site) + 8, .event = &event };
	struct ltt_site *const list[] = { &site };
	struct ltt_probe *probe = NULL;

	event.name = "p:newer";
	event.nr_fields = 2;
	event.field_size = sizeof(struct longer_field);
	event.fields = &longer_fields[0].field;
	ltt_sites_register(list, list + 1, LTT_SITE_ABI);
	CHECK_IS(ltt_probe_register("p:newer", NULL, see_longer, NULL, &probe), ==, 0);
	CHECK(ltt_probe_arm(probe) == 1 && site.armed == LTT_SITE_LISTENED);
	ltt_emit(&site, payload, 3, 0);
	CHECK_IS(longer_sum, ==, 3);
	ltt_probe_unregister(probe);
	ltt_sites_unregister(list, list + 1);
}

static void refuse(struct ltt_event event, uint32_t site_size, uint32_t abi)
{
	struct ltt_site site = { .size = site_size, .event = &event };
	struct ltt_site *const list[] = { &site };

	ltt_sites_register(list, list + 1, abi);
	CHECK(!site.owner);
	ltt_sites_unregister(list, list + 1);
}

static void test_refused(void)
{
	const uint32_t good = sizeof(struct ltt_site);
	struct ltt_event event = late_event;
	struct ltt_probe *probe;

	refuse(event, LTT_SITE_LEAST - 1, LTT_SITE_ABI);
	refuse(event, good, LTT_SITE_ABI + 1);
	event.name = NULL;
	refuse(event, good, LTT_SITE_ABI);
	event.name = "";
	refuse(event, good, LTT_SITE_ABI);
	event = late_event;
	event.size = LTT_EVENT_LEAST - 1;
	refuse(event, good, LTT_SITE_ABI);
	event = late_event;
	event.kind = 9;
	refuse(event, good, LTT_SITE_ABI);
	event = late_event;
	event.fields = NULL;
	refuse(event, good, LTT_SITE_ABI);
	event = late_event;
	event.kind = LTT_EVENT_MARKER;
	refuse(event, good, LTT_SITE_ABI);
	event.format = "bad %n";
	refuse(event, good, LTT_SITE_ABI);

	CHECK_IS(ltt_probe_register(NULL, NULL, count, NULL, &probe), ==, -EINVAL);
	CHECK_IS(ltt_probe_register("", NULL, count, NULL, &probe), ==, -EINVAL);
	CHECK_IS(ltt_probe_register("x", NULL, NULL, NULL, &probe), ==, -EINVAL);
	CHECK_IS(ltt_probe_register("x", NULL, count, NULL, NULL), ==, -EINVAL);
	ltt_probe_unregister(NULL);
}

/* --- lists ------------------------------------------------------------------------------ */

struct listed {
	int points;
	int probes;
	uint32_t listeners;
};

static int list_point(void *data, const struct ltt_point_info *info)
{
	struct listed *listed = data;

	listed->points++;
	if (strcmp(info->event->name, "p:event") == 0) {
		CHECK(info->nr_fields == 1 && strcmp(info->fields[0].name, "x") == 0);
		CHECK(info->event->loglevel == LTT_NOTICE && info->nr_sites == 1);
		CHECK(strstr(info->event->file, "probe_arming.c"));
		listed->listeners = info->nr_listeners;
	}
	return 0;
}

static int list_probe(void *data, const struct ltt_probe_info *info)
{
	struct listed *listed = data;

	listed->probes++;
	if (strcmp(info->name, "p:event") == 0)
		CHECK(info->armed == 2 && info->nr_points == 1 && info->call == count);
	else
		CHECK(info->armed == 0 && info->nr_points == 0);
	return 0;
}

static int stop_at_once(void *data, const struct ltt_point_info *info)
{
	(void)data;
	(void)info;
	return 5;
}

static void test_lists(void)
{
	struct listed listed = { 0 };
	int calls = 0;
	struct ltt_probe *probe = connect_counter("p:event", &calls);
	struct ltt_probe *absent = connect_counter("p:absent", &calls);

	CHECK(ltt_probe_arm(probe) == 1 && ltt_probe_arm(probe) == 2);
	CHECK_IS(ltt_points_list(list_point, &listed), ==, 0);
	CHECK(listed.points == 4 && listed.listeners == 1);
	CHECK(ltt_probes_list(list_probe, &listed) == 0 && listed.probes == 2);
	CHECK_IS(ltt_points_list(stop_at_once, NULL), ==, 5);
	ltt_probe_unregister(probe);
	ltt_probe_unregister(absent);
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
	listed.probes = 0;
	CHECK(ltt_probes_list(list_probe, &listed) == 0 && listed.probes == 0);
}

/* --- probes that trace -------------------------------------------------------------------- */

LTT_TRACEPOINT(p, recursive, (int depth), LTT_INFO, ltt_int(int, depth, depth))

static int deepest;
static int synchronize_inside;

static void recurse(void *priv, const struct ltt_event_view *view)
{
	int64_t level = 0;

	(void)priv;
	CHECK_IS(ltt_view_int(view, 0, &level), ==, 0);
	deepest = (int)level > deepest ? (int)level : deepest;
	synchronize_inside = ltt_probe_synchronize();
	ltt_trace(p, recursive, (int)level + 1);
}

static int skipped(void *data, const struct ltt_probe_info *info)
{
	*(uint64_t *)data = info->skipped;
	return 0;
}

static void test_nesting(void)
{
	struct ltt_probe *probe = NULL;
	uint64_t left_out = 0;

	CHECK_IS(ltt_probe_register("p:recursive", NULL, recurse, NULL, &probe), ==, 0);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	ltt_trace(p, recursive, 1);
	CHECK(deepest == 4 && synchronize_inside == -EDEADLK);
	CHECK(ltt_probes_list(skipped, &left_out) == 0 && left_out == 1);
	ltt_probe_unregister(probe);
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
}

int main(void)
{
	trace_mark(p_marker, "n %d", 1);
	trace_mark(p_refused, "n %ls", L"wide");
	test_counts();
	test_many_on_one();
	test_later_sites();
	test_changed();
	test_newer_program();
	test_refused();
	test_lists();
	test_nesting();
	return 0;
}
