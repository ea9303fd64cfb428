/* SPDX-License-Identifier: GPL-2.0-only */
/* disable_event.c - lttctl disable-event: disable event rules. */
#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/names.h"
#include "ctl/options.h"
#include "ctl/record.h"
#include "ctl/target.h"

static struct {
	struct domain_options domain;
	char *session, *channel;
	int all, all_kinds, tracepoint, syscall, probe, function;
} opt;

static const struct poptOption options[] = {
	OPTIONS_DOMAIN(opt.domain),
	OPTION_SESSION(&opt.session),
	OPTION_CHANNEL(&opt.channel, "in this channel"),
	OPTION_FLAG("all-events", 'a', &opt.all, "every event of the channel"),
	OPTION_FLAG("all", 0, &opt.all_kinds, "events of all kinds (default)"),
	OPTION_FLAG("tracepoint", 0, &opt.tracepoint, "tracepoints and markers, by their names"),
	OPTION_FLAG("syscall", 0, &opt.syscall, "with -k: system calls, entry and exit"),
	OPTION_FLAG("probe", 0, &opt.probe, "probes, by their names"),
	OPTION_FLAG("function", 0, &opt.function, "functions, by their names"),
	POPT_TABLEEND,
};

static enum status disable_event_one(struct ctl *ctl, const char *session,
				     enum ltt_ctl_domain domain, const char *pattern)
{
	int code = ltt_ctl_disable_event(ctl->library, session, domain, opt.channel,
					 opt.all ? NULL : pattern);

	if (ctl_done(ctl, code, &ctl->err) != 0) {
		target_suggest(ctl, session, opt.channel, pattern);
		return STATUS_ERROR;
	}
	record_append(ctl->record, "events", json_object_new_string(pattern));
	return STATUS_OK;
}

static enum status disable_all(struct ctl *ctl, const char *session, enum ltt_ctl_domain domain)
{
	struct names names CLEANUP(names_fini) = { 0 };
	enum status status = STATUS_OK;

	names_split(opt.all ? "*" : operand(ctl, 0), &names);
	if (opt.syscall && !opt.all)
		names_of_calls(&names);
	for (size_t i = 0; i < names.nr && status == STATUS_OK; i++)
		status = disable_event_one(ctl, session, domain, names.names[i]);
	return status;
}

static enum status disable_event_check(struct ctl *ctl)
{
	enum status status = domain_check(ctl, &opt.domain);

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
	char *session AUTO_FREE = target_begin(ctl, opt.session, domain, "events");

	return session ? disable_all(ctl, session, domain) : STATUS_ERROR;
}

static void disable_event_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < record_len(record, "events"); i++)
		fprintf(out, "%s event %s disabled in session %s\n", domain_title(record),
			json_object_get_string(record_at(record, "events", i)),
			record_str(record, "session"));
}

const struct verb verb_disable_event = {
	.name = "disable-event",
	.operands = "(-u | -k) (NAME[,NAME]... | -a)",
	.help = "Record events no more",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.check = disable_event_check,
	.run = disable_event_run,
	.text = disable_event_text,
};
