// SPDX-License-Identifier: GPL-2.0-only
/*
 * typed.c - an application that counts its own requests by typed probes, which come and go, and
 * hits each of its tracepoints at one place; it prints the calls of its probes.
 */
#include <stdio.h>
#include <string.h>

#include <ltt/ltt.h>

LTT_TRACEPOINT(typed, request, (int id, const char *path), LTT_INFO, ltt_int(int, id, id),
	       ltt_string(path, path))
LTT_TRACEPOINT(typed, word, (int id), LTT_INFO, ltt_int(int, id, id))

static int requests, words;

static void on_request(void *data, int id, const char *path)
{
	*(int *)data += id >= 0 && strcmp(path, "/index.html") == 0;
}

static void on_word(void *data, int id)
{
	*(int *)data += id >= 0;
}

static void on_third(void *marker, int id);
DEFINE_MARKER_TP(typed_third, typed, word, on_third, "id %d of %s");
static void on_third(void *marker, int id)
{
	(void)marker;
	if (id % 3 == 0)
		ltt_mark_write(typed_third, id, "three");
}

static __attribute__((noinline)) void hit(int id)
{
	ltt_trace(typed, request, id, "/index.html");
	ltt_trace(typed, word, id);
}

int main(void)
{
	for (int id = 0; id < 300; id++) {
		if (id == 100) {
			ltt_register_trace(typed, request, on_request, &requests);
			ltt_register_trace(typed, word, on_word, &words);
		}
		if (id == 200) {
			ltt_unregister_trace(typed, request, on_request, &requests);
			ltt_unregister_trace(typed, word, on_word, &words);
		}
		hit(id);
	}
	printf("%d %d\n", requests, words);
	return 0;
}
