/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ltt/probe.h - functions of the program itself that run when one of its
 * tracepoints or markers is hit. No daemon is needed; sessions may record the
 * same events at the same time. Link with -lltt.
 *
 *	static void on_request(void *priv, const struct ltt_event_view *event)
 *	{
 *		int64_t id;
 *
 *		if (ltt_view_int(event, ltt_view_field(event, "id"), &id) == 0)
 *			...
 *	}
 *
 *	ltt_probe_register("web:request", NULL, on_request, &state, &probe);
 *	ltt_probe_arm(probe);
 *	...
 *	ltt_probe_unregister(probe);
 *	ltt_probe_synchronize();
 *	(now `state` may be freed)
 *
 * A probe is connected when it is registered and called while it is armed: arming
 * is counted, so that independent parts of a program may share one. It applies to
 * all sites of its name, also in libraries that are loaded later.
 *
 * Threads. All functions may be called from any thread, but not from a signal
 * handler, not from the functions that ltt_points_list(), ltt_probes_list() and
 * ltt_probe_conflicts() call, and, for functions that wait (see their descriptions), not
 * from a probe. A probe runs in the thread that hit the event, which may be in a signal
 * handler: it must not block, must not call dlopen(), dlclose() or exit(), and
 * must be safe to run in several threads at once. errno is kept. Events that it
 * causes are events as any other, but probes nest at most 4 deep in a thread;
 * deeper calls are skipped and counted.
 *
 * Errors are negative errno values.
 */
#ifndef LTT_PROBE_H
#define LTT_PROBE_H

#include <ltt/site.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ltt_probe;

/**
 * struct ltt_event_view - an event as a probe sees it, valid during the call.
 * @size: of this structure in libltt; later versions append.
 * @fields: @nr_fields of them, also those that are not recorded.
 * @payload: @len bytes, the fields without padding. Read it with ltt_view_...().
 */
struct ltt_event_view {
	size_t size;
	const struct ltt_event *event;
	const struct ltt_field *fields;
	uint32_t nr_fields;
	uint32_t reserved;
	const void *payload;
	size_t len;
};

typedef void (*ltt_probe_call)(void *priv, const struct ltt_event_view *event);

/* --- probes ------------------------------------------------------------------- */

enum { LTT_PROBE_CONFLICT = 1 };

/**
 * ltt_probe_register() - connect @call(@priv) to the events of a name.
 * @name: "provider:name" of a tracepoint, "subsystem_event" of a marker. It need
 *        not exist yet.
 * @format: format of the marker that @call expects; NULL: the format of the first
 *          marker of that name. Always NULL for tracepoints.
 *
 * Return: 0; LTT_PROBE_CONFLICT: registered, but some markers of that name have
 * another format and stay unconnected (ltt_probe_conflicts() lists them);
 * -EINVAL (no name or no function), -ENOMEM.
 */
int ltt_probe_register(const char *name, const char *format, ltt_probe_call call, void *priv,
		       struct ltt_probe **ret_probe);

/**
 * ltt_probe_unregister() - remove a probe, regardless of its number of users. A call
 * may still be running: call ltt_probe_synchronize() before freeing data that it uses. NULL is
 * allowed.
 */
void ltt_probe_unregister(struct ltt_probe *probe);

/**
 * ltt_probe_arm() - add one user of the calls.
 * Return: the number of users now; -ENOMEM, and nothing has changed.
 */
int ltt_probe_arm(struct ltt_probe *probe);

/** ltt_probe_disarm() - remove one user of the calls. Return: the number of users left;
 *  -EALREADY if there was none. */
int ltt_probe_disarm(struct ltt_probe *probe);

/**
 * ltt_probe_synchronize() - wait until no call is running of a probe that was
 * disarmed or unregistered before.
 * Return: 0; -EDEADLK from within a probe.
 */
int ltt_probe_synchronize(void);

/** struct ltt_probe_conflict - a marker whose format is not the expected one. */
struct ltt_probe_conflict {
	const char *name;
	const char *expected;
	const char *found;
	const char *file;
	uint32_t line;
	uint32_t nr_sites;
};

/**
 * ltt_probe_conflicts() - call @each for each format that disagrees with @probe's.
 * A non-zero return value of @each ends it. Return: the number of conflicts, or that value.
 */
int ltt_probe_conflicts(struct ltt_probe *probe,
			int (*each)(void *data, const struct ltt_probe_conflict *conflict),
			void *data);

/* --- the points of the process --------------------------------------------------------------- */

/**
 * struct ltt_point_info - all sites of one name, level and layout.
 * @event: name, level, format, file and line; use @fields instead of its own.
 * @nr_listeners: sessions and armed probes.
 */
struct ltt_point_info {
	size_t size;
	const struct ltt_event *event;
	const struct ltt_field *fields;
	uint32_t nr_fields;
	uint32_t nr_sites;
	uint32_t nr_listeners;
	uint32_t reserved;
};

/**
 * struct ltt_probe_info - a registered probe.
 * @format: NULL for tracepoints and where no marker of the name has appeared yet.
 * @armed: number of users, see ltt_probe_arm().
 * @nr_points: points that it is connected to.
 * @skipped: calls left out because probes were nested too deep.
 */
struct ltt_probe_info {
	size_t size;
	const struct ltt_probe *probe;
	const char *name;
	const char *format;
	ltt_probe_call call;
	void *priv;
	uint32_t armed;
	uint32_t nr_points;
	uint64_t skipped;
};

/**
 * Call @each for every point, in the order of their registration, or for every
 * probe. A non-zero return value ends the list and is returned, else 0.
 */
int ltt_points_list(int (*each)(void *data, const struct ltt_point_info *point), void *data);
int ltt_probes_list(int (*each)(void *data, const struct ltt_probe_info *probe), void *data);

/* --- reading an event -------------------------------------------------------------- */

/**
 * ltt_view_field() - the number of a field.
 * Return: from 0, or -ENOENT. The functions below return a negative field number as their error.
 */
int ltt_view_field(const struct ltt_event_view *view, const char *name);

/**
 * The value of field number @field, an integer or enumeration; numbers in network byte
 * order are converted.
 * Return: 0; -EINVAL (no such field, or of another kind), -ERANGE (the value does not fit).
 */
int ltt_view_int(const struct ltt_event_view *view, int field, int64_t *ret_value);
int ltt_view_uint(const struct ltt_event_view *view, int field, uint64_t *ret_value);
/** The value of field number @field, a floating-point number or an integer. */
int ltt_view_float(const struct ltt_event_view *view, int field, double *ret_value);

/**
 * ltt_view_string() - a string, or an array or sequence of text, which need not be
 * terminated.
 */
int ltt_view_string(const struct ltt_event_view *view, int field, const char **ret_text,
		    size_t *ret_len);

/** struct ltt_elements - an array or sequence; not aligned. */
struct ltt_elements {
	const void *data;
	size_t count;
	uint8_t size_bits;
	uint8_t is_signed;
	uint8_t is_float;
	uint8_t reserved;
};
int ltt_view_elements(const struct ltt_event_view *view, int field,
		      struct ltt_elements *ret_elements);

/** ltt_view_label() - the label of an enumeration's value; -ENOENT where it has none. */
int ltt_view_label(const struct ltt_event_view *view, int field, const char **ret_label);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
