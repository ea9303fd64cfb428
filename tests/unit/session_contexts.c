/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contexts and filters of applications: an application gets their names in the order in which they
 * were added.
 */
#include <stdio.h>

#include "lib/session_apps.h"

static int app_new_with_point(void)
{
	int app = harness_app();

	HARNESS_APP_SEND(app, app_hello, .abi = 1, .pid = 77, .procname = "web", .bits = 64,
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

/* Contexts that an application records, of @types. */
static void expect(const char *const *types, const char *filter, const char *wanted)
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
	app = app_new_with_point();
	HARNESS_SEND(client, session_start, NAME);
	nr = armed(app, names);
	CHECK_IS(nr, ==, 1);
	if (strcmp(names, wanted) != 0)
		printf("'%s', not '%s'\n", names, wanted);
	CHECK(strcmp(names, wanted) == 0);
	close(app);
	close(client);
	harness_end();
}

int main(void)
{
	static const char *const types[] = { "vpid", "vegid", "vtid", "uts_ns", NULL };
	static const char *const names = "vpid,vegid,vtid,uts_ns";

	expect(types, "", names);
	expect(types + 4, "", "");
	expect(types, "$ctx.vegid > 1", names);
	expect(types, "$app.web:id > 1", names);
	return 0;
}
