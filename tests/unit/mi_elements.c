/* SPDX-License-Identifier: GPL-2.0-only */
/* Elements of --mi=xml for rules, triggers and points of the kernel, where no kernel needs to be
 * traced, and texts that XML has no characters for. */
#include <json-c/json.h>
#include <string.h>

#include "check.h"
#include "ctl/mi/document.h"
#include "ctl/mi/map.h"
#include "ctl/mi/row.h"
#include "ctl/mi/session.h"
#include "ctl/mi/trigger.h"

static struct json_object *parsed(const char *text)
{
	struct json_object *o = json_tokener_parse(text);

	CHECK(o);
	return o;
}

/* The document of @o has @wanted, in one piece. */
static void check_document(struct json_object *o, const char *wanted)
{
	struct err err = { 0 };
	char *text = mi_document(o, &err);

	CHECK(text);
	if (!strstr(text, wanted))
		fprintf(stderr, "%s\nlacks\n%s\n", text, wanted);
	CHECK(strstr(text, wanted));
	free(text);
	json_object_put(o);
}

static void check_rule(const char *rule, const char *wanted)
{
	struct json_object *o = parsed(rule);

	check_document(mi_one("event", mi_rule(o, true)), wanted);
	json_object_put(o);
}

static void rules(void)
{
	check_rule(
		"{\"pattern\":\"p\",\"kind\":\"probe\",\"location\":\"do_exit+0x10\",\"enabled\":true}",
		"<event><name>p</name><type>PROBE</type><enabled>true</enabled><exclusions/><attributes>"
		"<probe_attributes><symbol_name>do_exit</symbol_name><offset>16</offset></probe_attributes>"
		"</attributes></event>");
	check_rule("{\"pattern\":\"p\",\"kind\":\"probe\",\"location\":\"0xff\"}",
		   "<probe_attributes><address>255</address></probe_attributes>");
	check_rule(
		"{\"pattern\":\"f\",\"kind\":\"function\",\"location\":\"vfs_read\"}",
		"<type>FUNCTION</type><enabled>false</enabled><exclusions/><attributes><function_attributes>"
		"<symbol_name>vfs_read</symbol_name></function_attributes></attributes>");
	check_rule(
		"{\"pattern\":\"u\",\"kind\":\"userspace-probe\",\"location\":\"elf:/bin/a:main\"}",
		"<type>USERSPACE_PROBE</type>");
	check_rule("{\"pattern\":\"syscall_entry_openat\",\"kind\":\"events\"}",
		   "<type>SYSCALL</type>");
}

static void check_trigger(const char *trigger, const char *wanted)
{
	struct json_object *o = parsed(trigger);

	check_document(mi_one("trigger", mi_trigger(o, false)), wanted);
	json_object_put(o);
}

#define EVENT(more) \
	"{\"condition\":\"event-rule-matches\",\"domain\":\"kernel\",\"event\":" more "}"

static void triggers(void)
{
	struct json_object *o;

	check_trigger(
		EVENT("\"sched_*\",\"filter\":\"a < 1\""),
		"<event_rule_kernel_tracepoint><name_pattern>sched_*</name_pattern><filter_expression>"
		"a &lt; 1</filter_expression></event_rule_kernel_tracepoint>");
	check_trigger(
		EVENT("\"syscall_entry_open\""),
		"<event_rule_kernel_syscall><name_pattern>open</name_pattern><emission_site>entry<");
	check_trigger(EVENT("\"syscall_e*_open*\""), "<emission_site>entry+exit</emission_site>");
	check_trigger(
		EVENT("\"k\",\"kind\":\"probe\",\"location\":\"do_exit\""),
		"<event_rule_kernel_kprobe><event_name>k</event_name><kernel_probe_location>"
		"<kernel_probe_location_symbol_offset><name>do_exit</name><offset>0</offset>");
	check_trigger(
		EVENT("\"u\",\"kind\":\"userspace-probe\",\"location\":\"/bin/a:main\""),
		"<userspace_probe_location_function><name>main</name><binary_path>/bin/a</binary_path>"
		"<instrumentation_type>ENTRY</instrumentation_type><userspace_probe_location_lookup_method>"
		"<userspace_probe_location_lookup_method_function_elf/>");
	check_trigger(
		EVENT("\"u\",\"kind\":\"userspace-probe\",\"location\":\"sdt:/bin/a:prov:name\""),
		"<userspace_probe_location_tracepoint><probe_name>name</probe_name><provider_name>prov<");
	check_trigger(
		"{\"condition\":\"event-rule-matches\",\"domain\":\"user\",\"event\":\"lttng_jul:event\"}",
		"<event_rule_jul_logging><name_pattern>*</name_pattern></event_rule_jul_logging>");
	check_trigger(
		"{\"condition\":\"channel-buffer-usage-le\",\"domain\":\"kernel\",\"session\":\"s\","
		"\"channel\":\"c\",\"percent\":25}",
		"<condition_buffer_usage_low><session_name>s</session_name><channel_name>c</channel_name>"
		"<domain>KERNEL</domain><threshold_ratio>0.25</threshold_ratio>");
	o = parsed("{\"condition\":\"pair\",\"domain\":\"user\",\"event\":\"a\",\"end\":\"b\"}");
	CHECK(!mi_trigger(o, true));
	json_object_put(o);
}

static void points(void)
{
	struct json_object *o = parsed(
		"[{\"name\":\"sched_switch\",\"domain\":\"kernel\",\"process\":\"sched\",\"pid\":0},"
		"{\"name\":\"a:b\",\"domain\":\"user\",\"process\":\"p\",\"pid\":7,\"loglevel\":\"INFO\"},"
		"{\"name\":\"a:c\",\"domain\":\"user\",\"process\":\"p\",\"pid\":7}]");

	check_document(
		mi_points(o, ""),
		"<domain><type>KERNEL</type><buffer_type>GLOBAL</buffer_type><events><event>"
		"<name>sched_switch</name><type>TRACEPOINT</type><enabled>true</enabled><exclusions/>"
		"</event></events></domain><domain><type>UST</type><buffer_type>PER_PID</buffer_type><pids>"
		"<pid><id>7</id><name>p</name><events><event><name>a:b</name><type>TRACEPOINT</type>"
		"<enabled>true</enabled><loglevel>TRACE_INFO</loglevel><loglevel_type>ALL</loglevel_type>");
	json_object_put(o);
}

static void maps(void)
{
	struct json_object *o = parsed(
		"{\"session\":\"s\",\"map_channels\":[{\"name\":\"m\",\"domain\":\"kernel\",\"value_type\":"
		"\"signed-int-32\",\"values\":[{\"map_key\":\"a\",\"value\":-3,\"wrapped\":true,\"owner\":"
		"\"system\",\"part\":1},{\"map_key\":\"b\",\"value\":4,\"owner\":\"system\",\"part\":1},"
		"{\"map_key\":\"b\",\"value\":5,\"owner\":\"system\",\"part\":2}]}]}");

	check_document(
		mi_map_tables(o),
		"<per_part_map_table><session_name>s</session_name><channel_name>m</channel_name>"
		"<channel_type>kernel</channel_type><map_group><type>kernel-global</type>"
		"<effective_value_type>signed-int-32</effective_value_type></map_group><part_id>1</part_id>"
		"<rows><row><key>a</key><value has_overflow=\"true\">-3</value></row><row><key>b</key>"
		"<value has_overflow=\"false\">4</value></row></rows></per_part_map_table>"
		"<per_part_map_table>");
	json_object_put(o);
}

static void texts(void)
{
	check_document(mi_one("t", json_object_new_string("<a> & \"b\"\n\t\xc3\xbc")),
		       "<t>&lt;a&gt; &amp; &quot;b&quot;\n\t\xc3\xbc</t>");
	check_document(mi_one("t", json_object_new_string("\x1b[2J\r\x7f\xff\xed\xa0\x80")),
		       "<t>\\x1b[2J\\r\\x7f\\xff\\xed\\xa0\\x80</t>");
	check_document(mi_one("t", json_object_new_string("\xef\xbf\xbf\xe2\x80\xae")),
		       "<t>\\uffff\\xe2\\x80\\xae</t>");
	check_document(mi_one("t", NULL), "<t></t>");
	check_document(mi_one("t", json_object_new_object()), "<t/></command>");
}

int main(void)
{
	rules();
	triggers();
	points();
	maps();
	texts();
	return 0;
}
