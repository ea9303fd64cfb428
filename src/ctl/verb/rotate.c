/* SPDX-License-Identifier: GPL-2.0-only */
/* rotate.c - lttctl rotate [SESSION]...: make an archive of the recorded events, and go on. */
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "ctl/target.h"

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
	json_set_num(o, "number", archive->number);
	json_set_num(o, "bytes", archive->bytes);
	json_set_bool(o, "complete", !no_wait && !archive->waits);
	json_set_bool(o, "waits_for_relay", archive->waits);
	ltt_ctl_archive_free(archive);
	return STATUS_OK;
}

static enum status rotate_run(struct ctl *ctl)
{
	return target_each(ctl, rotate_session);
}

static void rotate_text(FILE *out, struct json_object *record)
{
	char buf[TEXT_BYTES];

	for (size_t i = 0; i < json_len(record, "sessions"); i++) {
		struct json_object *o = json_at(record, "sessions", i);

		if (json_flag(o, "complete"))
			fprintf(out, "Session %s rotated; its archive, %s: %s\n",
				json_str(o, "session"), text_size(buf, json_num(o, "bytes")),
				json_str(o, "archive"));
		else if (json_flag(o, "waits_for_relay"))
			fprintf(out,
				"Session %s rotated; its archive is complete when the relay, which "
				"is away, has received the rest: %s\n",
				json_str(o, "session"), json_str(o, "archive"));
		else
			fprintf(out, "Session %s is being rotated; its archive: %s\n",
				json_str(o, "session"), json_str(o, "archive"));
	}
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
	.text = rotate_text,
};
