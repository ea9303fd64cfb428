/* SPDX-License-Identifier: GPL-2.0-only */
/* quota_list: the users' quotas and their use. */
#include "cmd.h"

static bool quota_list_is_bound(const struct quotas *quotas, uid_t uid)
{
	return uid != 0 && uid != quotas->self;
}

static void quota_list_show(const struct quota_account *account, void *data)
{
	struct command *cmd = data;
	const struct quotas *quotas = &cmd->sd->quotas;
	uid_t uid = account->id.uid;

	if (cmd->caller.uid != 0 && cmd->caller.uid != uid)
		return;
	for (unsigned int kind = 0; kind < NR_QUOTAS; kind++) {
		const struct quota_use *use = &account->use[kind];
		const struct msg_quota item = {
			.uid = uid,
			.guest = account->id.guest,
			.name = quota_name((enum quota)kind),
			.used = use->used,
			.limit = quota_list_is_bound(quotas, uid) ? quotas->limits[kind] : 0,
			.refused = use->refused,
		};

		if (use->used || use->refused)
			item_quota(cmd, &item);
	}
}

enum cmd_now cmd_quota_list(struct command *cmd, struct req_quota_list *req,
			    struct rep_quota_list *rep)
{
	(void)req, (void)rep;
	quotas_each(&cmd->sd->quotas, quota_list_show, cmd);
	return CMD_DONE;
}
