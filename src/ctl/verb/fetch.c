/* SPDX-License-Identifier: GPL-2.0-only */
/* fetch.c - lttctl fetch URL DIR: plain traces of archived sessions. */
#include "ctl/ctl.h"
#include "ctl/trace/fetched.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "show/show.h"

static struct show_options times;

static const struct poptOption options[] = {
	OPTION_TEXT("begin", 0, &times.begin, "only what the events from this time on need", "TIME"),
	OPTION_TEXT("end", 0, &times.end, "and those up to this time", "TIME"),
	POPT_TABLEEND,
};

static enum status fetch_verb_check(struct ctl *ctl)
{
	if (operand(ctl, 0) && operand(ctl, 1))
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID,
		"the URL of the archive and a new directory are needed: lttctl fetch "
		"s3://BUCKET/PREFIX/HOST/SESSION DIR");
	return STATUS_ERROR;
}

static enum status fetch_verb_run(struct ctl *ctl)
{
	struct json_object *sessions = NULL;
	struct view_select select = { 0 };
	int code = times.begin || times.end ? fetched_times(ctl, operand(ctl, 0), &times, &select) :
					      0;

	code = code ?: fetched_into(ctl, operand(ctl, 0), operand(ctl, 1), &select, &sessions);

	if (sessions) {
		ctl->record = json_object_new_object();
		json_set(ctl->record, "sessions", sessions);
	}
	return code ? STATUS_ERROR : STATUS_OK;
}

static void fetch_verb_text(FILE *out, struct json_object *record)
{
	text_forms(out, record, "sessions",
		   "{path}: {packets:n} packet{packets:s}, {bytes:n} bytes"
		   "[{!ended}; the session has not ended, or its end is not archived]\n");
}

const struct verb verb_fetch = {
	.name = "fetch",
	.operands = "URL DIR",
	.help = "Make plain traces of archived sessions",
	.options = options,
	.daemon = DAEMON_UNUSED,
	.max_operands = 2,
	.check = fetch_verb_check,
	.run = fetch_verb_run,
	.text = fetch_verb_text,
};
