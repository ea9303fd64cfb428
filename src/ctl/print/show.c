/* SPDX-License-Identifier: GPL-2.0-only */
#include "show.h"

#include <poll.h>
#include <string.h>

#include "color.h"
#include "ctl/connect.h"
#include "ctl/record/linger.h"
#include "ctl/record/loss.h"
#include "ctl/options.h"
#include "json.h"
#include "ctl/session/rotation.h"
#include "print.h"
#include "table.h"
#include "text.h"
#include "ctl/record/totals.h"
#include "ctl/session/tracking.h"

static struct json_object *show_channel(const struct ltt_ctl_channel *c)
{
	struct json_object *o = json_channel(c);

	for (size_t i = 0; i < c->nr_rules; i++)
		json_append(o, "rules", json_rule(c->rules[i]));
	for (size_t i = 0; i < c->nr_conflicts; i++)
		json_append(o, "conflicts", json_conflict(c->conflicts[i]));
	for (size_t i = 0; i < c->nr_refusals; i++)
		json_append(o, "refusals", json_refusal(c->refusals[i]));
	return o;
}

#define REGISTER_MS 3000u /* most applications register anew within milliseconds */
#define REGISTER_POLL_MS 50

/* Applications register anew with a daemon that has taken a session over just now: one that is
 * younger than the recording. */
static bool show_lacks_programs(struct ctl *ctl, const struct ltt_ctl_session_status *status)
{
	uint64_t age_ms = linger_age_ms((int)ltt_ctl_daemon(ctl->library)->pid);

	return status->session->state == LTT_CTL_RECORDING && !status->session->applications &&
	       age_ms < REGISTER_MS && age_ms < status->session->recording_ns / 1000000;
}

int show_fetch(struct ctl *ctl, const char *session, struct json_object **ret, struct err *err)
{
	struct ltt_ctl_session_status *status;
	struct json_object *o;

	while (true) {
		if (ctl_done(ctl, ltt_ctl_status(ctl->library, session, &status), err) != 0)
			return err->code;
		if (!show_lacks_programs(ctl, status))
			break;
		ltt_ctl_status_free(status);
		poll(NULL, 0, REGISTER_POLL_MS);
	}
	o = json_session(status->session);
	json_set(o, "trackers", json_object_new_array());
	json_set(o, "channels", json_object_new_array());
	for (size_t i = 0; i < status->nr_trackers; i++)
		json_append(o, "trackers", json_tracker(status->trackers[i]));
	for (size_t i = 0; i < status->nr_channels; i++)
		json_append(o, "channels", show_channel(status->channels[i]));
	ltt_ctl_status_free(status);
	*ret = o;
	return 0;
}

/* Without a consumer, the session has a problem, which is printed. */
bool show_lacks_figures(struct ctl *ctl, struct json_object *session)
{
	const struct ltt_ctl_daemon_info *daemon = ltt_ctl_daemon(ctl->library);

	return !json_get(session, "totals") && daemon && daemon->consumer_pid;
}

enum status show_warnings(struct ctl *ctl, struct json_object *session)
{
	const char *name = json_str(session, "name");
	bool lacks = show_lacks_figures(ctl, session);

	if (*json_str(session, "problem"))
		print_warning(ctl, "session '%s': %s", name, json_str(session, "problem"));
	if (lacks)
		print_warning(ctl,
			      "session '%s': counts of events are missing: the consumer daemon did "
			      "not answer in time; use 'lttctl doctor'",
			      name);
	loss_report(ctl, name, json_get(session, "totals"));
	for (size_t i = 0; i < json_len(session, "channels"); i++)
		loss_conflicts(ctl, json_at(session, "channels", i));
	for (size_t i = 0; i < json_len(session, "channels"); i++)
		loss_refusals(ctl, json_at(session, "channels", i));
	return lacks ? STATUS_WARNING : STATUS_OK;
}

/* ---- text ---- */

/* The session's options for its output. */
static const char disk_form[] =
	"[Free space to leave on the file system: {keep_free:b?}\n]"
	"[Greatest size of the trace: {max_size:b?}\n]"
	"[{sync=packet}Synced to the disk: each packet\n]"
	"[{trace_format=ctf-2}Trace format: CTF 2\n]"
	"[{?own_daemons}The tracer's own daemons are recorded with the kernel\n]"
	"[{sync=period}Synced to the disk: every {sync_us:u}\n]";

static const char link_form[] =
	"[Live: viewers see events within {live_us:u?}[, at {live_url?}]\n]"
	"[{?compress}Compressed on its way to the relay\n]"
	"[{link=up}Link to the relay: up\n]"
	"[{link=down}Link to the relay: down[{state=recording}; recorded data "
	"[{?spool_size}goes to the spool|waits in the buffers]]\n]"
	"[Spool: {spooled:b?} of {spool_size:b} wait for the relay in {spool}\n]"
	"[Spool: {undurable:b?} of {spool_size:b} are kept until the relay's store has them, in "
	"{spool}\n]";

static void show_clock(FILE *out, struct json_object *session)
{
	int64_t offset = json_object_get_int64(json_get(session, "clock_offset_ns"));
	uint64_t error = json_num(session, "clock_error_ns");
	char text[TEXT_BYTES], about[TEXT_BYTES];

	if (error)
		fprintf(out, "Clock of the relay: %s %s this host's, +-%s\n",
			text_duration(text, (uint64_t)(offset < 0 ? -offset : offset)),
			offset < 0 ? "behind" : "ahead of", text_duration(about, error));
}

static void ctl_show_trackers(FILE *out, struct json_object *session)
{
	size_t nr = json_len(session, "trackers");

	for (size_t i = 0; i < nr; i++) {
		struct json_object *tracker = json_at(session, "trackers", i);
		const char *domain = json_str(tracker, "domain");
		bool first =
			i == 0 || strcmp(domain, json_str(json_at(session, "trackers", i - 1),
							    "domain")) != 0;

		if (first)
			fprintf(out, "%s%s events only of ", i ? "\n" : "", domain_title(tracker));
		else
			fputs("; and ", out);
		tracking_print(out, tracker);
	}
	if (nr)
		fputc('\n', out);
}

static void show_head(FILE *out, struct json_object *session)
{
	fprintf(out, "%sSession %s%s", color_on(out, COLOR_TITLE), json_str(session, "name"),
		color_off(out));
	text_form(out, session,
		  ": [{state=new}not started yet|{state}[{?recording_ns}"
		  "[{state=recording} for|, recorded for] {recording_ns:t}]]"
		  ", {applications} application{applications:s}\n"
		  "Output: [{output?}|none][{?snapshots}, for snapshots]\n");
	text_form(out, session, link_form);
	show_clock(out, session);
	text_form(out, session, "[Clock: {clock_change?}\n]");
	text_form(out, session, disk_form);
	rotation_show(out, session);
	ctl_show_trackers(out, session);
	if (*json_str(session, "problem"))
		fprintf(out, "%sProblem%s: %s\n", color_on(out, COLOR_BAD), color_off(out),
			json_str(session, "problem"));
}

/* The count of lost events. */
static void show_lost_cell(FILE *out, struct table *table, struct json_object *totals)
{
	enum color color = color_of_loss(json_num(totals, "lost"));
	char buf[TEXT_BYTES];

	table_cell(table, "%s%s%s", color_on(out, color),
		   totals ? text_count(buf, json_num(totals, "lost")) : "?",
		   color == COLOR_NONE ? "" : color_off(out));
}

/* Of a channel, or of the session. */
static void channel_cells(FILE *out, struct table *table, struct json_object *o, const char *name)
{
	uint64_t used = json_num(o, "used"), size = json_num(o, "size");
	char buf[TEXT_BYTES];

	table_form(table, o, name);
	if (size)
		table_cell(table, "%.0f%% of %s", 100.0 * (double)used / (double)size,
			   text_size(buf, size));
	else
		table_cell(table, "-");
	table_form(table, o, "[{?totals}{totals.recorded:n}|?]");
	show_lost_cell(out, table, json_get(o, "totals"));
	table_form(table, o, "[{?totals}{totals.bytes:b}|?]");
}

static void show_channels(FILE *out, struct json_object *session)
{
	static const char *const heads[] = { "CHANNEL", "IN USE", "RECORDED", "LOST", "WRITTEN" };
	struct table table = { .columns = "lrrrr" };

	if (json_len(session, "channels") == 0) {
		fputs("\nNo channel yet: enable an event, e.g. lttctl enable-event -u 'NAME*'\n",
		      out);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&table, "%s", heads[i]);
	for (size_t i = 0; i < json_len(session, "channels"); i++)
		channel_cells(out, &table, json_at(session, "channels", i),
			      "{name}[{!enabled} (disabled)]");
	if (json_len(session, "channels") > 1)
		channel_cells(out, &table, session, "total");
	fputc('\n', out);
	table_print(out, &table);
}

static const char place_form[] =
	"    {pattern}[{!enabled}, disabled]: [{kind=function}entry and exit of|probe at] "
	"{location}[, with {fetch?}][ (device {file_device?}, inode {file_inode})]"
	"[, and {earlier_files?} while programs run them]\n";

/* Up to the number of points, and from there on. */
static const char rule_form[] =
	"    [{domain?} logger {logger?}|{pattern}][, not {exclude?}]"
	"[{loglevel_type=only} ({loglevel} only)]"
	"[{loglevel_type=at-least} ({loglevel} or more severe)][{!enabled}, disabled]: ";
static const char kernel_form[] = "{nr_points} event{nr_points:s}";
static const char user_form[] = "[{nr_points?} instrumentation point{nr_points:s}|"
				"no instrumentation point in running applications]";
static const char counted_form[] =
	"[{kind=histogram}, counted by {location}][{kind=count}, counted]\n"
	"[      a count for each {by?}\n]"
	"[      if {filter?}[ ({points_never?} of {nr_points} points can never match)]\n]"
	"[      only {sampling?}\n]";

static void show_rule(FILE *out, struct json_object *rule, bool kernel)
{
	if (*json_str(rule, "location") && strcmp(json_str(rule, "kind"), "histogram") != 0) {
		text_form(out, rule, place_form);
		return;
	}
	text_form(out, rule, rule_form);
	text_form(out, rule, kernel ? kernel_form : user_form);
	text_form(out, rule, counted_form);
}

static void ctl_show_rules(FILE *out, struct json_object *channel)
{
	bool kernel = strcmp(json_str(channel, "domain"), "kernel") == 0;

	text_form(out, channel, "[{!rules}    no event is enabled\n]");
	for (size_t i = 0; i < json_len(channel, "rules"); i++)
		show_rule(out, json_at(channel, "rules", i), kernel);
}

static const char attributes_form[] =
	"    buffers: {num_subbuf} x {subbuf_size:b} a CPU, per {ownership}, "
	"[{?remember}remember|[{?overwrite}overwrite|discard]] mode; {memory:b} of memory now\n"
	"[    written at least every {switch_timer_us:u?}\n]"
	"[{?on_demand}    memory is allocated on demand\n]"
	"[{?reclaim}    memory is given back when its events are written\n]"
	"[    memory is given back {reclaim_us:u?} after its events are written\n]"
	"[{?blocking_us}    programs that allow it wait "
	"[{blocking_us=4294967295}without a limit|up to {blocking_us:u}] if a buffer is full\n]"
	"[    trace files: of {tracefile_size:b?} each"
	"[, the last {tracefile_count?} of each stream]\n]"
	"[{output_type=splice}    written and sent by splice()\n]";

static void show_not_sampled(FILE *out, struct json_object *channel)
{
	struct json_object *totals = json_get(channel, "totals");
	uint64_t left_out = json_num(totals, "not_sampled");
	uint64_t taken = json_num(totals, "recorded") + json_num(totals, "lost");
	char buf[TEXT_BYTES], all[TEXT_BYTES];

	if (left_out)
		fprintf(out, "    %s not sampled of %s events\n", text_count(buf, left_out),
			text_count(all, left_out + taken));
}

/* Whether only snapshots have its events. */
static bool show_is_kept(struct json_object *session, struct json_object *channel)
{
	return json_flag(session, "snapshots") || json_flag(channel, "remember") ||
	       (json_flag(channel, "overwrite") && !*json_str(session, "output"));
}

static void show_session(FILE *out, struct json_object *session, bool attributes)
{
	show_head(out, session);
	show_channels(out, session);
	for (size_t i = 0; i < json_len(session, "channels"); i++) {
		struct json_object *channel = json_at(session, "channels", i);

		text_form(out, channel,
			  "\n  {name} ({domain})[{?preset}, registered by a "
			  "[{domain=user}library|module]]\n");
		if (attributes)
			text_form(out, channel, attributes_form);
		text_form(out, channel, "[    with each event: {contexts?}\n]");
		show_not_sampled(out, channel);
		text_form(out, channel, "[{?totals}[    {totals.cleared:n?} cleared\n]]");
		if (show_is_kept(session, channel))
			text_form(out, channel,
				  "[{?totals}    {totals.overwritten:n} overwritten, "
				  "{totals.written:n} in snapshots, "
				  "{totals.waiting:n} others in the buffers\n]");
		else
			text_form(out, channel,
				  "[{?totals}[    {totals.overwritten:n?} overwritten\n]]");
		ctl_show_rules(out, channel);
		text_forms(out, channel, "conflicts",
			   "    marker {name} of process {pid} is not recorded: its format "
			   "\"{refused}\" differs from the recorded \"{armed}\"\n");
		text_forms(out, channel, "refusals",
			   "    not [{refused=record}recorded|counted]: {name}: {why}\n");
	}
}

void show_status(FILE *out, struct json_object *session)
{
	show_session(out, session, false);
}

void show_details(FILE *out, struct json_object *session)
{
	show_session(out, session, true);
	text_forms(out, session, "map_channels",
		   "\n  Map channel {name} ({domain}): {key_count} of {max_keys} keys, {value_type}, "
		   "values of each {ownership}[{!rule_count}; no trigger increments it|]\n");
}
