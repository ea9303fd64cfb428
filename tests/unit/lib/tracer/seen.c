/* SPDX-License-Identifier: GPL-2.0-only */
#include "seen.h"

#include <string.h>

#include "../../check.h"

struct seen seen;

void seen_event(void *priv, const struct ltt_event_view *view)
{
	(void)priv;
	seen.calls++;
	seen.view = *view;
	CHECK_IS(view->len, <=, sizeof(seen.payload));
	memcpy(seen.payload, view->payload, view->len);
	seen.view.payload = seen.payload;
}

int64_t seen_int(const char *field)
{
	int64_t value = 0;

	CHECK_IS(ltt_view_int(&seen.view, ltt_view_field(&seen.view, field), &value), ==, 0);
	return value;
}

uint64_t seen_uint(const char *field)
{
	uint64_t value = 0;

	CHECK_IS(ltt_view_uint(&seen.view, ltt_view_field(&seen.view, field), &value), ==, 0);
	return value;
}

double seen_float(const char *field)
{
	double value = 0;

	CHECK_IS(ltt_view_float(&seen.view, ltt_view_field(&seen.view, field), &value), ==, 0);
	return value;
}

bool seen_is_text(const char *field, const char *expected)
{
	const char *text = NULL;
	size_t len = 0;

	CHECK_IS(ltt_view_string(&seen.view, ltt_view_field(&seen.view, field), &text, &len), ==,
		 0);
	return len == strlen(expected) && memcmp(text, expected, len) == 0;
}

bool seen_is_label(const char *field, const char *expected)
{
	const char *label = NULL;

	CHECK_IS(ltt_view_label(&seen.view, ltt_view_field(&seen.view, field), &label), ==, 0);
	return strcmp(label, expected) == 0;
}

struct ltt_elements seen_elements(const char *field)
{
	struct ltt_elements elements;

	CHECK_IS(ltt_view_elements(&seen.view, ltt_view_field(&seen.view, field), &elements), ==,
		 0);
	return elements;
}

const struct ltt_field *seen_field(const char *name)
{
	int number = ltt_view_field(&seen.view, name);

	CHECK_IS(number, >=, 0);
	return &seen.view.fields[number];
}

struct ltt_probe *seen_watch(const char *name)
{
	struct ltt_probe *probe = NULL;

	seen.calls = 0;
	CHECK_IS(ltt_probe_register(name, NULL, seen_event, NULL, &probe), ==, 0);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	return probe;
}

void seen_unwatch(struct ltt_probe *probe, int calls)
{
	ltt_probe_unregister(probe);
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
	CHECK_IS(seen.calls, ==, calls);
}
