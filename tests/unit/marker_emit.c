/* SPDX-License-Identifier: GPL-2.0-only */
/* Markers and log lines: the arguments are recorded unchanged. */
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "tracepoint_fields.h"

#include <ltt/log.h>
#include <ltt/marker.h>

static void test_integers_of_all_lengths(void)
{
	struct ltt_probe *probe = seen_watch("m_integers");

	trace_mark(m_integers, "a %hhd b %hd c %d d %ld e %lld f %hhu g %x h %llo",
		   (signed char)SCHAR_MIN, (short)SHRT_MIN, INT_MIN, LONG_MIN, LLONG_MIN,
		   (unsigned char)UCHAR_MAX, UINT_MAX, ULLONG_MAX);
	CHECK(seen_int("a") == SCHAR_MIN && seen_int("b") == SHRT_MIN && seen_int("c") == INT_MIN);
	CHECK(seen_int("d") == LONG_MIN && seen_int("e") == LLONG_MIN &&
	      seen_uint("f") == UCHAR_MAX);
	CHECK(seen_uint("g") == UINT_MAX && seen_uint("h") == ULLONG_MAX);
	CHECK_IS(seen.view.event->kind, ==, LTT_EVENT_MARKER);
	seen_unwatch(probe, 1);

	probe = seen_watch("m_other");
	trace_mark(m_other, "j %jd z %zu t %td p %p c %c lc %lc", INTMAX_MIN, SIZE_MAX,
		   (ptrdiff_t)-3, (void *)&seen, 'x', (wint_t)0x20ac);
	CHECK(seen_int("j") == INTMAX_MIN && seen_uint("z") == SIZE_MAX && seen_int("t") == -3);
	CHECK(seen_uint("p") == (uintptr_t)&seen && seen_int("c") == 'x' &&
	      seen_uint("lc") == 0x20ac);
	seen_unwatch(probe, 1);
}

static void test_floats_and_strings(void)
{
	static const char unended[] = { 'a', 'b', 'c', 'd' };
	struct ltt_probe *probe = seen_watch("m_mixed");
	const char *volatile null = NULL;

	trace_mark(m_mixed, "d %f L %Lg f %a s %s n %s", DBL_MAX, 0.25L, 1.5f, "text", null);
	CHECK(seen_float("d") == DBL_MAX && seen_float("L") == 0.25 && seen_float("f") == 1.5);
	CHECK(seen_is_text("s", "text") && seen_is_text("n", "(null)"));
	seen_unwatch(probe, 1);

	probe = seen_watch("m_width");
	trace_mark(m_width, "w %*d p %-*.*d s %.*s t %.2s u %.*s behind %d", 5, 1, 6, 7, 2, 4,
		   unended, "truncated", -1, "whole", 42);
	CHECK(seen_int("w") == 1 && seen_int("p") == 2 && seen_is_text("s", "abcd") &&
	      seen_is_text("t", "tr"));
	CHECK(seen_is_text("u", "whole") && seen_int("behind") == 42);
	seen_unwatch(probe, 1);
}

static void test_long_strings(void)
{
	static char text[60001];
	struct ltt_probe *probe = seen_watch("m_long");

	for (size_t len = 480; len < 60000; len = len * 5 / 4) {
		memset(text, 'l', len);
		text[len] = '\0';
		trace_mark(m_long, "text %s behind %d", text, 42);
		CHECK(seen_is_text("text", text) && seen_int("behind") == 42);
	}
	ltt_probe_unregister(probe);
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
}

/* One name at two places; nothing to record; evaluated only when armed. */
static void test_sites(void)
{
	struct ltt_probe *probe;
	int evaluations = 0;

	trace_mark(m_lazy, "n %d", ++evaluations);
	CHECK_IS(evaluations, ==, 0);
	probe = seen_watch("m_lazy");
	for (int i = 0; i < 2; i++) {
		if (i)
			trace_mark(m_lazy, "n %d", ++evaluations);
		else
			trace_mark(m_lazy, "n %d", ++evaluations);
	}
	CHECK(evaluations == 2 && seen_int("n") == 2);
	seen_unwatch(probe, 2);

	probe = seen_watch("m_nothing");
	errno = 77;
	trace_mark(m_nothing, "nothing to say");
	CHECK(errno == 77 && seen.view.nr_fields == 0 && seen.view.len == 0);
	CHECK_IS(strcmp(seen.view.event->format, "nothing to say"), ==, 0);
	seen_unwatch(probe, 1);
}

/* --- two formats -------------------------------------------------------------------- */

static void one_format(void)
{
	trace_mark(m_differ, "id %d", 1);
}

static void other_format(void)
{
	trace_mark(m_differ, "id %s", "x");
}

static int conflict_seen(void *data, const struct ltt_probe_conflict *conflict)
{
	const char **expected = data;

	CHECK(strcmp(conflict->name, "m_differ") == 0 && conflict->nr_sites == 1);
	CHECK_IS(strcmp(conflict->expected, expected[0]), ==, 0);
	CHECK_IS(strcmp(conflict->found, expected[1]), ==, 0);
	CHECK(strstr(conflict->file, "marker_emit.c") && conflict->line > 0);
	return 0;
}

/* Which of two in one file comes first is the linker's choice. */
static int find_first(void *data, const struct ltt_point_info *info)
{
	if (strcmp(info->event->name, "m_differ") != 0)
		return 0;
	*(int *)data = strcmp(info->event->format, "id %d") == 0;
	return 1;
}

static void test_conflict(void)
{
	const char *first[] = { "id %d", "id %s" }, *second[] = { "id %s", "id %d" };
	struct ltt_probe *probe = NULL;
	int number_first = 0;

	seen.calls = 0;
	CHECK_IS(ltt_points_list(find_first, &number_first), ==, 1);
	CHECK_IS(ltt_probe_register("m_differ", NULL, seen_event, NULL, &probe), ==,
		 LTT_PROBE_CONFLICT);
	CHECK_IS(ltt_probe_conflicts(probe, conflict_seen, number_first ? first : second), ==, 1);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	one_format();
	other_format();
	CHECK(seen.calls == 1 && (number_first ? seen_int("id") == 1 : seen_is_text("id", "x")));
	ltt_probe_unregister(probe);

	CHECK_IS(ltt_probe_register("m_differ", "id %s", seen_event, NULL, &probe), ==,
		 LTT_PROBE_CONFLICT);
	CHECK_IS(ltt_probe_conflicts(probe, conflict_seen, second), ==, 1);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	one_format();
	other_format();
	CHECK(seen.calls == 2 && seen_is_text("id", "x"));
	ltt_probe_unregister(probe);

	CHECK_IS(ltt_probe_register("m_differ", "neither", seen_event, NULL, &probe), ==,
		 LTT_PROBE_CONFLICT);
	CHECK_IS(ltt_probe_conflicts(probe, NULL, NULL), ==, 2);
	ltt_probe_unregister(probe);
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
}

/* --- log lines ------------------------------------------------------------------------ */

__attribute__((format(printf, 1, 2))) static void forward(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	ltt_vtracef(format, args);
	va_end(args);
	va_start(args, format);
	ltt_vtracelog(LTT_DEBUG_LINE, format, args);
	va_end(args);
}

static void test_log(void)
{
	static char text[60001];
	struct ltt_probe *probe = seen_watch("ltt_tracef:event");

	ltt_tracef("plain");
	CHECK(seen_is_text("msg", "plain"));
	ltt_tracef("%s is %d", "that", 3);
	CHECK(seen_is_text("msg", "that is 3"));
	ltt_tracef("cut%cshort", 0);
	CHECK(seen_is_text("msg", "cut"));
	for (size_t len = 900; len < 60000; len = len * 9 / 8) {
		memset(text, 'l', len);
		text[len] = '\0';
		ltt_tracef("%s", text);
		CHECK(seen_is_text("msg", text));
	}
	ltt_probe_unregister(probe);

	probe = seen_watch("ltt_tracelog:WARNING");
	errno = 5;
	ltt_tracelog(LTT_WARNING, "%.1f %m", 2.5);
	CHECK_IS(errno, ==, 5);
	CHECK(seen_int("line") == __LINE__ - 2 && seen_is_text("file", __FILE__));
	CHECK(seen_is_text("function", "test_log"));
	CHECK_IS(seen.view.event->loglevel, ==, LTT_WARNING);
	ltt_tracelog(LTT_ERR, "another level");
	memset(text, 'w', 50000);
	text[50000] = '\0';
	ltt_tracelog(LTT_WARNING, "%s", text);
	CHECK(seen_is_text("msg", text) && seen_is_text("function", "test_log"));
	seen_unwatch(probe, 2);

	probe = seen_watch("ltt_tracelog:DEBUG_LINE");
	forward("%d and %s", 1, "two");
	CHECK(seen_is_text("msg", "1 and two") && seen_is_text("function", "forward"));
	seen_unwatch(probe, 1);
}

int main(void)
{
	test_integers_of_all_lengths();
	test_floats_and_strings();
	test_long_strings();
	test_sites();
	test_conflict();
	test_log();
	test_all_fields(); /* markers and tracepoints in one program */
	return 0;
}
