/* SPDX-License-Identifier: GPL-2.0-only */
/* Plans and literal texts of classes (read/decode/plan.h, show/mold.h) beside the general reader
 * and the general printer, which are their oracle: random types and values, in all forms of
 * output. Of two traces, whose classes are alike or differ a little. */
#include "lib/random_types.h"
#include "lib/view_make.h"
#include "read/tsdl/tsdl.h"
#include "read/decode/value.h"
#include "read/view_priv.h"
#include "show/columns.h"
#include "show/mold.h"

#define CLASSES 4u
#define EVENTS 24u
#define BYTES 600u

/* @csv: columns of a table; NULL: it is none. */
static const struct form {
	struct view_style style;
	const char *csv;
} forms[] = {
	{ { .format = VIEW_TEXT }, NULL },
	{ { .tasks = true, .loglevel = true, .color = true, .clock_gmt = true }, NULL },
	{ { .tasks = true, .brief = true, .clock_date = true }, NULL },
	{ { .format = VIEW_JSON, .delta = true }, NULL },
	{ { .clock_gmt = true }, "time,host,cpu,procname,pid,tid,name,fields" },
	{ { .clock_seconds = true }, "fields,loglevel,delta,a,tid,fields,vpid,procname,event" },
};

static uint64_t nr_planned, nr_events;

static void say_context(struct text *t)
{
	bool is_virtual = rnd(2);
	const char *const names[] = { is_virtual ? "uint32_t _vpid;" : "uint32_t _pid;",
				      is_virtual ? "uint32_t _vtid;" : "uint32_t _tid;",
				      "integer { size = 8; align = 8; encoding = UTF8; } "
				      "_procname[16];",
				      "string _procname;", "uint64_t _ip;" };

	say(t, "struct { ");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (rnd(4) && i != 2 + rnd(2))
			say(t, "%s ", names[i]);
	say(t, "}");
}

static void say_trace(struct text *t)
{
	t->len = 0;
	say(t, "%s", MAKE_HEAD);
	for (uint32_t id = 0; id < CLASSES; id++) {
		say(t, "event { id = %u; stream_id = 0; name = \"e:%u\"; loglevel = %u;\n", id, id,
		    rnd(15));
		if (rnd(3)) {
			say(t, "context := ");
			if (rnd(3))
				say_context(t);
			else
				say_struct(t, 1);
			say(t, ";\n");
		}
		say(t, "fields := ");
		say_struct(t, 2);
		say(t, "; };\n");
	}
	say(t,
	    "event { id = %u; stream_id = 0; name = \"last\"; fields := struct { uint8_t _n; }; };\n",
	    CLASSES);
}

/* Many events have the values of the one before them, or nearly. */
static void next_bytes(uint8_t bytes[BYTES])
{
	if (!rnd(3))
		random_bytes(bytes, BYTES);
	else if (rnd(2))
		bytes[rnd(rnd(2) ? 30 : BYTES)]++;
}

/* An event of random bytes, as long as the general reader finds it. */
static void put_event(struct maker *m, const struct ctf_trace_class *tc, uint32_t id, uint64_t ns)
{
	struct ctf_event_class *ec = stream_class_event(tc->streams, id);
	size_t begin = m->out.len;
	uint64_t slots[300] = { 0 }, epoch = m->epoch;
	static uint8_t bytes[BYTES];
	struct reader reader;
	int result;

	event(m, id, ns);
	next_bytes(bytes);
	reader = (struct reader){ .bytes = bytes, .slots = slots };
	reader.base = m->out.len - m->packet;
	reader.pos = reader.base * 8;
	reader.end = reader.pos + BYTES * 8;
	result = reader_struct(&reader, ec->context);
	result = result ? result : reader_struct(&reader, ec->fields);
	if (result) {
		m->out.len = begin;
		m->epoch = epoch;
		m->recorded--;
		return;
	}
	put_raw(&m->out, bytes, (reader.pos + 7) / 8 - reader.base);
	nr_planned += ec->skipped != NULL;
	nr_events++;
}

/* A class whose literal text can't be made has one that is empty. */
static void forget_plans(void *priv, const struct ctf_event_class *ec)
{
	static struct mold none;

	(void)priv;
	((struct ctf_event_class *)ec)->mold = &none;
	((struct ctf_event_class *)ec)->skipped = NULL;
	if (ec->context)
		((struct ctf_type *)ec->context)->plan = NULL;
	if (ec->fields)
		((struct ctf_type *)ec->fields)->plan = NULL;
}

static void print_all(const char *dir, const struct form *form, bool general, unsigned int threads,
		      struct seen *seen)
{
	struct view_style style = form->style;
	struct err err = { 0 };
	FILE *file;

	style.threads = threads;
	if (form->csv)
		CHECK_IS(columns_new(form->csv, true, false, &style.table, &err), ==, 0);
	memset(seen, 0, sizeof(*seen));
	CHECK_IS(view_open(dir, note_problem, seen, &seen->view), ==, 0);
	if (general) {
		view_each_class(seen->view, forget_plans, NULL);
		for (size_t i = 0; i < seen->view->nr_sources; i++)
			seen->view->sources[i]->tc->streams->header_plan = NULL;
	}
	file = open_memstream(&seen->text, &seen->len);
	CHECK(file);
	CHECK_IS(view_print(seen->view, NULL, &style, file), ==, 0);
	CHECK_IS(fclose(file), ==, 0);
	CHECK_IS(seen->problems, ==, 0);
	columns_free(style.table);
}

static void compare_output(const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct seen fast, general, shared;

		print_all(dir, &forms[i], false, 1, &fast);
		print_all(dir, &forms[i], true, 1, &general);
		print_all(dir, &forms[i], false, 3, &shared);
		check_same("printed", fast.text, general.text);
		check_same("printed by threads", shared.text, fast.text);
		seen_fini(&shared);
		seen_fini(&fast);
		seen_fini(&general);
	}
}

/* One of these is the other one, once: events are as long as before. */
static void vary(struct text *t)
{
	static const char *const pairs[][2] = {
		{ "base = 16", "base = 10" },
		{ "base = 10", "base = 16" },
		{ "b = 20", "b = 21" },
		{ "{ a = 0", "{ z = 0" },
		{ "a = 0 ... 9", "a = 0 ... 8" },
		{ "encoding = UTF8", "encoding = none" },
		{ "signed = true; ", "signed = false;" },
		{ "loglevel = 1", "loglevel = 2" },
		{ "\"box\"", "\"fox\"" },
	};
	const char *const *pair = pairs[rnd(ARRAY_SIZE(pairs))];
	char *at = t->at;

	for (uint32_t skip = rnd(4); at && (at = strstr(at, pair[0])); at++)
		if (!skip--) {
			memcpy(at, pair[1], strlen(pair[1]));
			return;
		}
}

static void compare_traces(const char *dir)
{
	static struct text text;
	struct maker m = { .cpu = 3 };
	struct arena arena = { NULL };
	struct seen seen = { 0 };
	struct reporter reporter = { .fn = note_problem, .priv = &seen };
	struct ctf_trace_class *tc;

	say_trace(&text);
	CHECK(tsdl_parse(text.at, text.len, "m", &arena, &reporter, &tc) == 0 && !seen.problems);
	CHECK_IS(tc->nr_slots, <, 300);
	packet_open(&m, 0);
	for (uint32_t i = 0; i < EVENTS; i++)
		put_event(&m, tc, rnd(CLASSES), i + 1);
	put(event(&m, CLASSES, EVENTS + 1), 7, 1); /* the content ends at a byte */
	packet_close(&m, EVENTS + 1);
	arena_fini(&arena);
	make_file(dir, "a/metadata", text.at, text.len);
	make_file(dir, "a/ch_0", m.out.at, m.out.len);
	if (rnd(4))
		vary(&text);
	make_file(dir, "b/metadata", text.at, text.len);
	make_file(dir, "b/ch_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
	compare_output(dir);
}

int main(void)
{
	const char *dir = make_tmp();
	uint32_t nr = check_repeat(300);

	for (uint32_t i = 0; i < nr; i++)
		compare_traces(dir);
	CHECK_IS(nr_events, >, nr * EVENTS / 2);
	CHECK_IS(nr_planned, >, nr_events / 2);
	return 0;
}
