/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that was built with the headers of version 0.1: their structures, which end where
 * later ones have more members. It is listed, hit and recorded by this libltt, which reads nothing
 * behind their ends (the memory there is not the program's).
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ltt/probe.h>

#include "check.h"
#include "tracer_alone.h"

struct event_0_1 {
	uint32_t size;
	uint16_t field_size;
	uint16_t nr_fields;
	const char *name;
	const struct ltt_field *fields;
	const char *format;
	const char *file;
	const char *function;
	uint32_t line;
	uint8_t kind;
	uint8_t loglevel;
	uint8_t reserved[2];
};

struct site_0_1 {
	uint32_t armed;
	uint32_t size;
	const struct event_0_1 *event;
	void *hooks;
	void *owner;
	const void *only;
};

_Static_assert(sizeof(struct event_0_1) == LTT_EVENT_LEAST, "programs of 0.1 are accepted");
_Static_assert(sizeof(struct site_0_1) == LTT_SITE_LEAST, "programs of 0.1 are accepted");

static const struct ltt_field fields[] = {
	{ "x", 0, 0, LTT_KIND_INT, 32, 0, 10, LTT_FIELD_SIGNED, 0 },
};

/* Memory at the end of a page, behind which nothing is mapped. */
static void *at_end(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED && munmap(at + page, page) == 0);
	return at + page - size;
}

static struct site_0_1 *older_site(const char *name, const char *format)
{
	struct event_0_1 *event = at_end(sizeof(*event));
	struct site_0_1 *site = at_end(sizeof(*site));

	*event = (struct event_0_1){ .size = sizeof(*event),
				     .field_size = sizeof(struct ltt_field),
				     .nr_fields = format ? 0 : 1,
				     .name = name,
				     .fields = format ? NULL : fields,
				     .format = format,
				     .file = "older.c",
				     .function = "",
				     .line = 7,
				     .kind = format ? LTT_EVENT_MARKER : LTT_EVENT_TRACEPOINT,
				     .loglevel = LTT_INFO };
	*site = (struct site_0_1){ .size = sizeof(*site), .event = event };
	return site;
}

static void sum(void *priv, const struct ltt_event_view *view)
{
	int64_t x = 0;

	CHECK_IS(view->event->size, ==, LTT_EVENT_LEAST);
	CHECK_IS(ltt_view_int(view, ltt_view_field(view, "x"), &x), ==, 0);
	*(int64_t *)priv += x;
}

static int see(void *data, const struct ltt_point_info *info)
{
	if (strncmp(info->event->name, "older", 5) == 0) {
		CHECK(info->event->size == sizeof(*info->event) && !info->event->connects);
		++*(int *)data;
	}
	return 0;
}

int main(void)
{
	static const unsigned char payload[4 + LTT_PAYLOAD_SLACK] = { 21 };
	struct site_0_1 *site[] = { older_site("older:point", NULL),
				    older_site("older_mark", "x %d") };
	struct ltt_probe *probe[2] = { NULL };
	struct ltt_site *list[2];
	int64_t total = 0;
	int seen = 0;

	for (int i = 0; i < 2; i++) {
		list[i] = (struct ltt_site *)site[i];
		CHECK_IS(ltt_probe_register(site[i]->event->name, NULL, sum, &total, &probe[i]), ==,
			 0);
		CHECK_IS(ltt_probe_arm(probe[i]), ==, 1);
	}
	ltt_sites_register(list, list + 2, LTT_SITE_ABI);
	CHECK_IS(ltt_points_list(see, &seen), ==, 0);
	CHECK(seen == 2 && site[0]->armed == LTT_SITE_LISTENED &&
	      site[1]->armed == LTT_SITE_LISTENED);
	ltt_emit(list[0], payload, 4, 0);
	ltt_emit_word(list[0], 20, 4);
	ltt_emit_format(list[1], "x %d", 1);
	CHECK_IS(total, ==, 42);
	for (int i = 0; i < 2; i++)
		ltt_probe_unregister(probe[i]);
	CHECK(!site[0]->armed && !site[1]->armed);
	ltt_sites_unregister(list, list + 2);
	CHECK(!site[0]->owner && !site[1]->owner);
	return 0;
}
