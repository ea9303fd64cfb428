/* SPDX-License-Identifier: GPL-2.0-only */
/* regenerate.c - lttctl regenerate statedump: record the state dumps again. There is nothing to do
 * for metadata: it is complete, and has each change of the time of day. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"
#include "ctl/print/text.h"

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

	if (what && opt.session && operand(ctl, 1)) {
		err_set(&ctl->err, ERR_INVALID, "a session and --session exclude each other");
		return STATUS_ERROR;
	}
	if (what && (strcmp(what, "statedump") == 0 || strcmp(what, "metadata") == 0))
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID, "%s%s: use lttctl regenerate statedump, or metadata",
		what ? "can't regenerate " : "missing argument", what ? what : "");
	return STATUS_ERROR;
}

static bool regenerate_is_metadata(const struct ctl *ctl)
{
	return strcmp(operand(ctl, 0), "metadata") == 0;
}

static int regenerate_find(struct ctl *ctl, const char *session)
{
	struct json_object *found AUTO_RECORD = NULL;

	if (target_find_session(ctl, session, &found, &ctl->err) == 0 && !found)
		err_set(&ctl->err, ERR_NO_SESSION, "there is no session '%s'", session);
	return ctl->err.code;
}

static enum status regenerate_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, opt.session ? opt.session : operand(ctl, 1));
	uint32_t channels = 0, applications = 0, late = 0;
	struct ltt_ctl *lib = ctl->library;
	int code;

	if (!session)
		return STATUS_ERROR;
	if (regenerate_is_metadata(ctl))
		code = regenerate_find(ctl, session);
	else
		code = ctl_done(ctl,
				ltt_ctl_regenerate(lib, session, &channels, &applications, &late),
				&ctl->err);
	if (code != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", session);
	json_set_str(ctl->record, "of", operand(ctl, 0));
	json_set_num(ctl->record, "nr_channels", channels);
	json_set_num(ctl->record, "applications", applications);
	json_set_num(ctl->record, "late", late);
	if (late)
		print_warning(ctl, "%s", ltt_ctl_warning(lib));
	return STATUS_OK;
}

static void regenerate_text(FILE *out, struct json_object *record)
{
	uint64_t applications = json_num(record, "applications") - json_num(record, "late");

	if (strcmp(json_str(record, "of"), "metadata") == 0)
		fprintf(out, "The metadata of session %s is complete\n",
			json_str(record, "session"));
	if (json_num(record, "nr_channels"))
		fprintf(out, "The state of the system is being recorded in session %s\n",
			json_str(record, "session"));
	if (applications)
		fprintf(out, "%" PRIu64 " application%s dumped state into session %s\n",
			applications, text_plural(applications), json_str(record, "session"));
}

const struct verb verb_regenerate = {
	.name = "regenerate",
	.operands = "statedump | metadata [SESSION]",
	.help = "Record the state of the system again",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 2,
	.check = regenerate_check,
	.run = regenerate_run,
	.text = regenerate_text,
};
