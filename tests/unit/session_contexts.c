/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contexts and filters of applications of all ages: each gets the names that its libltt knows, in
 * the order in which they were added, and no filter that reads another one.
 */
#include <stdio.h>

#include "lib/session_apps.h"

#define ALL UINT64_MAX

static int app_with(uint64_t features)
{
	int app = harness_app();

	HARNESS_APP_SEND(app, app_hello, .abi = 1, .pid = 77, .procname = "web", .bits = 64,
			 .features = features & ~(uint64_t)APP_FEATURE_OFFER,
			 .start_ns = 1700000000000000000ull);
	send_point(app, 1, "x:y", NULL, 32, true);
	return app;
}

/* Return: armings that were received; @ret_names: contexts of the last one. */
static unsigned int armed(int app, char ret_names[200])
{
	struct msg_header header;
	struct msg_app_sync sync;
	struct msg_app_arm arm;
	struct decoder dec;
	int fds[MSG_MAX_FDS];
	unsigned int nr = 0;

	harness_pump();
	while (harness_recv(app, &header, &dec, fds)) {
		if (header.type == MSG_app_sync) {
			CHECK_IS(msg_app_sync_decode(&dec, &sync), ==, 0);
			HARNESS_APP_SEND(app, app_synced, sync.serial);
			harness_pump();
		} else if (header.type == MSG_app_arm) {
			CHECK_IS(msg_app_arm_decode(&dec, &arm), ==, 0);
			snprintf(ret_names, 200, "%s", arm.contexts);
			nr++;
		}
	}
	return nr;
}

static void add(int client, const char *type)
{
	CHECK_IS(HARNESS_CALL(client, context_add, NAME, .domain = DOMAIN_USER, .type = type).code,
		 ==, 0);
}

/* Contexts that an application records, of @types; NULL: its point is not armed. */
static void expect(uint64_t features, const char *const *types, const char *filter,
		   const char *wanted)
{
	char names[200] = "";
	unsigned int nr;
	int client, app;

	harness_begin();
	client = harness_client();
	new_session(client);
	CHECK_IS(HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_USER, .pattern = "x:y",
			      .filter = filter)
			 .code,
		 ==, 0);
	for (; *types; types++)
		add(client, *types);
	app = app_with(features);
	HARNESS_SEND(client, session_start, NAME);
	nr = armed(app, names);
	CHECK_IS(nr, ==, (wanted != NULL));
	if (nr && strcmp(names, wanted) != 0)
		printf("'%s', not '%s'\n", names, wanted);
	CHECK(!nr || strcmp(names, wanted) == 0);
	close(app);
	close(client);
	harness_end();
}

int main(void)
{
	static const char *const types[] = { "vpid", "vegid", "vtid", "uts_ns", NULL };
	const uint64_t first = APP_FEATURE_CONTEXT | APP_FEATURE_FILTER;

	expect(ALL, types, "", "vpid,vegid,vtid,uts_ns");
	expect(first, types, "", "vpid,vtid");
	expect(0, types, "", "");
	expect(first, types, "$ctx.vtid > 1", "vpid,vtid");
	expect(ALL, types, "$ctx.vegid > 1", "vpid,vegid,vtid,uts_ns");
	expect(first, types, "$ctx.vegid > 1", NULL);
	expect(ALL, types, "$app.web:id > 1", "vpid,vegid,vtid,uts_ns");
	expect(ALL & ~(uint64_t)APP_FEATURE_PROVIDER, types, "$app.web:id > 1", NULL);
	return 0;
}
