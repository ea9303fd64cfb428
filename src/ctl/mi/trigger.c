/* SPDX-License-Identifier: GPL-2.0-only */
#include "trigger.h"

#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/str.h"
#include "ctl/names.h"
#include "ctl/print/json.h"
#include "ctl/session/logger.h"
#include "row.h"
#include "session.h"

static struct json_object *mi_word(const char *text)
{
	return json_object_new_string(text);
}

/* --- captured values ------------------------------------------------------------------------ */

static struct json_object *mi_capture(const char *text);

/* "NAME[INDEX]". */
static struct json_object *mi_capture_element(const char *text, const char *bracket)
{
	char *array AUTO_FREE = xasprintf("%.*s", (int)(bracket - text), text);
	struct json_object *o = json_object_new_object();

	json_set_num(o, "index", strtoull(bracket + 1, NULL, 10));
	json_set(o, "event_expr", mi_capture(array));
	return mi_one("event_expr_array_field_element", o);
}

/* "$app.PROVIDER:NAME". */
static struct json_object *mi_capture_app(const char *name)
{
	size_t len = strcspn(name, ":");
	struct json_object *o = json_object_new_object();

	json_set(o, "provider_name", json_object_new_string_len(name, (int)len));
	json_set_str(o, "type_name", name + len + (name[len] == ':'));
	return mi_one("event_expr_app_specific_context_field", o);
}

static struct json_object *mi_capture(const char *text)
{
	const char *bracket = strrchr(text, '[');

	if (bracket)
		return mi_capture_element(text, bracket);
	if (strncmp(text, "$app.", 5) == 0)
		return mi_capture_app(text + 5);
	if (strncmp(text, "$ctx.", 5) == 0)
		return mi_one("event_expr_channel_context_field",
			      mi_one("name", mi_word(text + 5)));
	return mi_one("event_expr_payload_field", mi_one("name", mi_word(text)));
}

static struct json_object *mi_captures(const char *list)
{
	struct names names CLEANUP(names_fini) = { 0 };
	struct json_object *o = json_object_new_object();

	if (*list)
		names_split(list, &names);
	for (size_t i = 0; i < names.nr; i++)
		json_append(o, "event_expr", mi_capture(names.names[i]));
	return o;
}

/* --- rules of events --------------------------------------------------------------------- */

static const struct mi_row filter_rows[] = {
	{ "filter_expression", "filter", MI_OPTION, NULL },
	{ 0 },
};

static struct json_object *mi_matching(struct json_object *trigger, const char *pattern)
{
	struct json_object *o = mi_one("name_pattern", mi_word(*pattern ? pattern : "*"));

	mi_take(o, filter_rows, trigger);
	return o;
}

static struct json_object *mi_user_rule(struct json_object *trigger)
{
	bool only = strcmp(json_str(trigger, "loglevel_type"), "only") == 0;
	struct json_object *o = mi_matching(trigger, json_str(trigger, "event")), *level, *excluded;
	struct names names CLEANUP(names_fini) = { 0 };
	int number;

	if (loglevel_parse(json_str(trigger, "loglevel"), &number) == 0) {
		level = mi_one("level", json_object_new_int(number));
		json_set(o, "log_level_rule",
			 mi_one(only ? "log_level_rule_exactly" :
				       "log_level_rule_at_least_as_severe_as",
				level));
	}
	if (!*json_str(trigger, "exclude"))
		return mi_one("event_rule_user_tracepoint", o);
	names_split(json_str(trigger, "exclude"), &names);
	json_set(o, "name_pattern_exclusions", excluded = json_object_new_object());
	for (size_t i = 0; i < names.nr; i++)
		json_append(excluded, "name_pattern_exclusion", mi_word(names.names[i]));
	return mi_one("event_rule_user_tracepoint", o);
}

/* Names of loggers are in the filter. */
static struct json_object *mi_logger_rule(struct json_object *trigger,
					  const struct logger_domain *loggers)
{
	char *element AUTO_FREE = xasprintf("event_rule_%s_logging", loggers->name);

	return mi_one(element, mi_matching(trigger, "*"));
}

/* Its name stands behind that of the place where the event is. */
static struct json_object *mi_syscall_rule(struct json_object *trigger)
{
	static const struct {
		const char *prefix, *site;
	} sites[] = {
		{ "syscall_entry_", "entry" },
		{ "syscall_exit_", "exit" },
		{ "syscall_e*_", "entry+exit" },
	};
	const char *pattern = json_str(trigger, "event");

	for (size_t i = 0; i < ARRAY_SIZE(sites); i++) {
		size_t len = strlen(sites[i].prefix);
		struct json_object *o;

		if (strncmp(pattern, sites[i].prefix, len) != 0)
			continue;
		o = mi_matching(trigger, pattern + len);
		json_set_str(o, "emission_site", sites[i].site);
		return mi_one("event_rule_kernel_syscall", o);
	}
	return NULL;
}

static struct json_object *mi_kprobe_rule(struct json_object *trigger)
{
	struct json_object *o = mi_one("event_name", mi_word(json_str(trigger, "event")));
	struct json_object *place = mi_place(json_str(trigger, "location"), "name");

	json_set(o, "kernel_probe_location",
		 mi_one(json_get(place, "address") ? "kernel_probe_location_address" :
						     "kernel_probe_location_symbol_offset",
			place));
	return mi_one("event_rule_kernel_kprobe", o);
}

/* "[elf:]PATH:FUNCTION" or "sdt:PATH:PROVIDER:NAME". */
static struct json_object *mi_uprobe_rule(struct json_object *trigger)
{
	const char *location = json_str(trigger, "location");
	bool sdt = strncmp(location, "sdt:", 4) == 0;
	const char *path = location + (sdt || strncmp(location, "elf:", 4) == 0 ? 4 : 0);
	size_t len = strcspn(path, ":");
	const char *name = path + len + (path[len] == ':');
	size_t provider = sdt ? strcspn(name, ":") : 0;
	struct json_object *o = mi_one("event_name", mi_word(json_str(trigger, "event")));
	struct json_object *place = json_object_new_object();

	if (sdt) {
		json_set_str(place, "probe_name", name + provider + (name[provider] == ':'));
		json_set(place, "provider_name", json_object_new_string_len(name, (int)provider));
	} else {
		json_set_str(place, "name", name);
	}
	json_set(place, "binary_path", json_object_new_string_len(path, (int)len));
	if (!sdt)
		json_set_str(place, "instrumentation_type", "ENTRY");
	json_set(place, "userspace_probe_location_lookup_method",
		 mi_one(sdt ? "userspace_probe_location_lookup_method_tracepoint_sdt" :
			      "userspace_probe_location_lookup_method_function_elf",
			json_object_new_object()));
	json_set(o, "userspace_probe_location",
		 mi_one(sdt ? "userspace_probe_location_tracepoint" :
			      "userspace_probe_location_function",
			place));
	return mi_one("event_rule_kernel_uprobe", o);
}

static struct json_object *mi_event_rule(struct json_object *trigger)
{
	const struct logger_domain *loggers = logger_domain_of_event(json_str(trigger, "event"));
	const char *kind = json_str(trigger, "kind");
	struct json_object *rule;

	if (strcmp(kind, "probe") == 0)
		return mi_kprobe_rule(trigger);
	if (strcmp(kind, "userspace-probe") == 0)
		return mi_uprobe_rule(trigger);
	if (strcmp(json_str(trigger, "domain"), "kernel") != 0)
		return loggers ? mi_logger_rule(trigger, loggers) : mi_user_rule(trigger);
	rule = mi_syscall_rule(trigger);
	return rule ? rule :
		      mi_one("event_rule_kernel_tracepoint",
			     mi_matching(trigger, json_str(trigger, "event")));
}

/* --- conditions -------------------------------------------------------------------------- */

static struct json_object *mi_event_condition(struct json_object *trigger)
{
	struct json_object *o = mi_one("event_rule", mi_event_rule(trigger));

	json_set(o, "capture_descriptors", mi_captures(json_str(trigger, "captures")));
	return o;
}

static const struct mi_row of_session[] = {
	{ "session_name", "session", MI_TEXT, NULL },
	{ 0 },
};

static struct json_object *mi_buffer_condition(struct json_object *trigger)
{
	static const struct mi_row rows[] = { { "channel_name", "channel", MI_TEXT, NULL }, { 0 } };
	double percent = json_object_get_double(json_get(trigger, "percent"));
	struct json_object *o = json_object_new_object();
	char ratio[32];

	snprintf(ratio, sizeof(ratio), "%g", percent / 100);
	mi_take(o, of_session, trigger);
	mi_take(o, rows, trigger);
	json_set_str(o, "domain", mi_domain(json_str(trigger, "domain")));
	json_set_str(o, "threshold_ratio", ratio);
	return o;
}

static struct json_object *mi_session_condition(struct json_object *trigger)
{
	static const struct mi_row rows[] = { { "threshold_bytes", "threshold", MI_NUMBER, NULL },
					      { 0 } };
	struct json_object *o = mi_object(of_session, trigger);

	if (json_get(trigger, "threshold"))
		mi_take(o, rows, trigger);
	return o;
}

static struct json_object *mi_condition(struct json_object *trigger)
{
	static const struct {
		const char *condition, *element;
		struct json_object *(*make)(struct json_object *trigger);
	} conditions[] = {
		{ "event-rule-matches", "condition_event_rule_matches", mi_event_condition },
		{ "channel-buffer-usage-ge", "condition_buffer_usage_high", mi_buffer_condition },
		{ "channel-buffer-usage-le", "condition_buffer_usage_low", mi_buffer_condition },
		{ "session-consumed-size-ge", "condition_session_consumed_size",
		  mi_session_condition },
		{ "session-rotation-starts", "condition_session_rotation_ongoing",
		  mi_session_condition },
		{ "session-rotation-finishes", "condition_session_rotation_completed",
		  mi_session_condition },
	};

	for (size_t i = 0; i < ARRAY_SIZE(conditions); i++)
		if (strcmp(json_str(trigger, "condition"), conditions[i].condition) == 0)
			return mi_one(conditions[i].element, conditions[i].make(trigger));
	return NULL;
}

/* --- actions ----------------------------------------------------------------------------- */

static void mi_set_rate(struct json_object *o, struct json_object *action)
{
	static const struct mi_row every[] = { { "interval", "every", MI_NUMBER, NULL }, { 0 } };
	static const struct mi_row once[] = { { "threshold", "once_after", MI_NUMBER, NULL },
					      { 0 } };
	bool is_once = json_num(action, "once_after") != 0;
	struct json_object *policy = json_object_new_object();

	mi_take(policy, is_once ? once : every, action);
	if (!is_once && !json_num(action, "every"))
		json_set_num(policy, "interval", 1);
	json_set(o, "rate_policy",
		 mi_one(is_once ? "rate_policy_once_after_n" : "rate_policy_every_n", policy));
}

static struct json_object *mi_rated_action(struct json_object *action)
{
	struct json_object *o = json_object_new_object();

	if (*json_str(action, "session"))
		mi_take(o, of_session, action);
	mi_set_rate(o, action);
	return o;
}

static struct json_object *mi_snapshot_action(struct json_object *action)
{
	static const struct mi_row rows[] = {
		{ "name", "name", MI_OPTION, NULL },
		{ "ctrl_url", "output", MI_OPTION, NULL },
		{ "max_size", "max_size", MI_OPTION, NULL },
		{ 0 },
	};
	struct json_object *o = json_object_new_object(), *output = json_object_new_object();

	mi_take(o, of_session, action);
	mi_take(output, rows, action);
	if (json_object_object_length(output))
		json_set(o, "output", output);
	else
		json_object_put(output);
	mi_set_rate(o, action);
	return o;
}

static struct json_object *mi_increment_action(struct json_object *action)
{
	static const struct mi_row rows[] = {
		{ "channel_type", "domain", MI_TEXT, NULL },
		{ "channel_name", "map_channel", MI_TEXT, NULL },
		{ "key_template", "map_key", MI_TEXT, NULL },
		{ 0 },
	};
	struct json_object *o = mi_object(of_session, action);

	mi_take(o, rows, action);
	return o;
}

/* NULL: LTTng has no such action. */
static struct json_object *mi_action(struct json_object *action)
{
	static const struct {
		const char *action, *element;
		struct json_object *(*make)(struct json_object *action);
	} actions[] = {
		{ "notify", "action_notify", mi_rated_action },
		{ "start-session", "action_start_session", mi_rated_action },
		{ "stop-session", "action_stop_session", mi_rated_action },
		{ "rotate-session", "action_rotate_session", mi_rated_action },
		{ "snapshot-session", "action_snapshot_session", mi_snapshot_action },
		{ "incr-map-value", "action_increment_map_value", mi_increment_action },
	};

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (strcmp(json_str(action, "action"), actions[i].action) == 0)
			return mi_one(actions[i].element, actions[i].make(action));
	return NULL;
}

static struct json_object *mi_failures(struct json_object *action)
{
	struct json_object *o = mi_one("name", mi_word("total execution failures"));

	json_set_str(o, "description", "Executions of the action that failed");
	json_set(o, "error_query_result_counter",
		 mi_one("value", json_object_new_uint64(json_num(action, "failed"))));
	return mi_one("error_query_result", o);
}

static struct json_object *mi_actions(struct json_object *trigger, bool listed)
{
	struct json_object *list = json_object_new_object();

	for (size_t i = 0; i < json_len(trigger, "actions"); i++) {
		struct json_object *action = json_at(trigger, "actions", i);
		struct json_object *o;

		/* the map channel is of the domain of the condition */
		if (!json_get(action, "domain"))
			json_set_str(action, "domain", json_str(trigger, "domain"));
		o = mi_action(action);
		if (!o)
			continue;
		if (listed)
			json_set(o, "error_query_results", mi_failures(action));
		json_append(list, "action", o);
	}
	return mi_one("action_list", list);
}

struct json_object *mi_trigger(struct json_object *trigger, bool listed)
{
	static const struct mi_row rows[] = {
		{ "name", "trigger", MI_TEXT, NULL },
		{ "owner_uid", "uid", MI_NUMBER, NULL },
		{ 0 },
	};
	struct json_object *condition = mi_condition(trigger), *o;

	if (!condition)
		return NULL;
	o = json_object_new_object();
	mi_take(o, rows, trigger);
	json_set(o, "condition", condition);
	json_set(o, "action", mi_actions(trigger, listed));
	if (listed)
		json_set(o, "error_query_results", json_object_new_object());
	return o;
}
