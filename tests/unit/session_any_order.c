/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon without main(): points and rules are added and removed while earlier messages may be
 * in flight; any order of events ends in the same state.
 */
#include "lib/session_apps.h"

#define MANY 64

static struct {
	bool there[MANY], armed[MANY];
	bool rule[4];
} truth;

static const char *const patterns[] = { "a:*", "b:x1", "*x2", "b:*" };

static void point_name(unsigned int id, char buf[16])
{
	snprintf(buf, 16, "%c:x%u", id & 1 ? 'a' : 'b', id % 4);
}

static bool should_be_armed(unsigned int id)
{
	char name[16];

	point_name(id, name);
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (truth.there[id] && truth.rule[i] &&
		    ((i == 0 && name[0] == 'a') || (i == 1 && strcmp(name, "b:x1") == 0) ||
		     (i == 2 && name[3] == '2') || (i == 3 && name[0] == 'b')))
			return true;
	return false;
}

static void follow(int app)
{
	struct msg_header header;
	struct decoder dec;
	int fds[MSG_MAX_FDS];

	while (harness_recv(app, &header, &dec, fds)) {
		struct msg_app_arming arming;
		struct msg_app_arm arm;
		struct msg_app_sync sync;

		for (unsigned int i = 0; i < MSG_MAX_FDS; i++)
			close_fd(fds[i]);
		if (header.type == MSG_app_arm || header.type == MSG_app_disarm) {
			CHECK_IS(msg_app_arm_decode(&dec, &arm), ==, 0);
			while (msg_app_arming_next(&arm.armings, &arming)) {
				/* never sent twice, never about removed objects */
				bool on = header.type == MSG_app_arm;

				CHECK_IS(arming.point, <, MANY);
				CHECK_IS(truth.armed[arming.point], !=, on);
				truth.armed[arming.point] = on;
			}
		} else if (header.type == MSG_app_sync) {
			CHECK_IS(msg_app_sync_decode(&dec, &sync), ==, 0);
			HARNESS_APP_SEND(app, app_synced, sync.serial);
		}
	}
}

static void toggle_point(int app, unsigned int id)
{
	char name[16];

	point_name(id, name);
	truth.there[id] = !truth.there[id];
	if (truth.there[id]) {
		send_point(app, id, name, NULL, id % 3 ? 32 : 64, false);
		return;
	}
	remove_point(app, id);
	truth.armed[id] = false;
}

static void toggle_rule(int client, unsigned int i)
{
	truth.rule[i] = !truth.rule[i];
	if (truth.rule[i])
		HARNESS_SEND(client, event_enable, NAME, .domain = 2, .pattern = patterns[i]);
	else
		HARNESS_SEND(client, event_disable, NAME, .domain = 2, .pattern = patterns[i]);
}

static void any_order(void)
{
	int client, app;

	harness_begin();
	client = harness_client();
	memset(&truth, 0, sizeof(truth));
	record(client, "a:*");
	truth.rule[0] = true;
	app = new_app("busy", 0);
	srand(1);
	for (int step = 0; step < 4000; step++) {
		int what = rand() % 16;

		if (what < 12)
			toggle_point(app, (unsigned int)rand() % MANY);
		else
			toggle_rule(client, (unsigned int)rand() % 4);
		/* sometimes the earlier messages are still in flight */
		if (rand() % 3 == 0) {
			harness_pump();
			follow(app);
			harness_pump();
			follow(app);
			while (harness_answer(client).there)
				;
			for (unsigned int id = 0; id < MANY; id++)
				CHECK_IS(truth.armed[id], ==, should_be_armed(id));
		}
	}
	close(app);
	harness_end();
}

int main(void)
{
	any_order();
	return 0;
}
