/* SPDX-License-Identifier: GPL-2.0-only */
#include "priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "sessiond/peers/follow.h"
#include "triggers.h"

#define CLASSES_UNUSED_LEAST (1u << 20)
/* Ids that are skipped if the daemon is killed: most new sessions need no new daemon file. */
#define SESSIONS_AHEAD 63u
#define SAVE_AGAIN_US 1000000u
#define FIRST_BYTES (4u << 10) /* times the lists: a page fault for each 4 KiB, at each change */

/* --- lists of lists ------------------------------------------------------------ */

struct encoder *state_list(struct state_space *space, enum state_list which)
{
	if (!space->buf[which])
		space->buf[which] = xrealloc(NULL, space->cap); /* not zeroed */
	encoder_init(&space->lists[which], space->buf[which], space->cap);
	return &space->lists[which];
}

struct list state_end(struct state_space *space, enum state_list which)
{
	return encoder_list(&space->lists[which]);
}

static void space_fini(struct state_space *space)
{
	for (size_t i = 0; i < STATE_LISTS; i++) {
		free(space->buf[i]);
		space->buf[i] = NULL;
	}
}

void state_classes_name(uint64_t session, uint32_t number, char ret[STATE_NAME_BYTES])
{
	snprintf(ret, STATE_NAME_BYTES, "%llu.classes%u", (unsigned long long)session, number);
}

void state_read_boot(char *ret, size_t len)
{
	AUTO_FD int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, ret, len - 1);

	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

/* --- save ----------------------------------------------------------------------- */

static int save_daemon(struct sessiond *sd)
{
	struct msg_state_daemon msg = {
		.instance = sd->instance,
		.next_session = sd->sessions.next_id + SESSIONS_AHEAD,
	};
	char boot[64];
	uint8_t buf[256];
	struct encoder enc;
	int ret;

	state_read_boot(boot, sizeof(boot));
	msg.boot = boot;
	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_state_daemon, 0, 0);
	msg_state_daemon_encode(&enc, &msg);
	ret = state_file_write(sd->state_dir, STATE_DAEMON_FILE, &enc);
	if (ret == 0)
		ret = state_file_write(sd->state_dir, STATE_DAEMON_COPY, &enc);
	if (ret == 0)
		sd->saved_sessions = msg.next_session;
	return ret;
}

static bool has_file(const struct sessiond *sd, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/%s", sd->state_dir, name);

	return access(path, F_OK) == 0;
}

/* A daemon that continues needs both files, so those that were removed are written again. */
static bool is_daemon_saved(const struct sessiond *sd)
{
	return sd->sessions.next_id <= sd->saved_sessions && has_file(sd, STATE_DAEMON_FILE) &&
	       has_file(sd, STATE_DAEMON_COPY);
}

int state_save_daemon(struct sessiond *sd)
{
	return is_daemon_saved(sd) ? 0 : save_daemon(sd);
}

static void state_put_clock(struct state_space *space, const struct clock_facts *clock,
			    const struct watch_reading *seen)
{
	struct encoder *enc = state_list(space, STATE_CLOCK);
	struct msg_state_clock msg;

	if (!clock)
		return;
	msg = (struct msg_state_clock){
		.kind = (uint8_t)clock->kind,
		.freq_hz = clock->freq_hz,
		.precision = clock->precision,
		.offset_s = clock->offset_s,
		.offset = clock->offset,
		.source = clock->source,
		.uuid = clock->uuid,
		.nr_changes = clock->nr_changes,
		.changed_ns = clock->changed_ns,
		.from = clock->changed.from,
		.changed_hz = clock->changed.freq_hz,
		.base_ns = clock->changed.base_ns,
		.first = clock->changed.first,
		.last = clock->changed.last,
		.jump_ns = clock->changed.jump_ns,
		.old_hz = clock->changed.old_hz,
		.old_base_ns = clock->changed.old_base_ns,
		.cause = (uint8_t)clock->changed.cause,
		.clock_add = clock->clock_add,
		.wall_ns = clock->wall_ns,
		.set_ns = clock->set_ns,
		.seen_cycles = seen->cycles,
		.seen_ns = seen->ns,
		.seen_asleep_ns = seen->asleep_ns,
	};
	msg_state_clock_add(enc, &msg);
}

static void put_rule(struct encoder *enc, struct rule *rule)
{
	const size_t begin = enc->len;
	struct msg_state_rule msg = {
#define SAVED(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))rule->name,
#include "model/rule.def"
		.number = rule->number,
	};

	msg_state_rule_add(enc, &msg);
	rule->next_bytes = enc->len - begin;
}

/* Append those that the file of classes lacks. */
static void put_rules(struct state_space *space, const struct channel *channel)
{
	struct msg_state_class_group msg = { .channel = channel->number };
	struct encoder *enc = state_list(space, STATE_RULES);
	struct rule *rule;

	if (list_empty(&channel->unsaved))
		return;
	list_for_each(rule, &channel->unsaved, unsaved)
		put_rule(enc, rule);
	msg.rules = state_end(space, STATE_RULES);
	msg_state_class_group_add(&space->lists[STATE_GROUPS], &msg);
}

static void put_channels(struct state_space *space, const struct session *session)
{
	struct encoder *enc = state_list(space, STATE_CHANNELS);
	const struct channel *channel;

	list_for_each(channel, &session->channels, node) {
		struct msg_state_channel msg = {
			.number = channel->number,
			.name = channel->name,
			.domain = (uint8_t)channel->domain,
#define SAVED(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))channel->name,
#include "model/channel.def"
			.nr_rules = channel->nr_rules,
		};

		put_rules(space, channel);
		msg_state_channel_add(enc, &msg);
	}
}

static void state_put_maps(struct state_space *space, const struct session *session)
{
	struct encoder *enc = state_list(space, STATE_MAPS);
	const struct map *map;

	list_for_each(map, &session->maps, node) {
		const struct msg_state_map msg = {
			.name = map->name,
			.domain = (uint8_t)map->domain,
#define SAVED(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))map->name,
#include "model/map.def"
		};

		msg_state_map_add(enc, &msg);
	}
}

static void put_tracks_of(struct encoder *enc, const struct session *session, enum domain_id domain)
{
	for (uint8_t kind = 0; kind < TRACK_NR_KINDS; kind++) {
		const struct tracker *tracker = &session->trackers[domain][kind];
		struct msg_state_track msg = { .kind = kind, .domain = (uint8_t)domain };

		if (tracker->limited)
			msg_state_track_add(enc, &msg);
		msg.is_id = true;
		for (uint32_t i = 0; i < tracker->nr; i++) {
			msg.id = tracker->ids[i];
			msg_state_track_add(enc, &msg);
		}
	}
}

static void put_tracks(struct state_space *space, const struct session *session)
{
	struct encoder *enc = state_list(space, STATE_TRACKS);

	put_tracks_of(enc, session, DOMAIN_KERNEL);
	put_tracks_of(enc, session, DOMAIN_USER);
}

/* Size of the file of classes after this save. */
static uint64_t next_bytes(const struct session *session, const struct state_space *space)
{
	const struct list groups = encoder_list(&space->lists[STATE_GROUPS]);
	bool is_new = space->classes_file != session->saved.classes_file;

	return (is_new ? 0 : session->saved.classes_bytes) +
	       (groups.len ? groups.len + STATE_CLASSES_OVERHEAD : 0);
}

static void encode_session(struct sessiond *sd, struct session *session, struct encoder *enc,
			   struct state_space *space)
{
	const struct dirid *dir = run_dir(session->run);
	struct msg_state_session msg = {
		.id = session->id,
		.name = session->name,
		.path = session->path,
		.uid = session->uid,
		.gid = session->gid,
		.state = (uint8_t)session->state,
		.created_ns = session->created_ns,
		.recording_since = session->recording_since,
		.recorded_ns = session->recorded_ns,
		.starts = session->starts,
		.sampled = session->sampled,
		.next_channel = session->next_channel,
		.output_open = run_output_open(session->run),
		.next_id = sd->recorder.next_id,
		.dir_dev = dir->dev,
		.dir_ino = dir->ino,
		.dir_born_ns = dir->born_ns,
		.relay_id = { session->relay_id, sizeof(session->relay_id) },
#define SAVED(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))session->name,
#include "model/session.def"
		.drained = session->drained,
		.unrecorded = session->unrecorded,
		.nr_snapshots = session->nr_snapshots,
		.user_consumer = session->user_consumer,
		.kernel_consumer = session->kernel_consumer,
		.kernel_open = run_kernel_open(session->run),
		.chunk = session->chunk.number,
		.turning = session->chunk.turning,
		.chunk_began_ns = session->chunk.began_ns,
		.turned_ns = session->chunk.turned_ns,
		.turned_bytes = session->chunk.turned_bytes,
		.chunk_content = (uint8_t)session->chunk.content,
		.archives = session->chunk.archives,
	};

	state_put_clock(space, run_clock(session->run), &sd->watch.last);
	state_list(space, STATE_GROUPS);
	put_channels(space, session);
	put_tracks(space, session);
	state_put_maps(space, session);
	state_list(space, STATE_APPS);
	state_list(space, STATE_TRACES);
	state_list(space, STATE_FINALS);
	domains_save(&sd->domains, session, space);
	msg.clock = state_end(space, STATE_CLOCK);
	msg.channels = state_end(space, STATE_CHANNELS);
	msg.tracks = state_end(space, STATE_TRACKS);
	msg.maps = state_end(space, STATE_MAPS);
	msg.apps = state_end(space, STATE_APPS);
	msg.traces = state_end(space, STATE_TRACES);
	msg.finals = state_end(space, STATE_FINALS);
	msg.classes_file = space->classes_file;
	msg.classes_bytes = next_bytes(session, space);
	encode_header(enc, MSG_state_session, 0, 0);
	msg_state_session_encode(enc, &msg);
}

static bool overflowed(const struct state_space *space, const struct encoder *enc)
{
	bool any = enc->overflow;

	for (size_t i = 0; i < STATE_LISTS; i++)
		any |= space->lists[i].overflow;
	return any;
}

/* The classes first: the message has the number of those that are valid. */
static int write_session(struct sessiond *sd, const struct session *session,
			 const struct state_space *space, struct encoder *enc)
{
	const struct list groups = encoder_list(&space->lists[STATE_GROUPS]);
	char name[STATE_NAME_BYTES];
	int ret = 0;

	state_classes_name(session->id, space->classes_file, name);
	if (groups.len)
		ret = state_classes_append(
			sd->state_dir, name,
			next_bytes(session, space) - groups.len - STATE_CLASSES_OVERHEAD, &groups);
	if (ret < 0)
		return ret;
	snprintf(name, sizeof(name), "%llu", (unsigned long long)session->id);
	return state_file_write(sd->state_dir, name, enc);
}

static void remove_classes(struct sessiond *sd, const struct session *session)
{
	AUTO_FREE char *path = NULL;
	char name[STATE_NAME_BYTES];

	if (!session->saved.classes_file)
		return;
	state_classes_name(session->id, session->saved.classes_file, name);
	path = xasprintf("%s/%s", sd->state_dir, name);
	unlink(path);
}

static void rules_saved(struct session *session)
{
	struct channel *channel;
	struct rule *rule;

	list_for_each(channel, &session->channels, node)
		while ((rule = list_first(&channel->unsaved, struct rule, unsaved))) {
			session->saved.unused_bytes += rule->saved_bytes;
			rule->saved_bytes = rule->next_bytes;
			list_remove(&rule->unsaved);
		}
}

static void save_succeeded(struct sessiond *sd, struct session *session,
			   const struct state_space *space)
{
	struct session_saved *saved = &session->saved;
	uint64_t bytes = next_bytes(session, space);

	rules_saved(session);
	if (saved->classes_file != space->classes_file) {
		remove_classes(sd, session);
		saved->unused_bytes = 0;
	}
	saved->classes_file = space->classes_file;
	saved->classes_bytes = bytes;
	saved->succeeded = space->save;
}

/* A file of which most is of no use any more is replaced by one with the rest. */
static uint32_t next_classes_file(const struct session_saved *saved)
{
	bool worn = saved->unused_bytes > CLASSES_UNUSED_LEAST &&
		    saved->unused_bytes > saved->classes_bytes / 2;

	return saved->classes_file + (worn || !saved->classes_file);
}

/* A new file of classes has no rules yet. */
static void rules_unsaved(struct session *session)
{
	struct channel *channel;
	struct rule *rule;

	list_for_each(channel, &session->channels, node)
		list_for_each(rule, &channel->rules, node)
			channel_rule_changed(channel, rule);
}

/* One that is enough for twice as much as was needed. */
static size_t next_cap(size_t cap, const struct state_space *space, const struct encoder *enc)
{
	size_t used = MAX(enc->len, space->lists[STATE_GROUPS].len);

	while (cap > FIRST_BYTES && cap / 4 > used)
		cap /= 2;
	return cap;
}

/* Return: 0, negative errno; -E2BIG: with more room. */
static int try_save(struct sessiond *sd, struct session *session, size_t cap)
{
	struct state_space space = {
		.cap = cap,
		.save = ++session->saved.tried,
		.saved = session->saved.succeeded,
		.classes_file = next_classes_file(&session->saved),
	};
	AUTO_FREE uint8_t *buf = xrealloc(NULL, cap); /* not zeroed */
	struct encoder enc;
	int ret = -E2BIG;

	encoder_init(&enc, buf, cap);
	if (space.classes_file != session->saved.classes_file)
		rules_unsaved(session);
	encode_session(sd, session, &enc, &space);
	if (!overflowed(&space, &enc))
		ret = write_session(sd, session, &space, &enc);
	if (ret == 0)
		save_succeeded(sd, session, &space);
	sd->state_bytes = ret == -E2BIG ? cap : next_cap(cap, &space, &enc);
	space_fini(&space);
	return ret;
}

static int save_session(struct sessiond *sd, struct session *session)
{
	int ret = state_save_daemon(sd);

	if (ret < 0)
		return ret;
	ret = -E2BIG;
	for (size_t cap = MAX(sd->state_bytes, FIRST_BYTES); ret == -E2BIG && cap <= STATE_FILE_MAX;
	     cap *= 2)
		ret = try_save(sd, session, cap);
	return ret;
}

/* It is a problem of the session until it works again. */
static void report_unsaved(struct sessiond *sd, struct session *session, int error)
{
	char text[sizeof(session->troubles[0])] = "";

	if (error < 0)
		snprintf(text, sizeof(text),
			 "%s: can't be written (%s), so the session does not survive the session "
			 "daemon; make room there",
			 sd->state_dir, strerror(-error));
	if (strcmp(session->troubles[TROUBLE_STATE], text) == 0)
		return;
	if (error < 0)
		log_warn("session '%s': %s", session->name, text);
	session_trouble(session, TROUBLE_STATE, text);
	follow_changed(sd, session);
}

int state_save(struct sessiond *sd, struct session *session)
{
	int ret;

	session->saved.series = 0;
	if (!sd->state_dir || sd->ending)
		return 0;
	ret = save_session(sd, session);
	report_unsaved(sd, session, ret);
	if (ret < 0)
		loop_timer_set(&sd->save_sessions, SAVE_AGAIN_US);
	return ret;
}

/* There may be room now. */
static void save_unsaved(struct loop_timer *timer)
{
	struct sessiond *sd = container_of(timer, struct sessiond, save_sessions);
	struct session *session;

	list_for_each(session, &sd->sessions.list, node)
		if (*session->troubles[TROUBLE_STATE])
			state_save(sd, session);
}

void state_init(struct sessiond *sd)
{
	loop_timer_init(&sd->save_sessions, sd->loop, save_unsaved);
}

void state_fini(struct sessiond *sd)
{
	loop_timer_cancel(&sd->save_sessions);
}

void state_save_series(struct sessiond *sd, uint64_t client)
{
	struct session *session;

	list_for_each(session, &sd->sessions.list, node)
		if (session->saved.series == client)
			state_save(sd, session);
}

void state_discard(struct sessiond *sd, const struct session *session)
{
	AUTO_FREE char *path = NULL;

	if (!sd->state_dir)
		return;
	path = xasprintf("%s/%llu", sd->state_dir, (unsigned long long)session->id);
	unlink(path);
	remove_classes(sd, session);
}

void state_clear(struct sessiond *sd)
{
	static const char *const files[] = { STATE_DAEMON_FILE, STATE_DAEMON_COPY,
					     STATE_TRIGGERS_FILE };

	if (!sd->state_dir)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_FREE char *path = xasprintf("%s/%s", sd->state_dir, files[i]);

		unlink(path);
	}
	rmdir(sd->state_dir);
}
