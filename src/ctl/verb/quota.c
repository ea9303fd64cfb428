/* SPDX-License-Identifier: GPL-2.0-only */
/* quota.c - lttctl quota: shows each user's quotas and their use. */
#include <inttypes.h>

#include "base/macros.h"
#include "ctl/print/json.h"
#include "ctl/print/table.h"
#include "ctl/print/text.h"
#include "ctl/quota.h"

static enum status quota_verb_run(struct ctl *ctl)
{
	struct json_object *quotas = NULL;

	if (quota_fetch(ctl, &quotas, &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set(ctl->record, "quotas", quotas);
	return STATUS_OK;
}

static void quota_verb_add_row(struct table *table, struct json_object *quota)
{
	uint64_t limit = json_num(quota, "limit");
	char buf[TEXT_BYTES];

	table_cell(table, "%" PRIu64 "%s", json_num(quota, "user"),
		   json_flag(quota, "in_roots") ? " in root's sessions" : "");
	table_cell(table, "%s", json_str(quota, "name"));
	table_cell(table, "%s", text_count(buf, json_num(quota, "used")));
	table_cell(table, "%s", limit ? text_count(buf, limit) : "none");
	table_cell(table, "%s", text_count(buf, json_num(quota, "times_refused")));
}

static void quota_verb_text(FILE *out, struct json_object *record)
{
	static const char *const heads[] = { "USER", "WHAT", "USED", "LIMIT", "REFUSED" };
	struct table table = { .columns = "llrrr" };

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&table, "%s", heads[i]);
	for (size_t i = 0; i < json_len(record, "quotas"); i++)
		quota_verb_add_row(&table, json_at(record, "quotas", i));
	table_print(out, &table);
}

const struct verb verb_quota = {
	.name = "quota",
	.operands = "",
	.help = "Show each user's quotas and their use",
	.daemon = DAEMON_NEEDED,
	.run = quota_verb_run,
	.text = quota_verb_text,
};
