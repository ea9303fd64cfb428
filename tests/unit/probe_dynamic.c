/* SPDX-License-Identifier: GPL-2.0-only */
/* Providers that are described at run time: emissions from a buffer and in pieces, errors of each,
 * and removal beside threads that emit. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <ltt/probe.h>
#include <ltt/provider.h>

#include "check.h"
#include "tracer_alone.h"

static const struct ltt_enum_entry entries[] = { { "ONE", 1, 1 } };
static const struct ltt_enum labels = { "labels", entries, 1, 0 };
static const struct ltt_field fields[] = {
	{ .name = "i", .kind = LTT_KIND_INT, .size_bits = 16, .flags = LTT_FIELD_SIGNED },
	{ .name = "n", .kind = LTT_KIND_INT, .size_bits = 32, .flags = LTT_FIELD_BIG_ENDIAN },
	{ .name = "e", .kind = LTT_KIND_ENUM, .size_bits = 8, .enumeration = &labels },
	{ .name = "f", .kind = LTT_KIND_FLOAT, .size_bits = 32 },
	{ .name = "s", .kind = LTT_KIND_STRING },
	{ .name = "a", .kind = LTT_KIND_ARRAY, .size_bits = 16, .count = 2 },
	{ .name = "t", .kind = LTT_KIND_ARRAY, .size_bits = 8, .count = 4, .flags = LTT_FIELD_TEXT },
	{ .name = "q", .kind = LTT_KIND_SEQUENCE, .size_bits = 8, .length_bits = 8 },
	{ .name = "hidden", .kind = LTT_KIND_INT, .size_bits = 64, .flags = LTT_FIELD_NOWRITE },
};
#define NR_FIELDS (sizeof(fields) / sizeof(fields[0]))

static int nr_changes;

static void note_change(void *data, int listened)
{
	CHECK(data == &nr_changes && listened == !(nr_changes % 2));
	nr_changes++;
}

static int flag;

static const struct ltt_provider_event events[] = {
	{ sizeof(events[0]), NR_FIELDS, LTT_INFO, 0, "all", fields, note_change, &nr_changes },
	{ sizeof(events[0]), 0, LTT_WARNING, 0, "empty", NULL, ltt_provider_flag, &flag },
};

/* --- the listener --------------------------------------------------------------------------- */

static unsigned int nr_seen;
static unsigned char seen[70000];
static size_t seen_bytes;

static void see(void *data, const struct ltt_event_view *view)
{
	(void)data;
	nr_seen++;
	seen_bytes = view->len;
	memcpy(seen, view->payload, view->len);
}

static struct ltt_probe *listen_to(const char *name)
{
	struct ltt_probe *probe = NULL;

	CHECK_IS(ltt_probe_register(name, NULL, see, NULL, &probe), ==, 0);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	return probe;
}

static void write_values(struct ltt_pieces *pieces)
{
	static const uint16_t two[] = { 7, 8 };

	ltt_pieces_int(pieces, -2);
	ltt_pieces_uint(pieces, 0x01020304);
	ltt_pieces_int(pieces, 1);
	ltt_pieces_float(pieces, 1.5);
	ltt_pieces_text(pieces, "ab\0c", 4);
	ltt_pieces_elements(pieces, two, 2);
	ltt_pieces_text(pieces, "xy", 2);
	ltt_pieces_elements(pieces, "123", 3);
	ltt_pieces_uint(pieces, 9);
}

static int end_after(struct ltt_provider *provider, void (*write)(struct ltt_pieces *pieces))
{
	struct ltt_pieces pieces;

	ltt_pieces_begin(&pieces, provider, 0);
	write(&pieces);
	return ltt_pieces_end(&pieces);
}

static const unsigned char wanted[] = { 0xfe, 0xff, 1,	 2, 3,	 4,   1, 0, 0, 0xc0, 0x3f, 'a',
					'b',  0,    7,	 0, 8,	 0,   'x', 'y', 0, 0, 3,    '1',
					'2',  '3',  9,	 0, 0,	 0,   0, 0, 0, 0 };

/* Until it is 1, and returns at once where it is another one already. */
static void *await_flag(void *arg)
{
	(void)arg;
	CHECK_IS(ltt_provider_flag_wait(&flag, -1), !=, -1);
	return ltt_provider_flag_wait(&flag, 0) == 1 ? &flag : NULL;
}

static void test_emissions(struct ltt_provider *provider)
{
	struct ltt_probe *probe;
	pthread_t thread;
	void *value;

	CHECK(!ltt_provider_listened(provider, 0) && !nr_changes);
	CHECK_IS(end_after(provider, write_values), ==, 0);
	probe = listen_to("dynamic:all");
	CHECK(ltt_provider_listened(provider, 0) && nr_changes == 1);
	CHECK_IS(end_after(provider, write_values), ==, 0);
	CHECK_IS(nr_seen, ==, 1);
	CHECK_IS(seen_bytes, ==, sizeof(wanted));
	CHECK(memcmp(seen, wanted, sizeof(wanted)) == 0);
	memset(seen, 0, sizeof(seen));
	CHECK_IS(ltt_provider_emit(provider, 0, wanted, sizeof(wanted)), ==, 0);
	CHECK(nr_seen == 2 && memcmp(seen, wanted, sizeof(wanted)) == 0);
	for (size_t len = 0; len < sizeof(wanted); len++)
		CHECK_IS(ltt_provider_emit(provider, 0, wanted, len), ==, -EINVAL);
	CHECK_IS(ltt_provider_emit(provider, 2, wanted, 0), ==, -EINVAL);
	CHECK_IS(ltt_provider_emit(provider, 1, NULL, 0), ==, 0); /* not listened */
	CHECK_IS(nr_seen, ==, 2);
	ltt_probe_unregister(probe);
	CHECK_IS(nr_changes, ==, 2);
	CHECK_IS(flag, ==, 0);
	CHECK_IS(pthread_create(&thread, NULL, await_flag, NULL), ==, 0);
	probe = listen_to("dynamic:empty");
	CHECK_IS(flag, ==, 1);
	ltt_probe_unregister(probe);
	CHECK_IS(flag, ==, 0);
	probe = listen_to("dynamic:empty");
	CHECK_IS(pthread_join(thread, &value), ==, 0);
	CHECK(value == &flag);
	ltt_probe_unregister(probe);
}

static void test_loggers(const struct ltt_provider *provider)
{
	char name[LTT_PROVIDER_LOGGER_MAX + 2] = { 0 };

	CHECK_IS(ltt_provider_logger(provider, ""), ==, -EINVAL);
	memset(name, 'x', LTT_PROVIDER_LOGGER_MAX + 1);
	CHECK_IS(ltt_provider_logger(provider, name), ==, -EINVAL);
	name[LTT_PROVIDER_LOGGER_MAX] = '\0';
	for (int i = 0; i < LTT_PROVIDER_LOGGERS_MAX; i++)
		CHECK_IS(ltt_provider_logger(provider, i ? "shop.db" : name), ==, 0);
	CHECK_IS(ltt_provider_logger(provider, "shop.db"), ==, -ENOSPC);
}

static void too_few(struct ltt_pieces *pieces)
{
	ltt_pieces_int(pieces, 1);
}

static void too_large(struct ltt_pieces *pieces)
{
	ltt_pieces_int(pieces, 32768);
}

static void negative(struct ltt_pieces *pieces)
{
	ltt_pieces_int(pieces, 1);
	ltt_pieces_int(pieces, -1);
}

static void other_kind(struct ltt_pieces *pieces)
{
	ltt_pieces_float(pieces, 1);
}

static void too_many(struct ltt_pieces *pieces)
{
	write_values(pieces);
	ltt_pieces_uint(pieces, 9);
}

static void test_errors(struct ltt_provider *provider)
{
	struct ltt_probe *probe = listen_to("dynamic:all");

	nr_seen = 0;
	CHECK_IS(end_after(provider, too_few), ==, -EINVAL);
	CHECK_IS(end_after(provider, too_large), ==, -ERANGE);
	CHECK_IS(end_after(provider, negative), ==, -ERANGE);
	CHECK_IS(end_after(provider, other_kind), ==, -EINVAL);
	CHECK_IS(end_after(provider, too_many), ==, -EINVAL);
	CHECK_IS(nr_seen, ==, 0);
	ltt_probe_unregister(probe);
}

static void refuse(const char *name, struct ltt_provider_event event)
{
	struct ltt_provider *provider = NULL;

	CHECK_IS(ltt_provider_add(name, &event, 1, &provider), ==, -EINVAL);
	CHECK(!provider);
}

static void refuse_field(struct ltt_field field)
{
	struct ltt_provider_event event = events[0];

	event.nr_fields = 1;
	event.fields = &field;
	refuse("dynamic", event);
}

static void test_refused(void)
{
	struct ltt_provider_event event = events[0], two[2] = { events[0], events[0] };
	struct ltt_provider *provider = NULL;
	struct ltt_field field = fields[0];

	refuse("", event);
	refuse("a:b", event);
	refuse(NULL, event);
	event.name = "a b";
	refuse("dynamic", event);
	event = events[0];
	event.size = 8;
	refuse("dynamic", event);
	event = events[0];
	event.fields = NULL;
	refuse("dynamic", event);
	CHECK_IS(ltt_provider_add("dynamic", two, 2, &provider), ==, -EINVAL);
	field.size_bits = 24;
	refuse_field(field);
	field = fields[0];
	field.kind = 9;
	refuse_field(field);
	field.name = "0";
	refuse_field(field);
	field = fields[2];
	field.enumeration = NULL;
	refuse_field(field);
	field = fields[7];
	field.length_bits = 0;
	refuse_field(field);
	ltt_provider_remove(NULL);
}

static void test_long(void)
{
	static char text[66000];
	const struct ltt_field string = { .name = "s", .kind = LTT_KIND_STRING };
	const struct ltt_provider_event event = { sizeof(event), 1, LTT_INFO, 0, "long", &string,
						  NULL, NULL };
	struct ltt_provider *provider = NULL;
	struct ltt_probe *probe = listen_to("dynamic:long");
	struct ltt_pieces pieces;

	memset(text, 'x', sizeof(text) - 1);
	CHECK_IS(ltt_provider_add("dynamic", &event, 1, &provider), ==, 0);
	nr_seen = 0;
	ltt_pieces_begin(&pieces, provider, 0);
	ltt_pieces_text(&pieces, text, 30000);
	CHECK_IS(ltt_pieces_end(&pieces), ==, 0);
	CHECK(nr_seen == 1 && seen_bytes == 30001 && !seen[30000] && seen[29999] == 'x');
	CHECK_IS(ltt_provider_emit(provider, 0, text + sizeof(text) - 20000, 20000), ==, 0);
	CHECK(nr_seen == 2 && seen_bytes == 20000);
	ltt_pieces_begin(&pieces, provider, 0);
	ltt_pieces_text(&pieces, text, sizeof(text) - 1);
	CHECK_IS(ltt_pieces_end(&pieces), ==, -EMSGSIZE);
	CHECK_IS(ltt_provider_emit(provider, 0, text, sizeof(text)), ==, -EMSGSIZE);
	CHECK_IS(nr_seen, ==, 2);
	ltt_probe_unregister(probe);
	ltt_provider_remove(provider);
}

/* --- removal beside threads --------------------------------------------------------------- */

static struct ltt_provider *shared;
static int emitting, ended;

static void *emit_always(void *unused)
{
	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
		struct ltt_provider *provider;

		__atomic_add_fetch(&emitting, 1, __ATOMIC_SEQ_CST);
		provider = __atomic_load_n(&shared, __ATOMIC_SEQ_CST);
		if (provider)
			ltt_provider_emit(provider, 1, NULL, 0);
		__atomic_sub_fetch(&emitting, 1, __ATOMIC_SEQ_CST);
	}
	return unused;
}

static void count(void *data, const struct ltt_event_view *view)
{
	(void)view;
	__atomic_add_fetch((uint64_t *)data, 1, __ATOMIC_RELAXED);
}

static void test_removal(void)
{
	struct ltt_probe *probe = NULL;
	pthread_t thread[4];
	uint64_t calls = 0;

	CHECK_IS(ltt_probe_register("dynamic:empty", NULL, count, &calls, &probe), ==, 0);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	for (int i = 0; i < 4; i++)
		CHECK_IS(pthread_create(&thread[i], NULL, emit_always, NULL), ==, 0);
	for (int i = 0; i < 200; i++) {
		struct ltt_provider *provider = NULL;

		CHECK_IS(ltt_provider_add("dynamic", events, 2, &provider), ==, 0);
		__atomic_store_n(&shared, provider, __ATOMIC_SEQ_CST);
		if (i % 8 == 0)
			sched_yield();
		__atomic_store_n(&shared, NULL, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&emitting, __ATOMIC_SEQ_CST)) /* its owner's care */
			sched_yield();
		ltt_provider_remove(provider);
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	ltt_probe_unregister(probe);
}

int main(void)
{
	struct ltt_provider *provider = NULL;

	CHECK_IS(ltt_provider_add("dynamic", events, 2, &provider), ==, 0);
	test_emissions(provider);
	test_errors(provider);
	test_loggers(provider);
	ltt_provider_remove(provider);
	test_refused();
	test_long();
	test_removal();
	return 0;
}
