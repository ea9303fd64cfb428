/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * print.h - one event as text or as JSON. A printer belongs to one view_print().
 */
#ifndef VIEW_PRINT_H
#define VIEW_PRINT_H

#include "event.h"
#include "pen.h"

/**
 * struct printer
 * @last_ns: time of the event before; @any: there was one.
 * @second, @second_text: the last second that was written as a time of day.
 */
struct printer {
	struct pen pen;
	struct view_style style;
	bool any;
	int64_t last_ns;
	int64_t second;
	char second_text[64];
};

void print_text(struct printer *printer, const struct event *event);
void print_json(struct printer *printer, const struct event *event);

/** Time of @ns's second as @format (strftime's), remembered for the next event. */
const char *print_second(struct printer *printer, int64_t ns, const char *format, bool gmt);

/** Keep what @write writes as the packet's context, for all of its events. */
void print_packet_once(struct packet *packet,
		       void (*write)(struct pen *pen, const struct packet *packet));

/** Seconds and nanoseconds of a time that may be negative. */
static inline int64_t seconds_of(int64_t ns)
{
	return ns / 1000000000 - (ns % 1000000000 < 0);
}

static inline uint32_t nanos_of(int64_t ns)
{
	return (uint32_t)(ns - seconds_of(ns) * 1000000000);
}

/** Whether this member of a packet context is not shown. */
static inline bool is_readers_own(const struct value *value)
{
	return value->field && value->field->role != ROLE_NONE && type_is_scalar(value->type);
}

/** Members of a packet context: from @value on, the first that is shown; else @end. */
static inline const struct value *next_shown(const struct value *value, const struct value *end)
{
	while (value < end && is_readers_own(value))
		value++;
	return value;
}

/** Whether it is shown as a string. */
static inline bool value_is_text(const struct value *value)
{
	return value_is_packed(value) && value->type->text && !value->bit;
}

/** Bytes of a packed array of 8-bit text, up to its first NUL. */
static inline size_t text_length(const struct value *value)
{
	return strnlen((const char *)value->bytes, value->count);
}

#endif
