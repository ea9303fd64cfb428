/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Typed probes: arguments of every kind in registers and on the stack, beside a listener that
 * records, which gets the values of the program; counting, nesting, signals, errno, refusals,
 * places that come later; markers that connect a probe.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include <ltt/marker.h>
#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "check.h"
#include "tracer_alone.h"

struct large {
	long at[5];
};
struct pair {
	long a, b;
};

LTT_TRACEPOINT(t, few, (int id, const char *text), LTT_INFO, ltt_int(int, id, id),
	       ltt_string(text, text))
LTT_TRACEPOINT(t, none, (void), LTT_INFO, ltt_int(int, one, 1))
LTT_TRACEPOINT(t, empty, (), LTT_INFO, ltt_int(int, one, 1))
LTT_TRACEPOINT(t, many,
	       (char a, long b, double c, float d, struct large e, short f, long double g,
		struct pair h, const int i[], double j, double k, double l, double m, double n,
		double o, double p, unsigned char q, int (*r)(int), long s),
	       LTT_INFO, ltt_int(char, a, a), ltt_int(long, b, b), ltt_float(double, c, c),
	       ltt_float(float, d, d), ltt_array(long, e, e.at, 5), ltt_int(short, f, f),
	       ltt_float(double, g, (double)g), ltt_int(long, h, h.a * 100 + h.b),
	       ltt_array(int, i, i, 3), ltt_float(double, p, p), ltt_int(int, q, q),
	       ltt_int(int, r, r(4)), ltt_int(long, s, s))

static int calls, records;
static int order[8];

/* --- every kind of argument ---------------------------------------------------------- */

static int triple(int x)
{
	return 3 * x;
}

/* A callee may overwrite its arguments, of which those on the stack are the caller's memory. */
#define USE(x) __asm__ volatile("" : "+m"(x))

static void on_many(void *data, char a, long b, double c, float d, struct large e, short f,
		    long double g, struct pair h, const int i[], double j, double k, double l,
		    double m, double n, double o, double p, unsigned char q, int (*r)(int), long s)
{
	order[calls++] = *(int *)data;
	CHECK(a == 'a' && b == -2 && c == 3.5 && d == 4.25f && e.at[0] == 50 && e.at[4] == 54);
	CHECK(f == -6 && g == 7.75L && h.a == 8 && h.b == 9 && i[2] == 12 && j == 1 && k == 2);
	CHECK(l == 3 && m == 4 && n == 5 && o == 6 && p == 7.5 && q == 200 && r(5) == 15);
	CHECK_IS(s, ==, 0x123456789a);
	a = 0, b = c = d = f = g = p = q = s = 0, r = NULL, i = NULL;
#ifndef __aarch64__ /* where all share one copy of it */
	memset(&e, 0, sizeof(e));
#endif
	memset(&h, 0, sizeof(h));
	USE(a);
	USE(b);
	USE(c);
	USE(d);
	USE(e);
	USE(f);
	USE(g);
	USE(h);
	USE(i);
	USE(p);
	USE(q);
	USE(r);
	USE(s);
	errno = ERANGE;
}

static void view_many(void *priv, const struct ltt_event_view *view)
{
	int64_t value = 0;
	double number = 0;
	struct ltt_elements e;
	long last;

	(void)priv;
	records++;
	CHECK(ltt_view_int(view, ltt_view_field(view, "s"), &value) == 0 && value == 0x123456789a);
	CHECK(ltt_view_int(view, ltt_view_field(view, "r"), &value) == 0 && value == 12);
	CHECK(ltt_view_int(view, ltt_view_field(view, "h"), &value) == 0 && value == 809);
	CHECK(ltt_view_float(view, ltt_view_field(view, "g"), &number) == 0 && number == 7.75);
	CHECK(ltt_view_float(view, ltt_view_field(view, "p"), &number) == 0 && number == 7.5);
	CHECK(ltt_view_elements(view, ltt_view_field(view, "e"), &e) == 0 && e.count == 5);
	memcpy(&last, (const char *)e.data + 4 * sizeof(last), sizeof(last));
	CHECK_IS(last, ==, 54);
}

static void hit_many(void)
{
	static const int numbers[3] = { 10, 11, 12 };

	ltt_trace(t, many, 'a', -2, 3.5, 4.25f, ((struct large){ { 50, 51, 52, 53, 54 } }), -6,
		  7.75L, ((struct pair){ 8, 9 }), numbers, 1, 2, 3, 4, 5, 6, 7.5, 200, triple,
		  0x123456789a);
}

static void test_kinds(void)
{
	struct ltt_probe *probe = NULL;
	int first = 1, second = 2, third = 3;

	CHECK_IS(ltt_probe_register("t:many", NULL, view_many, NULL, &probe), ==, 0);
	CHECK_IS(ltt_register_trace(t, many, on_many, &first), ==, 1);
	CHECK_IS(ltt_register_trace(t, many, on_many, &second), ==, 1);
	CHECK_IS(ltt_register_trace(t, many, on_many, &third), ==, 1);
	calls = records = 0;
	errno = EXDEV;
	hit_many();
	CHECK(errno == EXDEV && calls == 3 && records == 0);
	CHECK(order[0] == 1 && order[1] == 2 && order[2] == 3);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	errno = EXDEV;
	hit_many();
	CHECK(errno == EXDEV && calls == 6 && records == 1);
	CHECK_IS(ltt_unregister_trace(t, many, on_many, &second), ==, 0);
	hit_many();
	CHECK(calls == 8 && records == 2);
	CHECK_IS(ltt_unregister_trace(t, many, on_many, &first), ==, 0);
	CHECK_IS(ltt_unregister_trace(t, many, on_many, &third), ==, 0);
	hit_many();
	CHECK(calls == 8 && records == 3);
	ltt_probe_unregister(probe);
	CHECK(!ltt_enabled(t, many));
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
}

static void on_none(void *data)
{
	++*(int *)data;
}

static void test_none(void)
{
	int hits = 0;

	CHECK_IS(ltt_register_trace(t, none, on_none, &hits), ==, 1);
	CHECK_IS(ltt_register_trace(t, empty, on_none, &hits), ==, 1);
	ltt_trace(t, none);
	ltt_trace(t, empty);
	CHECK_IS(hits, ==, 2);
	CHECK_IS(ltt_unregister_trace(t, none, on_none, &hits), ==, 0);
	CHECK_IS(ltt_unregister_trace(t, empty, on_none, &hits), ==, 0);
}

/* --- counting ------------------------------------------------------------------------ */

static void on_few(void *data, int id, const char *text)
{
	CHECK(id == 7 && strcmp(text, "seven") == 0);
	++*(int *)data;
}

static void hit_few(void)
{
	int values = 0;

	ltt_trace(t, few, (values++, 7), "seven");
	CHECK_IS(values, <=, 1);
}

static void test_typed_counts(void)
{
	int hits = 0, other = 0;

	CHECK_IS(ltt_unregister_trace(t, few, on_few, &hits), ==, -ENOENT);
	CHECK_IS(ltt_register_trace(t, few, on_few, &hits), ==, 1);
	CHECK_IS(ltt_register_trace(t, few, &on_few, &hits), ==, 2);
	CHECK_IS(ltt_unregister_trace(t, few, on_few, &other), ==, -ENOENT);
	hit_few();
	CHECK_IS(hits, ==, 1);
	CHECK_IS(ltt_unregister_trace(t, few, on_few, &hits), ==, 1);
	hit_few();
	CHECK_IS(hits, ==, 2);
	CHECK_IS(ltt_unregister_trace(t, few, on_few, &hits), ==, 0);
	CHECK(!ltt_enabled(t, few));
	hit_few();
	CHECK_IS(hits, ==, 2);
	CHECK_IS(ltt_unregister_trace(t, few, on_few, &hits), ==, -ENOENT);
}

/* --- nesting, signals ----------------------------------------------------------------- */

static void on_few_again(void *data, int id, const char *text)
{
	++*(int *)data;
	ltt_trace(t, few, id, text);
	CHECK_IS(ltt_probe_synchronize(), ==, -EDEADLK);
}

static int typed_of(void *data, const struct ltt_typed_info *info)
{
	*(struct ltt_typed_info *)data = *info;
	return 1;
}

static void test_typed_nesting(void)
{
	struct ltt_typed_info info = { 0 };
	int hits = 0;

	CHECK_IS(ltt_typed_list(typed_of, &info), ==, 0);
	CHECK_IS(ltt_register_trace(t, few, on_few_again, &hits), ==, 1);
	ltt_trace(t, few, 1, "");
	CHECK_IS(hits, ==, 4);
	CHECK_IS(ltt_typed_list(typed_of, &info), ==, 1);
	CHECK(info.skipped == 1 && info.users == 1 && info.data == &hits && info.nr_sites == 1);
	CHECK(strcmp(info.name, "t:few") == 0);
	CHECK(strcmp(info.arguments, "(int id, const char *text)") == 0);
	ltt_trace(t, few, 1, "");
	CHECK_IS(hits, ==, 8);
	CHECK_IS(ltt_unregister_trace(t, few, on_few_again, &hits), ==, 0);
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
}

static void on_signal(int nr)
{
	(void)nr;
	ltt_trace(t, few, 7, "seven");
}

static void on_few_raise(void *data, int id, const char *text)
{
	(void)id;
	(void)text;
	if (++*(int *)data == 1)
		raise(SIGUSR1);
}

static void test_typed_signal(void)
{
	int hits = 0, others = 0;

	CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
	CHECK_IS(ltt_register_trace(t, few, on_few_raise, &hits), ==, 1);
	CHECK_IS(ltt_register_trace(t, few, on_few, &others), ==, 1);
	ltt_trace(t, few, 7, "seven");
	CHECK(hits == 2 && others == 2);
	CHECK_IS(ltt_unregister_trace(t, few, on_few_raise, &hits), ==, 0);
	CHECK_IS(ltt_unregister_trace(t, few, on_few, &others), ==, 0);
}

/* --- places that come later, and others that are declared in other words ------------------- */

static const struct ltt_field late_fields[] = {
	{ "id", 0, 0, LTT_KIND_INT, 32, 0, 10, LTT_FIELD_SIGNED, 0 },
	{ "text", 0, 0, LTT_KIND_STRING, 8, 0, 10, 0, 0 },
	{ "more", 0, 0, LTT_KIND_INT, 32, 0, 10, LTT_FIELD_SIGNED, 0 },
};
#define LATE(size_, nr, arguments_)                                                       \
	{                                                                                 \
		.size = size_, .field_size = sizeof(struct ltt_field), .nr_fields = nr,   \
		.name = "t:few", .fields = late_fields, .file = "late.c", .function = "", \
		.kind = LTT_EVENT_TRACEPOINT, .arguments = arguments_                     \
	}
static const struct ltt_event late_event[4] = {
	LATE(sizeof(struct ltt_event), 2, "(int id, const char *text)"),
	LATE(sizeof(struct ltt_event), 2, "(long id, const char *text)"),
	LATE(LTT_EVENT_LEAST, 2, (const char *)8), /* not this program's to read */
	LATE(sizeof(struct ltt_event), 3, "(int id, const char *text)"),
};
static struct ltt_site late_site[4] = {
	{ .size = sizeof(struct ltt_site), .event = &late_event[0] },
	{ .size = sizeof(struct ltt_site), .event = &late_event[1] },
	{ .size = LTT_SITE_LEAST, .event = &late_event[2] },
	{ .size = sizeof(struct ltt_site), .event = &late_event[3] },
};
static struct ltt_site *const late_sites[] = { &late_site[0], &late_site[1], &late_site[2],
					       &late_site[3] };

static void hit_late(void)
{
	void (*volatile call)(void) = ltt_typed_call; /* as ltt_trace() does */

	((void (*)(struct ltt_site *, int, const char *))call)(&late_site[0], 7, "seven");
}

static void test_later(void)
{
	struct ltt_typed_info info = { 0 };
	int hits = 0;

	CHECK_IS(ltt_register_trace(t, few, on_few, &hits), ==, 1);
	ltt_sites_register(late_sites, late_sites + 4, LTT_SITE_ABI);
	CHECK(late_site[0].owner && late_site[1].owner && late_site[2].owner);
	CHECK_IS(late_site[0].armed, ==, LTT_SITE_TYPED);
	CHECK(!late_site[1].armed && !late_site[2].armed && !late_site[3].armed);
	CHECK_IS(ltt_typed_list(typed_of, &info), ==, 1);
	CHECK(info.nr_sites == 2 && info.nr_others == 3);
	hit_late();
	CHECK_IS(hits, ==, 1);
	ltt_sites_unregister(late_sites, late_sites + 4);
	CHECK(!late_site[0].armed && !late_site[0].owner);
	hit_late();
	CHECK_IS(hits, ==, 1);
	ltt_sites_register(late_sites, late_sites + 4, LTT_SITE_ABI);
	CHECK_IS(ltt_unregister_trace(t, few, on_few, &hits), ==, 0);
	CHECK(!late_site[0].armed);
	ltt_sites_unregister(late_sites, late_sites + 4);
}

/* --- markers without a call ------------------------------------------------------------------ */

static void on_few_mark(void *marker, int id, const char *text);
DEFINE_MARKER_TP(t_marked, t, few, on_few_mark, "id %d text %s");

static void on_few_mark(void *marker, int id, const char *text)
{
	CHECK(marker == GET_MARKER(t_marked));
	calls++;
	if (id > 0)
		ltt_mark_write(t_marked, id * 2, text);
}

static void view_marked(void *priv, const struct ltt_event_view *view)
{
	int64_t id = 0;

	CHECK(ltt_view_int(view, ltt_view_field(view, "id"), &id) == 0 && id == 14);
	++*(int *)priv;
}

static void test_marker(void)
{
	struct ltt_probe *probe = NULL;
	int hits = 0;

	calls = 0;
	CHECK_IS(ltt_probe_register("t_marked", NULL, view_marked, &hits, &probe), ==, 0);
	ltt_trace(t, few, 7, "seven");
	CHECK(!calls && !ltt_enabled(t, few));
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	CHECK(ltt_enabled(t, few));
	ltt_trace(t, few, 7, "seven");
	ltt_trace(t, few, -7, "seven");
	CHECK(calls == 2 && hits == 1);
	CHECK_IS(ltt_probe_disarm(probe), ==, 0);
	CHECK(!ltt_enabled(t, few));
	ltt_trace(t, few, 7, "seven");
	CHECK(calls == 2 && hits == 1);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	ltt_trace(t, few, 7, "seven");
	CHECK(calls == 3 && hits == 2);
	ltt_probe_unregister(probe);
	CHECK(!ltt_enabled(t, few));
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
}

int main(void)
{
	test_kinds();
	test_none();
	test_typed_counts();
	test_typed_nesting();
	test_typed_signal();
	test_later();
	test_marker();
	return 0;
}
