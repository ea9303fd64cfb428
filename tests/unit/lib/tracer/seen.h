/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * seen.h - the event that a probe was called with last, and its fields, for tests of libltt in C
 * and in C++. One probe at a time.
 */
#ifndef TESTS_SEEN_H
#define TESTS_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include <ltt/probe.h>

#ifdef __cplusplus
extern "C" {
#endif

struct seen {
	int calls;
	unsigned char payload[70000];
	struct ltt_event_view view;
};

extern struct seen seen;

/** The probe's callback: keeps a copy of the event. */
void seen_event(void *priv, const struct ltt_event_view *view);

/** The value of a signed field, which must exist. */
int64_t seen_int(const char *field);

/** The value of an unsigned field, which must exist. */
uint64_t seen_uint(const char *field);

/** The value of a floating-point field, which must exist. */
double seen_float(const char *field);

/** Whether a text field has this value. */
bool seen_is_text(const char *field, const char *expected);

/** Whether the value of an enumeration has this label. */
bool seen_is_label(const char *field, const char *expected);

/** The elements of an array or sequence. */
struct ltt_elements seen_elements(const char *field);

/** The description of a field. */
const struct ltt_field *seen_field(const char *name);

/** Register and arm a probe for one event. */
struct ltt_probe *seen_watch(const char *name);

/** Unregister the probe, which must have been called @calls times. */
void seen_unwatch(struct ltt_probe *probe, int calls);

#ifdef __cplusplus
}
#endif

#endif
