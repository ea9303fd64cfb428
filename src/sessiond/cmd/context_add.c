/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context_add: record something about the task with each event of a channel, or of all
 * channels: of each, or of none.
 */
#include "cmd.h"

#include "sessiond/domain/kernel/kernel.h"

static bool context_add_has_room(const struct channel *channel)
{
	uint32_t nr = 1;

	for (const char *at = channel->contexts; *at; at++)
		nr += *at == ',';
	return nr < LTT_KMOD_CONTEXTS_MAX;
}

static enum cmd_now context_add_check(struct command *cmd, const struct channel *channel,
				      const char *type)
{
	if (channel_has_context(channel, type))
		return CMD_DONE;
	if (!context_add_has_room(channel))
		return command_error(cmd, ERR_INVALID,
				     "channel '%s' of session '%s' has %u contexts, which is as "
				     "many as there can be",
				     channel->name, cmd->session->name, LTT_KMOD_CONTEXTS_MAX);
	if (!kernel_contexts_frozen(cmd->sd->kernel, cmd->session, channel))
		return CMD_DONE;
	return command_error(cmd, ERR_INVALID,
			     "channel '%s' of session '%s' has recorded events already, and all "
			     "events of a channel have the same contexts; create another channel "
			     "(`lttctl enable-channel -k`), and add contexts before its first "
			     "event",
			     channel->name, cmd->session->name);
}

/* Where no channel is named, all of the domain are meant. */
static bool is_meant(const struct channel *channel, const struct channel *named)
{
	return named ? channel == named : channel->domain == DOMAIN_KERNEL;
}

static bool context_add_has_any(const struct session *session)
{
	const struct channel *channel;

	list_for_each(channel, &session->channels, node)
		if (channel->domain == DOMAIN_KERNEL)
			return true;
	return false;
}

static enum cmd_now context_add_all(struct command *cmd, const struct channel *named,
				    const char *type, uint32_t *ret_added)
{
	struct channel *channel;

	list_for_each(channel, &cmd->session->channels, node)
		if (is_meant(channel, named) && context_add_check(cmd, channel, type) != CMD_DONE)
			return CMD_FAILED;
	list_for_each(channel, &cmd->session->channels, node) {
		if (!is_meant(channel, named) || channel_has_context(channel, type))
			continue;
		channel_add_context(channel, type);
		(*ret_added)++;
	}
	return CMD_DONE;
}

enum cmd_now cmd_context_add(struct command *cmd, struct req_context_add *req,
			     struct rep_context_add *rep)
{
	struct channel *named = NULL;

	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	if (req->domain != DOMAIN_KERNEL)
		return command_error(cmd, ERR_UNSUPPORTED,
				     "events of applications have no contexts yet; those of the "
				     "kernel (-k) can have them");
	if (kernel_check_context(cmd->sd->kernel, req->type, &cmd->err))
		return CMD_FAILED;
	if (req->channel[0] || !context_add_has_any(cmd->session)) {
		named = command_channel(cmd, req->domain, req->channel, !req->channel[0]);
		if (!named)
			return CMD_FAILED;
	}
	return context_add_all(cmd, named, req->type, &rep->channels);
}
