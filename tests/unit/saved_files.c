/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The document of a session with a value in each element of each shape, that is, in each attribute
 * of the model, is read as it was; so are LTTng's elements for the kernel, which a test with LTTng
 * itself can't have without its modules.
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "ctl/print/json.h"
#include "ctl/saved/output.h"
#include "ctl/saved/read.h"
#include "ctl/saved/write.h"

/* --- every element -------------------------------------------------------------------- */

/* A value that is not the default; differs for each field of a kind. */
static struct json_object *value_of(const struct field *field, unsigned int n)
{
	struct json_object *array = NULL;
	char text[80];

	switch (field->kind) {
	case FIELD_NAMES:
	case FIELD_IDS:
		array = json_object_new_array();
		for (unsigned int i = 0; i < 3; i++)
			json_object_array_add(array,
					      field->kind == FIELD_IDS ?
						      json_object_new_uint64(field->max - i) :
						      json_object_new_string("vpid"));
		return array;
	case FIELD_FLAG:
		return json_object_new_boolean(!field->init);
	case FIELD_NUMBER:
		return json_object_new_uint64(field->max - n);
	case FIELD_WORD:
		return json_object_new_string(words_name(field->words, field->words->nr - 1));
	case FIELD_LEVEL:
		return json_object_new_string("INFO");
	case FIELD_TEXT:
		break;
	}
	snprintf(text, sizeof(text), " /%u <&>\"' ]]> \t\n\r \xcf\x89 ", n);
	return json_object_new_string(text);
}

static struct json_object *filled(const struct shape *shape)
{
	struct json_object *o = json_object_new_object();

	for (unsigned int i = 0; i < shape->nr; i++)
		json_set(o, shape->fields[i].key, value_of(&shape->fields[i], i));
	for (size_t i = 0; i < ARRAY_SIZE(shape->lists) && shape->lists[i].key; i++)
		json_append(o, shape->lists[i].key, filled(shape->lists[i].item));
	return o;
}

/* Elements that the others exclude. */
static struct json_object *possible_session(const char *output)
{
	struct json_object *session = filled(&shape_session);
	struct json_object *channel = json_at(session, "channels", 0);
	struct json_object *rule = json_at(channel, "rules", 0);

	for (size_t i = 0; i < shape_session.nr; i++)
		if (strstr("output output_parent url", shape_session.fields[i].key) ||
		    strcmp(shape_session.fields[i].key, "snapshots") == 0 ||
		    strcmp(shape_session.fields[i].key, "snapshot_elsewhere") == 0)
			json_object_object_del(session, shape_session.fields[i].key);
	json_set_str(session, "name", "n");
	json_set_str(session, output, "/there\r\n\t <>&");
	json_set_str(session, "snapshot_path", "/ \xcf\x89 ");
	if (strcmp(output, "url") != 0) {
		static const char *const others[] = { "live_us", "spool_size", "compress",
						      "relay_clear" };

		if (strcmp(output, "output") == 0)
			json_set_bool(session, "snapshots", true);
		json_set_bool(session, "snapshot_elsewhere", true);
		for (size_t i = 0; i < ARRAY_SIZE(others); i++)
			json_object_object_del(session, others[i]);
	}
	if (strcmp(output, "output_parent") != 0) { /* a directory, and no snapshots */
		static const char *const rotation[] = { "rotate_us", "rotate_size", "keep_archives",
							"keep_us", "keep_size" };

		for (size_t i = 0; i < ARRAY_SIZE(rotation); i++)
			json_object_object_del(session, rotation[i]);
	}
	json_set_str(channel, "name", "c");
	json_set_str(channel, "ownership", "process");
	json_set_str(channel, "domain", "user");
	json_set_bool(channel, "overwrite", false);
	json_set_bool(channel, "remember", false);
	json_set_str(rule, "kind", "probe");
	return session;
}

static struct json_object *read_text(const char *text, struct problems *problems)
{
	*problems = (struct problems){ .file = "f" };
	return saved_read(text, strlen(text), problems);
}

static void no_problem(const struct problems *problems)
{
	for (size_t i = 0; i < problems->nr; i++)
		fprintf(stderr, "%s\n", problems->texts[i]);
	CHECK_IS(problems->nr, ==, 0);
}

static void remove_lines(const struct shape *shape, struct json_object *o)
{
	json_object_object_del(o, SAVED_LINE);
	for (size_t i = 0; i < ARRAY_SIZE(shape->lists) && shape->lists[i].key; i++)
		for (size_t k = 0; k < json_len(o, shape->lists[i].key); k++)
			remove_lines(shape->lists[i].item, json_at(o, shape->lists[i].key, k));
}

static void round_trip(const char *output)
{
	struct json_object *sessions AUTO_RECORD = json_object_new_array(),
				     *again AUTO_RECORD = NULL;
	struct json_object *session = possible_session(output), *got;
	struct problems problems CLEANUP(problems_fini) = { 0 };
	struct err err = { 0 };
	char *text AUTO_FREE = NULL;

	json_object_array_add(sessions, session);
	text = saved_write(sessions, &err);
	CHECK_IS((int)err.code, ==, 0);
	again = read_text(text, &problems);
	no_problem(&problems);
	CHECK_IS(json_object_array_length(again), ==, 1);
	got = json_object_array_get_idx(again, 0);
	remove_lines(&shape_session, got);
	shape_complete(&shape_session, session);
	if (!json_object_equal(session, got))
		fprintf(stderr, "%s\n%s\n", json_object_to_json_string(session),
			json_object_to_json_string(got));
	CHECK(json_object_equal(session, got));
}

/* --- the form of outputs -------------------------------------------------------------- */

static void outputs(void)
{
	static const struct {
		const char *name, *output, *key, *value;
	} cases[] = {
		{ "web", "/t/web-20261125-120000", "output_parent", "/t" },
		{ "web", "/web-20261125-120000-12", "output_parent", "/" },
		{ "auto-20261125-120000", "/t/auto-20261125-120000", "output_parent", "/t" },
		{ "web", "/t/web", "output", "/t/web" },
		{ "web", "/t/web-20261125-12000", "output", "/t/web-20261125-12000" },
		{ "web", "/t/web-20261125-120000-", "output", "/t/web-20261125-120000-" },
		{ "web", "/t/web-20261125-120000-x", "output", "/t/web-20261125-120000-x" },
		{ "web", "/t/shop-20261125-120000", "output", "/t/shop-20261125-120000" },
		{ "web", "net://h:1", "url", "net://h:1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct json_object *o AUTO_RECORD = json_object_new_object();

		json_set_str(o, "name", cases[i].name);
		output_set(o, cases[i].output);
		CHECK_IS(json_object_object_length(o), ==, 2);
		if (strcmp(json_str(o, cases[i].key), cases[i].value) != 0)
			fprintf(stderr, "%s: %s\n", cases[i].output, json_object_to_json_string(o));
		CHECK(strcmp(json_str(o, cases[i].key), cases[i].value) == 0);
	}
}

/* --- LTTng's elements for the kernel ------------------------------------------------------ */

#define EVENT(inner) "<event>" inner "</event>"
#define PLACE(kind, inner) \
	"<attributes><" kind "_attributes>" inner "</" kind "_attributes></attributes>"

static const char lttng_kernel[] =
	"<sessions><session><name>k</name><domains><domain><type>KERNEL</type>"
	"<buffer_type>GLOBAL</buffer_type><channels><channel><name>c</name>"
	"<overwrite_mode>DISCARD</overwrite_mode><read_timer_interval>1</read_timer_interval>"
	"<output_type>SPLICE</output_type><events>" EVENT("<name>sched_switch</name><filter>prev_tid &gt; 1</filter>") EVENT(
		"<name>*</name><type>TRACEPOINT</type>") EVENT("<name>s*</name><type>ALL</type>")
		EVENT("<name>openat</name><enabled>false</enabled><type>SYSCALL</type>") EVENT(
			"<name>p1</name><type>PROBE</type>" PLACE(
				"probe", "<symbol_name>do_exit</symbol_name><offset>16</offset>"))
			EVENT("<name>p2</name><type>KPROBE</type>" PLACE("probe", "<address>4096</address>")) EVENT(
				"<name>f</name><type>FUNCTION</type>" PLACE(
					"function", "<symbol_name>vfs_read</symbol_name>"))
				EVENT("<name>u1</name><type>USERSPACE_PROBE</type>" PLACE(
					"userspace_probe_function",
					"<lookup_method>ELF</lookup_method><binary_path>/bin/a:b</binary_path>"
					"<function_name>main</function_name>"))
					EVENT("<name>u2</name><type>USERSPACE_PROBE</type>" PLACE(
						"userspace_probe_tracepoint",
						"<lookup_method>SDT</lookup_method><binary_path>/bin/b</binary_path>"
						"<probe_name>n</probe_name><provider_name>p</provider_name>")) "</events><contexts><context><type>CALLSTACK_USER</type></context>"
													       "<context><type>NEED_RESCHEDULE</type></context>"
													       "<context><perf><type>0</type><config>3</config><name>perf_cpu_cache_misses</name></perf></context>"
													       "<context><perf><type>4</type><config>275</config><name>raw</name></perf></context>"
													       "</contexts></channel></channels>"
													       "<trackers><pid_tracker><targets><pid_target><pid>7</pid></pid_target></targets></pid_tracker></trackers>"
													       "</domain></domains></session></sessions>";

static const struct {
	const char *pattern, *kind, *location, *exclude, *filter;
	bool enabled;
} kernel_rules[] = {
	{ "sched_switch", "events", "", "", "prev_tid > 1", true },
	{ "*", "events", "", "syscall_entry_*,syscall_exit_*", "", true },
	{ "s*", "events", "", "", "", true },
	{ "syscall_entry_openat", "events", "", "", "", false },
	{ "syscall_exit_openat", "events", "", "", "", false },
	{ "p1", "probe", "do_exit+0x10", "", "", true },
	{ "p2", "probe", "0x1000", "", "", true },
	{ "f", "function", "vfs_read", "", "", true },
	{ "u1", "userspace-probe", "elf:/bin/a\\:b:main", "", "", true },
	{ "u2", "userspace-probe", "sdt:/bin/b:p:n", "", "", true },
};

static void check_text(struct json_object *o, const char *key, const char *wanted)
{
	if (strcmp(json_str(o, key), wanted) != 0)
		fprintf(stderr, "%s: got '%s', want '%s'\n", key, json_str(o, key), wanted);
	CHECK(strcmp(json_str(o, key), wanted) == 0);
}

static void kernel(void)
{
	struct problems problems CLEANUP(problems_fini) = { 0 };
	struct json_object *sessions AUTO_RECORD = read_text(lttng_kernel, &problems);
	struct json_object *session = json_object_array_get_idx(sessions, 0);
	struct json_object *channel = json_at(session, "channels", 0);

	no_problem(&problems);
	check_text(channel, "ownership", "system");
	check_text(channel, "contexts",
		   "[ \"callstack-user\", \"need_reschedule\", \"perf:cpu:cache-misses\", "
		   "\"perf:cpu:raw:r113:raw\" ]");
	check_text(json_at(session, "trackers", 0), "kind", "pid");
	check_text(json_at(session, "trackers", 0), "ids", "[ 7 ]");
	CHECK_IS(json_len(channel, "rules"), ==, ARRAY_SIZE(kernel_rules));
	for (size_t i = 0; i < ARRAY_SIZE(kernel_rules); i++) {
		struct json_object *rule = json_at(channel, "rules", i);

		check_text(rule, "pattern", kernel_rules[i].pattern);
		check_text(rule, "kind", kernel_rules[i].kind);
		check_text(rule, "location", kernel_rules[i].location);
		check_text(rule, "exclude", kernel_rules[i].exclude);
		check_text(rule, "filter", kernel_rules[i].filter);
		CHECK_IS(json_flag(rule, "enabled"), ==, kernel_rules[i].enabled);
	}
}

static void named(const char *session, const char *sentence)
{
	char *text AUTO_FREE =
		xasprintf("<sessions>\n<session><name>s</name>%s</session></sessions>", session);
	struct problems problems CLEANUP(problems_fini) = { 0 };

	json_object_put(read_text(text, &problems));
	CHECK_IS(problems.nr, ==, 1);
	if (strcmp(problems.texts[0], sentence) != 0)
		fprintf(stderr, "%s\n", problems.texts[0]);
	CHECK(strcmp(problems.texts[0], sentence) == 0);
}

static void lttng_problems(void)
{
	named("<new/>", "f:2: element 'new': it is not supported in 'session' of LTTng's files");
	named("<started>maybe</started>",
	      "f:2: element 'started': 'maybe' is neither true nor false");
	named("<attributes><live_timer_interval>1s</live_timer_interval></attributes>",
	      "f:2: element 'live_timer_interval': '1s' is not a number from 0 to 4294967295");
	named("<output><consumer_output><destination><net_output><control_uri>tcp4://h:1/a/b"
	      "</control_uri></net_output></destination></consumer_output></output>",
	      "f:2: element 'net_output': 'tcp4://h:1/a/b': the directory at the relay can't be chosen; "
	      "it is made of the names of host and session");
	named("<output><consumer_output><destination><net_output><control_uri>x</control_uri>"
	      "</net_output></destination></consumer_output></output>",
	      "f:2: element 'net_output': 'x' is not a relay of LTTng");
	named("<attributes><snapshot_mode>1</snapshot_mode></attributes><output><snapshot_outputs><output>"
	      "<consumer_output><destination><net_output><control_uri>x</control_uri></net_output>"
	      "</destination></consumer_output></output></snapshot_outputs></output>",
	      "f:2: element 'output': snapshots are written to a directory: add one with 'lttng "
	      "snapshot add-output', and save the session again");
	named("<domains><domain><type>KERNEL</type><buffer_type>GLOBAL</buffer_type><channels><channel>"
	      "<name>c</name><events>" EVENT(
		      "<name>n</name><type>KRETPROBE</type>") "</events></channel>"
							      "</channels></domain></domains>",
	      "f:2: element 'event': events of the type 'KRETPROBE' are not supported");
	named("<domains><domain><type>UST</type><buffer_type>PER_UID</buffer_type><process_attr_trackers>"
	      "<vuid_process_attr_tracker><process_attr_values><vuid><name>no such user</name></vuid>"
	      "</process_attr_values></vuid_process_attr_tracker></process_attr_trackers></domain></domains>",
	      "f:2: element 'vuid': there is no user or group 'no such user' here");
}

/* LTTng 2.15 */
static void check_formats(void)
{
	static const struct {
		const char *word, *format;
	} formats[] = { { "CTF_2", "ctf-2" }, { " ctf-1.8 ", "ctf-1.8" }, { "CTF_1_8", "ctf-1.8" } };

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char *text AUTO_FREE = xasprintf("<sessions><session><name>s</name><trace_format>%s"
						 "</trace_format></session></sessions>",
						 formats[i].word);
		struct problems problems CLEANUP(problems_fini) = { 0 };
		struct json_object *sessions = read_text(text, &problems);

		CHECK_IS(problems.nr, ==, 0);
		CHECK(strcmp(json_str(json_object_array_get_idx(sessions, 0), "trace_format"),
			     formats[i].format) == 0);
		json_object_put(sessions);
	}
	named("<trace_format>CTF_3</trace_format>",
	      "f:2: element 'trace_format': unknown trace format 'CTF_3'; CTF 1.8 and CTF 2 are known");
}

int main(void)
{
	check_formats();
	round_trip("url");
	round_trip("output");
	round_trip("output_parent");
	outputs();
	kernel();
	lttng_problems();
	return 0;
}
