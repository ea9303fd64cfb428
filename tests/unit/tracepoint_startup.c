/* SPDX-License-Identifier: GPL-2.0-only */
/* The cost of 200 sites at start-up, and the registry with many libraries. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ltt/probe.h>

#include "check.h"
#include "tracer_alone.h"

enum { SITES = 200, MANY = 5000 };

static const struct ltt_field fields[] = {
	{ .name = "id", .kind = LTT_KIND_INT, .size_bits = 32, .base = 10,
	  .flags = LTT_FIELD_SIGNED },
	{ .name = "length", .kind = LTT_KIND_INT, .size_bits = 64, .base = 10 },
	{ .name = "path", .kind = LTT_KIND_STRING, .size_bits = 8, .base = 10 },
};
static struct ltt_event events[MANY];
static struct ltt_site sites[MANY];
static struct ltt_site *list[MANY];
static char names[MANY][36];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void make_sites(int n, enum ltt_event_kind kind)
{
	for (int i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "startup:event_number_%d", i);
		events[i] = (struct ltt_event){
			.size = sizeof(events[i]), .field_size = sizeof(fields[0]),
			.name = names[i], .file = "startup.c", .function = "", .kind = (uint8_t)kind,
			.nr_fields = kind == LTT_EVENT_TRACEPOINT ? 3 : 0, .fields = fields,
			.format = kind == LTT_EVENT_MARKER ? "id %d length %ld path %s" : NULL,
		};
		sites[i] = (struct ltt_site){ .size = sizeof(sites[i]), .event = &events[i] };
		list[i] = &sites[i];
	}
}

static int count_points(void *data, const struct ltt_point_info *info)
{
	CHECK(info->nr_fields == 3 && info->nr_sites == 1);
	++*(int *)data;
	return 0;
}

static void measure(int n, enum ltt_event_kind kind, const char *what)
{
	uint64_t begin, registered, end;
	int points = 0;

	make_sites(n, kind);
	begin = now_ns();
	ltt_sites_register(list, list + n, LTT_SITE_ABI);
	registered = now_ns();
	CHECK(ltt_points_list(count_points, &points) == 0 && points == n);
	end = now_ns();
	ltt_sites_unregister(list, list + n);
	points = 0;
	CHECK(ltt_points_list(count_points, &points) == 0 && points == 0);
	printf("%d %s: registered in %.1f us, listed in %.1f, taken back in %.1f\n", n, what,
	       (double)(registered - begin) / 1e3, (double)(end - registered) / 1e3,
	       (double)(now_ns() - end) / 1e3);
}

int main(void)
{
	measure(SITES, LTT_EVENT_TRACEPOINT, "tracepoints, cold");
	measure(SITES, LTT_EVENT_TRACEPOINT, "tracepoints");
	measure(SITES, LTT_EVENT_MARKER, "markers");
	measure(MANY, LTT_EVENT_TRACEPOINT, "tracepoints");
	return 0;
}
