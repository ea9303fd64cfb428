/* SPDX-License-Identifier: GPL-2.0-only */
#include "session.h"

#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "ctl/names.h"
#include "ctl/print/json.h"
#include "row.h"

const char *mi_domain(const char *domain)
{
	static const char *const domains[][2] = {
		{ "kernel", "KERNEL" }, { "jul", "JUL" },	{ "log4j", "LOG4J" },
		{ "log4j2", "LOG4J2" }, { "python", "PYTHON" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(domains); i++)
		if (strcmp(domains[i][0], domain) == 0)
			return domains[i][1];
	return "UST";
}

static bool mi_is(struct json_object *o, const char *key, const char *word)
{
	return strcmp(json_str(o, key), word) == 0;
}

/* --- sessions ---------------------------------------------------------------------------- */

static const struct mi_word is_recording[] = { { "recording", "true" }, { NULL, "false" } };
static const struct mi_word as_filter[] = { { "true", "0" }, { NULL, "1" } };
static const struct mi_word as_number[] = { { "true", "1" }, { NULL, "0" } };

/* The path of a session for snapshots is that of its output for these. */
static const struct mi_row session_rows[] = {
	{ "name", "name", MI_TEXT, NULL },
	{ "path", "output", MI_TEXT, NULL },
	{ "enabled", "state", MI_WORD, is_recording },
	{ "snapshot_mode", "snapshots", MI_WORD, as_number },
	{ "live_timer_interval", "live_us", MI_NUMBER, NULL },
	{ 0 },
};

struct json_object *mi_session(struct json_object *session)
{
	struct json_object *o = mi_object(session_rows, session);

	if (json_flag(session, "snapshots"))
		json_set_str(o, "path", "");
	return o;
}

struct json_object *mi_schedules(struct json_object *session)
{
	static const struct mi_row time[] = { { "time_us", "rotate_us", MI_NUMBER, NULL }, { 0 } };
	static const struct mi_row size[] = { { "bytes", "rotate_size", MI_NUMBER, NULL }, { 0 } };
	struct json_object *o = json_object_new_object(), *one;

	if (json_num(session, "rotate_us")) {
		json_set(o, "periodic", one = json_object_new_object());
		mi_take(one, time, session);
	}
	if (json_num(session, "rotate_size")) {
		json_set(o, "size_threshold", one = json_object_new_object());
		mi_take(one, size, session);
	}
	return o;
}

/* --- rules ------------------------------------------------------------------------------- */

static const struct mi_word event_types[] = {
	{ "probe", "PROBE" },
	{ "function", "FUNCTION" },
	{ "userspace-probe", "USERSPACE_PROBE" },
	{ NULL, "TRACEPOINT" },
};

static const struct mi_word loglevel_types[] = {
	{ "at-least", "RANGE" },
	{ "only", "SINGLE" },
	{ NULL, "" },
};

static void mi_set_level(struct json_object *o, struct json_object *from)
{
	char *level AUTO_FREE = NULL;

	if (!*json_str(from, "loglevel"))
		return;
	level = xasprintf("TRACE_%s", json_str(from, "loglevel"));
	json_set_str(o, "loglevel", level);
}

static struct json_object *mi_exclusions(const char *list)
{
	struct names names CLEANUP(names_fini) = { 0 };
	struct json_object *o = json_object_new_object();

	if (*list)
		names_split(list, &names);
	for (size_t i = 0; i < names.nr; i++)
		json_append(o, "exclusion", json_object_new_string(names.names[i]));
	return o;
}

struct json_object *mi_place(const char *location, const char *symbol)
{
	struct json_object *o = json_object_new_object();
	size_t len = strcspn(location, "+");

	if (strncmp(location, "0x", 2) == 0) {
		json_set_num(o, "address", strtoull(location, NULL, 16));
		return o;
	}
	json_set(o, symbol, json_object_new_string_len(location, (int)len));
	json_set_num(o, "offset", location[len] ? strtoull(location + len + 1, NULL, 0) : 0);
	return o;
}

static void mi_set_place(struct json_object *o, struct json_object *rule)
{
	const char *location = json_str(rule, "location");

	if (mi_is(rule, "kind", "probe"))
		json_set(o, "attributes",
			 mi_one("probe_attributes", mi_place(location, "symbol_name")));
	else if (mi_is(rule, "kind", "function"))
		json_set(o, "attributes",
			 mi_one("function_attributes",
				mi_one("symbol_name", json_object_new_string(location))));
}

struct json_object *mi_rule(struct json_object *rule, bool kernel)
{
	static const struct mi_row head[] = {
		{ "name", "pattern", MI_TEXT, NULL },
		{ "type", "kind", MI_WORD, event_types },
		{ "enabled", "enabled", MI_FLAG, NULL },
		{ "filter_expression", "filter", MI_OPTION, NULL },
		{ 0 },
	};
	static const struct mi_row types[] = {
		{ "loglevel_type", "loglevel_type", MI_WORD, loglevel_types },
		{ 0 },
	};
	struct json_object *o = mi_object(head, rule);

	if (*json_str(rule, "logger"))
		json_set_str(o, "name", json_str(rule, "logger"));
	if (kernel && mi_is(rule, "kind", "events") &&
	    strncmp(json_str(rule, "pattern"), "syscall_", strlen("syscall_")) == 0)
		json_set_str(o, "type", "SYSCALL");
	mi_set_level(o, rule);
	mi_take(o, types, rule);
	json_set(o, "exclusions", mi_exclusions(json_str(rule, "exclude")));
	mi_set_place(o, rule);
	return o;
}

/* Rules for loggers of the library @domain; "": of none. */
static struct json_object *mi_rules(struct json_object *channels, const char *domain)
{
	struct json_object *events = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(channels); i++) {
		struct json_object *channel = json_object_array_get_idx(channels, i);

		for (size_t k = 0; k < json_len(channel, "rules"); k++) {
			struct json_object *rule = json_at(channel, "rules", k);

			if (mi_is(rule, "domain", domain))
				json_object_array_add(
					events, mi_rule(rule, mi_is(channel, "domain", "kernel")));
		}
	}
	return mi_one("event", events);
}

/* --- channels ---------------------------------------------------------------------------- */

static const struct mi_word modes[] = { { "true", "OVERWRITE" }, { NULL, "DISCARD" } };
static const struct mi_word forever[] = { { "4294967295", "-1" }, { NULL, NULL } };
static const struct mi_word outputs[] = { { "splice", "SPLICE" }, { NULL, "MMAP" } };
static const struct mi_word allocations[] = { { "true", "ON_DEMAND" }, { NULL, "PREALLOCATE" } };

/* There are no timers that poll buffers. */
static const struct mi_row attribute_rows[] = {
	{ "overwrite_mode", "overwrite", MI_WORD, modes },
	{ "subbuffer_size", "subbuf_size", MI_NUMBER, NULL },
	{ "subbuffer_count", "num_subbuf", MI_NUMBER, NULL },
	{ "switch_timer_interval", "switch_timer_us", MI_NUMBER, NULL },
	{ "read_timer_interval", "0", MI_FIXED, NULL },
	{ "monitor_timer_interval", "0", MI_FIXED, NULL },
	{ "blocking_timeout", "blocking_us", MI_WORD, forever },
	{ "output_type", "output_type", MI_WORD, outputs },
	{ "tracefile_size", "tracefile_size", MI_NUMBER, NULL },
	{ "tracefile_count", "tracefile_count", MI_NUMBER, NULL },
	{ 0 },
};

struct json_object *mi_channel(struct json_object *session, struct json_object *channel)
{
	static const struct mi_row head[] = {
		{ "name", "name", MI_TEXT, NULL },
		{ "enabled", "enabled", MI_FLAG, NULL },
		{ 0 },
	};
	static const struct mi_row lost[] = { { "discarded_events", "lost", MI_NUMBER, NULL },
					      { "lost_packets", "lost_buffers", MI_NUMBER, NULL },
					      { 0 } };
	static const struct mi_row memory[] = {
		{ "allocation_policy", "PER_CPU", MI_FIXED, NULL },
		{ "preallocation_policy", "on_demand", MI_WORD, allocations },
		{ 0 },
	};
	struct json_object *o = json_object_new_object(), *attributes = json_object_new_object();

	mi_take(o, head, channel);
	json_set(o, "attributes", attributes);
	mi_take(attributes, attribute_rows, channel);
	json_set_num(attributes, "live_timer_interval", json_num(session, "live_us"));
	mi_take(attributes, lost, json_get(channel, "totals"));
	mi_take(attributes, memory, channel);
	if (json_flag(channel, "reclaim"))
		json_set(attributes, "reclaim_policy",
			 mi_one("consumed", json_object_new_string("")));
	return o;
}

static struct json_object *mi_channels(struct json_object *session, struct json_object *channels)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(channels); i++) {
		struct json_object *channel = json_object_array_get_idx(channels, i);
		struct json_object *only AUTO_RECORD = json_object_new_array();
		struct json_object *o = mi_channel(session, channel);

		json_object_array_add(only, json_object_get(channel));
		json_set(o, "events", mi_rules(only, ""));
		json_object_array_add(array, o);
	}
	return mi_one("channel", array);
}

/* --- map channels ------------------------------------------------------------------------- */

static const struct mi_word ownerships[] = { { "process", "per-pid" }, { NULL, "per-uid" } };

static struct json_object *mi_map_channel(struct json_object *map)
{
	static const struct mi_row rows[] = {
		{ "name", "name", MI_TEXT, NULL },
		{ "enabled", "true", MI_FIXED, NULL },
		{ "value_type", "value_type", MI_TEXT, NULL },
		{ "max_key_count", "max_keys", MI_NUMBER, NULL },
		{ "update_policy", "update", MI_TEXT, NULL },
		{ 0 },
	};
	static const struct mi_row user[] = {
		{ "buffer_ownership", "ownership", MI_WORD, ownerships },
		{ 0 },
	};
	struct json_object *o = mi_object(rows, map);

	if (mi_is(map, "domain", "user"))
		mi_take(o, user, map);
	if (mi_is(map, "ownership", "process"))
		json_set_str(o, "dead_group_policy", json_str(map, "dead"));
	return o;
}

/* --- trackers ------------------------------------------------------------------------------ */

static void mi_add_ids(struct json_object *values, const char *kind, struct json_object *from,
		       bool changes)
{
	bool all = mi_is(from, "op", "all") || mi_is(from, "op", "none");

	for (size_t i = 0; i < (all ? 1 : json_len(from, "ids")); i++) {
		struct json_object *id =
			all ? mi_one("all", json_object_new_boolean(true)) :
			      mi_one("id", json_object_get(json_at(from, "ids", i)));
		struct json_object *value = mi_one("type", id);

		if (changes)
			json_set_bool(value, "success", true);
		json_append(values, kind, value);
	}
}

struct json_object *mi_trackers(struct json_object *from, const char *key, const char *domain,
				bool changes)
{
	static const char *const kinds[] = { "pid", "vpid", "uid", "vuid", "gid", "vgid" };
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < json_len(from, key); i++) {
		struct json_object *tracker = json_at(from, key, i), *values;
		const char *kind = json_str(tracker, "kind");

		if (domain && !mi_is(tracker, "domain", domain))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
			char *name AUTO_FREE = NULL;

			if (strcmp(kinds[k], kind) != 0)
				continue;
			name = xasprintf("%s_process_attr_tracker", kind);
			values = json_object_new_object();
			mi_add_ids(values, kind, tracker, changes);
			json_append(o, name, mi_one("process_attr_values", values));
		}
	}
	return o;
}

/* --- domains ------------------------------------------------------------------------------- */

static struct json_object *mi_begin_domain(const char *domain, const char *buffers)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "type", mi_domain(domain));
	json_set_str(o, "buffer_type", buffers);
	return o;
}

static struct json_object *mi_of_domain(struct json_object *session, const char *key,
					const char *domain)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < json_len(session, key); i++)
		if (mi_is(json_at(session, key, i), "domain", domain))
			json_object_array_add(array, json_object_get(json_at(session, key, i)));
	return array;
}

static const char *mi_buffers(struct json_object *channels, const char *domain)
{
	if (strcmp(domain, "kernel") == 0)
		return "GLOBAL";
	return mi_is(json_object_array_get_idx(channels, 0), "ownership", "process") ? "PER_PID" :
										       "PER_UID";
}

static void mi_add_domain(struct json_object *domains, struct json_object *session,
			  const char *domain, bool whole)
{
	struct json_object *channels AUTO_RECORD = mi_of_domain(session, "channels", domain);
	struct json_object *maps AUTO_RECORD = mi_of_domain(session, "map_channels", domain), *o;

	if (!json_object_array_length(channels) && !json_object_array_length(maps))
		return;
	o = mi_begin_domain(domain, mi_buffers(channels, domain));
	json_append(domains, "domain", o);
	if (!whole)
		return;
	json_set(o, "process_attr_trackers", mi_trackers(session, "trackers", domain, false));
	json_set(o, "channels", mi_channels(session, channels));
	for (size_t i = 0; i < json_object_array_length(maps); i++) {
		if (!json_get(o, "map_channels"))
			json_set(o, "map_channels", json_object_new_object());
		json_append(json_get(o, "map_channels"), "map_channel",
			    mi_map_channel(json_object_array_get_idx(maps, i)));
	}
}

static void mi_add_loggers(struct json_object *domains, struct json_object *session,
			   const char *domain, bool whole)
{
	struct json_object *channels AUTO_RECORD = mi_of_domain(session, "channels", "user"), *o;
	struct json_object *rules = mi_rules(channels, domain);

	if (!json_len(rules, "event")) {
		json_object_put(rules);
		return;
	}
	o = mi_begin_domain(domain, mi_buffers(channels, domain));
	json_append(domains, "domain", o);
	if (whole)
		json_set(o, "events", rules);
	else
		json_object_put(rules);
}

static struct json_object *mi_domains(struct json_object *session, bool whole)
{
	static const char *const loggers[] = { "jul", "log4j", "log4j2", "python" };
	struct json_object *domains = json_object_new_object();

	mi_add_domain(domains, session, "kernel", whole);
	mi_add_domain(domains, session, "user", whole);
	for (size_t i = 0; i < ARRAY_SIZE(loggers); i++)
		mi_add_loggers(domains, session, loggers[i], whole);
	return domains;
}

struct json_object *mi_session_whole(struct json_object *session)
{
	struct json_object *o = mi_session(session), *schedules = mi_schedules(session);

	if (json_object_object_length(schedules))
		json_set(o, "rotation_schedules", schedules);
	else
		json_object_put(schedules);
	json_set(o, "domains", mi_domains(session, !json_flag(session, "only_domains")));
	return o;
}

void mi_mark_domains_alone(struct json_object *session)
{
	json_set_bool(session, "only_domains", true);
}

void mi_mark_domain(struct json_object *record, const char *domain)
{
	json_set_str(record, "points_domain", domain);
}

/* --- instrumentation points ------------------------------------------------------------------ */

static const struct mi_word field_types[] = {
	{ "integer", "INTEGER" }, { "enum", "ENUM" }, { "float", "FLOAT" },
	{ "string", "STRING" },	  { NULL, "OTHER" },
};

static struct json_object *mi_field(struct json_object *field)
{
	static const struct mi_row rows[] = {
		{ "name", "name", MI_TEXT, NULL },
		{ "type", "type", MI_WORD, field_types },
		{ "nowrite", "is_recorded", MI_WORD, as_filter },
		{ 0 },
	};

	return mi_object(rows, field);
}

static struct json_object *mi_point(struct json_object *point)
{
	struct json_object *o = json_object_new_object();
	bool syscall = mi_is(point, "way", "syscall");

	json_set_str(o, "name", json_str(point, "name"));
	json_set_str(o, "type", syscall ? "SYSCALL" : "TRACEPOINT");
	json_set_bool(o, "enabled", true);
	mi_set_level(o, point);
	if (json_get(o, "loglevel"))
		json_set_str(o, "loglevel_type", "ALL");
	json_set(o, "exclusions", json_object_new_object());
	if (json_get(point, "field_list"))
		json_set(o, "event_fields",
			 mi_series("event_field", point, "field_list", mi_field));
	return o;
}

/* Points of a process are behind each other. */
static struct json_object *mi_process(struct json_object *pids, struct json_object *last,
				      struct json_object *point)
{
	struct json_object *pid;

	if (last && json_num(last, "id") == json_num(point, "pid"))
		return last;
	pid = json_object_new_object();
	json_set_num(pid, "id", json_num(point, "pid"));
	json_set_str(pid, "name", json_str(point, "process"));
	json_set(pid, "events", json_object_new_object());
	json_append(pids, "pid", pid);
	return pid;
}

static void mi_add_points(struct json_object *domains, const char *domain, const char *buffers,
			  const char *key, struct json_object *value)
{
	struct json_object *o = mi_begin_domain(domain, buffers);

	json_set(o, key, value);
	json_append(domains, "domain", o);
}

struct json_object *mi_points(struct json_object *points, const char *domain)
{
	struct json_object *domains = json_object_new_object(), *last = NULL;
	struct json_object *events = json_object_new_object(), *pids = json_object_new_object();
	bool kernel = strcmp(domain, "kernel") == 0, user = strcmp(domain, "user") == 0;

	for (size_t i = 0; i < json_object_array_length(points); i++) {
		struct json_object *point = json_object_array_get_idx(points, i);

		if (mi_is(point, "domain", "kernel")) {
			json_append(events, "event", mi_point(point));
			continue;
		}
		last = mi_process(pids, last, point);
		if (user || !*domain) /* of loggers, the names are not known */
			json_append(json_get(last, "events"), "event", mi_point(point));
	}
	if (kernel || (!*domain && json_len(events, "event")))
		mi_add_points(domains, "kernel", "GLOBAL", "events", TAKE(events));
	if (!kernel)
		mi_add_points(domains, domain, "PER_PID", "pids", TAKE(pids));
	json_object_put(events);
	json_object_put(pids);
	return domains;
}
