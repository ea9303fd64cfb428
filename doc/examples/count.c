/* SPDX-License-Identifier: MIT */
/*
 * count.c - a program that counts at its own tracepoints, without a session and a daemon: typed
 * probes (ltt_typed(3)) have data of their own, and a marker (ltt_marker(3)) is written by a probe.
 *
 *   cc -o count count.c $(pkg-config --cflags --libs ltt)
 *   ./count
 *
 * Sessions may record the same events meanwhile: lttctl record -- ./count.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ltt/ltt.h>

LTT_TRACEPOINT(shop, order, (int id, const char *item, int cents), LTT_INFO, ltt_int(int, id, id),
	       ltt_string(item, item), ltt_int(int, cents, cents))

/* Probes run in all threads that hit the tracepoint: atomic operations, and no locks. */
struct count {
	const char *item;
	uint64_t orders, cents;
};

static void count_order(void *data, int id, const char *item, int cents)
{
	struct count *count = (struct count *)data;

	(void)id;
	if (count->item && strcmp(count->item, item) != 0)
		return;
	__atomic_fetch_add(&count->orders, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&count->cents, (uint64_t)cents, __ATOMIC_RELAXED);
}

/* The event shop_large has no call in the program: on_large() writes it, and runs at shop:order
 * while a session or a probe listens to shop_large. */
static void on_large(void *marker, int id, const char *item, int cents);
DEFINE_MARKER_TP(shop_large, shop, order, on_large, "id %d cents %d");

static void on_large(void *marker, int id, const char *item, int cents)
{
	(void)marker;
	(void)item;
	if (cents >= 1000)
		ltt_mark_write(shop_large, id, cents);
}

/* A probe of the marker reads the fields by their names. */
static void count_large(void *data, const struct ltt_event_view *event)
{
	struct count *count = (struct count *)data;
	int64_t cents;

	if (ltt_view_int(event, ltt_view_field(event, "cents"), &cents) != 0)
		return;
	__atomic_fetch_add(&count->orders, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&count->cents, (uint64_t)cents, __ATOMIC_RELAXED);
}

static void check(const char *call, int code)
{
	if (code >= 0)
		return;
	fprintf(stderr, "count: %s: %s\n", call, strerror(-code));
	exit(1);
}

static void print(const char *name, const struct count *count)
{
	printf("%s: %" PRIu64 " orders, %" PRIu64 " cents\n", name, count->orders, count->cents);
}

/* 100 orders of 50 to 1040 cents; each fourth is tea. */
static void sell(void)
{
	for (int id = 0; id < 100; id++)
		ltt_trace(shop, order, id, id % 4 ? "coffee" : "tea", 50 + 10 * id);
}

int main(void)
{
	struct count all = { NULL, 0, 0 }, tea = { "tea", 0, 0 }, large = { NULL, 0, 0 };
	struct ltt_probe *probe;

	sell(); /* before there is a probe */
	check("register", ltt_register_trace(shop, order, count_order, &all));
	check("register", ltt_register_trace(shop, order, count_order, &tea));
	check("register", ltt_probe_register("shop_large", NULL, count_large, &large, &probe));
	check("arm", ltt_probe_arm(probe));
	sell();
	check("unregister", ltt_unregister_trace(shop, order, count_order, &tea));
	ltt_probe_unregister(probe);
	sell();
	check("unregister", ltt_unregister_trace(shop, order, count_order, &all));
	ltt_probe_synchronize(); /* now the counts are final, and could be freed */
	sell();
	print("all", &all);
	print("tea", &tea);
	print("large", &large);
	return 0;
}
