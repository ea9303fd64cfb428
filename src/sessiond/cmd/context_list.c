/* SPDX-License-Identifier: GPL-2.0-only */
/* context_list: the contexts that can be recorded with each event of a channel. */
#include "cmd.h"

#include "sessiond/domain/kernel/kernel.h"
#include "sessiond/domain/user/context.h"

static void list_context(const struct layout_field *context, enum domain_id domain,
			 struct command *cmd)
{
	char type[48];
	const struct msg_context item = { context->name, (uint8_t)domain, type };

	layout_field_type(context, type, sizeof(type));
	item_context(cmd, &item);
}

static void list_kernel_context(const struct layout_field *context, void *data)
{
	list_context(context, DOMAIN_KERNEL, data);
}

static void list_user_context(const struct layout_field *context, void *data)
{
	list_context(context, DOMAIN_USER, data);
}

enum cmd_now cmd_context_list(struct command *cmd, struct req_context_list *req,
			      struct rep_context_list *rep)
{
	int err;

	(void)rep;
	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	if (req->domain != DOMAIN_KERNEL) {
		user_each_context(list_user_context, cmd);
		list_user_context(&(struct layout_field){ .name = "$app.PROVIDER:NAME",
							  .kind = LAYOUT_KIND_DYNAMIC },
				  cmd);
		return CMD_DONE;
	}
	err = kernel_each_context(cmd->sd->kernel, list_kernel_context, cmd);
	if (err == 0)
		return CMD_DONE;
	err_errno(&cmd->err, ERR_INTERNAL, -err, "the kernel's contexts can't be listed");
	return CMD_FAILED;
}
