/* SPDX-License-Identifier: GPL-2.0-only */
/* context_list: the contexts that can be recorded with each event of a channel. */
#include "cmd.h"

#include "trace/layout.h"

struct context_listing {
	struct command *cmd;
	uint8_t domain;
};

static void list_context(const struct layout_field *context, void *data)
{
	struct context_listing *listing = data;
	char type[48];
	const struct msg_context item = { context->name, listing->domain, type };

	layout_field_type(context, type, sizeof(type));
	item_context(listing->cmd, &item);
}

enum cmd_now cmd_context_list(struct command *cmd, struct req_context_list *req,
			      struct rep_context_list *rep)
{
	struct context_listing listing = { cmd, req->domain };
	struct domain_tracer *tracer;

	(void)rep;
	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	tracer = command_tracer(cmd, req->domain);
	return tracer->ops->each_context(tracer, list_context, &listing, &cmd->err) ? CMD_FAILED :
										      CMD_DONE;
}
