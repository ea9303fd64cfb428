/* SPDX-License-Identifier: MIT */
/*
 * context.c - the request that a thread works on, recorded with each of its events and usable in
 * filters: a context of the application's own (ltt_context(3)).
 *
 *   cc -o context context.c $(pkg-config --cflags --libs ltt)
 *   lttctl record -o trace --context='$app.web:request' -- ./context
 */
#include <stdio.h>
#include <string.h>

#include <ltt/context.h>
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(web, query, (const char *table), LTT_INFO, ltt_string(table, table))

static __thread const char *request; /* NULL: the thread works on none */

/* Runs in each thread that emits an event: no lock, no allocation. */
static void get_request(struct ltt_context_value *ret_value, void *data)
{
	(void)data;
	ltt_context_set_string(ret_value, request);
}

static const struct ltt_context context = { sizeof(struct ltt_context), 0, "web:request",
					    get_request, NULL };

int main(void)
{
	int code = ltt_context_register(&context);

	if (code < 0) {
		fprintf(stderr, "context: no context web:request: %s\n", strerror(-code));
		return 1;
	}
	ltt_trace(web, query, "sessions"); /* of no request */
	for (int i = 0; i < 3; i++) {
		char id[16];

		snprintf(id, sizeof(id), "r-%d", i);
		request = id;
		ltt_trace(web, query, "users");
		ltt_trace(web, query, "orders");
		request = NULL;
	}
	ltt_context_unregister(&context);
	return 0;
}
