/* SPDX-License-Identifier: MIT */
/*
 * ltt/point.h - tracepoints whose description and code are in another file or library than the
 * places that hit them, as those of LTTng's macros are (<lttng/tracepoint.h>, which includes this).
 * Not for use by programs.
 *
 * A point is the site of all places of one event in an object (program or library). A descriptor
 * has the event's fields and code. The linker joins a point to its descriptor where both are linked
 * together; else libltt does, by name and arguments, when the second of the two is loaded, and
 * parts them before either is unloaded. Where several objects describe an event, each of their
 * descriptors records it: libltt adds a point of its own for each but the first.
 */
#ifndef LTT_POINT_H
#define LTT_POINT_H

#include <ltt/object.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * struct ltt_descriptor - fields and code of an event.
 * @size: sizeof(struct ltt_descriptor) where the program was built.
 * @event: its level is set when the descriptor is registered.
 * @arguments: types and names, which those of a point must equal.
 * @emit: records; called with the point's site and the arguments.
 * @loglevel: of the event; NULL: the event's is right.
 */
struct ltt_descriptor {
	uint32_t size;
	uint32_t reserved;
	struct ltt_event *event;
	const char *arguments;
	void (*emit)(void);
	const int *loglevel;
};

/**
 * struct ltt_point - the places of one event in an object.
 * @size: sizeof(struct ltt_point) where the program was built.
 * @reserved: 0.
 * @name: "provider:name".
 * @linked: its descriptor, which is not unloaded before the point; NULL: libltt finds one.
 * @emit: set by libltt, the descriptor's; NULL: there is none.
 * @more: set by libltt: the point of another descriptor of the event; NULL: there is none.
 */
struct ltt_point {
	uint32_t size;
	uint32_t reserved;
	const char *name;
	const char *arguments;
	const struct ltt_descriptor *linked;
	void (*emit)(void);
	struct ltt_point *more;
	struct ltt_site site;
};

/**
 * ltt_points_register(), ltt_descriptors_register() - those of one loaded object: arrays of
 * pointers. Called by a constructor that this header provides. @abi: LTT_SITE_ABI.
 */
void ltt_points_register(struct ltt_point *const *begin, struct ltt_point *const *end,
			 uint32_t abi);
void ltt_descriptors_register(const struct ltt_descriptor *const *begin,
			      const struct ltt_descriptor *const *end, uint32_t abi);
/** The object is unloaded: they return when no thread uses the joined points. */
void ltt_points_unregister(struct ltt_point *const *begin);
void ltt_descriptors_unregister(const struct ltt_descriptor *const *begin);

/** Around calls of ltt_point.emit of a point that is not linked to its descriptor, or has more:
 *  those are not unloaded in between. Any thread, any signal handler. If a thread leaves by
 *  longjmp() and does not hit a point again, dlclose() of that descriptor's object takes 10 s. */
unsigned int ltt_point_enter(void) LTT__NOPLT;
void ltt_point_leave(unsigned int token) LTT__NOPLT;

#pragma GCC visibility pop

extern struct ltt_point *const __start_ltt_points[] LTT__MERGED;
extern struct ltt_point *const __stop_ltt_points[] LTT__MERGED;
extern const struct ltt_descriptor *const __start_ltt_descriptors[] LTT__MERGED;
extern const struct ltt_descriptor *const __stop_ltt_descriptors[] LTT__MERGED;
LTT__MERGED int ltt__point_files = 0;

#ifdef __cplusplus
}
#endif

#define LTT__LISTED_IN(section_) __attribute__((section(section_), used LTT__RETAIN))

LTT__OURS static __attribute__((constructor(150))) void ltt__points_enter(void)
{
	if (ltt__point_files++ != 0)
		return;
	ltt_descriptors_register(__start_ltt_descriptors, __stop_ltt_descriptors, LTT_SITE_ABI);
	ltt_points_register(__start_ltt_points, __stop_ltt_points, LTT_SITE_ABI);
}

LTT__OURS static __attribute__((destructor(150))) void ltt__points_leave(void)
{
	if (--ltt__point_files > 0)
		return;
	ltt_points_unregister(__start_ltt_points);
	ltt_descriptors_unregister(__start_ltt_descriptors);
}

#endif
