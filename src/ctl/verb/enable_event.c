/* SPDX-License-Identifier: GPL-2.0-only */
/* enable_event.c - lttctl enable-event: select events to record, also while recording. */
#include <inttypes.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/record/loss.h"
#include "ctl/names.h"
#include "ctl/options.h"
#include "ctl/session/logger.h"
#include "ctl/session/place.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"
#include "ctl/print/text.h"

#define LOGLEVELS 15 /* EMERG to DEBUG */
#define REMEMBERED "remembered" /* default channel of --remember */

static struct {
	struct domain_options domain;
	char *session, *channel, *exclude, *loglevel, *loglevel_only, *histogram, *filter, *sample,
		*by, *rate, *first;
	int all, tracepoint, syscall, count, remember;
	struct place_options place;
} opt;

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
	OPTION_TEXT("filter", 'f', &opt.filter,
		    "only events for which this holds; lttctl-filter(1)", "EXPRESSION"),
	OPTION_TEXT("sample", 0, &opt.sample, "of these, only one of N", "1/N"),
	OPTION_TEXT("rate", 0, &opt.rate, "at most so many in a second", "N/s"),
	OPTION_TEXT("first", 0, &opt.first, "only the first ones after each start", "N"),
	OPTION_FLAG("syscall", 0, &opt.syscall, "with -k: system calls, entry and exit"),
	OPTIONS_PLACE(opt.place, FETCH),
	OPTION_FLAG("remember", 0, &opt.remember,
		    "keep the first ones (of each process) for all snapshots"),
	OPTION_FLAG("count", 0, &opt.count, "count them instead of recording; lttctl stats"),
	OPTION_TEXT("histogram", 0, &opt.histogram, "the same, and the sizes of a field", "FIELD"),
	OPTION_TEXT(
		"by", 0, &opt.by,
		"with --sample: all events with a value of this field, or none; with --count and "
		"--histogram: one count for each value of a field, or of two",
		"FIELD[,FIELD]"),
	POPT_TABLEEND,
};

static enum status enable_event_option(struct ctl *ctl, int number, const char *argument)
{
	(void)ctl, (void)number;
	place_add_fetch(&opt.place, argument);
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

static int take_loglevel(struct ctl *ctl, struct ltt_ctl_event_options *o)
{
	const char *text = opt.loglevel ? opt.loglevel : opt.loglevel_only;
	const char *near;
	int level;

	if (opt.loglevel && opt.loglevel_only)
		return err_set(&ctl->err, ERR_INVALID,
			       "--loglevel and --loglevel-only exclude each other");
	if (!text)
		return 0;
	if (logger_domain_named(&opt.domain)) {
		o->loglevel_type = opt.loglevel ? LTT_CTL_LEVEL_AT_LEAST : LTT_CTL_LEVEL_ONLY;
		return logger_level_parse(logger_domain_named(&opt.domain), text, &o->loglevel,
					  &ctl->err);
	}
	if (loglevel_parse(text, &level) == 0) {
		o->loglevel_type = opt.loglevel ? LTT_CTL_LEVEL_AT_LEAST : LTT_CTL_LEVEL_ONLY;
		o->loglevel = level;
		return 0;
	}
	near = nearest_loglevel(text);
	return err_set(&ctl->err, ERR_INVALID, "unknown log level '%s'; %s%s%s", text,
		       near ? "did you mean '" : "the levels are EMERG (0) to DEBUG (14)",
		       near ? near : "", near ? "'?" : "");
}

#define MAX_UNKNOWN_SHOWN 10u

/* Names that no event has now, and for the first ones of them those that may be meant, or "". */
struct unknown {
	struct names names, nearest;
};

static void unknown_fini(struct unknown *unknown)
{
	names_fini(&unknown->names);
	names_fini(&unknown->nearest);
}

/* 'a' (did you mean 'b'?), 'c' and 7 others. */
static char *list_unknown(const struct unknown *unknown)
{
	const struct names *names = &unknown->names;
	size_t shown = MIN(names->nr, (size_t)MAX_UNKNOWN_SHOWN);
	char *list = xstrdup("");

	for (size_t i = 0; i < shown; i++) {
		const char *near = unknown->nearest.names[i];
		char *before AUTO_FREE = list;

		list = xasprintf("%s%s'%s'%s%s%s", before, i ? ", " : "", names->names[i],
				 *near ? " (did you mean '" : "", near, *near ? "'?)" : "");
	}
	if (names->nr > shown) {
		char *before AUTO_FREE = list;

		list = xasprintf("%s and %zu others", before, names->nr - shown);
	}
	return list;
}

/* Nothing has such names now: fine, but they may be slips. One note for all names of a list. */
static void note_no_points(struct ctl *ctl, enum ltt_ctl_domain domain,
			   const struct unknown *unknown)
{
	char *list AUTO_FREE = list_unknown(unknown);

	if (!unknown->names.nr)
		return;
	if (logger_domain_named(&opt.domain))
		print_note(ctl,
			   "no running application %s; messages of %s will be %s where one does",
			   logger_domain_named(&opt.domain)->provider, list,
			   opt.count || opt.histogram ? "counted" : "recorded");
	else if (domain == LTT_CTL_KERNEL)
		print_note(ctl, "this kernel has no event that matches %s", list);
	else
		print_note(ctl,
			   "no running application has an event %s; %s will be %s where one "
			   "appears",
			   list, unknown->names.nr == 1 ? "it" : "they",
			   opt.count || opt.histogram ? "counted" : "recorded");
}

static enum status enable_event_refused(struct ctl *ctl, const struct ltt_ctl_event_options *o)
{
	if (ctl->err.code != ERR_EVENT_EXISTS) {
		target_suggest(ctl, o->session, o->channel, NULL);
		return STATUS_ERROR;
	}
	print_warning(ctl, "%s", ctl->err.text);
	ctl->err = (struct err){ 0 };
	return STATUS_WARNING;
}

/* As event_enable's sampling, or NULL. */
static char *enable_event_sampling(void)
{
	AUTO_FREE char *sample = xasprintf("%s%s%s", opt.sample ? opt.sample : "",
					   opt.by ? " by " : "", opt.by ? opt.by : "");
	const char *rate = opt.rate ? opt.rate : "";

	if (!opt.sample && !opt.rate && !opt.first)
		return NULL;
	return xasprintf("%s%s%s%s%s%s", sample, *sample && *rate ? ", " : "", rate,
			 (*sample || *rate) && opt.first ? ", " : "", opt.first ? "first " : "",
			 opt.first ? opt.first : "");
}

/* Whether a value is digits between two texts; the session daemon checks the number. */
static bool enable_event_has_form(const char *value, const char *before, const char *behind)
{
	size_t len = strlen(before), digits;

	if (strncmp(value, before, len) != 0)
		return false;
	digits = strspn(value + len, "0123456789");
	return digits && strcmp(value + len + digits, behind) == 0;
}

static int check_sampling(struct ctl *ctl)
{
	const struct {
		const char *name, *value, *before, *behind;
	} forms[] = {
		{ "sample", opt.sample, "1/", "" },
		{ "rate", opt.rate, "", "/s" },
		{ "first", opt.first, "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (forms[i].value && !enable_event_has_form(forms[i].value, forms[i].before,
							     forms[i].behind))
			return err_set(&ctl->err, ERR_INVALID,
				       "--%s=%.100s: use %sN%s with a number N, such as %s10%s",
				       forms[i].name, forms[i].value, forms[i].before,
				       forms[i].behind, forms[i].before, forms[i].behind);
	if (opt.by && !opt.sample && !opt.count && !opt.histogram)
		return err_set(
			&ctl->err, ERR_INVALID,
			"--by belongs to --sample, --count and --histogram: add one of them");
	if ((opt.count || opt.histogram) && (opt.sample || opt.rate || opt.first))
		return err_set(
			&ctl->err, ERR_INVALID,
			"--sample, --rate and --first limit what is recorded: omit --count and "
			"--histogram");
	return 0;
}

static enum status enable_event_one(struct ctl *ctl, struct ltt_ctl_event_options *o,
				    struct unknown *unknown)
{
	struct json_object *rule;
	char channel[LTT_CTL_NAME_BYTES];
	const char *problem;
	uint32_t points;
	int code;

	o->nearest = unknown->names.nr < MAX_UNKNOWN_SHOWN && !glob_is_pattern(o->pattern);
	code = ltt_ctl_enable_event(ctl->library, o, channel, &points);
	if (ctl_done(ctl, code, &ctl->err) != 0)
		return enable_event_refused(ctl, o);
	problem = ltt_ctl_last_outcome(ctl->library)->problem;
	rule = json_object_new_object();
	json_set(rule, "conflicts", json_object_new_array());
	loss_take_outcome(ctl, rule);
	JSON_COPY(rule, o, pattern);
	json_set_str(rule, "channel", channel);
	json_set_num(rule, "nr_points", points);
	if (o->logger)
		json_set_str(rule, "logger", o->logger);
	if (o->location)
		json_set_str(rule, "location", o->location);
	if (o->filter)
		json_set_str(rule, "filter", o->filter);
	if (o->sampling)
		json_set_str(rule, "sampling", o->sampling);
	if (o->by)
		json_set_str(rule, "by", o->by);
	json_append(ctl->record, "rules", rule);
	loss_conflicts(ctl, rule);
	if (points == 0 && (o->domain == LTT_CTL_KERNEL || !glob_is_pattern(o->pattern))) {
		names_add(&unknown->names, o->logger ? o->logger : o->pattern);
		names_add(&unknown->nearest,
			  o->nearest ? ltt_ctl_last_outcome(ctl->library)->nearest : "");
	}
	if (*problem)
		print_warning(ctl, "session '%s': %s", o->session, problem);
	return target_worse(*problem ? STATUS_WARNING : STATUS_OK, loss_refusals(ctl, rule));
}

/* The rule for a logger is one for the event of all messages. */
static enum status enable_event_logger(struct ctl *ctl, const struct ltt_ctl_event_options *given,
				       const char *name, struct unknown *unknown)
{
	const struct logger_domain *domain = logger_domain_named(&opt.domain);
	struct ltt_ctl_event_options o = *given;
	AUTO_FREE char *filter =
		logger_filter(domain, name, o.loglevel_type, o.loglevel, o.filter);

	o.pattern = domain->event;
	o.channel = o.channel ? o.channel : domain->channel;
	o.logger = name;
	o.filter = filter;
	o.loglevel_type = LTT_CTL_LEVEL_ALL;
	return enable_event_one(ctl, &o, unknown);
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

static enum status enable_event_enable_all(struct ctl *ctl, struct ltt_ctl_event_options *o,
					   const struct names *names)
{
	struct unknown unknown CLEANUP(unknown_fini) = { 0 };
	enum status worst = STATUS_OK;

	for (size_t i = 0; i < names->nr && !ctl->err.code; i++) {
		o->pattern = names->names[i];
		o->more = i + 1 < names->nr;
		worst = target_worse(worst,
				     logger_domain_named(&opt.domain) ?
					     enable_event_logger(ctl, o, o->pattern, &unknown) :
					     enable_event_one(ctl, o, &unknown));
	}
	note_no_points(ctl, o->domain, &unknown);
	return worst;
}

/* The option that names a place; NULL: none does. */
/* A probe is one event of the kernel, or two, under a name that is made up here. */
static int check_probe(struct ctl *ctl)
{
	if (!opt.domain.kernel)
		return err_set(&ctl->err, ERR_INVALID,
			       "probes need the kernel domain: use -k (--kernel) --%s=PLACE NAME",
			       place_option(&opt.place) ? place_option(&opt.place) : "probe");
	if (!place_option(&opt.place))
		return err_set(&ctl->err, ERR_INVALID,
			       "--fetch is for --probe, --function and --userspace-probe; other "
			       "events have their fields");
	if (!!opt.place.probe + !!opt.place.function + !!opt.place.program + !!opt.syscall +
		    !!opt.tracepoint >
	    1)
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
			       place_option(&opt.place), place_given(&opt.place));
	return 0;
}

static int check_counting(struct ctl *ctl)
{
	if (opt.remember)
		return err_set(&ctl->err, ERR_INVALID,
			       "events that are counted are not recorded: omit --remember");
	if (opt.count && opt.histogram)
		return err_set(&ctl->err, ERR_INVALID,
			       "--histogram implies counting: omit --count");
	if (place_option(&opt.place) || opt.place.fetch)
		return err_set(&ctl->err, ERR_INVALID,
			       "probes can't be counted yet, only recorded; other events can be "
			       "counted");
	return 0;
}

static enum status enable_event_check(struct ctl *ctl)
{
	struct ltt_ctl_event_options unused = { 0 };
	enum status status = domain_check_any(ctl, &opt.domain);

	if (status == STATUS_OK && opt.exclude && logger_domain_named(&opt.domain)) {
		err_set(&ctl->err, ERR_INVALID,
			"--exclude is for events; for loggers use --filter='logger_name != \"%.100s\"'",
			opt.exclude);
		return STATUS_ERROR;
	}
	if (status == STATUS_OK && opt.syscall && !opt.domain.kernel) {
		err_set(&ctl->err, ERR_INVALID,
			"system calls need the kernel domain: use -k (--kernel) --syscall");
		return STATUS_ERROR;
	}
	if (status == STATUS_OK && (opt.count || opt.histogram) && check_counting(ctl) != 0)
		return STATUS_ERROR;
	if (status == STATUS_OK && check_sampling(ctl) != 0)
		return STATUS_ERROR;
	if (status == STATUS_OK && (place_option(&opt.place) || opt.place.fetch) &&
	    check_probe(ctl) != 0)
		return STATUS_ERROR;
	if (status == STATUS_OK && place_find_program(ctl, &opt.place) != 0)
		return STATUS_ERROR;
	if (status == STATUS_OK && (check_patterns(ctl) != 0 || take_loglevel(ctl, &unused) != 0))
		return STATUS_ERROR;
	return status;
}

static void enable_event_take_place(struct ltt_ctl_event_options *o)
{
	const struct ltt_ctl_places *found = opt.place.found;

	o->kind = place_kind(&opt.place);
	o->location = place_given(&opt.place);
	o->fetch = opt.place.fetch;
	o->file = found ? found->file : NULL;
	o->places = found ? found->text : NULL;
}

static void enable_event_take_options(struct ltt_ctl_event_options *o)
{
	ltt_ctl_event_options_init(o);
	o->domain = (enum ltt_ctl_domain)domain_named(&opt.domain);
	o->channel = opt.channel;
	o->exclude = opt.exclude;
	o->filter = opt.filter;
	if (place_option(&opt.place))
		enable_event_take_place(o);
	if (opt.count || opt.histogram) {
		o->kind = opt.count ? LTT_CTL_RULE_COUNT : LTT_CTL_RULE_HISTOGRAM;
		o->location = opt.histogram;
		o->by = opt.by;
	}
}

/* The channel of --remember is made unless it is there. */
static int enable_event_make_channel(struct ctl *ctl, struct ltt_ctl_event_options *o)
{
	struct ltt_ctl_channel_options channel;

	ltt_ctl_channel_options_init(&channel);
	channel.session = o->session;
	channel.domain = o->domain;
	channel.name = o->channel = opt.channel ? opt.channel : REMEMBERED;
	channel.remember = 1;
	if (ctl_done(ctl, ltt_ctl_enable_channel(ctl->library, &channel), &ctl->err) != 0 &&
	    ctl->err.code != ERR_CHANNEL_EXISTS)
		return ctl->err.code;
	ctl->err = (struct err){ 0 };
	return 0;
}

static enum status enable_event_run(struct ctl *ctl)
{
	struct ltt_ctl_event_options o;
	AUTO_FREE char *sampling = enable_event_sampling();
	struct names names CLEANUP(names_fini) = { 0 };
	char *session AUTO_FREE =
		target_begin(ctl, opt.session, domain_named(&opt.domain), "rules");

	enable_event_take_options(&o);
	if (!session || take_loglevel(ctl, &o) != 0)
		return STATUS_ERROR;
	names_split(opt.all ? "*" : operand(ctl, 0), &names);
	if (opt.syscall)
		names_of_calls(&names);
	o.session = session;
	o.sampling = sampling;
	if (opt.remember && enable_event_make_channel(ctl, &o) != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	return enable_event_enable_all(ctl, &o, &names);
}

static void enable_event_text(FILE *out, struct json_object *record)
{
	const struct logger_domain *loggers = logger_domain_named(&opt.domain);
	const char *title = domain_title(record);
	bool kernel = *title == 'K';

	for (size_t i = 0; i < json_len(record, "rules"); i++) {
		struct json_object *rule = json_at(record, "rules", i);
		uint64_t points = json_num(rule, "nr_points");

		fprintf(out, "%s %s %s %s in channel %s of session %s",
			loggers ? loggers->title : title, loggers ? "logger" : "event",
			json_str(rule, loggers ? "logger" : "pattern"),
			opt.count || opt.histogram ? "counted" : "enabled",
			json_str(rule, "channel"), json_str(record, "session"));
		if (*json_str(rule, "by"))
			fprintf(out, ", by key %s", json_str(rule, "by"));
		if (*json_str(rule, "location"))
			fprintf(out, opt.histogram ? " by %s" : " at %s",
				json_str(rule, "location"));
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
	.operands = "(-u | -k | -p | -j | -l | --log4j2) (NAME[,NAME]... | -a)",
	.help = "Choose events to record, by name",
	.options = options,
	.daemon = DAEMON_STARTED,
	.max_operands = 1,
	.option = enable_event_option,
	.check = enable_event_check,
	.run = enable_event_run,
	.text = enable_event_text,
};
