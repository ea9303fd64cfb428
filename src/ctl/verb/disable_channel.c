/* SPDX-License-Identifier: GPL-2.0-only */
/* disable_channel.c - lttctl disable-channel: record no events into channels until they are enabled
 * again. */
#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/names.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/session/target.h"

static struct {
	struct domain_options domain;
	char *session;
} opt;

static const struct poptOption options[] = {
	OPTIONS_DOMAIN(opt.domain),
	OPTION_SESSION(&opt.session),
	POPT_TABLEEND,
};

static enum status disable_channel_one(struct ctl *ctl, const char *session,
				       enum ltt_ctl_domain domain, const char *channel)
{
	int code = ltt_ctl_disable_channel(ctl->library, session, domain, channel);

	if (ctl_done(ctl, code, &ctl->err) != 0) {
		target_suggest(ctl, session, channel, NULL);
		return STATUS_ERROR;
	}
	json_append(ctl->record, "channel_names", json_object_new_string(channel));
	return STATUS_OK;
}

static enum status disable_channel_check(struct ctl *ctl)
{
	enum status status = domain_check(ctl, &opt.domain);

	if (status != STATUS_OK || operand(ctl, 0))
		return status;
	err_set(&ctl->err, ERR_INVALID, "missing argument: name the channels");
	return STATUS_ERROR;
}

static enum status disable_channel_run(struct ctl *ctl)
{
	enum ltt_ctl_domain domain = (enum ltt_ctl_domain)domain_named(&opt.domain);
	struct names names CLEANUP(names_fini) = { 0 };
	char *session AUTO_FREE = target_begin(ctl, opt.session, domain, "channel_names");
	enum status status = STATUS_OK;

	if (!session)
		return STATUS_ERROR;
	names_split(operand(ctl, 0), &names);
	for (size_t i = 0; i < names.nr && status == STATUS_OK; i++)
		status = disable_channel_one(ctl, session, domain, names.names[i]);
	return status;
}

static void disable_channel_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < json_len(record, "channel_names"); i++)
		fprintf(out, "%s channel %s disabled for session %s\n", domain_title(record),
			json_object_get_string(json_at(record, "channel_names", i)),
			json_str(record, "session"));
}

const struct verb verb_disable_channel = {
	.name = "disable-channel",
	.operands = "(-u | -k) NAME[,NAME]...",
	.help = "Record nothing into a channel until it is enabled again",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.check = disable_channel_check,
	.run = disable_channel_run,
	.text = disable_channel_text,
};
