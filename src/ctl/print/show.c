/* SPDX-License-Identifier: GPL-2.0-only */
#include "show.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "color.h"
#include "ctl/connect.h"
#include "ctl/record/linger.h"
#include "ctl/record/loss.h"
#include "ctl/options.h"
#include "json.h"
#include "ctl/rotation.h"
#include "print.h"
#include "table.h"
#include "text.h"
#include "ctl/record/totals.h"
#include "ctl/tracking.h"

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

/* The session's options for its output, if there are any. */
static void show_disk(FILE *out, struct json_object *session)
{
	uint64_t keep_free = json_num(session, "keep_free");
	uint64_t max_size = json_num(session, "max_size");
	const char *sync = json_str(session, "sync");
	char buf[TEXT_BYTES];

	if (keep_free)
		fprintf(out, "Free space to leave on the file system: %s\n",
			text_size(buf, keep_free));
	if (max_size)
		fprintf(out, "Greatest size of the trace: %s\n", text_size(buf, max_size));
	if (strcmp(sync, "packet") == 0)
		fputs("Synced to the disk: each packet\n", out);
	else if (strcmp(sync, "period") == 0)
		fprintf(out, "Synced to the disk: every %s\n",
			text_duration(buf, json_num(session, "sync_us") * 1000));
}

static void show_spool(FILE *out, struct json_object *session)
{
	uint64_t spooled = json_num(session, "spooled");
	char used[TEXT_BYTES], size[TEXT_BYTES];

	if (spooled)
		fprintf(out, "Spool: %s of %s wait for the relay in %s\n", text_size(used, spooled),
			text_size(size, json_num(session, "spool_size")),
			json_str(session, "spool"));
}

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

static void show_clock_change(FILE *out, struct json_object *session)
{
	const char *change = json_str(session, "clock_change");

	if (*change)
		fprintf(out, "Clock: %s\n", change);
}

static void show_link(FILE *out, struct json_object *session)
{
	const char *link = json_str(session, "link");
	uint64_t live_us = json_num(session, "live_us");
	char buf[TEXT_BYTES];

	if (live_us)
		fprintf(out, "Live: viewers see events within %s\n",
			text_duration(buf, live_us * 1000));
	if (json_object_get_boolean(json_get(session, "compress")))
		fputs("Compressed on its way to the relay\n", out);
	if (strcmp(link, "down") == 0 && strcmp(json_str(session, "state"), "recording") != 0)
		fputs("Link to the relay: down\n", out);
	else if (strcmp(link, "up") == 0)
		fputs("Link to the relay: up\n", out);
	else if (strcmp(link, "down") == 0)
		fprintf(out, "Link to the relay: down; recorded data %s\n",
			json_num(session, "spool_size") ? "goes to the spool" :
							    "waits in the buffers");
	show_spool(out, session);
	show_clock(out, session);
	show_clock_change(out, session);
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
	uint64_t ns = json_num(session, "recording_ns");
	uint64_t apps = json_num(session, "applications");
	const char *state = json_str(session, "state");
	char buf[TEXT_BYTES];

	fprintf(out, "%sSession %s%s: ", color_on(out, COLOR_TITLE), json_str(session, "name"),
		color_off(out));
	if (strcmp(state, "new") == 0)
		fputs("not started yet", out);
	else if (ns)
		fprintf(out, "%s%s %s", state,
			strcmp(state, "recording") == 0 ? " for" : ", recorded for",
			text_duration(buf, ns));
	else
		fputs(state, out);
	fprintf(out, ", %" PRIu64 " application%s\n", apps, text_plural(apps));
	fprintf(out, "Output: %s%s\n",
		*json_str(session, "output") ? json_str(session, "output") : "none",
		json_flag(session, "snapshots") ? ", for snapshots" : "");
	show_link(out, session);
	show_disk(out, session);
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

	table_cell(table, "%s%s%s", color_on(out, color), totals_count(totals, "lost", buf),
		   color == COLOR_NONE ? "" : color_off(out));
}

static void channel_cells(FILE *out, struct table *table, struct json_object *channel)
{
	struct json_object *totals = json_get(channel, "totals");
	uint64_t used = json_num(channel, "used"), size = json_num(channel, "size");
	char buf[TEXT_BYTES];

	table_cell(table, "%s%s", json_str(channel, "name"),
		   json_flag(channel, "enabled") ? "" : " (disabled)");
	if (size)
		table_cell(table, "%.0f%% of %s", 100.0 * (double)used / (double)size,
			   text_size(buf, size));
	else
		table_cell(table, "-");
	table_cell(table, "%s", totals_count(totals, "recorded", buf));
	show_lost_cell(out, table, totals);
	table_cell(table, "%s", totals ? text_size(buf, json_num(totals, "bytes")) : "?");
}

static void total_cells(FILE *out, struct table *table, struct json_object *totals)
{
	char buf[TEXT_BYTES];

	table_cell(table, "total");
	table_cell(table, "-");
	table_cell(table, "%s", totals_count(totals, "recorded", buf));
	show_lost_cell(out, table, totals);
	table_cell(table, "%s", totals ? text_size(buf, json_num(totals, "bytes")) : "?");
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
		channel_cells(out, &table, json_at(session, "channels", i));
	if (json_len(session, "channels") > 1)
		total_cells(out, &table, json_get(session, "totals"));
	fputc('\n', out);
	table_print(out, &table);
}

static void show_place(FILE *out, struct json_object *rule)
{
	const char *fetch = json_str(rule, "fetch");

	fprintf(out, "    %s%s: %s %s%s%s\n", json_str(rule, "pattern"),
		json_flag(rule, "enabled") ? "" : ", disabled",
		strcmp(json_str(rule, "kind"), "function") == 0 ? "entry and exit of" :
								    "probe at",
		json_str(rule, "location"), *fetch ? ", with " : "", fetch);
}

static void show_filter(FILE *out, struct json_object *rule, uint64_t points)
{
	const char *filter = json_str(rule, "filter");
	uint64_t never = json_num(rule, "points_never");

	if (!*filter)
		return;
	fprintf(out, "      if %s", filter);
	if (never)
		fprintf(out, " (%" PRIu64 " of %" PRIu64 " points can never match)", never, points);
	fputc('\n', out);
}

static void show_sampling(FILE *out, struct json_object *rule)
{
	const char *sampling = json_str(rule, "sampling");

	if (*sampling)
		fprintf(out, "      only %s\n", sampling);
}

static void show_rule(FILE *out, struct json_object *rule, bool kernel)
{
	uint64_t points = json_num(rule, "nr_points");
	const char *exclude = json_str(rule, "exclude");
	char level[64];
	const char *loglevel = json_loglevel(rule, level, sizeof(level));
	const char *kind = json_str(rule, "kind");
	const char *field = strcmp(kind, "histogram") == 0 ? json_str(rule, "location") : "";

	if (*json_str(rule, "location") && !*field) {
		show_place(out, rule);
		return;
	}
	fprintf(out, "    %s%s%s%s%s%s%s: ", json_str(rule, "pattern"), *exclude ? ", not " : "",
		exclude, *loglevel ? " (" : "", loglevel, *loglevel ? ")" : "",
		json_flag(rule, "enabled") ? "" : ", disabled");
	if (kernel)
		fprintf(out, "%" PRIu64 " event%s", points, text_plural(points));
	else if (points)
		fprintf(out, "%" PRIu64 " instrumentation point%s", points, text_plural(points));
	else
		fputs("no instrumentation point in running applications", out);
	fprintf(out, "%s%s%s\n", *field || strcmp(kind, "count") == 0 ? ", counted" : "",
		*field ? " by " : "", field);
	if (*json_str(rule, "by"))
		fprintf(out, "      a count for each %s\n", json_str(rule, "by"));
	show_filter(out, rule, points);
	show_sampling(out, rule);
}

static void show_contexts(FILE *out, struct json_object *channel)
{
	size_t nr = json_len(channel, "contexts");

	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? ", " : "    with each event: ",
			json_object_get_string(json_at(channel, "contexts", i)));
	if (nr)
		fputc('\n', out);
}

static void ctl_show_rules(FILE *out, struct json_object *channel)
{
	bool kernel = strcmp(json_str(channel, "domain"), "kernel") == 0;

	if (json_len(channel, "rules") == 0)
		fputs("    no event is enabled\n", out);
	for (size_t i = 0; i < json_len(channel, "rules"); i++)
		show_rule(out, json_at(channel, "rules", i), kernel);
}

static void show_conflicts(FILE *out, struct json_object *channel)
{
	for (size_t i = 0; i < json_len(channel, "conflicts"); i++) {
		struct json_object *c = json_at(channel, "conflicts", i);

		fprintf(out,
			"    marker %s of process %" PRIu64 " is not recorded: its format \"%s\" "
			"differs from the recorded \"%s\"\n",
			json_str(c, "name"), json_num(c, "pid"), json_str(c, "refused"),
			json_str(c, "armed"));
	}
}

static void show_refusals(FILE *out, struct json_object *channel)
{
	for (size_t i = 0; i < json_len(channel, "refusals"); i++) {
		struct json_object *r = json_at(channel, "refusals", i);

		fprintf(out, "    not %s: %s: %s\n", loss_is_of_record(r) ? "recorded" : "counted",
			json_str(r, "name"), json_str(r, "why"));
	}
}

static void show_attributes(FILE *out, struct json_object *channel)
{
	uint64_t file_size = json_num(channel, "tracefile_size");
	uint64_t file_count = json_num(channel, "tracefile_count");
	uint64_t timer_us = json_num(channel, "switch_timer_us");
	char buf[TEXT_BYTES];

	fprintf(out, "    buffers: %" PRIu64 " x %s a CPU, per %s, %s mode",
		json_num(channel, "num_subbuf"),
		text_size(buf, json_num(channel, "subbuf_size")),
		json_str(channel, "ownership"),
		json_flag(channel, "remember")  ? "remember" :
		json_flag(channel, "overwrite") ? "overwrite" :
						    "discard");
	fprintf(out, "; %s of memory now\n", text_size(buf, json_num(channel, "memory")));
	if (timer_us)
		fprintf(out, "    written at least every %s\n",
			text_duration(buf, timer_us * 1000));
	if (file_size)
		fprintf(out, "    trace files: of %s each", text_size(buf, file_size));
	if (file_size && file_count)
		fprintf(out, ", the last %" PRIu64 " of each stream", file_count);
	if (file_size)
		fputc('\n', out);
	if (strcmp(json_str(channel, "output_type"), "splice") == 0)
		fputs("    written and sent by splice()\n", out);
}

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

static void show_overwritten(FILE *out, struct json_object *channel, bool is_kept)
{
	struct json_object *totals = json_get(channel, "totals");
	char old[TEXT_BYTES], saved[TEXT_BYTES], kept[TEXT_BYTES];

	is_kept |= json_flag(channel, "overwrite") || json_flag(channel, "remember");
	if (totals && is_kept)
		fprintf(out, "    %s overwritten, %s in snapshots, %s others in the buffers\n",
			totals_count(totals, "overwritten", old),
			totals_count(totals, "written", saved),
			totals_count(totals, "waiting", kept));
}

static void show_session(FILE *out, struct json_object *session, bool attributes)
{
	show_head(out, session);
	show_channels(out, session);
	for (size_t i = 0; i < json_len(session, "channels"); i++) {
		struct json_object *channel = json_at(session, "channels", i);

		fprintf(out, "\n  %s (%s)%s\n", json_str(channel, "name"),
			json_str(channel, "domain"),
			!json_flag(channel, "preset") ? "" :
			strcmp(json_str(channel, "domain"), "user") == 0 ?
							  ", registered by a library" :
							  ", registered by a module");
		if (attributes)
			show_attributes(out, channel);
		show_contexts(out, channel);
		show_not_sampled(out, channel);
		show_overwritten(out, channel, json_flag(session, "snapshots"));
		ctl_show_rules(out, channel);
		show_conflicts(out, channel);
		show_refusals(out, channel);
	}
}

void show_status(FILE *out, struct json_object *session)
{
	show_session(out, session, false);
}

void show_details(FILE *out, struct json_object *session)
{
	show_session(out, session, true);
}
