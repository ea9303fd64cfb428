/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each command that changes the configuration of a session has saved the change by the time it is
 * answered: a session daemon that takes over then has the same channels, rules, contexts and
 * tracked ids. The commands are those that client.def marks CHANGE; none can be left out here. A
 * series of rules is saved with the last one, or when its client hangs up.
 */
#include "lib/kernel_fake.h"
#include "base/dir.h"
#include "sessiond/service/inherit.h"
#include "sessiond/state/state.h"

static char dir[64];
static struct saved {
	uint8_t bytes[65536];
	size_t len;
} before, after, again;

static void read_saved(struct saved *ret)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/state/1", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK_IS(fd, >=, 0);
	n = read(fd, ret->bytes, sizeof(ret->bytes));
	CHECK(n > 0 && (size_t)n < sizeof(ret->bytes));
	ret->len = (size_t)n;
	close(fd);
}

static bool same(const struct saved *a, const struct saved *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

#define CALL(client, name, ...) \
	HARNESS_CALL(client, name, NAME, .domain = DOMAIN_KERNEL, __VA_ARGS__).code

static int do_channel_enable(int client)
{
	return CALL(client, channel_enable, .name = "c");
}

static int do_channel_disable(int client)
{
	return CALL(client, channel_disable, .name = "c");
}

static int do_event_enable(int client)
{
	return CALL(client, event_enable, .channel = "c", .pattern = "sched_switch");
}

static int do_event_disable(int client)
{
	return CALL(client, event_disable, .channel = "c", .pattern = "sched_switch");
}

static int do_context_add(int client)
{
	return CALL(client, context_add, .channel = "c", .type = "pid");
}

static int do_track(int client)
{
	const struct msg_track_id id = { .id = 4711 };
	struct encoder enc;
	uint8_t ids[64];

	encoder_init(&enc, ids, sizeof(ids));
	msg_track_id_add(&enc, &id);
	return CALL(client, track, .kind = TRACK_PID, .op = TRACK_ADD, .ids = encoder_list(&enc));
}

static int do_snapshot_output(int client)
{
	return HARNESS_CALL(client, snapshot_output, NAME, .path = "/snapshots").code;
}

static int do_rotation_enable(int client)
{
	return HARNESS_CALL(client, rotation_enable, NAME, .rotate_size = 65536).code;
}

static int do_rotation_disable(int client)
{
	return HARNESS_CALL(client, rotation_disable, NAME, .size = 1).code;
}

static int do_map_add(int client)
{
	return HARNESS_CALL(client, map_add, NAME, .domain = DOMAIN_USER, .name = "hits").code;
}

static const struct change {
	const char *name;
	int (*make)(int client);
} changes[] = {
	/* each has something to change because of those before it */
	{ "channel_enable", do_channel_enable },   { "context_add", do_context_add },
	{ "event_enable", do_event_enable },	   { "event_disable", do_event_disable },
	{ "channel_disable", do_channel_disable }, { "track", do_track },
	{ "snapshot_output", do_snapshot_output }, { "rotation_enable", do_rotation_enable },
	{ "rotation_disable", do_rotation_disable }, { "map_add", do_map_add },
};

#define IF_ANYONE(name)
#define IF_SESSION(name)
#define IF_CHANGE(name) #name,
#define COMMAND(name, number, access, turn, doc) IF_##access(name)
static const char *const all_changes[] = {
#include "proto/client.def"
};

static void all_are_here(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_changes); i++) {
		bool found = false;

		for (size_t k = 0; k < ARRAY_SIZE(changes); k++)
			found |= strcmp(changes[k].name, all_changes[i]) == 0;
		if (!found)
			fprintf(stderr, "'%s' is not tried here\n", all_changes[i]);
		CHECK(found);
	}
	CHECK_IS(ARRAY_SIZE(changes), ==, ARRAY_SIZE(all_changes));
}

static void saved_when_answered(int client, const struct change *change)
{
	read_saved(&before);
	CHECK_IS(change->make(client), ==, 0);
	read_saved(&after);
	if (same(&before, &after))
		fprintf(stderr, "'%s' was answered and not saved\n", change->name);
	CHECK(!same(&before, &after));
	state_save(&harness.sd, session_by_id(&harness.sd.sessions, 1));
	read_saved(&again);
	CHECK(same(&after, &again));
}

static int do_series(int client, const char *pattern, bool more)
{
	return CALL(client, event_enable, .channel = "c", .pattern = pattern, .more = more);
}

static void saved_as_a_series(int client)
{
	int other = harness_client();

	read_saved(&before);
	CHECK_IS(do_series(client, "sched_s*", true), ==, 0);
	read_saved(&after);
	CHECK(same(&before, &after));
	CHECK_IS(do_series(client, "sched_sw*", false), ==, 0);
	read_saved(&after);
	CHECK(!same(&before, &after));
	CHECK_IS(do_series(other, "sched_swi*", true), ==, 0);
	read_saved(&again);
	CHECK(same(&after, &again));
	close(other);
	harness_pump();
	read_saved(&again);
	CHECK(!same(&after, &again));
}

/* The rule, channel and ids of the commands above, at their successor's. */
static void taken_over(void)
{
	struct session *session;
	struct channel *channel;
	const struct rule *rule;

	harness_begin();
	inherit_init(&harness.sd.keeper.inherit); /* no keeper holds anything */
	state_load(&harness.sd, dir);
	session = session_by_id(&harness.sd.sessions, 1);
	CHECK(session && session->trackers[DOMAIN_KERNEL][TRACK_PID].limited);
	CHECK(session->trackers[DOMAIN_KERNEL][TRACK_PID].nr == 1);
	CHECK(session->trackers[DOMAIN_KERNEL][TRACK_PID].ids[0] == 4711);
	CHECK(strcmp(session->snapshot_path, "/snapshots") == 0);
	channel = session_find_channel(session, DOMAIN_KERNEL, "c");
	CHECK(channel && !channel->enabled && channel_has_context(channel, "pid"));
	rule = list_first(&channel->rules, struct rule, node);
	CHECK(rule && !rule->enabled && strcmp(rule->pattern, "sched_switch") == 0);
	CHECK_IS(channel->nr_rules, ==, 4);
	CHECK(list_empty(&channel->unsaved));
	rule = list_entry(channel->rules.prev, struct rule, node);
	CHECK(rule->enabled && strcmp(rule->pattern, "sched_swi*") == 0);
	harness_end();
}

int main(void)
{
	char path[128];
	int client;

	all_are_here();
	snprintf(dir, sizeof(dir), "/tmp/changes-XXXXXX");
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/state", dir);
	client = kernel_fake_begin(true);
	harness.sd.state_dir = strdup(path);
	state_save(&harness.sd, session_by_id(&harness.sd.sessions, 1));
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		saved_when_answered(client, &changes[i]);
	saved_as_a_series(client);
	close(client);
	harness_end();
	taken_over();
	dir_empty(AT_FDCWD, dir, 2);
	CHECK_IS(rmdir(dir), ==, 0);
	return 0;
}
