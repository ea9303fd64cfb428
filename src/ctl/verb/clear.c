/* SPDX-License-Identifier: GPL-2.0-only */
/* clear.c - lttctl clear [SESSION]...: remove the recorded events, and go on. */
#include <inttypes.h>

#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "ctl/target.h"

static int no_wait;

static const struct poptOption options[] = {
	OPTION_FLAG("no-wait", 'n', &no_wait, "don't wait until it is done"),
	OPTIONS_TARGET,
	POPT_TABLEEND,
};

static enum status clear_session(struct ctl *ctl, const char *session)
{
	unsigned int flags = no_wait ? LTT_CTL_NO_WAIT : 0;
	struct json_object *o;
	uint64_t cleared;

	if (ctl_done(ctl, ltt_ctl_clear(ctl->library, session, flags, &cleared), &ctl->err) != 0)
		return target_failed(ctl, session);
	o = target_record(ctl, session);
	json_set(o, "cleared", no_wait ? NULL : json_object_new_uint64(cleared));
	return STATUS_OK;
}

static enum status clear_run(struct ctl *ctl)
{
	return target_each(ctl, clear_session);
}

static void clear_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < json_len(record, "sessions"); i++) {
		struct json_object *o = json_at(record, "sessions", i);
		uint64_t cleared = json_num(o, "cleared");

		if (json_get(o, "cleared"))
			fprintf(out, "Session %s cleared: %" PRIu64 " event%s removed\n",
				json_str(o, "session"), cleared, text_plural(cleared));
		else
			fprintf(out, "Session %s is being cleared\n", json_str(o, "session"));
	}
}

const struct verb verb_clear = {
	.name = "clear",
	.operands = TARGET_OPERANDS,
	.help = "Remove what is recorded, and go on",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = TARGET_MOST,
	.check = target_check,
	.run = clear_run,
	.text = clear_text,
};
