/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions as listeners: arming by point, replacing without a gap, limits of a
 * thread, sites that come later. The ring is a double that counts. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <ltt/marker.h>
#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "check.h"
#include "ring_double.h"
#include "tracer/ring/ring.h"
#include "tracer/site/site.h"
#include "tracer_alone.h"

LTT_TRACEPOINT(a, one, (int x), LTT_INFO, ltt_int(int, x, x), ltt_nowrite(ltt_int(int, y, x + 1)))
LTT_TRACEPOINT(a, text, (const char *s), LTT_INFO, ltt_string(s, s))

static struct ring_set sets[40];

/* --- points as reported to the daemon -------------------------------------------- */

static uint32_t id_one, id_text, id_marker, id_late, nr_added, nr_removed;

static void added(const struct point *point, void *data)
{
	CHECK(data == &nr_added && point->id);
	nr_added++;
	if (strcmp(point->event->name, "a:one") == 0)
		id_one = point->id;
	if (strcmp(point->event->name, "a:text") == 0)
		id_text = point->id;
	if (strcmp(point->event->name, "a_mark") == 0) {
		id_marker = point->id;
		CHECK(point->nr_fields == 1 && strcmp(point->fields[0].name, "n") == 0);
	}
	if (strcmp(point->event->name, "a:late") == 0)
		id_late = point->id;
}

static void removed(uint32_t id, void *data)
{
	(void)data;
	CHECK(id);
	nr_removed++;
}

static const struct point_listener listener = { added, removed, &nr_added };

static void mark(int n)
{
	trace_mark(a_mark, "n %d", n);
}

static uint64_t records(int set, int event)
{
	return __atomic_load_n(&sets[set].records[event], __ATOMIC_RELAXED);
}

static void reset(void)
{
	memset(sets, 0, sizeof(sets));
}

static void test_arm(void)
{
	reset();
	sets[0].keep = 1;
	CHECK_IS(site_arm(99999, &sets[0], 1, 1, 0, NULL), ==, -ENOENT);
	CHECK_IS(site_arm(id_one, &sets[0], 1, 3, 0, NULL), ==, 0);
	CHECK_IS(site_arm(id_one, &sets[0], 1, 3, 0, NULL), ==, 1);
	ltt_trace(a, one, 0x01020304);
	CHECK(records(0, 3) == 1 && sets[0].last_len == 4 && sets[0].last[0] == 4);
	/* another id in the same set replaces the first */
	CHECK_IS(site_arm(id_one, &sets[0], 1, 4, 0, NULL), ==, 0);
	ltt_trace(a, one, 1);
	CHECK(records(0, 3) == 1 && records(0, 4) == 1);
	CHECK_IS(site_arm(id_marker, &sets[0], 1, 5, 0, NULL), ==, 0);
	mark(7);
	CHECK(records(0, 5) == 1 && sets[0].last_len == 4 && sets[0].last[0] == 7);
	CHECK_IS(site_disarm(id_one, &sets[1]), ==, -ENOENT);
	CHECK_IS(site_disarm(id_one, &sets[0]), ==, 0);
	CHECK(site_disarm(id_one, &sets[0]) == -ENOENT && !ltt_enabled(a, one));
	ltt_trace(a, one, 1);
	CHECK_IS(records(0, 4), ==, 1);
	site_disarm_all(&sets[0]);
	mark(8);
	CHECK_IS(records(0, 5), ==, 1);
	reader_synchronize();
}

static void test_many_sessions(void)
{
	reset();
	for (int i = 0; i < 40; i++)
		CHECK_IS(site_arm(id_one, &sets[i], (uint32_t)i + 1, 1, 0, NULL), ==, 0);
	ltt_trace(a, one, 1);
	for (int i = 0; i < 40; i += 3)
		CHECK_IS(site_disarm(id_one, &sets[i]), ==, 0);
	ltt_trace(a, one, 1);
	for (int i = 0; i < 40; i++)
		CHECK_IS(records(i, 1), ==, (i % 3 ? 2 : 1));
	for (int i = 0; i < 40; i++)
		site_disarm_all(&sets[i]);
	CHECK(!ltt_enabled(a, one));
}

/* Hundreds of thousands of changes leave nothing behind. */
static void test_churn(void)
{
	reset();
	for (int i = 0; i < 20000; i++) {
		CHECK_IS(site_arm(id_one, &sets[i % 3], 1, 1, 0, NULL), ==, 0);
		ltt_trace(a, one, 1);
		CHECK_IS(site_disarm(id_one, &sets[i % 3]), ==, 0);
	}
	CHECK_IS(records(0, 1) + records(1, 1) + records(2, 1), ==, 20000);
}

static void test_limits(void)
{
	reset();
	CHECK_IS(site_arm(id_one, &sets[0], 1, 1, 0, NULL), ==, 0);
	CHECK_IS(site_arm(id_one, &sets[1], 2, 1, 0, NULL), ==, 0);
	site_only_session(2);
	ltt_trace(a, one, 1);
	site_mute();
	ltt_trace(a, one, 1);
	site_mute();
	site_unmute();
	ltt_trace(a, one, 1);
	site_unmute();
	ltt_trace(a, one, 1);
	site_only_session(0);
	CHECK(records(0, 1) == 0 && records(1, 1) == 2);
	site_mute();
	ltt_trace(a, one, 1);
	mark(1);
	site_unmute();
	ltt_trace(a, one, 1);
	CHECK(records(0, 1) == 1 && records(1, 1) == 3);
	site_disarm_all(&sets[0]);
	site_disarm_all(&sets[1]);
}

static void test_oversize(void)
{
	size_t huge = 70000;
	char *text = malloc(huge + 1);

	CHECK(text);
	memset(text, 'h', huge);
	text[huge] = '\0';
	reset();
	CHECK_IS(site_arm(id_text, &sets[0], 1, 1, 0, NULL), ==, 0);
	CHECK_IS(site_arm(id_text, &sets[1], 2, 1, 0, NULL), ==, 0);
	ltt_trace(a, text, text);
	CHECK(records(0, 1) == 0 && sets[0].lost_size == 1 && sets[1].lost_size == 1);
	site_only_session(2);
	ltt_trace(a, text, text);
	site_only_session(0);
	site_mute();
	ltt_trace(a, text, text);
	site_unmute();
	CHECK(sets[0].lost_size == 1 && sets[1].lost_size == 2);
	text[60000] = '\0';
	ltt_trace(a, text, text);
	CHECK(records(0, 1) == 1 && records(1, 1) == 1);
	site_disarm_all(&sets[0]);
	site_disarm_all(&sets[1]);
	free(text);
}

/* --- sites of an armed point that appear later ------------------------------------------ */

static const struct ltt_event late_event = {
	.size = sizeof(struct ltt_event),
	.field_size = sizeof(struct ltt_field),
	.name = "a:late",
	.file = "",
	.function = "",
	.kind = LTT_EVENT_TRACEPOINT,
};
static struct ltt_site late[2] = {
	{ .size = sizeof(struct ltt_site), .event = &late_event },
	{ .size = sizeof(struct ltt_site), .event = &late_event },
};
static struct ltt_site *const late_list[] = { &late[0], &late[1] };

static void hit(struct ltt_site *site)
{
	static const unsigned char payload[LTT_PAYLOAD_SLACK];

	if (ltt_site_armed(site))
		ltt_emit(site, payload, 0, 0);
}

static void test_late(void)
{
	uint32_t before = nr_added, gone = nr_removed, first;

	reset();
	ltt_sites_register(late_list, late_list + 1, LTT_SITE_ABI);
	CHECK_IS(nr_added, ==, before + 1);
	first = id_late;
	CHECK_IS(site_arm(id_late, &sets[0], 1, 1, 0, NULL), ==, 0);
	ltt_sites_register(late_list + 1, late_list + 2, LTT_SITE_ABI);
	CHECK_IS(nr_added, ==, before + 1);
	hit(&late[0]);
	hit(&late[1]);
	CHECK_IS(records(0, 1), ==, 2);
	ltt_sites_unregister(late_list, late_list + 1);
	CHECK_IS(nr_removed, ==, gone);
	hit(&late[0]);
	hit(&late[1]);
	CHECK_IS(records(0, 1), ==, 3);
	ltt_sites_unregister(late_list + 1, late_list + 2);
	CHECK(nr_removed == gone + 1 && site_disarm(first, &sets[0]) == -ENOENT);
	ltt_sites_register(late_list, late_list + 1, LTT_SITE_ABI);
	CHECK(id_late != first && !late[0].armed);
	ltt_sites_unregister(late_list, late_list + 1);
}

/* --- replacing while threads trace ------------------------------------------------------- */

enum { THREADS = 3, SWAPS = 2000 };
static int stop;
static uint64_t emitted;

static void *trace(void *arg)
{
	uint64_t n = 0;

	(void)arg;
	do {
		ltt_trace(a, one, 1);
		n++;
	} while (!__atomic_load_n(&stop, __ATOMIC_RELAXED));
	__atomic_add_fetch(&emitted, n, __ATOMIC_RELAXED);
	return NULL;
}

static void test_replace(void)
{
	pthread_t thread[THREADS];
	uint64_t recorded = 0;

	reset();
	CHECK_IS(site_arm(id_one, &sets[0], 1, 1, 0, NULL), ==, 0);
	for (int i = 0; i < THREADS; i++)
		CHECK_IS(pthread_create(&thread[i], NULL, trace, NULL), ==, 0);
	for (int i = 0; i < SWAPS; i++) {
		CHECK_IS(site_arm(id_one, &sets[(i + 1) % 40], 1, 1, 0, &sets[i % 40]), ==, 0);
		CHECK_IS(site_disarm(id_one, &sets[i % 40]), ==, -ENOENT);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 40; i++)
		recorded += records(i, 1);
	CHECK_IS(recorded, ==, emitted);
	site_disarm_all(&sets[SWAPS % 40]);
	CHECK(!ltt_enabled(a, one));
}

int main(void)
{
	site_listen(&listener);
	CHECK(nr_added == 3 && id_one && id_text && id_marker);
	test_arm();
	test_many_sessions();
	test_churn();
	test_limits();
	test_oversize();
	test_late();
	test_replace();
	site_listen(NULL);
	return 0;
}
