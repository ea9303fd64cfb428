/* SPDX-License-Identifier: GPL-2.0-only */
/* Typed probes in C++: references, enum classes, namespaces, templates, static members; arguments
 * that are refused are in tests/e2e/headers.test. */
#include <string>

#include <ltt/marker.h>
#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "check.h"

enum class Color : unsigned char { RED, GREEN = 7 };

struct Point {
	double x, y, z;
};

namespace drawing
{
LTT_TRACEPOINT(draw, line,
	       (const std::string &name, const Point &from, Point to, Color color, bool dashed,
		int width, long a, long b),
	       LTT_INFO, ltt_string(name, name.c_str()), ltt_float(double, x, from.x),
	       ltt_float(double, z, to.z), ltt_int(long, b, b))

struct Seen {
	int lines = 0;
	double last = 0;
	static void on_line(void *self, const std::string &name, const Point &from, Point to,
			    Color color, bool dashed, int width, long a, long b)
	{
		Seen *seen = static_cast<Seen *>(self);

		CHECK(name == "diagonal" && from.y == 2 && to.z == 6 && color == Color::GREEN);
		CHECK(dashed && width == 3 && a == 4 && b == 5);
		seen->last = to.z;
		to.z = 0;
		seen->lines++;
	}
};

template <class T> void draw(T width)
{
	ltt_trace(draw, line, std::string("diagonal"), Point{ 1, 2, 3 }, Point{ 4, 5, 6 },
		  Color::GREEN, true, width, 4, 5);
}
} // namespace drawing

LTT_TRACEPOINT(draw, dot, (int x), LTT_INFO, ltt_int(int, x, x))
static void on_dot(void *marker, int x);
DEFINE_MARKER_TP(draw_marked, draw, dot, on_dot, "x %d");
static void on_dot(void *marker, int x)
{
	CHECK(marker == GET_MARKER(draw_marked));
	ltt_mark_write(draw_marked, x + 1);
}

static void count(void *priv, const struct ltt_event_view *view)
{
	int64_t x = 0;

	CHECK(ltt_view_int(view, ltt_view_field(view, "x"), &x) == 0 && x == 42);
	++*static_cast<int *>(priv);
}

int main()
{
	using drawing::ltt_typed_draw__line;
	typedef drawing::ltt_probe_fn_draw__line ltt_probe_fn_draw__line;
	struct ltt_probe *probe = nullptr;
	drawing::Seen first, second;
	int marked = 0;

	CHECK_IS(ltt_register_trace(draw, line, drawing::Seen::on_line, &first), ==, 1);
	CHECK_IS(ltt_register_trace(draw, line, &drawing::Seen::on_line, &second), ==, 1);
	drawing::draw<short>(3);
	CHECK(first.lines == 1 && second.lines == 1 && second.last == 6);
	CHECK_IS(ltt_unregister_trace(draw, line, drawing::Seen::on_line, &first), ==, 0);
	drawing::draw<long>(3);
	CHECK(first.lines == 1 && second.lines == 2);
	CHECK_IS(ltt_unregister_trace(draw, line, drawing::Seen::on_line, &second), ==, 0);
	drawing::draw<int>(3);
	CHECK(first.lines == 1 && second.lines == 2);

	CHECK_IS(ltt_probe_register("draw_marked", nullptr, count, &marked, &probe), ==, 0);
	ltt_trace(draw, dot, 41);
	CHECK(ltt_probe_arm(probe) == 1 && marked == 0);
	ltt_trace(draw, dot, 41);
	CHECK_IS(marked, ==, 1);
	ltt_probe_unregister(probe);
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
	return 0;
}
