/* SPDX-License-Identifier: GPL-2.0-only */
#include "priv.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "sessiond/clock_check.h"
#include "sessiond/core/attribute.h"
#include "sessiond/core/orphaned.h"
#include "triggers.h"

#define ID_GAP 4096u

/* Return: 0; STATE_DAMAGED; negative: there is none, or it is of an earlier boot. */
static int load_daemon_file(struct sessiond *sd, const char *name)
{
	struct state_file file CLEANUP(state_file_fini) = { 0 };
	struct msg_state_daemon msg;
	char boot[64];
	int ret = state_file_read(sd->state_dir, name, MSG_state_daemon, &file);

	if (ret)
		return ret == -ENOENT ? ret : STATE_DAMAGED;
	if (msg_state_daemon_decode(&file.dec, &msg) < 0)
		return STATE_DAMAGED;
	state_read_boot(boot, sizeof(boot));
	if (strcmp(msg.boot, boot) != 0)
		return -ESTALE;
	sd->instance = msg.instance;
	sd->sessions.next_id = MAX(sd->sessions.next_id, msg.next_session);
	return 0;
}

static int load_daemon(struct sessiond *sd)
{
	int ret = load_daemon_file(sd, STATE_DAEMON_FILE);
	int copy;

	if (ret == 0 || ret == -ESTALE)
		return ret;
	copy = load_daemon_file(sd, STATE_DAEMON_COPY);
	if (copy == 0)
		log_warn("%s/" STATE_DAEMON_FILE " is damaged or missing; its copy is whole",
			 sd->state_dir);
	return copy == -ENOENT ? ret : copy;
}

/* Return: false: it is not allowed. */
static bool load_rule(struct session *session, struct channel *channel,
		      const struct msg_state_rule *msg, struct rule **ret)
{
	const struct rule_spec spec = {
#define ASKED(type, name, init, doc) .name = (MODEL_TYPE_##type)msg->name,
#include "model/rule.def"
	};
	struct err ignored = { 0 };
	struct rule *rule;

	if (session_add_rule(session, channel, &spec, &rule, &ignored))
		return false;
#define UNASKED(type, name, init, doc) ATTRIBUTE_SET(type, rule->name, msg->name);
#include "model/rule.def"
	rule->counted_before = rule_counts(rule->kind) && session->starts;
	*ret = rule;
	return true;
}

/* The last record of each number is valid. */
static void load_rules(struct session *session, struct channel *channel, uint32_t nr,
		       struct list groups)
{
	AUTO_FREE struct msg_state_rule *last = NULL;
	struct msg_state_class_group group;
	struct msg_state_rule msg;
	struct rule *rule;

	nr = MIN(nr, SESSION_MAX_RULES);
	last = xalloc((nr + 1) * sizeof(*last));
	while (nr && msg_state_class_group_next(&groups, &group))
		while (!group.trace && group.channel == channel->number &&
		       msg_state_rule_next(&group.rules, &msg))
			last[MIN(msg.number, nr)] = msg;
	for (uint32_t i = 0; i < nr; i++)
		if (last[i].pattern && load_rule(session, channel, &last[i], &rule))
			list_remove(&rule->unsaved);
}

/* Those of a domain that this daemon does not have are omitted. */
static void load_channels(const struct domains *domains, struct session *session,
			  struct list channels, struct list groups)
{
	struct msg_state_channel msg;
	struct err ignored = { 0 };

	while (msg_state_channel_next(&channels, &msg)) {
		struct channel *channel;
		const struct channel_attr attr = {
#define ASKED(type, name, init, doc) .name = (MODEL_TYPE_##type)msg.name,
#include "model/channel.def"
		};

		if (!domains_find(domains, msg.domain))
			continue;
		channel = channel_new(msg.name, (enum domain_id)msg.domain, &attr);
		channel->number = msg.number;
#define UNASKED(type, name, init, doc) ATTRIBUTE_SET(type, channel->name, msg.name);
#include "model/channel.def"
		if (session_restore_channel(session, channel, &ignored))
			channel_free(channel); /* never: all is allowed meanwhile */
		else
			load_rules(session, channel, msg.nr_rules, groups);
	}
}

static void state_load_maps(struct session *session, struct list maps)
{
	struct msg_state_map msg;
	struct err ignored = { 0 };

	while (msg_state_map_next(&maps, &msg)) {
		const struct map_attr attr = {
#define ASKED(type, name, init, doc) .name = (MODEL_TYPE_##type)msg.name,
#include "model/map.def"
		};
		struct map *map;

		(void)!session_add_map(session, msg.name, (enum domain_id)msg.domain, &attr, &map,
				       &ignored); /* never fails: all is allowed meanwhile */
	}
}

static void load_tracks(struct session *session, struct list tracks)
{
	struct msg_state_track msg;

	while (msg_state_track_next(&tracks, &msg)) {
		struct tracker *tracker;

		if (msg.kind >= TRACK_NR_KINDS || !msg.domain || msg.domain > DOMAIN_USER)
			continue;
		tracker = &session->trackers[msg.domain][msg.kind];
		tracker->limited = true;
		if (msg.is_id && !tracker_add(tracker, msg.id))
			log_warn("session '%s' tracks too many ids", session->name);
	}
}

#define SEEN_WIDTH_NS 100000u

static bool load_clock(struct list list, struct clock_facts *ret, struct watch_reading *ret_seen)
{
	struct msg_state_clock msg;

	if (!msg_state_clock_next(&list, &msg))
		return false;
	*ret = (struct clock_facts){
		.kind = (enum ltt_clock_kind)msg.kind,
		.freq_hz = msg.freq_hz,
		.precision = msg.precision,
		.offset_s = msg.offset_s,
		.offset = msg.offset,
		.nr_changes = msg.changed_hz ? msg.nr_changes : 0,
		.changed = {
			.from = msg.from,
			.freq_hz = msg.changed_hz,
			.base_ns = msg.base_ns,
			.first = msg.first,
			.last = msg.last,
			.jump_ns = msg.jump_ns,
			.old_hz = msg.old_hz,
			.old_base_ns = msg.old_base_ns,
			.cause = (enum clock_cause)msg.cause,
		},
		.changed_ns = msg.changed_ns,
		.clock_add = msg.clock_add,
		.wall_ns = msg.wall_ns,
		.set_ns = msg.set_ns,
	};
	*ret_seen = (struct watch_reading){ msg.seen_cycles, msg.seen_ns, msg.seen_asleep_ns,
					    SEEN_WIDTH_NS };
	snprintf(ret->source, sizeof(ret->source), "%s", msg.source);
	snprintf(ret->uuid, sizeof(ret->uuid), "%s", msg.uuid);
	return true;
}

/* An unfinished operation is treated as done where that loses nothing. */
static enum session_state settled(uint8_t state)
{
	switch (state) {
	case SESSION_STARTING:
	case SESSION_RECORDING:
		return SESSION_RECORDING;
	case SESSION_NEW:
		return SESSION_NEW;
	default:
		return SESSION_STOPPED;
	}
}

static void load_chunk(struct session_chunk *chunk, const struct msg_state_session *msg)
{
	chunk->number = MAX(msg->chunk, 1u);
	snprintf(chunk->turning, sizeof(chunk->turning), "%s", msg->turning);
	chunk->began_ns = msg->chunk_began_ns;
	chunk->turned_ns = msg->turned_ns;
	chunk->turned_bytes = msg->turned_bytes;
	chunk->content = (enum chunk_content)msg->chunk_content;
	chunk->archives = msg->archives;
}

static int load_session(struct sessiond *sd, struct msg_state_session *msg)
{
	int fds[KEEPER_FDS] = { -1, -1, -1 };
	const struct caller owner = { msg->uid, msg->gid };
	struct clock_facts clock;
	struct watch_reading seen;
	struct session *session;
	const struct dirid dir = { msg->dir_dev, msg->dir_ino, msg->dir_born_ns };
	struct err err = { 0 };
	bool clocked = load_clock(msg->clock, &clock, &seen);

	if (keeper_get(&sd->keeper, msg->uid, "output", msg->id, fds) < 0 && msg->path[0])
		log_debug("session '%s': its output is opened by its path", msg->name);
	close_fd(fds[2]);				/* there should be none */
	if (session_create(&sd->sessions, &owner, msg->name, msg->path, msg->created_ns, &session,
			   &err)) {
		close_fd(fds[0]);
		close_fd(fds[1]);
		return -EBADMSG;
	}
	session->id = msg->id;
	session->state = settled(msg->state);
	session->recording_since = session->state == SESSION_RECORDING ? msg->recording_since : 0;
	session->recorded_ns = msg->recorded_ns;
	session->starts = msg->starts;
	session->sampled = msg->sampled;
	session->saved.classes_file = msg->classes_file;
	session->saved.classes_bytes = msg->classes_bytes;
	session->next_channel = msg->next_channel;
#define SAVED(type, name, init, doc) ATTRIBUTE_SET(type, session->name, msg->name);
#include "model/session.def"
	if (msg->relay_id.len == sizeof(session->relay_id))
		memcpy(session->relay_id, msg->relay_id.data, sizeof(session->relay_id));
	session->unrecorded = msg->unrecorded;
	session->nr_snapshots = msg->nr_snapshots;
	session->drained = msg->drained && session->state == SESSION_STOPPED;
	load_chunk(&session->chunk, msg);
	load_channels(&sd->domains, session, msg->channels, msg->groups);
	load_tracks(session, msg->tracks);
	state_load_maps(session, msg->maps);
	session->user_consumer = msg->user_consumer && geteuid() == 0 && session->uid != 0;
	session->kernel_consumer = msg->kernel_consumer && geteuid() == 0;
	run_new(&sd->run, consumers_get(&sd->consumers, session), &sd->sessions, session, fds[0]);
	run_restore(session->run, clocked ? &clock : NULL, fds[1], msg->output_open,
		    msg->kernel_open, &dir);
	/* numbers issued since the last save must not be reused */
	sd->recorder.next_id = MAX(sd->recorder.next_id, msg->next_id + ID_GAP);
	if (clocked)
		clock_check_restore(sd, &clock, &seen);
	if (clocked)
		domains_restore(&sd->domains, session, run_clock(session->run), msg);
	log_info("session '%s' has been restored, %s", session->name,
		 session_state_name(session->state));
	return 0;
}

/* It is logged here, and reported to its owner on request. @msg: NULL, or as far as it can be
 * read: the names may be damaged. */
static void leave_behind(struct sessiond *sd, const char *file, const struct msg_state_session *msg,
			 const char *why)
{
	AUTO_FREE char *path = xasprintf("%s/%s", sd->state_dir, file);

	unlink(path);
	if (!msg || name_check(msg->name)) {
		log_error("the session in %s can't be taken over: %s; its trace is kept", path,
			  why);
		return;
	}
	orphaned_add(&sd->orphaned, msg->uid, msg->name, msg->path, why);
	log_error("session '%s' can't be taken over: %s; %s%s", msg->name, why,
		  msg->path[0] ? "its trace is in " : "it has no output", msg->path);
}

/* Return: 0, STATE_DAMAGED or negative errno. */
static int load_classes(struct sessiond *sd, struct msg_state_session *msg, uint8_t **ret_data)
{
	char name[STATE_NAME_BYTES];

	if (!msg->classes_bytes)
		return 0;
	state_classes_name(msg->id, msg->classes_file, name);
	return state_classes_read(sd->state_dir, name, msg->classes_bytes, ret_data, &msg->groups);
}

/* @ours: we are the successor of the daemon that wrote it. */
static void load_file(struct sessiond *sd, const char *name, bool ours)
{
	struct state_file file CLEANUP(state_file_fini) = { 0 };
	AUTO_FREE uint8_t *classes = NULL;
	struct msg_state_session msg;
	int ret = state_file_read(sd->state_dir, name, MSG_state_session, &file);
	bool readable = ret >= 0 && msg_state_session_decode(&file.dec, &msg) == 0;

	if (ret == 0 && !readable)
		ret = STATE_DAMAGED;
	if (ret == 0 && ours && load_classes(sd, &msg, &classes))
		ret = STATE_DAMAGED;
	if (ret == 0 && ours)
		ret = load_session(sd, &msg);
	else if (ret == 0)
		ret = STATE_DAMAGED;
	if (ret)
		leave_behind(sd, name, readable ? &msg : NULL,
			     ret == STATE_DAMAGED ? "the state of the previous daemon is damaged" :
						    strerror(-ret));
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
	unsigned long long x = strtoull((*a)->d_name, NULL, 10);
	unsigned long long y = strtoull((*b)->d_name, NULL, 10);

	return (x > y) - (x < y);
}

static int is_session(const struct dirent *entry)
{
	uint64_t number;

	return parse_u64(entry->d_name, &number) == 0;
}

static int is_classes(const struct dirent *entry)
{
	size_t digits = strspn(entry->d_name, "0123456789");

	return digits && strncmp(entry->d_name + digits, ".classes", 8) == 0;
}

static bool is_used(const struct sessiond *sd, const char *classes)
{
	const struct session *session;
	char name[STATE_NAME_BYTES];

	list_for_each(session, &sd->sessions.list, node) {
		state_classes_name(session->id, session->saved.classes_file, name);
		if (strcmp(name, classes) == 0)
			return true;
	}
	return false;
}

/* Of sessions that are gone, and those that a killed daemon has replaced or begun. */
static void remove_unused_classes(struct sessiond *sd)
{
	struct dirent **entries;
	int nr = scandir(sd->state_dir, &entries, is_classes, NULL);

	for (int i = 0; i < nr; i++) {
		AUTO_FREE char *path = xasprintf("%s/%s", sd->state_dir, entries[i]->d_name);

		if (!is_used(sd, entries[i]->d_name))
			unlink(path);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
}

/* Sessions of an earlier boot: their buffers are gone, their traces are on disk. */
static void forget_file(struct sessiond *sd, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/%s", sd->state_dir, name);

	unlink(path);
}

void state_load(struct sessiond *sd, const char *rundir)
{
	struct dirent **entries;
	uint64_t next;
	int nr, daemon;

	sd->state_dir = xasprintf("%s/state", rundir);
	daemon = load_daemon(sd);
	sd->continued = daemon == 0;
	next = sd->sessions.next_id;
	sd->quotas.lenient = true;
	nr = scandir(sd->state_dir, &entries, is_session, by_number);
	for (int i = 0; i < nr; i++) {
		if (daemon >= 0)
			load_file(sd, entries[i]->d_name, daemon == 0);
		else
			forget_file(sd, entries[i]->d_name);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	remove_unused_classes(sd);
	if (daemon == 0)
		state_load_triggers(sd);
	else
		forget_file(sd, STATE_TRIGGERS_FILE);
	sd->quotas.lenient = false;
	sd->sessions.next_id = next; /* creating them again has counted */
}
