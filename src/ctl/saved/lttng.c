/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lttng.c - reads the sessions of a file that `lttng save` has written (LTTng 2.7 and later; the
 * schema is its session.xsd). Elements without an effect here, like timers of its readers, are
 * skipped; a feature that is missing here is named, and left out.
 */
#include <ctype.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/print/json.h"
#include "ctl/session/logger.h"
#include "output.h"
#include "read.h"

#define BLANKS " \t\r\n"

/* --- elements ------------------------------------------------------------------------ */

static bool is(const struct element *e, const char *name)
{
	return strcmp(e->name, name) == 0;
}

/* The first child of that name, or NULL. */
static const struct element *child_of(const struct element *e, const char *name)
{
	const struct element *child = e ? e->first : NULL;

	while (child && !is(child, name))
		child = child->next;
	return child;
}

/* The text of a child without blanks around it, allocated; "" if it is missing. */
static char *word_of(const struct element *e, const char *name)
{
	const struct element *child = child_of(e, name);
	char *word = xstrdup(child ? child->text + strspn(child->text, BLANKS) : "");
	size_t len = strlen(word);

	while (len && strchr(BLANKS, word[len - 1]))
		word[--len] = '\0';
	return word;
}

/* The text of a child as it is; "" if it is missing. */
static const char *text_of(const struct element *e, const char *name)
{
	const struct element *child = child_of(e, name);

	return child ? child->text : "";
}

/* Name each child that is none of a list, which blanks separate: a later version has it. */
static void check_known(const struct element *e, const char *known, struct problems *problems)
{
	for (const struct element *child = e->first; child; child = child->next) {
		const char *at = strstr(known, child->name);
		size_t len = strlen(child->name);

		while (at && ((at != known && at[-1] != ' ') || (at[len] != ' ' && at[len])))
			at = strstr(at + 1, child->name);
		if (!at)
			problems_unsupported(problems, child->line, child->name,
					     "it is not supported in '%s' of LTTng's files",
					     e->name);
	}
}

/* Set a number from a child, if it is there. Return: whether it is one. */
static bool take_number(const struct element *e, const char *name, struct json_object *o,
			const char *key, uint64_t max, struct problems *problems)
{
	const struct element *child = child_of(e, name);
	uint64_t number;

	if (!child)
		return true;
	if (!saved_number(child, max, &number, problems))
		return false;
	json_set_num(o, key, number);
	return true;
}

static bool take_flag(const struct element *e, const char *name, struct json_object *o,
		      const char *key, struct problems *problems)
{
	const struct element *child = child_of(e, name);
	bool flag;

	if (!child)
		return true;
	if (!saved_flag(child, &flag, problems))
		return false;
	json_set_bool(o, key, flag);
	return true;
}

/* --- event rules --------------------------------------------------------------------- */

static bool take_level(const struct element *e, struct json_object *rule, struct problems *problems)
{
	char *type AUTO_FREE = word_of(e, "loglevel_type"),
		   *level AUTO_FREE = word_of(e, "loglevel");
	bool only = strcmp(type, "SINGLE") == 0;
	int number;

	if (!*type || strcmp(type, "ALL") == 0)
		return true;
	if ((!only && strcmp(type, "RANGE") != 0) || loglevel_parse(level, &number) != 0)
		return problems_add(problems, e->line, e->name,
				    "'%.40s' of '%.40s' are not log levels of LTTng", type, level);
	json_set_str(rule, "loglevel_type", only ? "only" : "at-least");
	json_set_str(rule, "loglevel", loglevel_name(number));
	return true;
}

/* Patterns, separated by commas; a comma of a pattern gets a backslash. */
static char *exclusions(const struct element *e)
{
	char *list = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&list, &size);

	if (!out)
		return xstrdup("");
	for (const struct element *child = e ? e->first : NULL; child; child = child->next) {
		fputs(child == e->first ? "" : ",", out);
		for (const char *at = child->text; *at; at++)
			fprintf(out, *at == ',' ? "\\%c" : "%c", *at);
	}
	return fclose(out) == 0 ? list : xstrdup("");
}

/* A path in which colons are escaped, as those of other parts separate these. */
static char *escaped_path(const char *path)
{
	char *escaped = xalloc(2 * strlen(path) + 1);
	size_t len = 0;

	for (; *path; path++) {
		if (*path == ':')
			escaped[len++] = '\\';
		escaped[len++] = *path;
	}
	return escaped;
}

/* Where a probe is, as enable-event has it; allocated. NULL: nowhere that is known. */
static char *probe_place(const struct element *attributes)
{
	const struct element *probe = child_of(attributes, "probe_attributes");
	const struct element *function = child_of(attributes, "function_attributes");
	const struct element *program = child_of(attributes, "userspace_probe_function_attributes");
	const struct element *point = child_of(attributes, "userspace_probe_tracepoint_attributes");
	char *symbol AUTO_FREE = word_of(probe ? probe : function, "symbol_name");
	char *offset AUTO_FREE = word_of(probe, "offset"),
		     *address AUTO_FREE = word_of(probe, "address");
	char *path AUTO_FREE = escaped_path(text_of(program ? program : point, "binary_path"));
	uint64_t number = 0;

	if (program)
		return xasprintf("elf:%s:%s", path, text_of(program, "function_name"));
	if (point)
		return xasprintf("sdt:%s:%s:%s", path, text_of(point, "provider_name"),
				 text_of(point, "probe_name"));
	if (*symbol && *offset && parse_u64(offset, &number) == 0 && number)
		return xasprintf("%s+0x%" PRIx64, symbol, number);
	if (*symbol)
		return xstrdup(symbol);
	if (parse_u64(address, &number) == 0 && number)
		return xasprintf("0x%" PRIx64, number);
	return NULL;
}

static bool take_place(const struct element *e, const char *type, struct json_object *rule,
		       struct problems *problems)
{
	static const struct {
		const char *type, *kind;
	} kinds[] = { { "PROBE", "probe" },
		      { "KPROBE", "probe" },
		      { "FUNCTION", "function" },
		      { "USERSPACE_PROBE", "userspace-probe" } };
	char *place AUTO_FREE = probe_place(child_of(e, "attributes"));

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].type, type) != 0)
			continue;
		if (!place)
			return problems_add(problems, e->line, e->name,
					    "it lacks the place of the probe, in 'attributes'");
		json_set_str(rule, "kind", kinds[i].kind);
		json_set_str(rule, "location", place);
		return true;
	}
	return problems_unsupported(problems, e->line, e->name,
				    "events of the type '%.40s' are not supported", type);
}

/* Of a rule for a logger: LTTng saves its filter with the conditions on name and level. */
static bool take_logger(const struct element *e, const struct logger_domain *loggers,
			const char *name, struct json_object *rule, struct problems *problems)
{
	char *type AUTO_FREE = word_of(e, "loglevel_type"),
		   *level AUTO_FREE = word_of(e, "loglevel"), *filter AUTO_FREE = NULL;
	const char *saved = text_of(e, "filter");
	bool complete = strcmp(name, "*") == 0 || strstr(saved, "logger_name ==");
	enum ltt_ctl_level_type levels = strcmp(type, "SINGLE") == 0 ? LTT_CTL_LEVEL_ONLY :
					 strcmp(type, "RANGE") == 0  ? LTT_CTL_LEVEL_AT_LEAST :
								       LTT_CTL_LEVEL_ALL;
	struct err err = { 0 };
	int number = 0;

	if (levels != LTT_CTL_LEVEL_ALL && logger_level_parse(loggers, level, &number, &err))
		return problems_add(problems, e->line, e->name, "%s", err.text);
	if (strstr(saved, "int_loglevel"))
		levels = LTT_CTL_LEVEL_ALL;
	filter = logger_filter(loggers, complete ? "*" : name, levels, number,
			       *saved ? saved : NULL);
	json_set_str(rule, "pattern", loggers->event);
	json_set_str(rule, "logger", name);
	json_set_str(rule, "filter", filter ? filter : "");
	return true;
}

/* A rule with the name @pattern is appended to those of the channel. */
static void add_rule(const struct element *e, const char *pattern, const char *type, bool kernel,
		     const struct logger_domain *loggers, struct json_object *channel,
		     struct problems *problems)
{
	struct json_object *rule AUTO_RECORD = json_object_new_object();
	char *exclude AUTO_FREE = exclusions(child_of(e, "exclusions"));
	bool events = strcmp(type, "TRACEPOINT") == 0 || strcmp(type, "SYSCALL") == 0 ||
		      strcmp(type, "ALL") == 0;
	bool good = take_flag(e, "enabled", rule, "enabled", problems);

	json_set_str(rule, "pattern", pattern);
	json_set_str(rule, "exclude", exclude);
	json_set_str(rule, "filter", text_of(e, "filter"));
	/* LTTng's patterns of tracepoints don't match system calls */
	if (kernel && strcmp(type, "TRACEPOINT") == 0 && glob_is_pattern(pattern) && !*exclude)
		json_set_str(rule, "exclude", "syscall_entry_*,syscall_exit_*");
	if (loggers)
		good = take_logger(e, loggers, pattern, rule, problems) && good;
	else if (!kernel)
		good = take_level(e, rule, problems) && good;
	if (!events)
		good = take_place(e, type, rule, problems) && good;
	if (good && saved_check(&shape_rule, rule, e, problems))
		json_append(channel, "rules", TAKE(rule));
}

static void take_event(const struct element *e, bool kernel, const struct logger_domain *loggers,
		       struct json_object *channel, struct problems *problems)
{
	char *type AUTO_FREE = word_of(e, "type"), *name AUTO_FREE = word_of(e, "name");
	const char *pattern = *name ? name : "*", *kind = *type ? type : "TRACEPOINT";

	check_known(e, "name enabled type loglevel_type loglevel filter exclusions attributes",
		    problems);
	if (strcmp(kind, "SYSCALL") == 0) {
		char *entry AUTO_FREE = xasprintf("syscall_entry_%s", pattern);
		char *exit AUTO_FREE = xasprintf("syscall_exit_%s", pattern);

		add_rule(e, entry, kind, kernel, loggers, channel, problems);
		add_rule(e, exit, kind, kernel, loggers, channel, problems);
	} else {
		add_rule(e, pattern, kind, kernel, loggers, channel, problems);
	}
}

/* --- contexts ------------------------------------------------------------------------ */

/* perf_cpu_cache_misses: perf:cpu:cache-misses. Allocated. */
static char *perf_name(const struct element *perf)
{
	static const char prefix[] = "perf_cpu_";
	char *name AUTO_FREE = word_of(perf, "name"), *type AUTO_FREE = word_of(perf, "type");
	char *config AUTO_FREE = word_of(perf, "config");
	const char *bare =
		strncmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : name;
	uint64_t number;
	char *result;

	if (strcmp(type, "4") == 0 && parse_u64(config, &number) == 0)
		return xasprintf("perf:cpu:raw:r%" PRIx64 ":%s", number, name);
	result = xasprintf("perf:cpu:%s", bare);
	for (char *at = result; *at; at++)
		if (*at == '_')
			*at = '-';
	return result;
}

/* LTTng's names of types are those of its options, in capitals. */
static char *context_name(const struct element *context)
{
	char *name = word_of(context, "type");
	bool callstack = strncmp(name, "CALLSTACK", 9) == 0;

	for (char *at = name; *at; at++) {
		if (*at >= 'A' && *at <= 'Z')
			*at = (char)(*at - 'A' + 'a');
		if (*at == '_' && callstack)
			*at = '-';
	}
	return name;
}

static void take_context(const struct element *e, bool kernel, struct json_object *channel,
			 struct problems *problems)
{
	const struct element *app = child_of(e, "app"), *perf = child_of(e, "perf");
	char *name AUTO_FREE = NULL;

	check_known(e, "type app perf", problems);
	if (perf && !kernel) {
		char *counter AUTO_FREE = word_of(perf, "name");

		problems_unsupported(
			problems, e->line, e->name,
			"'%.60s': applications have no performance counters as contexts", counter);
		return;
	}
	name = app  ? xasprintf("$app.%s:%s", text_of(app, "provider_name"),
				text_of(app, "ctx_name")) :
	       perf ? perf_name(perf) :
		      context_name(e);
	if (!*name || strpbrk(name, ","
				    "\\" BLANKS))
		problems_add(problems, e->line, e->name, "'%.60s' is not the name of a context",
			     name);
	else
		json_append(channel, "contexts", json_object_new_string(name));
}

/* --- channels ------------------------------------------------------------------------ */

static bool take_sizes(const struct element *e, struct json_object *channel,
		       struct problems *problems)
{
	return take_flag(e, "enabled", channel, "enabled", problems) &&
	       take_number(e, "subbuffer_size", channel, "subbuf_size", UINT64_MAX, problems) &&
	       take_number(e, "subbuffer_count", channel, "num_subbuf", UINT32_MAX, problems) &&
	       take_number(e, "switch_timer_interval", channel, "switch_timer_us", UINT32_MAX,
			   problems) &&
	       take_number(e, "tracefile_size", channel, "tracefile_size", UINT64_MAX, problems) &&
	       take_number(e, "tracefile_count", channel, "tracefile_count", UINT32_MAX, problems);
}

static void take_mode(const struct element *e, bool overwrites, struct json_object *channel,
		      struct problems *problems)
{
	char *mode AUTO_FREE = word_of(e, "overwrite_mode");

	if (strcmp(mode, "OVERWRITE") == 0 && !overwrites)
		problems_unsupported(problems, e->line, e->name,
				     "only the buffers of applications are overwritten, and of "
				     "sessions that record to no relay; others drop new events");
	json_set_bool(channel, "overwrite", overwrites && strcmp(mode, "OVERWRITE") == 0);
}

/* In microseconds; -1: no limit. */
static bool take_blocking_timeout(const struct element *e, struct json_object *channel,
				  struct problems *problems)
{
	char *wait AUTO_FREE = word_of(e, "blocking_timeout");

	if (strcmp(wait, "-1") != 0)
		return take_number(e, "blocking_timeout", channel, "blocking_us",
				   LTT_CTL_BLOCKING_FOREVER, problems);
	json_set_num(channel, "blocking_us", LTT_CTL_BLOCKING_FOREVER);
	return true;
}

static void take_channel(const struct element *e, const char *domain,
			 const struct logger_domain *loggers, const char *ownership,
			 struct json_object *session, struct problems *problems)
{
	struct json_object *channel AUTO_RECORD = json_object_new_object();
	const struct element *events = child_of(e, "events"), *contexts = child_of(e, "contexts");
	bool kernel = strcmp(domain, "kernel") == 0;
	char *name AUTO_FREE = word_of(e, "name");

	check_known(
		e,
		"name enabled overwrite_mode subbuffer_size subbuffer_count switch_timer_interval "
		"read_timer_interval blocking_timeout output_type tracefile_size tracefile_count "
		"live_timer_interval events contexts monitor_timer_interval",
		problems);
	json_set_str(channel, "name", name);
	json_set_str(channel, "domain", domain);
	json_set_str(channel, "ownership", ownership);
	if (!take_sizes(e, channel, problems) || !take_blocking_timeout(e, channel, problems))
		return;
	take_mode(e, !kernel && !*json_str(session, "url"), channel, problems);
	for (const struct element *c = contexts ? contexts->first : NULL; c; c = c->next)
		take_context(c, kernel, channel, problems);
	for (const struct element *event = events ? events->first : NULL; event;
	     event = event->next)
		take_event(event, kernel, loggers, channel, problems);
	if (saved_check(&shape_channel, channel, e, problems))
		json_append(session, "channels", TAKE(channel));
}

/* --- trackers ------------------------------------------------------------------------ */

/* Of a user, or of a group in a tracker for groups. */
static bool id_of_name(const struct element *value, const char *name, uint64_t *ret)
{
	bool is_group = strstr(value->name, "gid") != NULL;
	const struct group *group = is_group ? getgrnam(name) : NULL;
	const struct passwd *user = is_group ? NULL : getpwnam(name);

	*ret = group ? group->gr_gid : user ? user->pw_uid : 0;
	return group || user;
}

/* An id, or a name. */
static bool take_id(const struct element *value, struct json_object *tracker,
		    struct json_object *seen, struct problems *problems)
{
	const struct element *id = child_of(value, "id"), *name = child_of(value, "name");
	uint64_t number;
	char key[24];

	if (id) {
		if (!saved_number(id, UINT32_MAX - 1, &number, problems))
			return false;
	} else if (!name || !id_of_name(value, name->text, &number)) {
		return problems_add(problems, value->line, value->name,
				    "there is no user or group '%.60s' here",
				    name ? name->text : "");
	}
	snprintf(key, sizeof(key), "%" PRIu64, number);
	if (json_get(seen, key))
		return true; /* it is there by its number and by its name */
	json_set_bool(seen, key, true);
	json_append(tracker, "ids", json_object_new_uint64(number));
	return true;
}

static void add_tracker(const struct element *e, const char *domain, const char *kind,
			const struct element *values, struct json_object *session,
			struct problems *problems)
{
	struct json_object *tracker AUTO_RECORD = json_object_new_object();
	struct json_object *seen AUTO_RECORD = json_object_new_object();
	bool good = true;

	json_set_str(tracker, "domain", domain);
	json_set_str(tracker, "kind", kind);
	for (; values; values = values->next)
		good = take_id(values, tracker, seen, problems) && good;
	if (words_number(&words_track_kind, kind) < 0)
		problems_unsupported(problems, e->line, e->name, "there is no such tracker");
	else if (good && saved_check(&shape_tracker, tracker, e, problems))
		json_append(session, "trackers", TAKE(tracker));
}

/* vpid_process_attr_tracker: vpid */
static void take_tracker(const struct element *e, const char *domain, struct json_object *session,
			 struct problems *problems)
{
	const struct element *values = child_of(e, "process_attr_values");
	const char *end = strstr(e->name, "_process_attr_tracker");
	char *kind AUTO_FREE = xasprintf("%.*s", end ? (int)(end - e->name) : 0, e->name);

	add_tracker(e, domain, kind, values ? values->first : NULL, session, problems);
}

/* Up to LTTng 2.11: process ids alone, which are those of the namespace for applications. */
static void take_old_tracker(const struct element *e, const char *domain,
			     struct json_object *session, struct problems *problems)
{
	const struct element *targets = child_of(e, "targets");
	struct json_object *tracker AUTO_RECORD = json_object_new_object();
	uint64_t pid;

	json_set_str(tracker, "domain", domain);
	json_set_str(tracker, "kind", strcmp(domain, "kernel") == 0 ? "pid" : "vpid");
	for (const struct element *t = targets ? targets->first : NULL; t; t = t->next) {
		const struct element *id = child_of(t, "pid");

		if (!id || !saved_number(id, UINT32_MAX - 1, &pid, problems))
			return;
		json_append(tracker, "ids", json_object_new_uint64(pid));
	}
	if (saved_check(&shape_tracker, tracker, e, problems))
		json_append(session, "trackers", TAKE(tracker));
}

/* --- domains ------------------------------------------------------------------------- */

static const char *ownership_of(const char *buffers)
{
	return strcmp(buffers, "PER_PID") == 0 ? "process" :
	       strcmp(buffers, "PER_UID") == 0 ? "user" :
						 "system";
}

/* By its type, which is its name in capitals. */
static const struct logger_domain *logger_domain_of_lttng(const char *type)
{
	char name[16] = "";

	for (size_t i = 0; type[i] && i + 1 < sizeof(name); i++)
		name[i] = (char)tolower((unsigned char)type[i]);
	return logger_domain_find(name);
}

static void take_domain(const struct element *e, struct json_object *session,
			struct problems *problems)
{
	char *type AUTO_FREE = word_of(e, "type"), *buffers AUTO_FREE = word_of(e, "buffer_type");
	const struct element *channels = child_of(e, "channels");
	const struct element *trackers = child_of(e, "process_attr_trackers");
	const struct element *old = child_of(e, "trackers");
	const char *domain = strcmp(type, "KERNEL") == 0 ? "kernel" : "user";
	const struct logger_domain *loggers = logger_domain_of_lttng(type);

	check_known(e, "type buffer_type channels process_attr_trackers trackers", problems);
	if (!loggers && strcmp(type, "KERNEL") != 0 && strcmp(type, "UST") != 0) {
		if (channels && channels->first)
			problems_unsupported(
				problems, e->line, e->name,
				"events of '%.40s' are not supported yet, only those of "
				"applications and of the kernel",
				type);
		return;
	}
	for (const struct element *t = trackers ? trackers->first : NULL; t; t = t->next)
		take_tracker(t, domain, session, problems);
	for (const struct element *t = old ? old->first : NULL; t; t = t->next)
		take_old_tracker(t, domain, session, problems);
	for (const struct element *c = channels ? channels->first : NULL; c; c = c->next)
		take_channel(c, domain, loggers, ownership_of(buffers), session, problems);
}

/* --- the output ---------------------------------------------------------------------- */

/* tcp4://HOST:PORT/ is tcp://HOST:PORT here. A directory at the relay can't be chosen. */
static bool take_relay(const struct element *net, struct json_object *session,
		       struct problems *problems)
{
	char *uri AUTO_FREE = word_of(net, "control_uri");
	bool four = strncmp(uri, "tcp4://", 7) == 0;
	char *url AUTO_FREE = xasprintf("%s%s", four ? "tcp://" : "", four ? uri + 7 : uri);
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		url[--len] = '\0';
	if (!four && strncmp(url, "tcp6://", 7) != 0)
		return problems_add(problems, net->line, net->name,
				    "'%.100s' is not a relay of LTTng", uri);
	if (strchr(url + 7, '/'))
		problems_unsupported(problems, net->line, net->name,
				     "'%.100s': the directory at the relay can't be chosen; it is "
				     "made of the names of host and session",
				     uri);
	url[7 + strcspn(url + 7, "/")] = '\0';
	json_set_str(session, "url", url);
	json_set_num(session, "spool_size", OUTPUT_SPOOL_BYTES);
	return true;
}

static bool take_consumer(const struct element *e, struct json_object *session,
			  struct problems *problems)
{
	const struct element *to = child_of(e, "destination");
	const struct element *net = child_of(to, "net_output");
	bool enabled = true;

	if (child_of(e, "enabled") && !saved_flag(child_of(e, "enabled"), &enabled, problems))
		return false;
	if (!enabled)
		return true;
	if (net)
		return take_relay(net, session, problems);
	output_set(session, text_of(to, "path"));
	return true;
}

/* Here, a session has one output for snapshots, which is its own output, too. */
static bool take_snapshots(const struct element *e, struct json_object *session,
			   struct problems *problems)
{
	const struct element *outputs = child_of(e, "snapshot_outputs");
	const struct element *output = outputs ? outputs->first : NULL;
	const struct element *to = child_of(child_of(output, "consumer_output"), "destination");
	char *name AUTO_FREE = word_of(output, "name");

	if (!output)
		return true;
	if (child_of(to, "net_output"))
		return problems_unsupported(
			problems, output->line, output->name,
			"snapshots are written to a directory: add one with 'lttng snapshot "
			"add-output', and save the session again");
	if (output->next)
		problems_unsupported(problems, output->next->line, output->next->name,
				     "a session has one output for snapshots");
	json_set_str(session, "output", text_of(to, "path"));
	if (!take_number(output, "max_size", session, "snapshot_max_size", UINT64_MAX, problems))
		return false;
	if (strcmp(name, "snapshot-1") == 0 && !json_num(session, "snapshot_max_size"))
		return true;
	json_set_str(session, "snapshot_path", text_of(to, "path"));
	json_set_str(session, "snapshot_name", name);
	return true;
}

static bool take_output(const struct element *e, struct json_object *session,
			struct problems *problems)
{
	const struct element *output = child_of(e, "output");

	if (json_flag(session, "snapshots"))
		return take_snapshots(output ? output : e, session, problems);
	return take_consumer(child_of(output, "consumer_output"), session, problems);
}

/* --- sessions ------------------------------------------------------------------------ */

static void name_missing(const struct element *e, struct problems *problems)
{
	const struct element *memory = child_of(e, "shared_memory_path");

	if (memory && *memory->text)
		problems_unsupported(problems, memory->line, memory->name,
				     "buffers in files of your choice are not there yet");
}

/* One of each kind. */
static bool take_schedules(const struct element *attributes, struct json_object *session,
			   struct problems *problems)
{
	const struct element *schedules = child_of(attributes, "rotation_schedules");
	const struct element *periodic = child_of(schedules, "periodic"),
			     *size = child_of(schedules, "size_threshold");

	if (schedules)
		check_known(schedules, "periodic size_threshold", problems);
	return (!periodic ||
		take_number(periodic, "time_us", session, "rotate_us", UINT64_MAX, problems)) &&
	       (!size ||
		take_number(size, "bytes", session, "rotate_size", UINT64_MAX, problems));
}

/* "CTF_1_8", "ctf-2" and the like: of the word only letters and digits count. */
static bool take_trace_format(const struct element *e, struct json_object *session,
			      struct problems *problems)
{
	static const struct {
		const char *letters, *format;
	} formats[] = { { "ctf18", "ctf-1.8" }, { "ctf2", "ctf-2" } };
	const struct element *child = child_of(e, "trace_format");
	char *word AUTO_FREE = word_of(e, "trace_format"), letters[8] = "";
	size_t nr = 0;

	if (!child)
		return true;
	for (const char *at = word; *at && nr < sizeof(letters) - 1; at++)
		if (isalnum((unsigned char)*at))
			letters[nr++] = (char)tolower((unsigned char)*at);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(letters, formats[i].letters) == 0)
			return json_set_str(session, "trace_format", formats[i].format), true;
	return problems_add(problems, child->line, child->name,
			    "unknown trace format '%.60s'; CTF 1.8 and CTF 2 are known", word);
}

static void take_lttng_session(const struct element *e, struct json_object *sessions,
			       struct problems *problems)
{
	struct json_object *session AUTO_RECORD = json_object_new_object();
	const struct element *attributes = child_of(e, "attributes"),
			     *domains = child_of(e, "domains");
	char *name AUTO_FREE = word_of(e, "name");

	check_known(e, "name shared_memory_path trace_format domains started attributes output",
		    problems);
	if (attributes)
		check_known(attributes, "snapshot_mode live_timer_interval rotation_schedules",
			    problems);
	name_missing(e, problems);
	json_set_str(session, "name", name);
	if (!take_flag(e, "started", session, "recording", problems) ||
	    !take_trace_format(e, session, problems) ||
	    !take_flag(attributes, "snapshot_mode", session, "snapshots", problems) ||
	    !take_number(attributes, "live_timer_interval", session, "live_us", UINT32_MAX,
			 problems) ||
	    !take_schedules(attributes, session, problems) || !take_output(e, session, problems))
		return;
	for (const struct element *d = domains ? domains->first : NULL; d; d = d->next)
		take_domain(d, session, problems);
	if (saved_check(&shape_session, session, e, problems))
		json_object_array_add(sessions, TAKE(session));
}

void saved_read_lttng(const struct element *root, struct json_object *sessions,
		      struct problems *problems)
{
	check_known(root, "session", problems);
	for (const struct element *e = root->first; e; e = e->next)
		if (is(e, "session"))
			take_lttng_session(e, sessions, problems);
}
