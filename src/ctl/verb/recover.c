/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recover.c - lttctl recover: after daemons were killed, have new daemons
 * write the data in the buffers, and report it. Any request
 * starts them; this verb waits until they have finished.
 */
#include <string.h>

#include "ctl/connect.h"
#include "ctl/record/loss.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"
#include "ctl/record/totals.h"

static int stop;

static const struct poptOption options[] = {
	OPTION_FLAG("stop", 's', &stop, "stop the sessions whose applications have all ended"),
	POPT_TABLEEND,
};

static struct json_object *totals_of(struct json_object *session)
{
	return json_get(session, "totals");
}

static enum status stop_one(struct ctl *ctl, struct json_object *session)
{
	struct ltt_ctl_totals *totals;
	int code = ltt_ctl_stop(ctl->library, json_str(session, "name"), 0, &totals);

	if (ctl_done(ctl, code, &ctl->err) != 0)
		return STATUS_ERROR;
	json_set(session, "totals", json_totals(totals));
	json_set_str(session, "state", "stopped");
	ltt_ctl_totals_free(totals);
	return STATUS_OK;
}

static bool recover_is_over(struct json_object *session)
{
	return strcmp(json_str(session, "state"), "recording") == 0 &&
	       json_num(session, "applications") == 0;
}

static enum status recover_one(struct ctl *ctl, struct json_object *session)
{
	enum status status = stop && recover_is_over(session) ? stop_one(ctl, session) : STATUS_OK;

	return target_worse(status,
			    loss_unknown_in(ctl, json_str(session, "name"), totals_of(session)));
}

static enum status recover_run(struct ctl *ctl)
{
	struct ltt_ctl *lib = ctl->library;
	struct ltt_ctl_sessions *sessions;
	enum status status = STATUS_OK;

	if (ctl_done(ctl, ltt_ctl_recover(lib, &sessions), &ctl->err) != 0)
		return STATUS_ERROR;
	if (*ltt_ctl_warning(lib))
		print_warning(ctl, "%s", ltt_ctl_warning(lib));
	ctl->record = json_object_new_object();
	json_set(ctl->record, "sessions", json_object_new_array());
	for (size_t i = 0; i < sessions->nr; i++)
		json_append(ctl->record, "sessions", json_session(sessions->sessions[i]));
	ltt_ctl_sessions_free(sessions);
	for (size_t i = 0; i < json_len(ctl->record, "sessions"); i++)
		status = target_worse(status,
				      recover_one(ctl, json_at(ctl->record, "sessions", i)));
	return status;
}

static void recover_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < json_len(record, "sessions"); i++) {
		struct json_object *session = json_at(record, "sessions", i);

		text_form(out, session, "{name} ({state}): ");
		totals_text(out, totals_of(session));
		fputc('\n', out);
	}
	if (json_len(record, "sessions") == 0)
		fputs("there are no sessions\n", out);
}

const struct verb verb_recover = {
	.name = "recover",
	.operands = "",
	.help = "After daemons were killed: write what is in the buffers",
	.options = options,
	.daemon = DAEMON_STARTED,
	.run = recover_run,
	.text = recover_text,
};
