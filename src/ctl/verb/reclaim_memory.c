/* SPDX-License-Identifier: GPL-2.0-only */
/* reclaim_memory.c - lttctl reclaim-memory: give memory of buffers back to the system. */
#include <limits.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"

static struct {
	char *session, *age;
	int user, kernel, all, no_wait;
} opt;

static uint64_t age_us;

static const struct poptOption options[] = {
	OPTION_FLAG("userspace", 'u', &opt.user, "of applications (the default)"),
	OPTION_FLAG("kernel", 'k', &opt.kernel, "refused: those of the kernel keep their memory"),
	OPTION_SESSION(&opt.session),
	OPTION_FLAG("all", 'a', &opt.all, "of all channels"),
	OPTION_TEXT("older-than", 0, &opt.age, "only where events were written so long ago",
		    "PERIOD"),
	OPTION_FLAG("no-wait", 0, &opt.no_wait, "don't wait until it is done"),
	POPT_TABLEEND,
};

static int reclaim_memory_refuse(struct ctl *ctl)
{
	if (opt.kernel)
		return err_set(&ctl->err, ERR_INVALID,
			       "an event of the kernel can't wait for memory, so that its buffers "
			       "keep theirs; use -u");
	if (!opt.all && !operand(ctl, 0))
		return err_set(&ctl->err, ERR_INVALID,
			       "missing argument: name the channels, or use --all");
	if (opt.all && operand(ctl, 0))
		return err_set(&ctl->err, ERR_INVALID,
			       "--all and the name of a channel exclude each other");
	if (opt.age && options_parse_period(opt.age, &age_us) != 0)
		return err_set(&ctl->err, ERR_INVALID,
			       "--older-than=%s: this is not a period, such as 200000 "
			       "(microseconds), 200ms or 1s",
			       opt.age);
	return 0;
}

static enum status reclaim_memory_check(struct ctl *ctl)
{
	age_us = 0;
	return reclaim_memory_refuse(ctl) != 0 ? STATUS_ERROR : STATUS_OK;
}

/* @channel: NULL: all. */
static enum status reclaim_memory_of(struct ctl *ctl, const char *session, const char *channel,
				     uint64_t *bytes)
{
	unsigned int flags = opt.no_wait ? LTT_CTL_NO_WAIT : 0;
	uint64_t given;
	int code = ltt_ctl_reclaim_memory(ctl->library, session, channel, age_us, flags, &given);

	if (ctl_done(ctl, code, &ctl->err) != 0) {
		target_suggest(ctl, session, channel, NULL);
		return STATUS_ERROR;
	}
	*bytes += given;
	if (!*ltt_ctl_warning(ctl->library))
		return STATUS_OK;
	print_warning(ctl, "%s", ltt_ctl_warning(ctl->library));
	return STATUS_WARNING;
}

static void reclaim_memory_note(struct ctl *ctl, const char *session, uint64_t bytes)
{
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", session);
	json_set_str(ctl->record, "domain", json_domain(LTT_CTL_USER));
	json_object_object_add(ctl->record, "channel_names", json_object_new_array());
	for (unsigned int i = 0; operand(ctl, i); i++)
		json_append(ctl->record, "channel_names", json_object_new_string(operand(ctl, i)));
	json_set_num(ctl->record, "bytes", bytes);
	json_set_bool(ctl->record, "complete", !opt.no_wait);
}

static enum status reclaim_memory_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, opt.session);
	enum status status = STATUS_OK;
	uint64_t bytes = 0;

	if (!session)
		return STATUS_ERROR;
	if (opt.all)
		status = reclaim_memory_of(ctl, session, NULL, &bytes);
	for (unsigned int i = 0; operand(ctl, i) && status != STATUS_ERROR; i++)
		status = target_worse(status,
				      reclaim_memory_of(ctl, session, operand(ctl, i), &bytes));
	if (status != STATUS_ERROR)
		reclaim_memory_note(ctl, session, bytes);
	return status;
}

const struct verb verb_reclaim_memory = {
	.name = "reclaim-memory",
	.operands = "(--all | CHANNEL...)",
	.help = "Give memory of buffers back whose events are written",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = UINT_MAX,
	.check = reclaim_memory_check,
	.run = reclaim_memory_run,
	.form = "[{?complete}Memory of session {session}'s buffers given back: {bytes:b}|"
		"Memory of session {session}'s buffers is being given back]\n",
};
