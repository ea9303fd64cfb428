/* SPDX-License-Identifier: GPL-2.0-only */
/* verify.c - lttctl verify [SESSION | DIR]...: check traces and their counts of events. */
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "ctl/print/color.h"
#include "ctl/connect.h"
#include "ctl/record/loss.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"
#include "ctl/print/text.h"
#include "ctl/trace/viewing.h"
#include "show/show.h"

static struct {
	char *trace_path;
} opt;

static const struct poptOption options[] = {
	OPTION_TEXT("trace-path", 't', &opt.trace_path, "verify what is below this directory",
		    "DIR"),
	POPT_TABLEEND,
};

static enum status verify_verb_check(struct ctl *ctl)
{
	if (!opt.trace_path || !operand(ctl, 0))
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID, "a session and --trace-path exclude each other");
	return STATUS_ERROR;
}

static void verify_verb_cleanup_view(struct view **view)
{
	view_free(*view);
}

static void verify_verb_report(void *priv, const char *sentence)
{
	print_warning(priv, "%s", sentence);
}

/* --- the record -------------------------------------------------------------- */

static uint64_t sum_of(const uint64_t lost[VIEW_NR_LOST])
{
	uint64_t sum = 0;

	for (int i = 0; i < VIEW_NR_LOST; i++)
		sum += lost[i];
	return sum;
}

static struct json_object *record_losses(const uint64_t lost[VIEW_NR_LOST])
{
	struct json_object *o = json_object_new_object();

	for (int i = 0; i < VIEW_NR_LOST; i++)
		json_set_num(o, view_lost_key((enum view_lost)i), lost[i]);
	return o;
}

/* Without a ledger, the events that were read are the known ones. */
static uint64_t recorded_in(const struct view_stream *s)
{
	return s->has_ledger ? s->recorded : s->events;
}

static struct json_object *record_stream(const struct view_stream *s)
{
	struct json_object *o = json_object_new_object();
	uint64_t lost = sum_of(s->lost);

	JSON_COPY(o, s, trace, name);
	json_set_num(o, "recorded", recorded_in(s));
	json_set_num(o, "lost", lost);
	json_set_num(o, "emitted", recorded_in(s) + lost);
	json_set(o, "lost_by_cause", record_losses(s->lost));
	json_set_num(o, "given_up", s->before);
	JSON_COPY(o, s, lost_before);
	json_set_num(o, "readable", s->events);
	JSON_COPY(o, s, packets, damaged_packets, damaged_events);
	json_set_num(o, "missing_packets", s->lost_packets);
	JSON_COPY(o, s, unindexed_packets, bytes);
	return o;
}

/* A session that the daemon has is active or stopped. */
static const char *state_of(struct json_object *sessions, const char *path)
{
	struct stat st, of;

	for (size_t i = 0; sessions && i < json_object_array_length(sessions); i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);

		if (stat(path, &st) == 0 && stat(json_str(session, "output"), &of) == 0 &&
		    st.st_dev == of.st_dev && st.st_ino == of.st_ino)
			return json_str(session, "state");
	}
	return "unknown";
}

static struct json_object *record_unended(struct ctl *ctl, const struct view_summary *sum)
{
	struct json_object *sessions AUTO_RECORD = NULL;
	struct json_object *list = json_object_new_array();
	struct err ignored = { 0 };

	if (sum->nr_unended && ctl_is_connected(ctl) &&
	    target_sessions(ctl, &sessions, &ignored) != 0)
		sessions = NULL;
	for (size_t i = 0; i < sum->nr_unended; i++) {
		const struct view_unended *unended = &sum->unended[i];
		struct json_object *o = json_object_new_object();

		JSON_COPY(o, unended, path);
		json_set_str(o, "state", state_of(sessions, unended->path));
		json_set_time(o, "until_ns", MAX(unended->until_ns, 0));
		json_object_array_add(list, o);
	}
	return list;
}

static bool is_lossy(const struct view_summary *sum)
{
	return sum->lost || sum->lost_before || sum->lost_buffers;
}

static struct json_object *record_trace(struct ctl *ctl, const char *path,
					const struct view_summary *sum)
{
	struct json_object *o = json_object_new_object();
	uint64_t recorded = 0;

	for (size_t i = 0; i < sum->nr_streams; i++)
		recorded += recorded_in(&sum->streams[i]);
	json_set_str(o, "path", path);
	json_set_str(o, "verdict", sum->problems ? "damaged" : is_lossy(sum) ? "lossy" : "sound");
	json_set_num(o, "recorded", recorded);
	JSON_COPY(o, sum, lost, not_sampled);
	json_set_num(o, "emitted", recorded + sum->lost + sum->not_sampled);
	json_set(o, "lost_by_cause", record_losses(sum->lost_by));
	json_set_num(o, "given_up", sum->before);
	JSON_COPY(o, sum, lost_before, lost_buffers);
	json_set_num(o, "unlisted_traces", sum->unlisted);
	JSON_COPY(o, sum, clock_changes);
	json_set_num(o, "readable", sum->events);
	JSON_COPY(o, sum, packets, damaged_packets, damaged_events);
	json_set_num(o, "missing_packets", sum->lost_packets);
	JSON_COPY(o, sum, skipped_bytes, problems);
	json_set(o, "unended", record_unended(ctl, sum));
	json_set(o, "streams", json_object_new_array());
	for (size_t i = 0; i < sum->nr_streams; i++)
		json_append(o, "streams", record_stream(&sum->streams[i]));
	return o;
}

/* --- as text ------------------------------------------------------------------ */

static const char stream_form[] =
	"{trace}/{name}: {recorded:n} recorded + {lost:n} lost = {emitted:n} emitted; "
	"{packets:n} packet{packets:s}[; {given_up:n?} older events discarded for newer ones]"
	"[; {lost_before:n?} lost before the end of the oldest packet]"
	"[; {damaged_packets:n?} damaged][; {missing_packets:n?} missing]"
	"[; {unindexed_packets:n?} not in the index]\n";

/* @path: of one of several sessions; else "". */
static void print_unended(FILE *out, struct json_object *unended, const char *path)
{
	const char *state = json_str(unended, "state");
	time_t s = (time_t)(json_num(unended, "until_ns") / 1000000000u);
	char when[32] = "it";
	struct tm tm;

	if (s && localtime_r(&s, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(out, "%s%sthe session ", path, *path ? ": " : "; ");
	if (strcmp(state, "unknown") != 0)
		fprintf(out, "is %s, and has not ended", state);
	else
		fprintf(out,
			"has not ended, or its end was not written: what came after %s is not known",
			when);
	fputs(*path ? "\n" : "", out);
}

static void verify_print_verdict(FILE *out, const char *verdict)
{
	bool sound = strcmp(verdict, "sound") == 0, lossy = strcmp(verdict, "lossy") == 0;

	fprintf(out, "%s%s%s",
		color_on(out, sound ? COLOR_GOOD :
			      lossy ? COLOR_WARN :
				      COLOR_BAD),
		sound || lossy ? "sound" : "damaged", color_off(out));
}

static void verify_verb_print_trace(FILE *out, struct json_object *record)
{
	const char *verdict = json_str(record, "verdict"), *limits = "";
	size_t nr_unended = json_len(record, "unended");
	char events[TEXT_BYTES], lost[TEXT_BYTES];

	text_forms(out, record, "streams", stream_form);
	text_form(out, record,
		  "[{not_sampled:n?} events were left out by the sampling of rules\n]");
	if (json_num(record, "unlisted_traces"))
		limits = json_len(record, "streams") ?
				 " of the streams that are here: the trace does not list them" :
				 ": the trace has no stream, and lists none";
	for (size_t i = 0; nr_unended > 1 && i < nr_unended; i++) {
		struct json_object *unended = json_at(record, "unended", i);

		print_unended(out, unended, json_str(unended, "path"));
	}
	text_count(events, json_num(record, "readable"));
	text_count(lost, json_num(record, "lost") + json_num(record, "lost_before"));
	verify_print_verdict(out, verdict);
	if (strcmp(verdict, "sound") == 0)
		fprintf(out, ": %s events, and none was lost%s", events, limits);
	else if (strcmp(verdict, "lossy") == 0 && strcmp(lost, "0") == 0)
		fprintf(out, ": %s events; an unknown number was lost when it was recorded",
			events);
	else if (strcmp(verdict, "lossy") == 0)
		fprintf(out, ": %s events; %s%s were lost when it was recorded", events,
			json_num(record, "lost_buffers") ? "at least " : "", lost);
	else
		fprintf(out, ": %s events can be read", events);
	if (nr_unended == 1)
		print_unended(out, json_at(record, "unended", 0), "");
	else if (nr_unended)
		fprintf(out, "; %zu sessions have not ended", nr_unended);
	fputc('\n', out);
}

static void verify_verb_print_text(FILE *out, struct json_object *record)
{
	if (!json_get(record, "sessions"))
		verify_verb_print_trace(out, record);
	for (size_t i = 0; i < json_len(record, "sessions"); i++) {
		struct json_object *trace = json_at(record, "sessions", i);

		text_form(out, trace, i ? "\n{path}:\n" : "{path}:\n");
		verify_verb_print_trace(out, trace);
	}
}

/* --- the verb ------------------------------------------------------------------- */

static enum status verify_verb_conclude(struct ctl *ctl, const char *path,
					const struct view_summary *sum, struct json_object **ret)
{
	char packets[TEXT_BYTES], events[TEXT_BYTES];

	*ret = record_trace(ctl, path, sum);
	(void)loss_unknown(ctl, path, sum->lost_buffers);
	if (!sum->problems)
		return is_lossy(sum) ? STATUS_LOST : STATUS_OK;
	if (!sum->damaged_packets) {
		err_set(&ctl->err, ERR_OUTPUT, "%s is damaged: %s problem%s, named above", path,
			text_count(packets, sum->problems), text_plural(sum->problems));
		return STATUS_DAMAGED;
	}
	err_set(&ctl->err, ERR_OUTPUT,
		"%s is damaged: %s packet%s can't be read, with %s event%s or more", path,
		text_count(packets, sum->damaged_packets), text_plural(sum->damaged_packets),
		text_count(events, sum->damaged_events), text_plural(sum->damaged_events));
	return STATUS_DAMAGED;
}

static enum status verify_verb_verify(struct ctl *ctl, const char *word, struct json_object **ret)
{
	struct view *view CLEANUP(verify_verb_cleanup_view) = NULL;
	const struct view_summary *sum;
	char *path AUTO_FREE =
		opt.trace_path ? xstrdup(opt.trace_path) : viewing_path(ctl, word);
	int rc;

	if (path)
		viewing_note_snapshots(ctl, path);
	if (!path || show_open(path, false, verify_verb_report, ctl, &view, &ctl->err) != 0)
		return STATUS_ERROR;
	rc = view_verify(view);
	rc = rc ? rc : view_summary(view, &sum);
	if (rc == 0)
		return verify_verb_conclude(ctl, path, sum, ret);
	err_errno(&ctl->err, ERR_OUTPUT, -rc, "can't verify %s", path);
	return STATUS_ERROR;
}

static enum status verify_verb_each(struct ctl *ctl, const char *word)
{
	struct json_object *o = NULL;
	enum status status = verify_verb_verify(ctl, word, &o);

	if (o)
		json_append(ctl->record, "sessions", o);
	return status;
}

static enum status verify_verb_run(struct ctl *ctl)
{
	return ctl->nr_operands > 1 ? target_each(ctl, verify_verb_each) :
				      verify_verb_verify(ctl, operand(ctl, 0), &ctl->record);
}

const struct verb verb_verify = {
	.name = "verify",
	.operands = "[SESSION | DIR]...",
	.help = "Check that a trace is complete, and account for each event",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.max_operands = TARGET_MOST,
	.check = verify_verb_check,
	.run = verify_verb_run,
	.text = verify_verb_print_text,
};
