/* SPDX-License-Identifier: GPL-2.0-only */
/* rotate.c - lttctl rotate [SESSION]...: make an archive of the recorded events, and go on. */
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/session/target.h"

static int no_wait;

static const struct poptOption options[] = {
	OPTION_FLAG("no-wait", 'n', &no_wait, "don't wait until the archive is complete"),
	OPTIONS_TARGET,
	POPT_TABLEEND,
};

static enum status rotate_session(struct ctl *ctl, const char *session)
{
	unsigned int flags = no_wait ? LTT_CTL_NO_WAIT : 0;
	struct ltt_ctl_archive *archive;
	struct json_object *o;

	if (ctl_done(ctl, ltt_ctl_rotate(ctl->library, session, flags, &archive), &ctl->err) != 0)
		return target_failed(ctl, session);
	o = target_record(ctl, session);
	json_set_str(o, "archive", archive->path);
	JSON_COPY(o, archive, number, bytes);
	json_set_bool(o, "complete", !no_wait && !archive->waits);
	json_set_bool(o, "waits_for_relay", archive->waits);
	ltt_ctl_archive_free(archive);
	return STATUS_OK;
}

static enum status rotate_run(struct ctl *ctl)
{
	return target_each(ctl, rotate_session);
}

const struct verb verb_rotate = {
	.name = "rotate",
	.operands = TARGET_OPERANDS,
	.help = "Make an archive of what is recorded, and go on",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = TARGET_MOST,
	.check = target_check,
	.run = rotate_run,
	.form = "[{?complete}Session {session} rotated; its archive, {bytes:b}: {archive}\n|"
		"{?waits_for_relay}Session {session} rotated; its archive is complete when the relay, "
		"which is away, has received the rest: {archive}\n|"
		"Session {session} is being rotated; its archive: {archive}\n]",
};
