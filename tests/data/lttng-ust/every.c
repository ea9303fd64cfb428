// SPDX-License-Identifier: GPL-2.0-only
/* every.c [LIBRARY] - fires each event of every.h; loads the provider first, if it is a library. */
#define LTTNG_UST_TRACEPOINT_DEFINE
#ifdef APART
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#endif
#include "every.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C"
#endif
void write_lines(const char *large);

static void in_handler(int signal)
{
	lttng_ust_tracepoint(every, left, signal, 0xffffffffu);
}

static void fire(void)
{
	static const int64_t numbers[] = { 0,	  1,	     -1,	127,	  255,
					   -129, 65535, INT32_MAX, INT64_MIN, INT64_MAX };
	static const int32_t p[] = { 1, -2, 300000 };
	static const int16_t q[] = { -1, 2, 3000, 4 };
	static char large[10001];
	static const int values[] = { 0, 1, 2, 10, 15, 20, 21, -3, 40, 99 };

	memset(large, 'x', sizeof(large) - 1);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		lttng_ust_tracepoint(every, integers, numbers[i]);
	lttng_ust_tracepoint(every, floats, 1.5f, -2.25e100);
	lttng_ust_tracepoint(every, strings, "", "text");
	lttng_ust_tracepoint(every, strings, (const char *)0, "after NULL");
	lttng_ust_tracepoint(every, strings, large, "large");
	lttng_ust_tracepoint(every, arrays, p, "ab\0def");
	lttng_ust_tracepoint(every, arrays, p, "abcdefgh");
	for (size_t len = 0; len < 5; len++)
		lttng_ust_tracepoint(every, sequences, q, "wx\0yz", len);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		lttng_ust_tracepoint(every, enums, values[i]);
	for (int i = 0; i < 4; i++)
		lttng_ust_tracepoint(every, hidden, i, i % 2 ? "odd" : "even", p);
	lttng_ust_tracepoint(every, ten, 1, 2, 3, 4, 5, 6, 7, 8, 9.5, "ten");
	lttng_ust_tracepoint(every, nothing, 0);
	lttng_ust_tracepoint(every, left, 1, 2);
	lttng_ust_tracepoint(every, right, 3, 4);
	raise(SIGUSR1);
	write_lines(large);
}

int main(int argc, char **argv)
{
	int wanted;

	signal(SIGUSR1, in_handler);
	if (argc > 1 && !dlopen(argv[1], RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	wanted = lttng_ust_tracepoint_enabled(every, right);
	fire();
	printf("%s\n", wanted ? "wanted" : "off");
	return 0;
}
