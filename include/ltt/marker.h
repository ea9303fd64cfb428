/* SPDX-License-Identifier: MIT */
/*
 * ltt/marker.h - markers: instrumentation points that need no declaration. Link with -lltt.
 *
 *	trace_mark(subsystem_event, "count %d name %s", count, name);
 *
 * is an event "subsystem_event" with the fields count and name. The compiler checks
 * the arguments as printf's; while there is no listener they are not evaluated, and
 * the marker costs the test of one word. The arguments are recorded in binary form;
 * no text is formatted. Thread safe, async-signal safe, keeps errno.
 * ltt_mark() is the same, for programs that have a trace_mark() of their own
 * (then define LTT_NO_TRACE_MARK).
 *
 * Fields. Each conversion is one: %c %d %i %u %x %X %o %p %s %f %F %g %G %e %E
 * %a %A, with the lengths h hh l ll z j t L. Flags, width and precision do not
 * change the type ('*' takes an int, which is not recorded), but the precision of
 * %s limits the bytes that are read, as it does for printf. NULL for %s is recorded as
 * "(null)". A marker with %n, %m, %ls, positions (%1$d) or more than 32 fields
 * cannot be recorded and is not listed.
 *
 * Names. A conversion is named by the last word between it and the conversion
 * before it: letters, digits and '_', not beginning with a digit. Characters
 * between the word and the conversion (spaces, '=', ':', '[', quotes, "0x") are
 * skipped. Without a word it is called argN, where N counts the fields from 1. If
 * an earlier field has the same name, _2, _3, ... is appended.
 *
 *	"count %d name %s"       count, name
 *	"fd=%d flags: 0x%x [%s]" fd, flags, arg3
 *	"from %d to %d to %d"    from, to, to_2
 *
 * Several markers may have the same name. If their formats agree, they are one event.
 * If they differ, the format that is registered first is recorded: in one program or library the
 * first in the source, by the file's name and the line (in C++ the order in which its
 * markers are initialised); of several libraries, that of the one loaded first; of several programs
 * in a session, that of the program that registered first. The other markers are not recorded,
 * and lttctl enable-event, start, status, stop and record report both formats.
 *
 * Other tools (perf, bpftrace, gdb) see a marker by its SDT note (ltt/sdt.h). Its arguments are the
 * same values, evaluated once. A value with a comma outside parentheses needs parentheses;
 * there are at most 64 values.
 */
#ifndef LTT_MARKER_H
#define LTT_MARKER_H

#include <ltt/object.h>
#include <ltt/sdt.h>

#define LTT__MARKER_EVENT(name, format, function) \
	{ sizeof(struct ltt_event), sizeof(struct ltt_field), 0, name, 0, format, __FILE__, \
	  function, __LINE__, LTT_EVENT_MARKER, LTT_DEBUG_LINE, { 0, 0 }, 0, 0, 0 }

#ifndef __cplusplus

#define LTT__MARK(name, format, ...) \
	do { \
		static const struct ltt_event ltt__event = \
			LTT__MARKER_EVENT(name, format, ""); \
		static struct ltt_site ltt__site = { \
			0, sizeof(struct ltt_site), &ltt__event, 0, 0, 0, 0 \
		}; \
		LTT__LISTED static struct ltt_site *const ltt__listed = &ltt__site; \
		if (ltt_site_armed(&ltt__site)) { \
			LTT__SDT_MARK(&ltt__site, name, format, ##__VA_ARGS__); \
			LTT__RETURNS_HERE(); \
		} \
	} while (0)

#else

/*
 * In C++ a marker may be used in an inline function or a template, whose static
 * data the linker merges, so that it can't be listed in a section. A local class
 * identifies the marker; its site is a member of a class template of that class, and is
 * registered before main(). There is no destructor, as exit() must not disarm it.
 */
template <class Marker> struct LTT__HIDDEN ltt__marker {
	static struct ltt_site site;
	static struct ltt__enrolment enrolment;
	struct enroller {
		enroller()
		{
			site.event = Marker::event();
			ltt__object_enrol(&enrolment);
		}
	};
	static enroller enrolled;
};
template <class Marker> struct ltt_site ltt__marker<Marker>::site = {
	0, sizeof(struct ltt_site), 0, 0, 0, 0, 0
};
template <class Marker> struct ltt__enrolment ltt__marker<Marker>::enrolment = {
	0, &ltt__marker<Marker>::site
};
template <class Marker> typename ltt__marker<Marker>::enroller ltt__marker<Marker>::enrolled;

#define LTT__MARK(name, format, ...) \
	do { \
		struct LTT__HIDDEN ltt__tag { \
			static const struct ltt_event *event() \
			{ \
				static const struct ltt_event described = \
					LTT__MARKER_EVENT(name, format, ""); \
				return &described; \
			} \
		}; \
		(void)&ltt__marker<ltt__tag>::enrolled; \
		if (ltt_site_armed(&ltt__marker<ltt__tag>::site)) { \
			LTT__SDT_MARK(&ltt__marker<ltt__tag>::site, name, format, ##__VA_ARGS__); \
			LTT__RETURNS_HERE(); \
		} \
	} while (0)

#endif

/*
 * A marker without a call: a probe of a tracepoint writes it.
 *
 *	static void on_request(void *marker, int id, const char *path);
 *	DEFINE_MARKER_TP(web_visit, web, request, on_request, "id %d path %s");
 *	static void on_request(void *marker, int id, const char *path)
 *	{
 *		ltt_mark_write(web_visit, id, path);
 *	}
 *
 * DEFINE_MARKER_TP(NAME, PROVIDER, TRACEPOINT, PROBE, FORMAT), at file scope, behind the
 * declarations of the tracepoint and of PROBE, a typed probe (ltt/typed.h): it is connected to the
 * tracepoint while the marker has a listener, and gets GET_MARKER(NAME) as its data. One file has
 * one marker of a NAME; PROBE may write it or not, or several times.
 * ltt_mark_write(NAME, VALUES...) records; the compiler checks VALUES against FORMAT.
 * GET_MARKER(NAME) is its struct ltt_site *.
 */
#define DEFINE_MARKER_TP(name, provider, tracepoint, probe, format) \
	LTT__UNUSED static const char ltt_format_##name[] = format; \
	static const struct ltt_typed_request ltt_connects_##name = { \
		&ltt_typed_##provider##__##tracepoint, (void (*)(void))(probe) \
	}; \
	static const struct ltt_event ltt_marker_event_##name = { \
		sizeof(struct ltt_event), sizeof(struct ltt_field), 0, #name, 0, format, __FILE__, \
		"", __LINE__, LTT_EVENT_MARKER, LTT_DEBUG_LINE, { 0, 0 }, 0, \
		&ltt_connects_##name, 0 \
	}; \
	static struct ltt_site ltt_marker_##name = { \
		0, sizeof(struct ltt_site), &ltt_marker_event_##name, 0, 0, 0, 0 \
	}; \
	LTT__LISTED static struct ltt_site *const ltt_listed_marker_##name = &ltt_marker_##name; \
	LTT__CHECK_PROBE(ltt_probe_fn_##provider##__##tracepoint, probe)
#define GET_MARKER(name) (&ltt_marker_##name)
#define ltt_mark_write(name, ...) \
	do { \
		if (ltt_site_armed(GET_MARKER(name))) { \
			ltt_emit_format(GET_MARKER(name), ltt_format_##name, ##__VA_ARGS__); \
			LTT__RETURNS_HERE(); \
		} \
	} while (0)

#define ltt_mark(name, format, ...) LTT__MARK(#name, format, ##__VA_ARGS__)
#ifndef LTT_NO_TRACE_MARK
#define trace_mark(name, format, ...) LTT__MARK(#name, format, ##__VA_ARGS__)
#endif

#endif
