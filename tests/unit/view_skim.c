/* SPDX-License-Identifier: GPL-2.0-only */
/* Events that are counted a packet at a time: the summary, and the problems in their order, are
 * those of events that are read one by one, also of traces with random damage. */
#include "lib/view_make.h"
#include "read/event.h"

#define ROUNDS 300u
#define STREAMS 3u
#define PACKETS 12u
#define LATE 1000000u /* ns: packets of streams overlap */

static const char metadata[] = MAKE_HEAD MAKE_NUMBER("a", 0) MAKE_NUMBER("ltt_statedump:b", 1)
	MAKE_NUMBER("wide", 400) MAKE_NUMBER("extended", 70000)
		"event { id = 2; stream_id = 0; name = \"text\";\n"
		"  fields := struct { string _s; uint8_t _len; uint16_t _of[_len]; }; };\n";

static void add_event(struct maker *m, uint64_t ts)
{
	static const uint32_t ids[] = { 0, 0, 0, 1, 2, 2, 400, 70000 };
	uint32_t id = ids[(unsigned)random() % ARRAY_SIZE(ids)];
	struct bytes *b = event(m, id, ts);
	unsigned len = (unsigned)random() % 5;

	if (id != 2) {
		put(b, (uint64_t)random(), 4);
		return;
	}
	for (unsigned i = 0; i < len * 3; i++)
		put(b, 'a' + i, 1);
	put(b, 0, 1);
	put(b, len, 1);
	for (unsigned i = 0; i < len; i++)
		put(b, i, 2);
}

static void add_packets(struct maker *m)
{
	uint64_t ts = (uint64_t)random() % LATE;

	for (unsigned p = 0; p < PACKETS; p++) {
		packet_open(m, ts);
		for (unsigned i = (unsigned)random() % 60; i; i--) {
			ts += (uint64_t)random() % (LATE / 50);
			add_event(m, ts);
		}
		packet_close(m, ts);
	}
}

static void damage(struct bytes *b)
{
	for (unsigned n = (unsigned)random() % 4; n; n--)
		b->at[(size_t)random() % b->len] ^= (uint8_t)(1u << random() % 8);
	if (random() % 8 == 0)
		b->len = (size_t)random() % b->len + 1;
}

static void make_trace(const char *dir, bool damaged)
{
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	for (uint32_t i = 0; i < STREAMS; i++) {
		struct maker m = { .cpu = i };
		char name[16];

		add_packets(&m);
		if (damaged)
			damage(&m.out);
		snprintf(name, sizeof(name), "s_%u", i);
		make_file(dir, name, m.out.at, m.out.len);
		bytes_fini(&m.out);
	}
}

static char *summary_of(struct seen *seen)
{
	const struct view_style style = { .format = VIEW_JSON };
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	CHECK(out && view_summary(seen->view, &seen->sum) == 0);
	CHECK_IS(view_summary_print(seen->sum, &style, out), ==, 0);
	fclose(out);
	return text;
}

static void check_skim(const char *dir, const struct view_select *select)
{
	struct seen counted = { 0 }, read = { 0 };
	char *x, *y;
	int r;

	CHECK_IS(view_open(dir, note_problem, &counted, &counted.view), ==, 0);
	CHECK_IS(view_scan(counted.view, select), ==, 0);
	CHECK_IS(view_open(dir, note_problem, &read, &read.view), ==, 0);
	while ((r = event_next(read.view, select, NULL)) > 0)
		;
	CHECK_IS(r, ==, 0);
	x = summary_of(&counted);
	y = summary_of(&read);
	check_same("problems", counted.said, read.said);
	check_same("summary", x, y);
	free(x);
	free(y);
	seen_fini(&counted);
	seen_fini(&read);
}

int main(void)
{
	const struct view_select all = { .has_begin = false }, shown = { .hidden = VIEW_STATEDUMP };
	char dir[128];

	srandom(17);
	make_path(dir, sizeof(dir), make_tmp(), "skim");
	for (unsigned i = 0; i < ROUNDS; i++) {
		make_trace(dir, i > 2);
		check_skim(dir, random() % 3 ? &shown : &all);
	}
	return 0;
}
