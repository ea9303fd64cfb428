/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event.h - an event that can be recorded: its name, its fields, and the functions that enable
 * it. Events compiled from the kernel's trace headers are constant data, made by
 * probe/header/include/trace/define_trace.h; others are created when the module finds them in the
 * running kernel. An event stays in the registry until the module is unloaded.
 */
#ifndef KMOD_EVENT_H
#define KMOD_EVENT_H

#include <linux/list.h>
#include <linux/types.h>

struct event;
struct hook;
struct tracepoint;

enum field_form {
	FORM_VALUE,	/* integer, pointer; other sizes: bytes */
	FORM_STRUCT,
	FORM_ARRAY,
	FORM_DYNAMIC,	/* u16 count, then elements; at the payload's end */
	FORM_STRING,	/* NUL-terminated; at the payload's end */
};

/** struct field - a field of an event, as declared. @form: enum field_form. @count: elements of an
 *  array. @base: 10 or 16; 0: that of @type, 16 for pointers. */
struct field {
	const char *name;
	const char *type;
	u32 elem_bytes;
	u32 count;
	u8 form;
	u8 is_signed;
	u8 base;
};

/** Whether the field is behind those of fixed size in a payload. */
static inline bool field_comes_last(const struct field *field)
{
	return field->form == FORM_DYNAMIC || field->form == FORM_STRING;
}

/** Whether the field, or each element of it, is a number; others are counted and shown as bytes. */
static inline bool field_is_number(const struct field *field)
{
	return field->form != FORM_STRUCT && (field->elem_bytes == 1 || field->elem_bytes == 2 ||
					      field->elem_bytes == 4 || field->elem_bytes == 8);
}

/**
 * struct event_kind - functions that enable (@attach) and disable (@detach) events of a kind;
 * called with the registry's lock held, and for live events only.
 * @release: frees an event of a kind whose events belong to one channel; NULL for all others.
 * @join: moves the places of @more to @event, which is enabled; under the channel's lock; NULL: it
 *        can have no more.
 * @flags: flags of struct ltt_kmod_event.
 */
struct event_kind {
	int (*attach)(struct hook *hook);
	void (*detach)(struct hook *hook);
	void (*release)(struct event *event);
	int (*join)(struct event *event, struct event *more);
	u32 flags;
};

/**
 * struct event
 * @system: subsystem of a tracepoint; NULL: the name has no prefix.
 * @probe: probe function of a tracepoint: void (void *hook, ...).
 * @tp: the tracepoint in the running kernel, while @live.
 * @copy: of an event that belongs to a channel: its description, which outlives it
 *        (trace/classes.h).
 * @live, @hooks: owned by the registry, under its lock; probes walk @hooks by RCU.
 */
struct event {
	const char *system;
	const char *name;
	void *probe;
	const struct field *fields;
	u32 nr_fields;
	bool live;
	const struct event_kind *kind;
	struct tracepoint *tp;
	struct list_head hooks;
	struct hlist_node same_hash;
	struct event *copy;
};

#endif
