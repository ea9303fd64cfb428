/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hello_probe - reads its own events with a probe; needs no daemon. Prints the events
 * of the probe, and those that can be probed.
 */
#include <inttypes.h>
#include <stdio.h>

#include <ltt/probe.h>
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(hello, probe, (int number, const char *text), LTT_INFO,
	       ltt_int(int, number, number),
	       ltt_string(text, text))

static void on_hello(void *priv, const struct ltt_event_view *event)
{
	int64_t number;
	const char *text;
	size_t len;

	if (ltt_view_int(event, ltt_view_field(event, "number"), &number) == 0 &&
	    ltt_view_string(event, ltt_view_field(event, "text"), &text, &len) == 0)
		printf("%s: number = %" PRId64 ", text = %.*s\n", event->event->name, number,
		       (int)len, text);
	++*(int *)priv;
}

static int print_point(void *data, const struct ltt_point_info *point)
{
	(void)data;
	printf("%s: %u listening\n", point->event->name, point->nr_listeners);
	return 0;
}

int main(void)
{
	struct ltt_probe *probe;
	int calls = 0;

	if (ltt_probe_register("hello:probe", NULL, on_hello, &calls, &probe) < 0)
		return 1;
	ltt_trace(hello, probe, 1, "not armed yet");
	ltt_probe_arm(probe);
	ltt_points_list(print_point, NULL);
	ltt_trace(hello, probe, 2, "armed");
	ltt_probe_disarm(probe);
	ltt_trace(hello, probe, 3, "not any more");
	ltt_probe_unregister(probe);
	ltt_probe_synchronize();
	printf("called %d times\n", calls);
	return calls == 1 ? 0 : 1;
}
