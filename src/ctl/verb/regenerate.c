/* SPDX-License-Identifier: GPL-2.0-only */
/* regenerate.c - lttctl regenerate statedump: record the state again. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "libctl/calls.h"
#include "ctl/options.h"
#include "ctl/record.h"
#include "ctl/print.h"
#include "ctl/target.h"
#include "ctl/text.h"

static struct {
	char *session;
} opt;

static const struct poptOption options[] = {
	OPTION_SESSION(&opt.session),
	POPT_TABLEEND,
};

static enum status regenerate_check(struct ctl *ctl)
{
	const char *what = operand(ctl, 0);

	if (what && strcmp(what, "statedump") == 0)
		return STATUS_OK;
	if (what && strcmp(what, "metadata") == 0) {
		err_set(&ctl->err, ERR_UNSUPPORTED,
			"metadata is always complete: it can't be regenerated");
		return STATUS_UNSUPPORTED;
	}
	err_set(&ctl->err, ERR_INVALID, "missing argument: use lttctl regenerate statedump");
	return STATUS_ERROR;
}

static enum status regenerate_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, opt.session);
	struct req_statedump req = { .session = session };
	struct rep_statedump rep;

	if (!session)
		return STATUS_ERROR;
	if (call_statedump(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	ctl->record = json_object_new_object();
	record_set_str(ctl->record, "session", session);
	record_set_num(ctl->record, "channels", rep.channels);
	record_set_num(ctl->record, "applications", rep.applications);
	record_set_num(ctl->record, "late", rep.late);
	if (rep.late)
		print_warning(ctl, "%" PRIu32 " application%s not dumped its state yet", rep.late,
			      rep.late == 1 ? " has" : "s have");
	return STATUS_OK;
}

static void regenerate_text(FILE *out, struct json_object *record)
{
	uint64_t applications = record_num(record, "applications") - record_num(record, "late");

	if (record_num(record, "channels"))
		fprintf(out, "The state of the system is being recorded in session %s\n",
			record_str(record, "session"));
	if (applications)
		fprintf(out, "%" PRIu64 " application%s dumped state into session %s\n",
			applications, text_plural(applications), record_str(record, "session"));
}

const struct verb verb_regenerate = {
	.name = "regenerate",
	.operands = "statedump",
	.help = "Record the state of the system again",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.check = regenerate_check,
	.run = regenerate_run,
	.text = regenerate_text,
};
