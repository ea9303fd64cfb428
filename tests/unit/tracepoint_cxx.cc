/* SPDX-License-Identifier: GPL-2.0-only */
/* Every kind of field in C++, and constructs of C++ alone: namespaces, templates, inline
 * functions, enum classes, exceptions. */
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "tracepoint_fields.h"

#include <ltt/log.h>
#include <ltt/marker.h>

enum class Strong : uint8_t { A, B = 9 };

LTT_ENUM(cxx, strong, ltt_value("A", 0), ltt_value("B", 9))

namespace outer
{
namespace inner
{
LTT_TRACEPOINT(cxx, in_namespace, (const std::string &text, Strong strong), LTT_INFO,
	       ltt_string(text, text.c_str()), ltt_enum(uint8_t, cxx, strong, strong, strong),
	       ltt_int(Strong, raw, strong))

inline void from_inline(const std::string &text)
{
	ltt_trace(cxx, in_namespace, text, Strong::B);
}
} // namespace inner
} // namespace outer

namespace
{
LTT_TRACEPOINT(cxx, anonymous, (int x), LTT_INFO, ltt_int(int, x, x))
}

template <class T> struct Box {
	T value;
	void open() const { ltt_trace(cxx, anonymous, (int)value); }
	void mark() const { trace_mark(cxx_box, "size %zu value %d", sizeof(T), (int)value); }
};

inline void mark_inline(int n)
{
	trace_mark(cxx_inline, "n %d", n);
}

static int fail()
{
	throw std::runtime_error("no value");
}

static void test_scopes()
{
	struct ltt_probe *probe = seen_watch("cxx:in_namespace");

	outer::inner::from_inline("from C++");
	CHECK(seen_is_text("text", "from C++") && seen_is_label("strong", "B") &&
	      seen_int("raw") == 9);
	seen_unwatch(probe, 1);

	probe = seen_watch("cxx:anonymous");
	Box<short>{ 3 }.open();
	CHECK(seen_int("x") == 3);
	Box<long>{ 4 }.open();
	CHECK(seen_int("x") == 4);
	/* An argument that throws leaves nothing behind. */
	try {
		ltt_trace(cxx, anonymous, fail());
		CHECK(!"no exception");
	} catch (const std::runtime_error &) {
	}
	seen_unwatch(probe, 2);
}

static void test_markers()
{
	struct ltt_probe *probe = seen_watch("cxx_box");

	Box<short>{ 3 }.mark();
	CHECK(seen_uint("size") == 2 && seen_int("value") == 3);
	Box<long>{ -4 }.mark();
	CHECK(seen_uint("size") == 8 && seen_int("value") == -4);
	seen_unwatch(probe, 2);

	probe = seen_watch("cxx_inline");
	mark_inline(5);
	CHECK(seen_int("n") == 5);
	auto lambda = [](int n) { trace_mark(cxx_inline, "n %d", n); };
	lambda(6);
	CHECK(seen_int("n") == 6);
	seen_unwatch(probe, 2);

	probe = seen_watch("ltt_tracelog:NOTICE");
	ltt_tracelog(LTT_NOTICE, "%s %d", "line", 1);
	CHECK(seen_is_text("msg", "line 1") && seen_is_text("function", "test_markers"));
	seen_unwatch(probe, 1);
}

/* A marker of C++ stays armed at exit(): behind all destructors of objects. */
static void test_exit()
{
	seen_watch("cxx_inline");
}

static __attribute__((destructor(101))) void trace_at_the_end()
{
	if (seen.calls != 0)
		return; /* a test has failed */
	mark_inline(7);
	if (seen.calls != 1 || seen_int("n") != 7)
		_exit(1);
}

int main()
{
	test_all_fields();
	test_scopes();
	test_markers();
	test_exit();
	return 0;
}
