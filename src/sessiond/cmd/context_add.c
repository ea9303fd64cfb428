/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context_add: record a fact about the task or thread with each event of a channel, or of all
 * channels. On an error no channel is changed.
 */
#include "cmd.h"

#include "base/mem.h"
#include "sessiond/domain/kernel/kernel.h"
#include "sessiond/domain/user/context.h"

struct context_added {
	struct command *cmd;
	uint32_t channels;
};

static void context_add_in_force(void *data, uint32_t apps, uint32_t late,
				 const struct err *problem)
{
	struct context_added *added = data;
	struct rep_context_add rep = { .channels = added->channels };

	(void)apps, (void)late, (void)problem;
	reply_context_add(added->cmd, &rep);
	free(added);
}

static bool context_add_has_room(const struct channel *channel)
{
	uint32_t nr = 1;

	for (const char *at = channel->contexts; *at; at++)
		nr += *at == ',';
	return nr < LTT_KMOD_CONTEXTS_MAX;
}

/* Return: whether the channel may get the context. */
static bool context_add_check(struct command *cmd, const struct channel *channel, const char *type)
{
	if (channel_has_context(channel, type))
		return true;
	if (!context_add_has_room(channel)) {
		command_error(cmd, ERR_INVALID,
			      "channel '%s' of session '%s' has %u contexts, which is as many as "
			      "there can be",
			      channel->name, cmd->session->name, LTT_KMOD_CONTEXTS_MAX);
		return false;
	}
	if (channel->domain != DOMAIN_KERNEL ||
	    !kernel_contexts_frozen(cmd->sd->kernel, cmd->session, channel))
		return true;
	command_error(cmd, ERR_INVALID,
		      "channel '%s' of session '%s' has recorded events already, and all events of "
		      "a channel have the same contexts; create another channel "
		      "(`lttctl enable-channel -k`), and add contexts before its first event",
		      channel->name, cmd->session->name);
	return false;
}

/* If no channel is named, all of the domain are meant. */
static bool is_meant(const struct channel *channel, const struct channel *named,
		     enum domain_id domain)
{
	return named ? channel == named : channel->domain == domain;
}

static bool context_add_has_any(const struct session *session, enum domain_id domain)
{
	const struct channel *channel;

	list_for_each(channel, &session->channels, node)
		if (channel->domain == domain)
			return true;
	return false;
}

static bool context_add_all(struct command *cmd, const struct channel *named,
			    const struct req_context_add *req, uint32_t *ret_added)
{
	enum domain_id domain = (enum domain_id)req->domain;
	struct channel *channel;

	list_for_each(channel, &cmd->session->channels, node)
		if (is_meant(channel, named, domain) && !context_add_check(cmd, channel, req->type))
			return false;
	list_for_each(channel, &cmd->session->channels, node) {
		if (!is_meant(channel, named, domain) || channel_has_context(channel, req->type))
			continue;
		channel_add_context(channel, req->type);
		(*ret_added)++;
	}
	return true;
}

static int context_add_check_type(struct command *cmd, const struct req_context_add *req)
{
	return req->domain == DOMAIN_KERNEL ?
		       kernel_check_context(cmd->sd->kernel, req->type, &cmd->err) :
		       user_check_context(req->type, &cmd->err);
}

int cmd_context_add(struct command *cmd, struct req_context_add *req, struct rep_context_add *rep)
{
	struct domain_tracer *tracer = cmd->sd->tracer;
	struct channel *named = NULL;
	struct context_added *added;
	uint32_t channels = 0;

	(void)rep;
	if (command_domain(cmd, req->domain) != CMD_DONE || context_add_check_type(cmd, req))
		return CMD_FAILED;
	if (req->channel[0] || !context_add_has_any(cmd->session, (enum domain_id)req->domain)) {
		named = command_channel(cmd, req->domain, req->channel, !req->channel[0]);
		if (!named)
			return CMD_FAILED;
	}
	if (!context_add_all(cmd, named, req, &channels))
		return CMD_FAILED;
	added = xalloc(sizeof(*added));
	*added = (struct context_added){ cmd, channels };
	tracer->ops->refresh(tracer, cmd->session, context_add_in_force, added);
	return CMD_WAIT;
}
