/* SPDX-License-Identifier: MIT */
/*
 * requests.c - a program that records when each of its requests begins and ends.
 */
#include <time.h>

#include <ltt/tracepoint.h>

LTT_TRACEPOINT(web, begin, (int id, const char *path), LTT_INFO, ltt_int(int, id, id),
	       ltt_string(path, path))
LTT_TRACEPOINT(web, end, (int id, int status), LTT_INFO, ltt_int(int, id, id),
	       ltt_int(int, status, status))

static void serve(int id)
{
	const struct timespec work = { 0, 100000L * (id % 4) };

	ltt_trace(web, begin, id, id % 4 ? "/index.html" : "/favicon.ico");
	nanosleep(&work, NULL);
	ltt_trace(web, end, id, 200);
}

int main(void)
{
	for (int id = 0; id < 100; id++)
		serve(id);
	return 0;
}
