/* SPDX-License-Identifier: GPL-2.0-only */
/* The process and thread in front of an event, of several tracers' contexts; selection by them. */
#include <json-c/json.h>

#include "lib/view_make.h"

/* Contexts as libltt has them, as LTTng has them in the stream, the kernel's, and others. */
static const char metadata[] = MAKE_HEAD
	"event { id = 1; stream_id = 0; name = \"a:all\";\n"
	"  context := struct { uint32_t _vpid; uint32_t _vtid;\n"
	"    integer { size = 8; align = 8; encoding = UTF8; } _procname[8]; uint8_t _level; };\n"
	"  fields := struct { uint32_t _n; }; };\n"
	"event { id = 2; stream_id = 0; name = \"a:plain\"; fields := struct { uint32_t _n; }; };\n"
	"event { id = 3; stream_id = 0; name = \"a:kernel\";\n"
	"  context := struct { string _procname; uint32_t _vpid; uint32_t _pid; uint32_t _tid; };\n"
	"  fields := struct { uint32_t _n; }; };\n"
	"event { id = 4; stream_id = 0; name = \"a:thread\";\n"
	"  context := struct { uint32_t _vtid; };\n"
	"  fields := struct { uint32_t _n; }; };\n"
	"event { id = 5; stream_id = 0; name = \"ltt_statedump:procname\";\n"
	"  context := struct { uint32_t _vpid; uint32_t _vtid; string _procname; };\n"
	"  fields := struct { string _procname; }; };\n"
	"event { id = 6; stream_id = 0; name = \"a:no_task\";\n"
	"  context := struct { string _pid; struct { uint32_t _vpid; } _in; uint16_t _tid[2]; };\n"
	"  fields := struct { uint32_t _vpid; }; };\n";

static void put_name(struct bytes *b, const char *name)
{
	char text[8] = "";

	snprintf(text, sizeof(text), "%s", name);
	put_raw(b, text, sizeof(text));
}

static void put_all(struct maker *m, uint64_t ns, uint32_t pid, uint32_t tid, const char *name)
{
	struct bytes *b = event(m, 1, ns);

	put(b, pid, 4);
	put(b, tid, 4);
	put_name(b, name);
	put(b, 9, 1);
	put(b, ns, 4);
}

static void make_trace(const char *dir)
{
	struct maker m = { .cpu = 0 };
	struct bytes *b;

	packet_open(&m, 0);
	b = event(&m, 5, 1); /* of libltt's own thread */
	put(b, 10, 4);
	put(b, 19, 4);
	put_str(b, "web-ltt");
	put_str(b, "web");
	put_all(&m, 2, 10, 11, "worker");
	put(event(&m, 2, 3), 3, 4);
	put_all(&m, 4, 20, 21, "db\033[1m");
	put_all(&m, 5, 20, 20, "db");
	b = event(&m, 3, 6);
	put_str(b, "sh");
	put(b, 1, 4);
	put(b, 30, 4);
	put(b, 31, 4);
	put(b, 6, 4);
	b = event(&m, 4, 7);
	put(b, 11, 4);
	put(b, 7, 4);
	put_all(&m, 8, 10, 10, "front");
	put_all(&m, 9, 10, 11, "worker");
	b = event(&m, 6, 10);
	put_str(b, "x");
	put(b, 1, 4);
	put(b, 2, 2);
	put(b, 3, 2);
	put(b, 4, 4);
	packet_close(&m, 10);
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	make_file(dir, "ch_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
}

#define AT(digit) "[01:46:40.00000000" digit "] (+0.000000001) box "
#define CPU "{ cpu_id = 0 }, "

static const char text[] =
	"[01:46:40.000000001] (+?."
	"?????"
	"????"
	") box web-ltt[10:19] ltt_statedump:procname: " CPU "{ procname = \"web\" }\n" /**/
	AT("2") "worker[10:11]  a:all: " CPU "{ level = 9 }, { n = 2 }\n"	       /**/
	AT("3") "               a:plain: " CPU "{ n = 3 }\n"			       /**/
	AT("4") "db\\x1b[1m[20:21] a:all: " CPU "{ level = 9 }, { n = 4 }\n"	       /**/
	AT("5") "db[20:20]        a:all: " CPU "{ level = 9 }, { n = 5 }\n"	       /**/
	AT("6") "sh[30:31]        a:kernel: " CPU "{ vpid = 1 }, { n = 6 }\n"	       /**/
	AT("7") "[:11]            a:thread: " CPU "{ n = 7 }\n"			       /**/
	AT("8") "front[10:10]     a:all: " CPU "{ level = 9 }, { n = 8 }\n"	       /**/
	AT("9") "worker[10:11]    a:all: " CPU "{ level = 9 }, { n = 9 }\n"	       /**/
		"[01:46:40.000000010] (+0.000000001) box                  a:no_task: " CPU
		"{ pid = \"x\", in = { vpid = 1 }, tid = [ [0] = 2, [1] = 3 ] }, { vpid = 4 }\n";

static void test_text(const char *dir)
{
	struct view_style style = { .tasks = true };
	struct seen seen;

	CHECK_IS(see_style(&seen, dir, NULL, &style), ==, 0);
	check_same("text", seen.text, text);
	CHECK_IS(seen.problems, ==, 0);
	seen_fini(&seen);
	CHECK_IS(see(&seen, dir), ==, 0); /* as fields */
	CHECK(strstr(seen.text, "box a:all: " CPU "{ vpid = 10, vtid = 11, procname = \"worker\", "
				"level = 9 }, { n = 2 }\n"));
	seen_fini(&seen);
}

static void test_json(const char *dir)
{
	struct view_style style = { .format = VIEW_JSON, .tasks = true };
	struct seen seen;

	CHECK_IS(see_style(&seen, dir, NULL, &style), ==, 0);
	CHECK(strstr(seen.text, "\"context\":{\"vpid\":10,\"vtid\":11,\"procname\":\"worker\","
				"\"level\":9},\"fields\":{\"n\":2}}\n"));
	seen_fini(&seen);
}

/* @numbers: digits: the times of the events that are selected. */
static void check_selected(const char *dir, struct view_select select, const char *numbers,
			   uint64_t without_task)
{
	struct seen seen;
	char got[16] = "";

	CHECK_IS(see_style(&seen, dir, &select, NULL), ==, 0);
	for (const char *at = seen.text; (at = strstr(at, "] (")); at++)
		strncat(got, at - 1, 1);
	check_same("selected", got, numbers);
	CHECK_IS(seen.sum->without_task, ==, without_task);
	seen_fini(&seen);
	CHECK_IS(view_open(dir, note_problem, &seen, &seen.view), ==, 0);
	CHECK(view_scan(seen.view, &select) == 0 && view_summary(seen.view, &seen.sum) == 0);
	CHECK_IS(seen.sum->events, ==, strlen(numbers));
	seen_fini(&seen);
}

static void test_select(const char *dir)
{
	check_selected(dir, (struct view_select){ .processes = "10" }, "1289", 3);
	check_selected(dir, (struct view_select){ .processes = "web" }, "12", 3);
	check_selected(dir, (struct view_select){ .processes = "front,d*" }, "4589", 3);
	check_selected(dir, (struct view_select){ .processes = "30,20" }, "456", 3);
	check_selected(dir, (struct view_select){ .processes = "none" }, "", 3);
	check_selected(dir, (struct view_select){ .threads = "worker" }, "29", 2);
	check_selected(dir, (struct view_select){ .threads = "11,31" }, "2679", 2);
	check_selected(dir, (struct view_select){ .threads = "11", .processes = "10" }, "29", 3);
	check_selected(dir, (struct view_select){ .threads = "11", .limit = 1 }, "2", 0);
	check_selected(dir, (struct view_select){ .processes = "10", .names = "a:*" }, "289", 3);
	check_selected(dir, (struct view_select){ .processes = "10", .hidden = VIEW_STATEDUMP },
		       "289", 3);
}

/* Threads whose texts are kept at one place, and names that begin like others. */
static void test_turns(const char *parent)
{
	static const struct {
		uint32_t pid, tid;
		const char *name, *text;
	} turns[] = {
		{ 10, 11, "work", " work[10:11] " }, { 10, 11, "worker", " worker[10:11] " },
		{ 10, 523, "work", " work[10:523] " }, { 10, 11, "work", " work[10:11] " },
		{ 26, 11, "work", " work[26:11] " }, { 10, 11, "", " [10:11] " },
		{ 10, 11, "work", " work[10:11] " }, { 10, 11, "wo\x01", " wo\\x01[10:11] " },
	};
	struct view_style style = { .tasks = true };
	struct maker m = { .cpu = 0 };
	struct seen seen;
	const char *line;
	char dir[200];

	packet_open(&m, 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(turns); i++)
		put_all(&m, i + 1, turns[i].pid, turns[i].tid, turns[i].name);
	packet_close(&m, ARRAY_SIZE(turns));
	make_path(dir, sizeof(dir), parent, "turns");
	CHECK_IS(mkdir(dir, 0700), ==, 0);
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	make_file(dir, "ch_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
	CHECK_IS(see_style(&seen, dir, NULL, &style), ==, 0);
	line = seen.text;
	for (uint32_t i = 0; i < ARRAY_SIZE(turns); i++, line = strchr(line, '\n') + 1) {
		const char *at = strstr(line, turns[i].text);

		if (!at || at > strchr(line, '\n'))
			fprintf(stderr, "not%s: %s\n", turns[i].text, line);
		CHECK(at && at < strchr(line, '\n'));
	}
	seen_fini(&seen);
}

int main(void)
{
	const char *dir = make_tmp();

	make_trace(dir);
	test_text(dir);
	test_json(dir);
	test_select(dir);
	test_turns(dir);
	return 0;
}
