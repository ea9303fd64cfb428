/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes and threads of an overview are the same whether each event is decoded or found by
 * the bytes of its thread: random events of contexts of several layouts, whose bytes are equal now
 * and then, and threads that are renamed. */
#include "lib/view_make.h"

#include "analyse/overview.h"
#include "base/mem.h"
#include "read/event.h"

#define TRACES 40u
#define EVENTS 2000u
#define NAME "integer { size = 8; align = 8; encoding = UTF8; } _procname[8];"
#define EVENT(name, id, context)                                                                 \
	"event { id = " #id "; stream_id = 0; name = \"" name "\"; context := struct { " context \
	" };\n  fields := struct { uint32_t _n; }; };\n"

/* As of several channels; the second one exchanges the numbers of the first one. */
static const char metadata[] = MAKE_HEAD EVENT("a:usual", 1, "uint32_t _vpid; uint32_t _vtid; " NAME) EVENT(
	"a:exchanged", 2,
	"uint32_t _vtid; uint32_t _vpid; " NAME) EVENT("a:again", 3,
						       "uint32_t _vpid; uint32_t _vtid; " NAME)
	EVENT("a:name_first", 4, NAME " uint32_t _vpid; uint32_t _vtid;") EVENT(
		"a:more", 5, "uint32_t _vpid; uint8_t _level; uint32_t _vtid; " NAME)
		EVENT("a:string", 6, "uint32_t _vpid; uint32_t _vtid; string _procname;") EVENT(
			"a:nameless", 7,
			"uint32_t _vpid; uint32_t _vtid;") EVENT("a:no_process", 8,
								 "uint32_t _vtid; " NAME)
			EVENT("a:none", 9,
			      "uint8_t _level;") "event { id = 10; stream_id = 0; name = \"ltt_statedump:procname\";\n"
						 "  context := struct { uint32_t _vpid; uint32_t _vtid; " NAME
						 " };\n"
						 "  fields := struct { string _procname; }; };\n";

static uint32_t state;

static uint32_t pick(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

static void put_name(struct bytes *b, const char *name)
{
	char text[8] = "";

	memcpy(text, name, strlen(name));
	put_raw(b, text, sizeof(text));
}

static void put_context(struct bytes *b, uint32_t id, uint32_t pid, uint32_t tid, const char *name)
{
	if (id == 4)
		put_name(b, name);
	if (id < 8 || id == 10)
		put(b, id == 2 ? tid : pid, 4);
	if (id == 5 || id == 9)
		put(b, pick(2), 1);
	if (id != 9)
		put(b, id == 2 ? pid : tid, 4);
	if (id == 6)
		put_str(b, name);
	else if (id != 4 && id != 7 && id != 9)
		put_name(b, name);
}

/* Few threads, of which each keeps its name most of the time. */
static void make_trace(const char *dir)
{
	static const char *const names[] = { "", "web", "worker", "w", "db" };
	uint8_t name_of[3][3] = { { 0 } };
	struct maker m = { .cpu = 0 };

	packet_open(&m, 0);
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint32_t pid = pick(3), tid = pick(3), id = pick(8) ? 1 + pick(3) : 6 + pick(5);
		struct bytes *b = event(&m, id, i + 1);

		if (!pick(8))
			name_of[pid][tid] = (uint8_t)pick(ARRAY_SIZE(names));
		put_context(b, id, 1 + pid, 1 + tid, names[name_of[pid][tid]]);
		if (id == 10)
			put_str(b, names[pick(ARRAY_SIZE(names))]);
		else
			put(b, i, 4);
	}
	packet_close(&m, EVENTS + 1);
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	make_file(dir, "ch_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
}

/* @ret_known: events that were not decoded. */
static struct overview *read_all(struct view *view, bool brief, uint32_t *ret_known)
{
	struct view_select select = {
		.needs_fields = overview_needs_fields,
		.tasks_only = true,
		.brief = brief,
	};
	struct overview *overview = overview_new(NULL, NULL, NULL, 1);
	struct event event;
	const uint8_t *task;
	size_t len;
	int r;

	*ret_known = 0;
	while ((r = event_next(view, &select, &event)) > 0) {
		task = brief ? event_task_bytes(view, &len) : NULL;
		if (brief && overview_take_known(overview, &event, task, len)) {
			++*ret_known;
			continue;
		}
		if (brief)
			CHECK_IS(event_decode(view, &select, &event), ==, 1);
		overview_take(overview, &event);
	}
	CHECK_IS(r, ==, 0);
	overview_finish(overview);
	return overview;
}

static void check_same_tasks(const struct overview *got, const struct overview *wanted)
{
	const struct overview_thread *a = got->threads, *b = wanted->threads;
	const struct overview_process *p = got->processes, *q = wanted->processes;

	CHECK_IS(got->events, ==, wanted->events);
	CHECK_IS(got->state_dump, ==, wanted->state_dump);
	CHECK_IS(got->no_thread, ==, wanted->no_thread);
	CHECK_IS(got->gap_from_ns, ==, wanted->gap_from_ns);
	CHECK_IS(got->last_ns, ==, wanted->last_ns);
	CHECK_IS(got->nr_cpus, ==, wanted->nr_cpus);
	CHECK_IS(got->nr_threads, ==, wanted->nr_threads);
	CHECK_IS(got->nr_processes, ==, wanted->nr_processes);
	for (; p && q; p = p->next, q = q->next) {
		check_same("process", p->name, q->name);
		CHECK_IS(p->pid, ==, q->pid);
		CHECK_IS(p->events, ==, q->events);
		CHECK_IS(p->nr_threads, ==, q->nr_threads);
	}
	for (; a && b; a = a->next, b = b->next) {
		check_same("thread", a->name, b->name);
		CHECK_IS(a->tid, ==, b->tid);
		CHECK_IS(a->process->pid, ==, b->process->pid);
		CHECK_IS(a->events, ==, b->events);
		CHECK_IS(a->last_ns, ==, b->last_ns);
	}
	CHECK(!a && !b && !p && !q);
}

static void test_trace(const char *parent, uint32_t number)
{
	struct overview *got, *wanted;
	struct seen first = { 0 }, second = { 0 };
	uint32_t known, none;
	char dir[200], name[16];

	state = number;
	snprintf(name, sizeof(name), "%u", number);
	make_path(dir, sizeof(dir), parent, name);
	CHECK_IS(mkdir(dir, 0700), ==, 0);
	make_trace(dir);
	CHECK_IS(view_open(dir, note_problem, &first, &first.view), ==, 0);
	CHECK_IS(view_open(dir, note_problem, &second, &second.view), ==, 0);
	got = read_all(first.view, true, &known);
	wanted = read_all(second.view, false, &none);
	CHECK_IS(known, >, EVENTS / 5);
	CHECK_IS(none, ==, 0);
	check_same_tasks(got, wanted);
	overview_free(got);
	overview_free(wanted);
	seen_fini(&first);
	seen_fini(&second);
}

int main(void)
{
	const char *dir = make_tmp();

	for (uint32_t i = 0; i < TRACES; i++)
		test_trace(dir, i);
	return 0;
}
