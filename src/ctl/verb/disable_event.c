/* SPDX-License-Identifier: GPL-2.0-only */
/* disable_event.c - lttctl disable-event: disable event rules. */
#include <string.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/names.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/show.h"
#include "ctl/session/logger.h"
#include "ctl/session/target.h"

static struct {
	struct domain_options domain;
	char *session, *channel;
	int all, all_kinds, tracepoint, syscall, probe, function;
} opt;

static const struct poptOption options[] = {
	OPTIONS_DOMAIN(opt.domain),
	OPTION_SESSION(&opt.session),
	OPTION_CHANNEL(&opt.channel, "in this channel"),
	OPTION_FLAG("all-events", 'a', &opt.all, "every event of the channel, or of a kind"),
	OPTION_FLAG("all", 0, &opt.all_kinds, "events of all kinds (default)"),
	OPTION_FLAG("tracepoint", 0, &opt.tracepoint, "tracepoints and markers, by their names"),
	OPTION_FLAG("syscall", 0, &opt.syscall, "with -k: system calls, entry and exit"),
	OPTION_FLAG("probe", 0, &opt.probe, "probes, by their names"),
	OPTION_FLAG("function", 0, &opt.function, "functions, by their names"),
	POPT_TABLEEND,
};

static bool has_kind(void)
{
	return opt.domain.kernel && (opt.tracepoint || opt.syscall || opt.probe || opt.function);
}

static enum status disable_event_one(struct ctl *ctl, const char *session,
				     enum ltt_ctl_domain domain, const char *pattern)
{
	const struct logger_domain *loggers = logger_domain_named(&opt.domain);
	const char *channel = opt.channel || !loggers ? opt.channel : loggers->channel;
	int code = ltt_ctl_disable_event(ctl->library, session, domain, channel,
					 opt.all && !has_kind() ? NULL : pattern);

	if (ctl_done(ctl, code, &ctl->err) != 0) {
		target_suggest(ctl, session, channel, pattern);
		return STATUS_ERROR;
	}
	if (channel)
		json_set_str(ctl->record, "channel", channel);
	json_append(ctl->record, "patterns", json_object_new_string(pattern));
	return STATUS_OK;
}

/* The option that selects rules of this kind; only the kernel has others than tracepoints. */
static const int *option_of(struct json_object *rule)
{
	const char *pattern = json_str(rule, "pattern"), *kind = json_str(rule, "kind");

	if (strcmp(kind, "function") == 0)
		return &opt.function;
	if (strcmp(kind, "probe") == 0 || strcmp(kind, "userspace-probe") == 0)
		return &opt.probe;
	return strncmp(pattern, "syscall_", strlen("syscall_")) == 0 ? &opt.syscall :
								       &opt.tracepoint;
}

static void add_rules_of_kind(struct json_object *channel, struct names *ret)
{
	for (size_t i = 0; i < json_len(channel, "rules"); i++) {
		struct json_object *rule = json_at(channel, "rules", i);

		if (json_flag(rule, "enabled") && *option_of(rule))
			names_add(ret, json_str(rule, "pattern"));
	}
}

/* --all-events with a kind: the daemon knows only rules of all kinds, or of one name. */
static int find_rules_of_kind(struct ctl *ctl, const char *session, struct names *ret)
{
	struct json_object *shown AUTO_RECORD = NULL;

	if (show_fetch(ctl, session, &shown, &ctl->err) != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return ctl->err.code;
	}
	for (size_t i = 0; i < json_len(shown, "channels"); i++) {
		struct json_object *channel = json_at(shown, "channels", i);

		if (strcmp(json_str(channel, "domain"), "kernel") == 0 &&
		    (!opt.channel || strcmp(json_str(channel, "name"), opt.channel) == 0))
			add_rules_of_kind(channel, ret);
	}
	if (ret->nr)
		return 0;
	return err_set(&ctl->err, ERR_NO_EVENT,
		       "no rule of this kind is enabled in session '%s'; 'lttctl status' shows "
		       "the rules",
		       session);
}

static enum status disable_all(struct ctl *ctl, const char *session, enum ltt_ctl_domain domain)
{
	struct names names CLEANUP(names_fini) = { 0 };
	enum status status = STATUS_OK;

	if (!opt.all || !has_kind())
		names_split(opt.all ? "*" : operand(ctl, 0), &names);
	else if (find_rules_of_kind(ctl, session, &names) != 0)
		return STATUS_ERROR;
	if (opt.syscall && !opt.all)
		names_of_calls(&names);
	for (size_t i = 0; i < names.nr && status == STATUS_OK; i++)
		status = disable_event_one(ctl, session, domain, names.names[i]);
	return status;
}

static enum status disable_event_check(struct ctl *ctl)
{
	enum status status = domain_check_any(ctl, &opt.domain);

	if (status == STATUS_OK && !opt.domain.kernel &&
	    (opt.syscall || opt.probe || opt.function)) {
		err_set(&ctl->err, ERR_INVALID,
			"--syscall, --probe and --function need the kernel domain: use -k (--kernel)");
		return STATUS_ERROR;
	}
	if (status != STATUS_OK || !!opt.all != !!operand(ctl, 0))
		return status;
	err_set(&ctl->err, ERR_INVALID,
		opt.all ? "--all-events and event names exclude each other" :
			  "missing argument: name the events as 'lttctl status' shows them, or use "
			  "-a for all");
	return STATUS_ERROR;
}

static enum status disable_event_run(struct ctl *ctl)
{
	enum ltt_ctl_domain domain = (enum ltt_ctl_domain)domain_named(&opt.domain);
	char *session AUTO_FREE = target_begin(ctl, opt.session, domain, "patterns");

	return session ? disable_all(ctl, session, domain) : STATUS_ERROR;
}

static void disable_event_text(FILE *out, struct json_object *record)
{
	const struct logger_domain *loggers = logger_domain_named(&opt.domain);

	for (size_t i = 0; i < json_len(record, "patterns"); i++)
		fprintf(out, "%s %s %s disabled in session %s\n",
			loggers ? loggers->title : domain_title(record),
			loggers ? "logger" : "event",
			json_object_get_string(json_at(record, "patterns", i)),
			json_str(record, "session"));
}

const struct verb verb_disable_event = {
	.name = "disable-event",
	.operands = "(-u | -k | -p | -j | -l | --log4j2) (NAME[,NAME]... | -a)",
	.help = "Record events no more",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.check = disable_event_check,
	.run = disable_event_run,
	.text = disable_event_text,
};
