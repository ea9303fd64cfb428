/* SPDX-License-Identifier: GPL-2.0-only */
/* regenerate.c - lttctl regenerate statedump: record the state dumps again. */
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
	if (what && strcmp(what, "statedump") == 0)
		return STATUS_OK;
	if (what && strcmp(what, "metadata") == 0) {
		err_set(&ctl->err, ERR_UNSUPPORTED,
			"metadata is always complete: it can't be regenerated");
		return STATUS_UNSUPPORTED;
	}
	err_set(&ctl->err, ERR_INVALID, "%s%s: use lttctl regenerate statedump",
		what ? "can't regenerate " : "missing argument", what ? what : "");
	return STATUS_ERROR;
}

static enum status regenerate_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, opt.session ? opt.session : operand(ctl, 1));
	uint32_t channels, applications, late;
	struct ltt_ctl *lib = ctl->library;
	int code;

	if (!session)
		return STATUS_ERROR;
	code = ltt_ctl_regenerate(lib, session, &channels, &applications, &late);
	if (ctl_done(ctl, code, &ctl->err) != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", session);
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

	if (json_num(record, "nr_channels"))
		fprintf(out, "The state of the system is being recorded in session %s\n",
			json_str(record, "session"));
	if (applications)
		fprintf(out, "%" PRIu64 " application%s dumped state into session %s\n",
			applications, text_plural(applications), json_str(record, "session"));
}

const struct verb verb_regenerate = {
	.name = "regenerate",
	.operands = "statedump [SESSION]",
	.help = "Record the state of the system again",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 2,
	.check = regenerate_check,
	.run = regenerate_run,
	.text = regenerate_text,
};
