/* SPDX-License-Identifier: GPL-2.0-only */
/* enable_event.c - lttctl enable-event: choose what is recorded, also while recording. */
#include <inttypes.h>

#include "base/mem.h"
#include "base/str.h"
#include "libctl/calls.h"
#include "ctl/loss.h"
#include "ctl/names.h"
#include "ctl/options.h"
#include "ctl/points.h"
#include "ctl/program.h"
#include "ctl/record.h"
#include "ctl/print.h"
#include "ctl/target.h"
#include "ctl/text.h"

#define LOGLEVELS 15 /* EMERG to DEBUG */

static struct {
	struct domain_options domain;
	char *session, *channel, *exclude, *loglevel, *loglevel_only, *probe, *function,
		*program, *histogram;
	int all, tracepoint, syscall, count;
	char *fetch; /* all of them, joined */
} opt;

static struct program_places found; /* of opt.program */

enum { FETCH };

static const struct poptOption options[] = {
	OPTIONS_DOMAIN(opt.domain),
	OPTION_SESSION(&opt.session),
	OPTION_CHANNEL(&opt.channel, "record into this channel"),
	OPTION_FLAG("all", 'a', &opt.all, "every event"),
	OPTION_TEXT("exclude", 'x', &opt.exclude, "exclude these", "PATTERN[,...]"),
	OPTION_TEXT("loglevel", 0, &opt.loglevel, "only events of this level or more severe",
		    "LEVEL"),
	OPTION_TEXT("loglevel-only", 0, &opt.loglevel_only, "only of this level", "LEVEL"),
	OPTION_FLAG("tracepoint", 0, &opt.tracepoint, "tracepoints and markers (default)"),
	OPTION_NOT_YET("filter", 'f', POPT_ARG_STRING, 1,
		       "events can't be filtered by their fields yet; choose by name, level and "
		       "--exclude"),
	OPTION_FLAG("syscall", 0, &opt.syscall, "with -k: system calls, entry and exit"),
	OPTION_TEXT("probe", 0, &opt.probe, "with -k: at a place in the kernel", "PLACE"),
	OPTION_TEXT("function", 0, &opt.function, "with -k: entry and exit of a function",
		    "SYMBOL"),
	OPTION_FLAG("count", 0, &opt.count,
		    "count them instead of recording; lttctl stats"),
	OPTION_TEXT("histogram", 0, &opt.histogram, "the same, and the sizes of a field", "FIELD"),
	OPTION_EACH("fetch", 0, FETCH, 0, "record this value, too; may be repeated",
		    "[NAME=]VALUE[:TYPE]"),
	OPTION_TEXT("userspace-probe", 0, &opt.program,
		    "with -k: at a function of a program or library, or where it returns, or at a "
		    "USDT probe",
		    "[return:]PATH:SYMBOL|sdt:PATH:PROVIDER:NAME"),
	POPT_TABLEEND,
};

static enum status enable_event_option(struct ctl *ctl, int number, const char *argument)
{
	char *before AUTO_FREE = opt.fetch;

	(void)ctl, (void)number;
	opt.fetch = xasprintf("%s%s%s", before ? before : "", before ? " " : "", argument);
	return STATUS_OK;
}

/* The log level that was nearly typed, or NULL. */
static const char *nearest_loglevel(const char *text)
{
	const char *names[LOGLEVELS + 1] = { NULL };

	for (int i = 0; i < LOGLEVELS; i++)
		names[i] = loglevel_name(i);
	return nearest_word(text, names);
}

static int take_loglevel(struct ctl *ctl, struct req_event_enable *req)
{
	const char *text = opt.loglevel ? opt.loglevel : opt.loglevel_only;
	const char *near;
	int level;

	if (opt.loglevel && opt.loglevel_only)
		return err_set(&ctl->err, ERR_INVALID,
			       "--loglevel and --loglevel-only exclude each other");
	if (!text)
		return 0;
	if (loglevel_parse(text, &level) == 0) {
		req->loglevel_type = opt.loglevel ? LOGLEVEL_AT_LEAST : LOGLEVEL_ONLY;
		req->loglevel = level;
		return 0;
	}
	near = nearest_loglevel(text);
	return err_set(&ctl->err, ERR_INVALID, "unknown log level '%s'; %s%s%s", text,
		       near ? "did you mean '" : "the levels are EMERG (0) to DEBUG (14)",
		       near ? near : "", near ? "'?" : "");
}

/* Nothing has such a name now: fine, but it may be a slip. */
static void note_no_points(struct ctl *ctl, const struct req_event_enable *req)
{
	const char *pattern = req->pattern;
	struct json_object *points AUTO_RECORD = NULL;
	struct err ignored = { 0 };
	const char *near = NULL;

	if (req->domain == DOMAIN_KERNEL)
		print_note(ctl, "this kernel has no event that matches '%s'", pattern);
	if (req->domain == DOMAIN_KERNEL || glob_is_pattern(pattern) ||
	    points_fetch(ctl, DOMAIN_USER, false, &points, NULL, &ignored) != 0)
		return;
	near = points_nearest(points, pattern);
	print_note(ctl,
		   "no running application has an event '%s'%s%s%s; it will be %s where one "
		   "appears",
		   pattern, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "",
		   opt.count || opt.histogram ? "counted" : "recorded");
}

static enum status enable_event_refused(struct ctl *ctl, const struct req_event_enable *req)
{
	if (ctl->err.code != ERR_EVENT_EXISTS) {
		target_suggest(ctl, req->session, req->channel, NULL);
		return STATUS_ERROR;
	}
	print_warning(ctl, "%s", ctl->err.text);
	ctl->err = (struct err){ 0 };
	return STATUS_WARNING;
}

static enum status enable_event_one(struct ctl *ctl, struct req_event_enable *req)
{
	struct json_object *rule = json_object_new_object();
	struct rep_event_enable rep;

	record_set(rule, "conflicts", json_object_new_array());
	if (call_event_enable(ctl->client, req, loss_take_item, rule, &rep, &ctl->err) != 0) {
		json_object_put(rule);
		return enable_event_refused(ctl, req);
	}
	record_set_str(rule, "pattern", req->pattern);
	record_set_str(rule, "channel", rep.channel);
	record_set_num(rule, "points", rep.points);
	if (req->location)
		record_set_str(rule, "location", req->location);
	record_append(ctl->record, "events", rule);
	loss_conflicts(ctl, rule);
	if (rep.points == 0)
		note_no_points(ctl, req);
	return loss_refusals(ctl, rule);
}

static int check_patterns(struct ctl *ctl)
{
	struct names names CLEANUP(names_fini) = { 0 };

	if (opt.all && operand(ctl, 0))
		return err_set(&ctl->err, ERR_INVALID, "--all and event names exclude each other");
	if (!opt.all && !operand(ctl, 0))
		return err_set(&ctl->err, ERR_INVALID,
			       "missing argument: name the events, or use -a for all");
	names_split(opt.all ? "*" : operand(ctl, 0), &names);
	for (size_t i = 0; i < names.nr; i++)
		if (!*names.names[i])
			return err_set(&ctl->err, ERR_INVALID, "there is an empty name in '%s'",
				       operand(ctl, 0));
	return 0;
}

static enum status enable_event_enable_all(struct ctl *ctl, struct req_event_enable *req,
					   const struct names *names)
{
	enum status worst = STATUS_OK;

	for (size_t i = 0; i < names->nr && !ctl->err.code; i++) {
		req->pattern = names->names[i];
		worst = target_worse(worst, enable_event_one(ctl, req));
	}
	return worst;
}

/* Which option asks for a place; NULL: none does. */
static const char *place_option(void)
{
	return opt.probe    ? "probe" :
	       opt.function ? "function" :
	       opt.program  ? "userspace-probe" :
			      NULL;
}

static const char *given_place(void)
{
	return opt.probe ? opt.probe : opt.function ? opt.function : opt.program;
}

/* A probe is one event of the kernel, or two, under a name that is made up here. */
static int check_probe(struct ctl *ctl)
{
	if (!opt.domain.kernel)
		return err_set(&ctl->err, ERR_INVALID,
			       "probes need the kernel domain: use -k (--kernel) --%s=PLACE NAME",
			       place_option() ? place_option() : "probe");
	if (!place_option())
		return err_set(&ctl->err, ERR_INVALID,
			       "--fetch is for --probe, --function and --userspace-probe; other "
			       "events have their fields");
	if (!!opt.probe + !!opt.function + !!opt.program + !!opt.syscall + !!opt.tracepoint > 1)
		return err_set(&ctl->err, ERR_INVALID,
			       "--probe, --function, --userspace-probe, --syscall and --tracepoint "
			       "exclude each other");
	if (opt.all || opt.exclude || opt.loglevel || opt.loglevel_only)
		return err_set(&ctl->err, ERR_INVALID,
			       "--all, --exclude and log levels are not for probes");
	if (!operand(ctl, 0) || strpbrk(operand(ctl, 0), "*,"))
		return err_set(&ctl->err, ERR_INVALID,
			       "missing name of the probe's event: use lttctl enable-event -k "
			       "--%s=%s NAME",
			       place_option(), given_place());
	return 0;
}

/* Looked up here: root's daemon does not read programs of users. */
static int enable_event_find_program(struct ctl *ctl)
{
	if (program_find(opt.program, &found, &ctl->err) != 0)
		return ctl->err.code;
	if (found.left_out)
		print_note(ctl,
			   "%s can't be recorded: the location is unknown, or the type is not a "
			   "number",
			   found.left_out);
	return 0;
}

static int check_counting(struct ctl *ctl)
{
	if (opt.count && opt.histogram)
		return err_set(&ctl->err, ERR_INVALID,
			       "--histogram implies counting: omit --count");
	if (place_option() || opt.fetch)
		return err_set(&ctl->err, ERR_INVALID,
			       "probes can't be counted yet, only recorded; other events can be "
			       "counted");
	return 0;
}

static enum status enable_event_check(struct ctl *ctl)
{
	struct req_event_enable unused = { 0 };
	enum status status = domain_check(ctl, &opt.domain);

	if (status == STATUS_OK && opt.syscall && !opt.domain.kernel) {
		err_set(&ctl->err, ERR_INVALID,
			"system calls need the kernel domain: use -k (--kernel) --syscall");
		return STATUS_ERROR;
	}
	if (status == STATUS_OK && (opt.count || opt.histogram) && check_counting(ctl) != 0)
		return STATUS_ERROR;
	if (status == STATUS_OK && (place_option() || opt.fetch) && check_probe(ctl) != 0)
		return STATUS_ERROR;
	if (status == STATUS_OK && opt.program && enable_event_find_program(ctl) != 0)
		return STATUS_ERROR;
	if (status == STATUS_OK && (check_patterns(ctl) != 0 || take_loglevel(ctl, &unused) != 0))
		return STATUS_ERROR;
	return status;
}

static void enable_event_take_place(struct req_event_enable *req)
{
	req->kind = opt.probe ? RULE_PROBE : opt.function ? RULE_FUNCTION : RULE_USER;
	req->location = given_place();
	req->fetch = opt.fetch;
	req->file = found.file;
	req->places = found.places;
}

static enum status enable_event_run(struct ctl *ctl)
{
	struct req_event_enable req = {
		.domain = (uint8_t)domain_named(&opt.domain),
		.channel = opt.channel,
		.exclude = opt.exclude,
	};
	struct names names CLEANUP(names_fini) = { 0 };
	char *session AUTO_FREE = target_begin(ctl, opt.session, req.domain, "events");

	if (!session || take_loglevel(ctl, &req) != 0)
		return STATUS_ERROR;
	names_split(opt.all ? "*" : operand(ctl, 0), &names);
	if (opt.syscall)
		names_of_calls(&names);
	if (place_option())
		enable_event_take_place(&req);
	if (opt.count || opt.histogram) {
		req.kind = opt.count ? RULE_COUNT : RULE_HISTOGRAM;
		req.location = opt.histogram;
	}
	req.session = session;
	return enable_event_enable_all(ctl, &req, &names);
}

static void enable_event_text(FILE *out, struct json_object *record)
{
	const char *title = domain_title(record);
	bool kernel = *title == 'K';

	for (size_t i = 0; i < record_len(record, "events"); i++) {
		struct json_object *rule = record_at(record, "events", i);
		uint64_t points = record_num(rule, "points");

		fprintf(out, "%s event %s %s in channel %s of session %s", title,
			record_str(rule, "pattern"), opt.count || opt.histogram ? "counted" : "enabled",
			record_str(rule, "channel"), record_str(record, "session"));
		if (*record_str(rule, "location"))
			fprintf(out, opt.histogram ? " by %s" : " at %s", record_str(rule, "location"));
		else if (points && kernel)
			fprintf(out, " (%" PRIu64 " event%s)", points, text_plural(points));
		else if (points)
			fprintf(out, " (%" PRIu64 " instrumentation point%s now)", points,
				text_plural(points));
		fputc('\n', out);
	}
}

const struct verb verb_enable_event = {
	.name = "enable-event",
	.operands = "(-u | -k) (NAME[,NAME]... | -a)",
	.help = "Choose events to record, by name",
	.options = options,
	.daemon = DAEMON_STARTED,
	.max_operands = 1,
	.option = enable_event_option,
	.check = enable_event_check,
	.run = enable_event_run,
	.text = enable_event_text,
};
