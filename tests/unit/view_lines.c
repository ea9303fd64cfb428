/* SPDX-License-Identifier: GPL-2.0-only */
/* The texts that a printer keeps from event to event: processes and threads whose names change, and
 * times, beside lines that are written here without anything that is kept. */
#include <inttypes.h>
#include <time.h>

#include "lib/view_make.h"
#include "show/columns.h"

#define ROUNDS 12u

/* Of the process: as its bytes, in text, as a cell of CSV. */
static const struct name {
	char bytes[17];
	const char *text, *cell;
} names[] = {
	{ "web", "web", "web" },
	{ "web\0old", "web", "web" },
	{ "web2", "web2", "web2" },
	{ "a,b", "a,b", "\"a,b\"" },
	{ "say \"so\"", "say \"so\"", "\"say \"\"so\"\"\"" },
	{ "two\nlines", "two\\nlines", "two\\nlines" },
	{ "sixteen letters!", "sixteen letters!", "sixteen letters!" },
	{ "", "", "" },
};

/* Nanoseconds from event to event. */
static const uint64_t steps[] = {
	0,	   1,		8,	90,	 99900,	     1,
	99999,	   1,		100000, 123456,	 9876543,    989800003u,
	199999999, 1000000000u, 99999,	2345678, 5000000000, 86400000000000u,
};

static const char context[] =
	"  context := struct { uint32_t _vpid; integer { size = 32; align = 8; signed = true; } _vtid;\n"
	"    integer { size = 8; align = 8; encoding = UTF8; } _procname[16]; };\n";

static void make_metadata(const char *dir, int64_t offset_s)
{
	static char head[] = MAKE_HEAD;
	char *at = strstr(head, "offset_s = 1000000000;");
	char text[8192];
	int len;

	CHECK(at);
	len = snprintf(text, sizeof(text),
		       "%.*soffset_s = %" PRIi64 "; %s"
		       "event { id = 1; stream_id = 0; name = \"e\";\n%s"
		       "  fields := struct { uint32_t _n; }; };\n",
		       (int)(at - head), head, offset_s, at + strlen("offset_s = 1000000000;"),
		       context);
	CHECK_IS(len, <, (int)sizeof(text));
	make_file(dir, "metadata", text, (size_t)len);
}

/* The process of event @i. */
static const struct name *name_of(uint32_t i)
{
	return &names[i / 2 % ARRAY_SIZE(names)];
}

static uint32_t tid_of(uint32_t i)
{
	return 70 + i % 3;
}

static void make_stream(const char *dir)
{
	struct maker m = { .cpu = 3 };
	uint64_t ns = 0;

	packet_open(&m, 0);
	for (uint32_t i = 0; i < ROUNDS * ARRAY_SIZE(steps); i++) {
		struct bytes *b;

		ns += steps[i % ARRAY_SIZE(steps)];
		b = event(&m, 1, ns);
		put(b, 7, 4);
		put(b, tid_of(i), 4);
		put_raw(b, name_of(i)->bytes, 16);
		put(b, i, 4);
	}
	packet_close(&m, ns);
	make_file(dir, "ch_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
}

enum form { FORM_TEXT, FORM_CSV, FORM_JSON };

static void say_line(FILE *out, enum form form, uint32_t i, int64_t ns, int64_t since, size_t width)
{
	const struct name *name = name_of(i);
	int64_t s = ns / 1000000000 - (ns % 1000000000 < 0);
	unsigned nanos = (unsigned)(ns - s * 1000000000);
	char task[64], day[16], clock[16], delta[32] = "+\?.";
	time_t second = (time_t)s;
	struct tm tm;

	gmtime_r(&second, &tm);
	strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(task, sizeof(task), "%s[7:%u]", name->text, tid_of(i));
	if (since >= 0)
		snprintf(delta, sizeof(delta), "+%" PRIi64 ".%09u", since / 1000000000,
			 (unsigned)(since % 1000000000));
	else
		memset(delta + 3, '?', 9);
	if (form == FORM_JSON)
		fprintf(out, "{\"time\":\"%sT%s.%09uZ\",\"ns\":\"%" PRIi64 "\",\n", day, clock,
			nanos, ns);
	else if (form == FORM_CSV)
		fprintf(out, "%s,7,%u,%s.%09u,n=%u\n", name->cell, tid_of(i), clock, nanos, i);
	else
		fprintf(out, "[%s.%09u] (%s) box %-*s e: { cpu_id = 3 }, { n = %u }\n", clock,
			nanos, delta, (int)width, task, i);
}

static char *say_all(enum form form, int64_t offset_s)
{
	int64_t ns = offset_s * 1000000000;
	size_t len, width = 0;
	char *text;
	FILE *out = open_memstream(&text, &len);

	CHECK(out);
	if (form == FORM_CSV)
		fputs("procname,pid,tid,time,fields\n", out);
	for (uint32_t i = 0; i < ROUNDS * ARRAY_SIZE(steps); i++) {
		int64_t step = (int64_t)steps[i % ARRAY_SIZE(steps)];
		size_t own = strlen(name_of(i)->text) + strlen("[7:70]");

		ns += step;
		width = own > width ? own : width;
		say_line(out, form, i, ns, i ? step : -1, width);
	}
	CHECK_IS(fclose(out), ==, 0);
	return text;
}

/* Of lines of JSON only the times are compared. */
static void cut_lines(char *text)
{
	char *to = text, *next;

	for (char *line = text; *line; line = next) {
		const char *end = strstr(line, ",\"host\"");
		size_t len = end ? (size_t)(end - line) + 1 : strcspn(line, "\n");

		next = strchr(line, '\n') + 1;
		memmove(to, line, len);
		to += len;
		*to++ = '\n';
	}
	*to = '\0';
}

static void compare_form(const char *dir, enum form form, int64_t offset_s, unsigned int threads)
{
	struct view_style style = {
		.format = form == FORM_JSON ? VIEW_JSON : VIEW_TEXT,
		.tasks = true,
		.clock_gmt = true,
		.color = form == FORM_CSV,
		.threads = threads,
	};
	char *wanted = say_all(form, offset_s);
	struct err err = { 0 };
	struct seen seen;

	if (form == FORM_CSV)
		CHECK_IS(columns_new("procname,pid,tid,time,fields", true, false, &style.table,
				     &err),
			 ==, 0);
	CHECK_IS(see_style(&seen, dir, NULL, &style), ==, 0);
	CHECK_IS(seen.problems, ==, 0);
	if (form == FORM_JSON)
		cut_lines(seen.text);
	check_same("lines", seen.text, wanted);
	seen_fini(&seen);
	columns_free(style.table);
	free(wanted);
}

int main(void)
{
	static const int64_t offsets[] = { 1000000000, -2, -86401, 0 };
	const char *dir = make_tmp();

	make_stream(dir);
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		make_metadata(dir, offsets[i]);
		for (enum form form = FORM_TEXT; form <= FORM_JSON; form++) {
			compare_form(dir, form, offsets[i], 1);
			compare_form(dir, form, offsets[i], 3);
		}
	}
	return 0;
}
