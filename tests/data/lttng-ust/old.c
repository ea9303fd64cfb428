// SPDX-License-Identifier: GPL-2.0-only
/* old.c - fires each event of old.h, and of a second provider that is in the same file. */
static inline int evaluate(int depth)
{
	return depth;
}

#define TRACEPOINT_DEFINE
#define TRACEPOINT_CREATE_PROBES
#include "old.h"
#define TRACEPOINT_CREATE_PROBES
#include "nested.h"

int main(void)
{
	static const float floats[] = { 1.5f, -2.5f };
	static const unsigned char text[] = "text";
	int evaluated = 0;

	for (int i = 0; i < 4; i++)
		tracepoint(old, numbers, (const void *)0x1000, i, i & 1);
	tracepoint(old, texts, text, sizeof(text) - 1, floats);
	tracepoint(old, none);
	tracepoint(old, one, 1);
	tracepoint(old, other, 2);
	if (tracepoint_enabled(old, other))
		do_tracepoint(old, other, ++evaluated);
	tracepoint(nested, event, 5, "five");
	puts(tracepoint_enabled(old, one) ? "wanted" : "off");
	return 0;
}
