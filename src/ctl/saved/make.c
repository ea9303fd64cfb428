/* SPDX-License-Identifier: GPL-2.0-only */
#include "make.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/session/create.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"
#include "ctl/session/trigger.h"
#include "ctl/words.h"
#include "model/types.h"
#include "read.h"

#define STAMP_BYTES 32
#define DATED_TRIES 1000 /* names of directories for one second */

struct made {
	struct made *next;
	struct created created;
	bool own_dir; /* the directory was made for it */
	bool start;
	struct json_object *saved; /* borrowed */
};

/* --- failures ----------------------------------------------------------------------- */

/* Put file, line and element in front of the sentence about the object. */
static int make_locate(struct ctl *ctl, struct json_object *session, struct json_object *o,
		       const char *element)
{
	struct err err = ctl->err;

	ctl->err = (struct err){ 0 };
	return err_set(&ctl->err, err.code, "%s:%u: element '%s': %s",
		       json_str(session, SAVED_FILE), (unsigned int)json_num(o, SAVED_LINE),
		       element, err.text);
}

/* The outcome of a part. Return: 0: go on; else the code in ctl->err. */
static int make_part(struct making *m, int code, struct json_object *session, struct json_object *o,
		     const char *element)
{
	struct ctl *ctl = m->ctl;

	if (code == 0)
		return 0;
	ctl_done(ctl, code, &ctl->err);
	make_locate(ctl, session, o, element);
	if (!m->keep_going || !ctl_is_connected(ctl))
		return ctl->err.code;
	print_warning(ctl, "%s (left out)", ctl->err.text);
	ctl->err = (struct err){ 0 };
	m->incomplete = true;
	return 0;
}

/* --- attributes as options --------------------------------------------------------------- */

#define REPEAT(type, o, to, name) MODEL_PASTE(REPEAT_, type)(o, to, name)
#define REPEAT_AS(to, name, value) ((to)->name = (__typeof__((to)->name))(value))
#define REPEAT_text(o, to, name) REPEAT_AS(to, name, make_text(o, #name))
#define REPEAT_option REPEAT_text
#define REPEAT_derived(o, to, name) ((void)0)
#define REPEAT_u32(o, to, name) REPEAT_AS(to, name, json_num(o, #name))
#define REPEAT_u64 REPEAT_u32
#define REPEAT_flag(o, to, name) REPEAT_AS(to, name, json_flag(o, #name))
#define REPEAT_relay_link REPEAT_flag
#define REPEAT_WORD(words, o, to, name) \
	REPEAT_AS(to, name, words_number(&(words), json_str(o, #name)))
#define REPEAT_mode REPEAT_flag
#define REPEAT_ownership(o, to, name) REPEAT_WORD(words_owner, o, to, name)
#define REPEAT_output_type(o, to, name) REPEAT_WORD(words_output_type, o, to, name)
#define REPEAT_sync_mode(o, to, name) REPEAT_WORD(words_sync, o, to, name)
#define REPEAT_trace_format(o, to, name) REPEAT_WORD(words_trace_format, o, to, name)
#define REPEAT_rule_kind(o, to, name) REPEAT_WORD(words_rule_kind, o, to, name)
#define REPEAT_loglevel_type(o, to, name) REPEAT_WORD(words_level_type, o, to, name)
#define REPEAT_condition(o, to, name) REPEAT_WORD(words_condition, o, to, name)
#define REPEAT_action_kind(o, to, name) REPEAT_WORD(words_action, o, to, name)
#define REPEAT_map_value(o, to, name) REPEAT_WORD(words_map_value, o, to, name)
#define REPEAT_map_update(o, to, name) REPEAT_WORD(words_map_update, o, to, name)
#define REPEAT_map_dead(o, to, name) REPEAT_WORD(words_map_dead, o, to, name)
#define REPEAT_names(o, to, name) ((void)0)
#define REPEAT_loglevel(o, to, name) REPEAT_AS(to, name, make_level(json_str(o, #name)))

/* An empty text is an option that is not given. */
static const char *make_text(struct json_object *o, const char *key)
{
	const char *text = json_str(o, key);

	return *text ? text : NULL;
}

static int make_level(const char *name)
{
	int level;

	return loglevel_parse(name, &level) == 0 ? level : 0;
}

static enum ltt_ctl_domain make_domain(struct json_object *o)
{
	return (enum ltt_ctl_domain)words_number(&words_domain, json_str(o, "domain"));
}

/* --- channels ------------------------------------------------------------------------------ */

/* @more: other rules follow. */
static int make_rule(struct making *m, struct json_object *session, struct json_object *channel,
		     struct json_object *rule, bool more)
{
	struct ltt_ctl *lib = m->ctl->library;
	struct ltt_ctl_event_options o;
	struct ltt_ctl_places *places = NULL;
	int code = 0;

	ltt_ctl_event_options_init(&o);
#define REPEATED(type, name, init, doc) REPEAT(type, rule, &o, name);
#include "model/rule.def"
	o.session = json_str(session, "name");
	o.channel = json_str(channel, "name");
	o.domain = make_domain(channel);
	o.more = more;
	if (o.kind == LTT_CTL_RULE_USER)
		code = ltt_ctl_find_places(lib, o.location ? o.location : "", &places);
	if (places) {
		o.file = places->file;
		o.places = places->text;
	}
	if (code == 0)
		code = ltt_ctl_enable_event(lib, &o, NULL, NULL);
	ltt_ctl_places_free(places);
	return code;
}

/*
 * Rules are disabled by their patterns, which others may share, and "*" is all rules: those that
 * are enabled are enabled again afterwards.
 */
static int make_disabled_rules(struct making *m, struct json_object *session,
			       struct json_object *channel)
{
	enum ltt_ctl_domain domain = make_domain(channel);
	bool some = false;
	int code = 0;

	for (size_t i = 0; i < json_len(channel, "rules") && code == 0; i++) {
		struct json_object *rule = json_at(channel, "rules", i);

		if (json_flag(rule, "enabled"))
			continue;
		some = true;
		code = ltt_ctl_disable_event(m->ctl->library, json_str(session, "name"), domain,
					     json_str(channel, "name"),
					     json_str(rule, *json_str(rule, "logger") ? "logger" :
											"pattern"));
		if (code == LTT_CTL_NO_EVENT && m->keep_going)
			code = 0; /* it was left out */
	}
	for (size_t i = 0; some && i < json_len(channel, "rules") && code == 0; i++) {
		struct json_object *rule = json_at(channel, "rules", i);

		if (json_flag(rule, "enabled"))
			code = make_rule(m, session, channel, rule, false);
		if (code == LTT_CTL_EVENT_EXISTS || (code && m->keep_going))
			code = 0;
	}
	return make_part(m, code, session, channel, "rules");
}

static int make_rules(struct making *m, struct json_object *session, struct json_object *channel)
{
	size_t nr = json_len(channel, "rules");
	int code = 0;

	for (size_t i = 0; i < nr && code == 0; i++) {
		struct json_object *rule = json_at(channel, "rules", i);

		code = make_rule(m, session, channel, rule, i + 1 < nr);
		code = make_part(m, code, session, rule, "rule");
	}
	return code ? code : make_disabled_rules(m, session, channel);
}

/* In their order, which is that of the record. */
static int make_contexts(struct making *m, struct json_object *session, struct json_object *channel)
{
	int code = 0;

	for (size_t i = 0; i < json_len(channel, "contexts") && code == 0; i++) {
		const char *type = json_object_get_string(json_at(channel, "contexts", i));

		code = ltt_ctl_add_context(m->ctl->library, json_str(session, "name"),
					   make_domain(channel), json_str(channel, "name"), type,
					   NULL);
		code = make_part(m, code, session, channel, "contexts");
	}
	return code;
}

static int make_channel(struct making *m, struct json_object *session, struct json_object *channel)
{
	struct ltt_ctl *lib = m->ctl->library;
	struct ltt_ctl_channel_options o;
	int code;

	ltt_ctl_channel_options_init(&o);
#define REPEATED(type, name, init, doc) REPEAT(type, channel, &o, name);
#include "model/channel.def"
	o.session = json_str(session, "name");
	o.name = json_str(channel, "name");
	o.domain = make_domain(channel);
	o.discard = !o.overwrite;
	code = ltt_ctl_enable_channel(lib, &o);
	if (code) /* with its contexts and rules */
		return make_part(m, code, session, channel, "channel");
	if (make_contexts(m, session, channel) != 0 || make_rules(m, session, channel) != 0)
		return m->ctl->err.code;
	if (json_flag(channel, "enabled"))
		return 0;
	code = ltt_ctl_disable_channel(lib, o.session, o.domain, o.name);
	return make_part(m, code, session, channel, "channel");
}

static int make_map(struct making *m, struct json_object *session, struct json_object *map)
{
	struct ltt_ctl_map_options o;

	ltt_ctl_map_options_init(&o);
#define REPEATED(type, name, init, doc) REPEAT(type, map, &o, name);
#include "model/map.def"
	o.session = json_str(session, "name");
	o.name = json_str(map, "name");
	o.domain = make_domain(map);
	if (o.ownership != LTT_CTL_OWNER_PROCESS)
		o.dead = LTT_CTL_MAP_DEAD_DEFAULT;
	return make_part(m, ltt_ctl_add_map(m->ctl->library, &o, NULL), session, map,
			 shape_map.name);
}

/* --- trackers -------------------------------------------------------------------------------- */

static int make_tracker(struct making *m, struct json_object *session, struct json_object *tracker)
{
	size_t nr = json_len(tracker, "ids");
	uint32_t *ids AUTO_FREE = xalloc((nr + 1) * sizeof(*ids));
	struct ltt_ctl_track_options o;

	ltt_ctl_track_options_init(&o);
	o.session = json_str(session, "name");
	o.domain = make_domain(tracker);
	o.kind = (enum ltt_ctl_track_kind)words_number(&words_track_kind,
						       json_str(tracker, "kind"));
	o.op = nr ? LTT_CTL_TRACK_ADD : LTT_CTL_TRACK_NONE;
	for (size_t i = 0; i < nr; i++)
		ids[i] = (uint32_t)json_object_get_uint64(json_at(tracker, "ids", i));
	o.ids = ids;
	o.nr_ids = nr;
	return make_part(m, ltt_ctl_track(m->ctl->library, &o, NULL), session, tracker, "tracker");
}

/* --- the session -------------------------------------------------------------------- */

/* STEM-DATE, or a name like it that is free; allocated. */
static char *dated(const char *stem)
{
	time_t now = time(NULL);
	char stamp[STAMP_BYTES];
	struct tm tm;
	char *path;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	path = xasprintf("%s-%s", stem, stamp);
	for (unsigned int i = 2; i <= DATED_TRIES && access(path, F_OK) == 0; i++) {
		free(path);
		path = xasprintf("%s-%s-%u", stem, stamp, i);
	}
	return path;
}

static int make_try(struct making *m, struct ltt_ctl_create_options *o, struct made *made)
{
	made->own_dir = o->output && access(o->output, F_OK) != 0;
	return create_session(m->ctl, o, &made->created);
}

/* In a directory that holds another trace, for example that of the session when it was loaded
 * before, nothing is overwritten: the trace goes beside it. */
static int make_beside(struct making *m, struct ltt_ctl_create_options *o, struct made *made)
{
	struct ctl *ctl = m->ctl;
	struct err first;
	char *other AUTO_FREE = NULL;

	if (make_try(m, o, made) == 0 || ctl->err.code != ERR_OUTPUT || !o->output || made->own_dir)
		return ctl->err.code;
	first = ctl->err;
	ctl->err = (struct err){ 0 };
	other = dated(o->output);
	o->output = other;
	if (make_try(m, o, made) != 0)
		ctl->err = first;
	else
		print_warning(ctl, "session '%s': the trace goes to %s: %s", made->created.session,
			      other, first.text);
	o->output = NULL;
	return ctl->err.code;
}

static int make_create(struct making *m, struct json_object *session, struct made *made)
{
	const char *parent = json_str(session, "output_parent");
	char *output AUTO_FREE = NULL, *stem AUTO_FREE = NULL;
	struct ltt_ctl_create_options o;

	ltt_ctl_create_options_init(&o);
#define REPEATED(type, name, init, doc) REPEAT(type, session, &o, name);
#include "model/session.def"
	o.name = json_str(session, "name");
	o.url = make_text(session, "url");
	if (*parent) {
		stem = xasprintf("%s/%s", parent, o.name);
		output = dated(stem);
	}
	o.output = output ? output : make_text(session, "output");
	if (m->is_trial) {
		o.output = o.url = NULL;
		o.live_us = 0;
	}
	o.no_output = !o.output && !o.url && !o.live_us;
	if (make_beside(m, &o, made) == 0)
		return 0;
	return make_locate(m->ctl, session, session, shape_session.name);
}

static int make_snapshot_output(struct making *m, struct json_object *session)
{
	struct ltt_ctl_snapshot_options o;
	int code;

	ltt_ctl_snapshot_options_init(&o);
	o.session = json_str(session, "name");
	if (json_flag(session, "snapshot_elsewhere")) {
		code = ltt_ctl_set_snapshot_output(m->ctl->library, &o);
		code = make_part(m, code, session, session, "snapshot_elsewhere");
		if (code)
			return code;
	}
	if (!*json_str(session, "snapshot_path"))
		return 0;
	o.output = json_str(session, "snapshot_path");
	o.name = make_text(session, "snapshot_name");
	o.max_size = json_num(session, "snapshot_max_size");
	code = ltt_ctl_set_snapshot_output(m->ctl->library, &o);
	return make_part(m, code, session, session, "snapshot_path");
}

static int make_rotation(struct making *m, struct json_object *session)
{
	struct ltt_ctl_rotation_options o;

	ltt_ctl_rotation_options_init(&o);
	o.session = json_str(session, "name");
	o.rotate_us = json_num(session, "rotate_us");
	o.rotate_size = json_num(session, "rotate_size");
	o.keep_archives = (uint32_t)json_num(session, "keep_archives");
	o.keep_us = json_num(session, "keep_us");
	o.keep_size = json_num(session, "keep_size");
	if (!o.rotate_us && !o.rotate_size)
		return 0;
	return make_part(m, ltt_ctl_enable_rotation(m->ctl->library, &o), session, session,
			 o.rotate_us ? "rotate_us" : "rotate_size");
}

/* --- triggers ------------------------------------------------------------------------------- */

/* A file that is loaded under another name has triggers of that. */
static const char *make_session_name(struct json_object *session, const char *name)
{
	const char *saved = json_str(session, SAVED_NAME);

	return name && *saved && strcmp(name, saved) == 0 ? json_str(session, "name") : name;
}

static size_t make_actions(struct json_object *session, struct json_object *trigger,
			   struct ltt_ctl_action actions[LTT_CTL_ACTIONS_MAX])
{
	size_t nr = MIN(json_len(trigger, "actions"), (size_t)LTT_CTL_ACTIONS_MAX);

	for (size_t i = 0; i < nr; i++) {
		struct json_object *action = json_at(trigger, "actions", i);

#define REPEATED(type, name, init, doc) REPEAT(type, action, &actions[i], name);
#include "model/action.def"
		actions[i].session = make_session_name(session, actions[i].session);
	}
	return nr;
}

/* Names between commas; allocated. */
static char *make_joined(struct json_object *o, const char *key)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < json_len(o, key); i++) {
		char *before AUTO_FREE = text;

		text = xasprintf("%s%s%s", before, i ? "," : "",
				 json_object_get_string(json_at(o, key, i)));
	}
	return text;
}

/* One of this name is replaced, as it was saved with the session before. */
static int make_trigger(struct making *m, struct json_object *session, struct json_object *trigger)
{
	struct ltt_ctl *lib = m->ctl->library;
	struct ltt_ctl_action actions[LTT_CTL_ACTIONS_MAX] = { 0 };
	char *captures AUTO_FREE = make_joined(trigger, "captures");
	struct ltt_ctl_places *places = NULL;
	uint32_t owner = (uint32_t)json_num(trigger, "uid");
	struct ltt_ctl_trigger_options o;
	int code = 0;

	ltt_ctl_trigger_options_init(&o);
	owner = owner == SHAPE_OWN_UID ? geteuid() : owner;
	if (trigger_take_owner(owner, &o) != 0) {
		code = err_set(&m->ctl->err, ERR_INVALID,
			       "its owner, user %u, is not known on this machine: add that user, "
			       "or load with --keep-going",
			       owner);
		return make_part(m, code, session, trigger, "trigger");
	}
#define REPEATED(type, name, init, doc) REPEAT(type, trigger, &o, name);
#include "model/trigger.def"
	o.name = json_str(trigger, "name");
	o.captures = captures;
	o.session = make_session_name(session, o.session);
	o.actions = actions;
	o.nr_actions = make_actions(session, trigger, actions);
	if (o.kind == LTT_CTL_RULE_USER)
		code = ltt_ctl_find_places(lib, o.location ? o.location : "", &places);
	if (places) {
		o.file = places->file;
		o.places = places->text;
	}
	if (code == 0)
		code = ltt_ctl_add_trigger(lib, &o, NULL);
	if (code == LTT_CTL_EVENT_EXISTS && ltt_ctl_remove_trigger(lib, o.name, owner) == 0)
		code = ltt_ctl_add_trigger(lib, &o, NULL);
	ltt_ctl_places_free(places);
	return make_part(m, code, session, trigger, "trigger");
}

static int make_contents(struct making *m, struct json_object *session)
{
	int code = m->is_trial ? 0 : make_snapshot_output(m, session);

	if (code == 0 && !m->is_trial)
		code = make_rotation(m, session);

	for (size_t i = 0; i < json_len(session, "trackers") && code == 0; i++)
		code = make_tracker(m, session, json_at(session, "trackers", i));
	for (size_t i = 0; i < json_len(session, "channels") && code == 0; i++)
		code = make_channel(m, session, json_at(session, "channels", i));
	for (size_t i = 0; i < json_len(session, "map_channels") && code == 0; i++)
		code = make_map(m, session, json_at(session, "map_channels", i));
	for (size_t i = 0; i < json_len(session, "triggers") && code == 0 && !m->is_trial; i++)
		code = make_trigger(m, session, json_at(session, "triggers", i));
	return code;
}

static void made_free(struct made *made)
{
	created_fini(&made->created);
	free(made);
}

/* The failure stays in ctl->err. */
static void made_undo(struct making *m, struct made *made)
{
	ltt_ctl_destroy(m->ctl->library, made->created.session, 0, NULL);
	if (made->own_dir)
		rmdir(made->created.output);
	made_free(made);
}

int make_session(struct making *m, struct json_object *session)
{
	struct made *made = xalloc(sizeof(*made)), **end = &m->made;

	made->saved = session;
	made->start = json_flag(session, "recording");
	if (make_create(m, session, made) != 0) {
		made_free(made);
		return m->ctl->err.code;
	}
	if (make_contents(m, session) != 0) {
		made_undo(m, made);
		return m->ctl->err.code;
	}
	while (*end)
		end = &(*end)->next;
	*end = made;
	return 0;
}

int make_trial(struct ctl *ctl, struct json_object *session)
{
	struct making trial = { .ctl = ctl, .is_trial = true };
	char *name AUTO_FREE = xstrdup(json_str(session, "name"));
	char *other AUTO_FREE = xasprintf("load-trial-%d", (int)getpid());
	int code;

	json_set_str(session, "name", other);
	code = make_session(&trial, session);
	json_set_str(session, "name", name);
	make_undo(&trial);
	return code;
}

int make_start(struct making *m)
{
	for (struct made *made = m->made; made; made = made->next) {
		int code = made->start ?
				   ltt_ctl_start(m->ctl->library, made->created.session, NULL) :
				   0;

		if (made->start && code == 0 && *ltt_ctl_last_outcome(m->ctl->library)->problem) {
			print_warning(m->ctl, "session '%s': %s", made->created.session,
				      ltt_ctl_last_outcome(m->ctl->library)->problem);
			m->incomplete = true;
		}
		if (make_part(m, code, made->saved, made->saved, "recording") != 0)
			return m->ctl->err.code;
	}
	return 0;
}

static struct made *take_first(struct making *m)
{
	struct made *made = m->made;

	m->made = made->next;
	return made;
}

void make_undo(struct making *m)
{
	while (m->made)
		made_undo(m, take_first(m));
}

void make_report(const struct making *m, struct json_object *sessions)
{
	for (const struct made *made = m->made; made; made = made->next) {
		struct json_object *o = json_object_new_object();

		json_set_str(o, "session", made->created.session);
		json_set_str(o, "output", made->created.output);
		json_set_str(o, "file", json_str(made->saved, SAVED_FILE));
		json_set_bool(o, "recording", made->start);
		json_object_array_add(sessions, o);
	}
}

void make_fini(struct making *m)
{
	while (m->made)
		made_free(take_first(m));
}
