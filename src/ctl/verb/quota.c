/* SPDX-License-Identifier: GPL-2.0-only */
/* quota.c - lttctl quota: shows each user's quotas and their use. */
#include "base/macros.h"
#include "ctl/print/json.h"
#include "ctl/print/table.h"
#include "ctl/session/quota.h"

static enum status quota_verb_run(struct ctl *ctl)
{
	struct json_object *quotas = NULL;

	if (quota_fetch(ctl, &quotas, &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set(ctl->record, "quotas", quotas);
	return STATUS_OK;
}

static void quota_verb_text(FILE *out, struct json_object *record)
{
	static const char *const cells[][2] = {
		{ "USER", "{user}[{?in_roots} in root's sessions]" },
		{ "WHAT", "{name}" },
		{ "USED", "{used:n}" },
		{ "LIMIT", "[{limit:n?}|none]" },
		{ "REFUSED", "{times_refused:n}" },
	};

	table_records(out, "llrrr", cells, json_get(record, "quotas"));
}

const struct verb verb_quota = {
	.name = "quota",
	.operands = "",
	.help = "Show each user's quotas and their use",
	.daemon = DAEMON_NEEDED,
	.run = quota_verb_run,
	.text = quota_verb_text,
};
