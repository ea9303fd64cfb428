/* SPDX-License-Identifier: GPL-2.0-only */
/* Any text as the expression of an event filter: a valid program, or an error within the text. */
#include <stdlib.h>
#include <string.h>

#include "../unit/lib/filter_event.h"
#include "must_hold.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_mode(const struct filter_event *event, const char *text, enum filter_mode mode)
{
	struct filter_result r;
	char buf[500];

	filter_event_compile(event, text, mode, &r);
	if (r.status == FILTER_COMPILED) {
		MUST_HOLD(ltt_filter_verify(r.program, r.bytes) == r.program);
		for (size_t length = 0; length <= event->length; length += 7)
			filter_event_run(&r, event->bytes, length);
		filter_event_run(&r, event->bytes, event->length);
	} else {
		MUST_HOLD(!r.program && *r.text);
		MUST_HOLD(r.column >= 1 && r.column <= strlen(text) + 1);
		filter_explain(text, &r, buf, sizeof(buf));
	}
	MUST_HOLD(mode == FILTER_LENIENT || r.status != FILTER_NEVER);
	filter_result_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct filter_event event;
	char *text = strndup((const char *)data, size);

	if (!event.layout)
		filter_event_make(&event);
	try_mode(&event, text, FILTER_LENIENT);
	try_mode(&event, text, FILTER_STRICT);
	free(text);
	return 0;
}
