/* SPDX-License-Identifier: GPL-2.0-only */
#include "verbs.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/mem.h"
#include "ctl/names.h"
#include "ctl/print/json.h"
#include "ctl/print/show.h"
#include "ctl/session/target.h"
#include "ctl/session/trigger.h"
#include "map.h"
#include "row.h"
#include "session.h"
#include "trigger.h"

/* --- the request --------------------------------------------------------------------- */

/* The text of a long option, with its dashes, or "" for one without; NULL: it was not given. */
static const char *mi_option(const struct ctl *ctl, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 1; ctl->argv[i] && strcmp(ctl->argv[i], "--") != 0; i++) {
		const char *word = ctl->argv[i];

		if (strncmp(word, name, len) != 0)
			continue;
		if (word[len] == '=')
			return word + len + 1;
		if (!word[len])
			return ctl->argv[i + 1] ? ctl->argv[i + 1] : "";
	}
	return NULL;
}

static bool mi_listed(struct json_object *record, const char *key, const char *name)
{
	for (size_t i = 0; i < json_len(record, key); i++)
		if (strcmp(json_object_get_string(json_at(record, key, i)), name) == 0)
			return true;
	return false;
}

/* The session of the record with its channels; NULL: it can't be fetched. */
static struct json_object *mi_shown(struct mi_answer *answer)
{
	struct json_object *session = NULL;
	struct err ignored = { 0 };

	if (*json_str(answer->record, "session") &&
	    show_fetch(answer->ctl, json_str(answer->record, "session"), &session, &ignored) != 0)
		return NULL;
	return session;
}

static struct json_object *mi_channel_of(struct json_object *session, const char *name,
					 const char *domain)
{
	for (size_t i = 0; i < json_len(session, "channels"); i++) {
		struct json_object *channel = json_at(session, "channels", i);

		if (strcmp(json_str(channel, "name"), name) == 0 &&
		    strcmp(json_str(channel, "domain"), domain) == 0)
			return channel;
	}
	return NULL;
}

/* --- sessions ---------------------------------------------------------------------------- */

static struct json_object *mi_version(struct mi_answer *answer)
{
	static const struct mi_row text[] = { { "string", "version", MI_TEXT, NULL }, { 0 } };
	static const struct mi_row rest[] = {
		{ "name", "ltt-control", MI_FIXED, NULL },
		{ "description", "Trace control system", MI_FIXED, NULL },
		{ "url", "", MI_FIXED, NULL },
		{ "license", "GPL-2.0-only; libraries: LGPL-2.1-or-later", MI_FIXED, NULL },
		{ 0 },
	};
	static const char *const numbers[] = { "major", "minor", "patchLevel" };
	const char *at = json_str(answer->record, "version");
	struct json_object *o = json_object_new_object();

	mi_take(o, text, answer->record);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		at += strcspn(at, "0123456789");
		json_set_num(o, numbers[i], strtoull(at, NULL, 10));
		at += strspn(at, "0123456789");
		if (i == 1)
			json_set_str(o, "commit", "");
	}
	mi_take(o, rest, answer->record);
	return mi_one("version", o);
}

static struct json_object *mi_create(struct mi_answer *answer)
{
	struct json_object *session AUTO_RECORD = NULL;
	struct err ignored = { 0 };

	if (!answer->record ||
	    target_find_session(answer->ctl, json_str(answer->record, "session"), &session,
				&ignored) != 0 ||
	    !session)
		return NULL;
	return mi_one("session", mi_session(session));
}

static struct json_object *mi_name(struct json_object *o)
{
	return mi_one("name", json_object_new_string(json_str(o, "session")));
}

static struct json_object *mi_set_session(struct mi_answer *answer)
{
	if (!answer->record)
		return NULL;
	return mi_one("sessions", mi_one("session", mi_name(answer->record)));
}

static struct json_object *mi_started(struct json_object *o)
{
	struct json_object *session = mi_name(o);

	json_set_bool(session, "enabled", true);
	return session;
}

static struct json_object *mi_stopped(struct json_object *o)
{
	struct json_object *session = mi_name(o);

	json_set_bool(session, "enabled", false);
	return session;
}

static struct json_object *mi_start(struct mi_answer *answer)
{
	answer->incomplete = !json_len(answer->record, "sessions");
	return mi_one("sessions", mi_series("session", answer->record, "sessions", mi_started));
}

static struct json_object *mi_stop(struct mi_answer *answer)
{
	answer->incomplete = !json_len(answer->record, "sessions");
	return mi_one("sessions", mi_series("session", answer->record, "sessions", mi_stopped));
}

/* As they were before, as LTTng prints them. */
static struct json_object *mi_ended(struct mi_answer *answer)
{
	struct json_object *array = json_object_new_array();

	answer->incomplete = !json_len(answer->record, "sessions");
	for (size_t i = 0; i < json_len(answer->record, "sessions"); i++) {
		struct json_object *o = json_at(answer->record, "sessions", i);
		struct json_object *before =
			answer->before ? target_find(answer->before, json_str(o, "session")) : NULL;

		json_object_array_add(array, before ? mi_session(before) : mi_name(o));
	}
	return mi_one("sessions", mi_one("session", array));
}

static struct json_object *mi_list(struct mi_answer *answer)
{
	struct json_object *record = answer->record, *points = json_get(record, "points");

	if (points)
		return mi_one("domains", mi_points(points, json_str(record, "points_domain")));
	if (json_get(record, "loading"))
		return mi_one("sessions", mi_series("session", record, "sessions", mi_session));
	if (json_get(record, "sessions"))
		return mi_one("sessions",
			      mi_series("session", record, "sessions", mi_session_whole));
	if (!json_get(record, "name"))
		return operand(answer->ctl, 0) ? mi_one("sessions", json_object_new_object()) :
						 NULL;
	return mi_one("sessions", mi_one("session", mi_session_whole(record)));
}

/* --- rotations ------------------------------------------------------------------------------- */

static const struct mi_word rotation_states[] = { { "true", "COMPLETED" }, { NULL, "ONGOING" } };

/* At a relay: HOST:PORT/PATH behind the scheme. */
static struct json_object *mi_relay_location(const char *url)
{
	const char *host = strstr(url, "://") ? strstr(url, "://") + 3 : url;
	size_t len = strcspn(host, "/");
	struct json_object *o = json_object_new_object();

	json_set(o, "host", json_object_new_string_len(host, (int)len));
	json_set_str(o, "protocol", "TCP");
	json_set_str(o, "relative_path", host + len + (host[len] == '/'));
	return mi_one("relay", o);
}

static struct json_object *mi_rotation(struct json_object *rotated)
{
	static const struct mi_row rows[] = {
		{ "session_name", "session", MI_TEXT, NULL },
		{ "state", "complete", MI_WORD, rotation_states },
		{ 0 },
	};
	const char *archive = json_str(rotated, "archive");
	struct json_object *o = mi_object(rows, rotated);

	if (json_flag(rotated, "complete"))
		json_set(o, "location",
			 *archive != '/' ?
				 mi_relay_location(archive) :
				 mi_one("local",
					mi_one("absolute_path", json_object_new_string(archive))));
	return o;
}

static struct json_object *mi_rotate(struct mi_answer *answer)
{
	answer->incomplete = !json_len(answer->record, "sessions");
	return mi_series("rotation", answer->record, "sessions", mi_rotation);
}

/* Of the schedules that the options name. */
static struct json_object *mi_rotation_results(struct mi_answer *answer, struct json_object *of,
					       const char *name, bool done)
{
	static const char *const options[][2] = { { "--timer", "periodic" },
						  { "--size", "size_threshold" } };
	struct json_object *o = mi_one("session_name", json_object_new_string(name));
	struct json_object *schedules AUTO_RECORD = mi_schedules(of);

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		struct json_object *schedule = json_get(schedules, options[i][1]), *result;

		if (!mi_option(answer->ctl, options[i][0]))
			continue;
		result = mi_one("rotation_schedule",
				mi_one(options[i][1], schedule ? json_object_get(schedule) :
								 json_object_new_object()));
		json_set_bool(result, "success", done && schedule);
		answer->incomplete |= !done || !schedule;
		json_append(o, "rotation_schedule_result", result);
	}
	return mi_one("rotation_schedule_results", o);
}

static struct json_object *mi_enable_rotation(struct mi_answer *answer)
{
	struct json_object *record = answer->record;

	if (!record)
		return NULL;
	return mi_rotation_results(answer, record, json_str(record, "session"), true);
}

/* Without a record, no such schedule was set, or there is no such session. */
static struct json_object *mi_disable_rotation(struct mi_answer *answer)
{
	struct ctl *ctl = answer->ctl;
	const char *option = mi_option(ctl, "--session"), *letter = mi_option(ctl, "-s");
	const char *given = option ? option : letter ? letter : operand(ctl, 0);
	char *name AUTO_FREE =
		target_session(ctl, answer->record ? json_str(answer->record, "session") : given);
	struct json_object *before =
		answer->before && name ? target_find(answer->before, name) : NULL;

	return before ? mi_rotation_results(answer, before, name, answer->record != NULL) : NULL;
}

/* --- channels, events, contexts ------------------------------------------------------------ */

static struct json_object *mi_enabled_channel(struct mi_answer *answer, struct json_object *session,
					      const char *name)
{
	struct json_object *channel =
		mi_channel_of(session, name, json_str(answer->record, "domain"));
	bool done = mi_listed(answer->record, "channel_names", name);
	struct json_object *o = json_object_new_object();

	if (channel) {
		json_object_put(o);
		o = mi_channel(session, channel);
	} else {
		json_set_str(o, "name", name);
		json_set_bool(o, "enabled", false);
	}
	json_set_bool(o, "success", done);
	answer->incomplete |= !done;
	return o;
}

static struct json_object *mi_enable_channel(struct mi_answer *answer)
{
	struct json_object *session AUTO_RECORD = mi_shown(answer);
	struct names names CLEANUP(names_fini) = { 0 };
	struct json_object *channels = json_object_new_object();

	if (answer->record && operand(answer->ctl, 0))
		names_split(operand(answer->ctl, 0), &names);
	for (size_t i = 0; i < names.nr; i++)
		json_append(channels, "channel",
			    mi_enabled_channel(answer, session, names.names[i]));
	return mi_one("channels", channels);
}

static struct json_object *mi_disable_channel(struct mi_answer *answer)
{
	struct names names CLEANUP(names_fini) = { 0 };
	struct json_object *channels = json_object_new_object();

	if (answer->record && operand(answer->ctl, 0))
		names_split(operand(answer->ctl, 0), &names);
	for (size_t i = 0; i < names.nr; i++) {
		bool done = mi_listed(answer->record, "channel_names", names.names[i]);
		struct json_object *o = mi_one("name", json_object_new_string(names.names[i]));

		json_set_bool(o, "enabled", !done);
		json_set_bool(o, "success", done);
		json_append(channels, "channel", o);
	}
	return mi_one("channels", channels);
}

static struct json_object *mi_find_rule(struct json_object *channel, const char *name)
{
	for (size_t i = 0; i < json_len(channel, "rules"); i++) {
		struct json_object *rule = json_at(channel, "rules", i);
		const char *key = *json_str(rule, "logger") ? "logger" : "pattern";

		if (strcmp(json_str(rule, key), name) == 0)
			return rule;
	}
	return NULL;
}

/* @rule: of the answer; the session has it with all attributes. */
static struct json_object *mi_enabled_event(struct json_object *session, struct json_object *rule,
					    const char *domain)
{
	const char *name = json_str(rule, *json_str(rule, "logger") ? "logger" : "pattern");
	struct json_object *channel = mi_channel_of(session, json_str(rule, "channel"), domain);
	struct json_object *found = mi_find_rule(channel, name);
	struct json_object *o = mi_rule(found ? found : rule, strcmp(domain, "kernel") == 0);

	json_set_bool(o, "enabled", true);
	json_set_bool(o, "success", true);
	return o;
}

/* Events of the request that are not in the answer. A name of the kernel may stand for several
 * events. */
static void mi_add_refused(struct mi_answer *answer, struct json_object *events, bool enabled)
{
	struct names names CLEANUP(names_fini) = { 0 };

	if (strcmp(json_str(answer->record, "domain"), "kernel") == 0)
		return;
	names_split(operand(answer->ctl, 0) ? operand(answer->ctl, 0) : "*", &names);
	for (size_t i = 0; i < names.nr; i++) {
		struct json_object *rule AUTO_RECORD =
			mi_one("pattern", json_object_new_string(names.names[i]));
		struct json_object *o;

		if (mi_find_rule(answer->record, names.names[i]) ||
		    mi_listed(answer->record, "patterns", names.names[i]))
			continue;
		o = mi_rule(rule, false);
		json_set_bool(o, "enabled", enabled);
		json_set_bool(o, "success", false);
		json_append(events, "event", o);
		answer->incomplete = true;
	}
}

static struct json_object *mi_enable_event(struct mi_answer *answer)
{
	struct json_object *session AUTO_RECORD = mi_shown(answer), *events;

	if (!answer->record)
		return NULL;
	events = json_object_new_object();
	for (size_t i = 0; i < json_len(answer->record, "rules"); i++)
		json_append(events, "event",
			    mi_enabled_event(session, json_at(answer->record, "rules", i),
					     json_str(answer->record, "domain")));
	mi_add_refused(answer, events, false);
	return mi_one("events", events);
}

static struct json_object *mi_disable_event(struct mi_answer *answer)
{
	struct json_object *record = answer->record, *events, *o;
	const char *channel = json_str(record, "channel");

	if (!record)
		return NULL;
	events = json_object_new_object();
	for (size_t i = 0; i < json_len(record, "patterns"); i++) {
		struct json_object *event =
			mi_one("name", json_object_get(json_at(record, "patterns", i)));

		json_set_bool(event, "enabled", false);
		json_set_bool(event, "success", true);
		json_append(events, "event", event);
	}
	mi_add_refused(answer, events, true);
	o = mi_one("name", json_object_new_string(*channel ? channel : "*"));
	json_set(o, "events", events);
	return mi_one("channel", o);
}

static bool mi_has_context(const char *name)
{
	static const char *const names[] = {
		"pid",		 "procname",	   "prio",
		"nice",		 "vpid",	   "tid",
		"vtid",		 "ppid",	   "vppid",
		"pthread_id",	 "hostname",	   "ip",
		"interruptible", "preemptible",	   "need_reschedule",
		"migratable",	 "callstack-user", "callstack-kernel",
		"cgroup_ns",	 "ipc_ns",	   "mnt_ns",
		"net_ns",	 "pid_ns",	   "time_ns",
		"user_ns",	 "uts_ns",	   "uid",
		"euid",		 "suid",	   "gid",
		"egid",		 "sgid",	   "vuid",
		"veuid",	 "vsuid",	   "vgid",
		"vegid",	 "vsgid",	   "cpu_id",
	};

	if (strchr(name, ':')) /* of perf, or of a program */
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* "$app.PROVIDER:NAME", "perf:cpu:NAME" or one of the fixed ones. */
static struct json_object *mi_context(const char *name)
{
	static const char app[] = "$app.";
	struct json_object *o = json_object_new_object(), *kind;
	char *text AUTO_FREE = xstrdup(name);
	const char *colon = strchr(name, ':');
	bool perf = strncmp(name, "perf:", 5) == 0;

	for (char *at = text; *at; at++)
		*at = strchr(":-", *at) ? '_' : perf ? *at : (char)toupper((unsigned char)*at);
	if (perf) {
		json_set(o, "perf", mi_one("name", json_object_new_string(text)));
	} else if (strncmp(name, app, strlen(app)) == 0 && colon) {
		name += strlen(app);
		json_set(o, "app", kind = json_object_new_object());
		json_set(kind, "provider_name",
			 json_object_new_string_len(name, (int)(colon - name)));
		json_set_str(kind, "ctx_name", colon + 1);
		name -= strlen(app);
	} else {
		json_set_str(o, "type", text);
	}
	json_set_str(o, "symbol", name);
	return o;
}

/* Of both domains, a name is listed once. */
static struct json_object *mi_context_types(struct json_object *record)
{
	struct json_object *contexts = json_object_new_object();

	for (size_t i = 0; i < json_len(record, "types"); i++) {
		const char *name = json_str(json_at(record, "types", i), "name");
		size_t k = 0;

		while (k < i && strcmp(json_str(json_at(record, "types", k), "name"), name) != 0)
			k++;
		if (k == i && mi_has_context(name))
			json_append(contexts, "context", mi_context(name));
	}
	return contexts;
}

static struct json_object *mi_add_context(struct mi_answer *answer)
{
	struct json_object *record = answer->record, *contexts;

	if (json_get(record, "types"))
		return mi_one("contexts", mi_context_types(record));
	contexts = json_object_new_object();
	for (size_t i = 0; i < json_len(record, "contexts"); i++) {
		const char *name = json_object_get_string(json_at(record, "contexts", i));
		struct json_object *o = mi_has_context(name) ? mi_context(name) : NULL;

		if (!o)
			continue;
		json_set_bool(o, "success", true);
		json_append(contexts, "context", o);
	}
	answer->incomplete = !json_len(record, "contexts");
	return mi_one("contexts", contexts);
}

/* --- the rest ---------------------------------------------------------------------------- */

static struct json_object *mi_track(struct mi_answer *answer)
{
	return mi_one("process_attr_trackers", mi_trackers(answer->record, "changes", NULL, true));
}

static struct json_object *mi_regenerate(struct mi_answer *answer)
{
	const char *name = operand(answer->ctl, 0);

	if (!name)
		return NULL;
	return mi_one("regenerate_action", mi_one("name", json_object_new_string(name)));
}

static struct json_object *mi_named_or_all(const struct ctl *ctl)
{
	return mi_one("session", mi_one("name", json_object_new_string(
							operand(ctl, 0) ? operand(ctl, 0) : "*")));
}

static struct json_object *mi_save(struct mi_answer *answer)
{
	struct json_object *o = mi_named_or_all(answer->ctl);
	const char *file = json_str(json_at(answer->record, "sessions", 0), "file");
	const char *slash = strrchr(file, '/');

	json_set(o, "path", json_object_new_string_len(file, slash ? (int)(slash - file) : 0));
	return mi_one("save", o);
}

static struct json_object *mi_load(struct mi_answer *answer)
{
	static const char *const options[][2] = { { "--override-name", "name" },
						  { "--override-url", "url" } };
	struct json_object *o = mi_named_or_all(answer->ctl), *overrides = json_object_new_object();
	const char *path = mi_option(answer->ctl, "--input-path");

	path = path ? path : mi_option(answer->ctl, "-i");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (mi_option(answer->ctl, options[i][0]))
			json_set_str(overrides, options[i][1],
				     mi_option(answer->ctl, options[i][0]));
	json_set_str(o, "path", path ? path : "");
	json_set(o, "overrides", overrides);
	return mi_one("load", o);
}

/* --- snapshots ------------------------------------------------------------------------------ */

static struct json_object *mi_snapshot_listed(struct json_object *output)
{
	static const struct mi_row rows[] = {
		{ "id", "id", MI_NUMBER, NULL },
		{ "name", "name", MI_TEXT, NULL },
		{ "ctrl_url", "path", MI_TEXT, NULL },
		{ "data_url", "", MI_FIXED, NULL },
		{ "max_size", "max_size", MI_NUMBER, NULL },
		{ 0 },
	};

	return mi_object(rows, output);
}

static struct json_object *mi_snapshot_outputs(struct json_object *record)
{
	struct json_object *session = mi_name(record);

	json_set(session, "snapshots",
		 mi_series("snapshot", record, "outputs", mi_snapshot_listed));
	return mi_one("session", session);
}

static struct json_object *mi_snapshot_added(struct json_object *record)
{
	static const struct mi_row head[] = {
		{ "id", "id", MI_NUMBER, NULL },
		{ "name", "name", MI_TEXT, NULL },
		{ "ctrl_url", "path", MI_TEXT, NULL },
		{ 0 },
	};
	struct json_object *o = json_object_new_object(), *output = json_at(record, "outputs", 0);

	mi_take(o, head, output);
	json_set_str(o, "session_name", json_str(record, "session"));
	json_set_num(o, "max_size", json_num(output, "max_size"));
	return o;
}

/* By the name or number that it was removed by. */
static struct json_object *mi_snapshot_removed(const struct ctl *ctl, struct json_object *record)
{
	const char *given = operand(ctl, 1) ? operand(ctl, 1) : "";
	bool number = *given && given[strspn(given, "0123456789")] == '\0';
	struct json_object *o = mi_one(number ? "id" : "name", json_object_new_string(given));

	json_set_str(o, "session_name", json_str(record, "session"));
	return o;
}

static struct json_object *mi_snapshot_recorded(struct json_object *record)
{
	static const struct mi_row rows[] = {
		{ "session_name", "session", MI_TEXT, NULL },
		{ "ctrl_url", "directory", MI_TEXT, NULL },
		{ 0 },
	};

	return mi_object(rows, record);
}

static struct json_object *mi_snapshot(struct mi_answer *answer)
{
	const struct ctl *ctl = answer->ctl;
	const char *action = operand(ctl, 0);
	struct json_object *record = answer->record, *o, *output = NULL;

	if (!action)
		return NULL;
	if (record && strcmp(action, "list-output") == 0)
		output = mi_snapshot_outputs(record);
	else if (record && strcmp(action, "add-output") == 0)
		output = mi_one("snapshot", mi_snapshot_added(record));
	else if (record && strcmp(action, "del-output") == 0)
		output = mi_one("snapshot", mi_snapshot_removed(ctl, record));
	else if (record)
		output = mi_one("snapshot", mi_snapshot_recorded(record));
	o = mi_one("name", json_object_new_string(action));
	json_set(o, "output", output);
	return mi_one("snapshot_action", o);
}

/* --- triggers and maps ------------------------------------------------------------------ */

/* The caller's, unless an option names its owner; NULL: none, or one that LTTng could not have. */
static struct json_object *mi_find_trigger(const struct ctl *ctl, struct json_object *triggers,
					   const char *name)
{
	const char *owner = mi_option(ctl, "--owner-uid");
	uint64_t uid = owner ? strtoull(owner, NULL, 10) : geteuid();

	for (size_t i = 0; triggers && i < json_object_array_length(triggers); i++) {
		struct json_object *trigger = json_object_array_get_idx(triggers, i);

		if (strcmp(json_str(trigger, "trigger"), name) == 0 &&
		    json_num(trigger, "uid") == uid)
			return mi_trigger(trigger, false);
	}
	return NULL;
}

static struct json_object *mi_add_trigger(struct mi_answer *answer)
{
	struct json_object *triggers AUTO_RECORD = NULL, *found;
	struct err ignored = { 0 };

	if (!answer->record || trigger_fetch(answer->ctl, &triggers, &ignored) != 0)
		return NULL;
	found = mi_find_trigger(answer->ctl, triggers, json_str(answer->record, "trigger"));
	return found ? mi_one("trigger", found) : NULL;
}

static struct json_object *mi_remove_trigger(struct mi_answer *answer)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < json_len(answer->record, "triggers"); i++) {
		const char *name = json_str(json_at(answer->record, "triggers", i), "trigger");
		struct json_object *found = mi_find_trigger(answer->ctl, answer->before, name);

		if (found)
			json_object_array_add(array, found);
	}
	return mi_one("trigger", array);
}

static struct json_object *mi_list_triggers(struct mi_answer *answer)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < json_len(answer->record, "triggers"); i++) {
		struct json_object *o = mi_trigger(json_at(answer->record, "triggers", i), true);

		if (o)
			json_object_array_add(array, o);
	}
	return mi_one("triggers", mi_one("trigger", array));
}

static struct json_object *mi_show_maps(struct mi_answer *answer)
{
	return mi_one("show-maps", mi_map_tables(answer->record));
}

static struct json_object *mi_export_maps(struct mi_answer *answer)
{
	struct json_object *sql = json_get(answer->record, "sql");

	return sql ? mi_one("export-maps", mi_one("output", json_object_get(sql))) : NULL;
}

/* --- the table ------------------------------------------------------------------------------ */

static const struct mi_verb mi_verbs[] = {
	{ "add-context", NULL, NULL, NULL, mi_add_context },
	{ "add-map-channel", NULL, NULL, NULL, NULL },
	{ "add-trigger", NULL, NULL, NULL, mi_add_trigger },
	{ "clear", NULL, NULL, target_sessions, mi_ended },
	{ "create", NULL, NULL, NULL, mi_create },
	{ "destroy", NULL, NULL, target_sessions, mi_ended },
	{ "disable-channel", NULL, NULL, NULL, mi_disable_channel },
	{ "disable-event", NULL, NULL, NULL, mi_disable_event },
	{ "disable-rotation", NULL, NULL, target_sessions, mi_disable_rotation },
	{ "enable-channel", NULL, NULL, NULL, mi_enable_channel },
	{ "enable-event", NULL, NULL, NULL, mi_enable_event },
	{ "enable-rotation", NULL, NULL, NULL, mi_enable_rotation },
	{ "export-maps", NULL, NULL, NULL, mi_export_maps },
	{ "list", NULL, NULL, NULL, mi_list },
	{ "list-triggers", "list-trigger", NULL, NULL, mi_list_triggers },
	{ "load", NULL, NULL, NULL, mi_load },
	{ "regenerate", NULL, NULL, NULL, mi_regenerate },
	{ "remove-trigger", NULL, NULL, trigger_fetch, mi_remove_trigger },
	{ "rotate", NULL, NULL, NULL, mi_rotate },
	{ "save", NULL, " - --output-path=- -o- --schema ", NULL, mi_save },
	{ "set-session", NULL, NULL, NULL, mi_set_session },
	{ "show-maps", NULL, NULL, NULL, mi_show_maps },
	{ "snapshot", NULL, NULL, NULL, mi_snapshot },
	{ "start", NULL, NULL, NULL, mi_start },
	{ "status", "list", " --follow -f ", NULL, mi_list },
	{ "stop", NULL, NULL, NULL, mi_stop },
	{ "track", NULL, NULL, NULL, mi_track },
	{ "untrack", NULL, NULL, NULL, mi_track },
	{ "version", NULL, NULL, NULL, mi_version },
};

const struct mi_verb *mi_verb_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(mi_verbs); i++)
		if (strcmp(mi_verbs[i].name, name) == 0)
			return &mi_verbs[i];
	return NULL;
}
