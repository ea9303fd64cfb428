/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * refused - an application with a point that no trace can hold, and one that can be
 * recorded; it prints "ready" when it has registered, and ends with its standard input.
 * The compiler refuses such a point of ltt/tracepoint.h, so this one is made by hand, as
 * programs that were built with older headers have it.
 */
#include <stdio.h>

#include <ltt/ltt.h>

LTT_TRACEPOINT(refused, good, (int x), LTT_INFO, ltt_int(int, x, x))

static const struct ltt_field fields[] = {
	{ "twice", 0, 0, LTT_KIND_INT, 32, 0, 10, LTT_FIELD_SIGNED, 0 },
	{ "twice", 0, 0, LTT_KIND_INT, 32, 0, 10, LTT_FIELD_SIGNED, 0 },
};
static const struct ltt_event event = { sizeof(struct ltt_event), sizeof(struct ltt_field), 2,
					"refused:bad", fields, 0, "bad\nname.c", "", 7,
					LTT_EVENT_TRACEPOINT, LTT_INFO, { 0, 0 }, 0, 0, 0 };
static struct ltt_site site = { 0, sizeof(struct ltt_site), &event, 0, 0, 0, 0 };
LTT__LISTED static struct ltt_site *const listed = &site;

int main(void)
{
	char line[16];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		ltt_trace(refused, good, 1);
	return 0;
}
