/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context_add: record facts about the task or thread with each event of a channel, or of all
 * channels. On an error no channel is changed: all types are checked first.
 */
#include "cmd.h"

#include <string.h>

#include "base/mem.h"

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

/* The next type of a comma-separated list; allocated. NULL: the list has ended. */
static char *context_add_next(const char **at)
{
	size_t len = strcspn(*at, ",");
	char *type = **at ? xasprintf("%.*s", (int)len, *at) : NULL;

	*at += len + ((*at)[len] == ',');
	return type;
}

/* Return: the number of types that the channel lacks. */
static uint32_t context_add_lacks(const struct channel *channel, const char *types)
{
	uint32_t nr = 0;
	char *type;

	while ((type = context_add_next(&types))) {
		nr += !channel_has_context(channel, type);
		free(type);
	}
	return nr;
}

/* Return: whether the channel may get the contexts. */
static bool context_add_check(struct command *cmd, const struct channel *channel, const char *types)
{
	uint32_t nr = context_add_lacks(channel, types);
	struct domain_tracer *tracer;

	if (!nr)
		return true;
	if (nr > LTT_KMOD_CONTEXTS_MAX - channel_nr_contexts(channel)) {
		command_error(cmd, ERR_INVALID,
			      "channel '%s' of session '%s' has %u contexts; there can be %u",
			      channel->name, cmd->session->name, channel_nr_contexts(channel),
			      LTT_KMOD_CONTEXTS_MAX);
		return false;
	}
	tracer = command_tracer(cmd, (uint8_t)channel->domain);
	return tracer->ops->check_contexts_of(tracer, cmd->session, channel, types, &cmd->err) == 0;
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

static void context_add_to(struct channel *channel, const char *types)
{
	char *type;

	while ((type = context_add_next(&types))) {
		if (!channel_has_context(channel, type))
			channel_add_context(channel, type);
		free(type);
	}
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
		if (!is_meant(channel, named, domain) || !context_add_lacks(channel, req->type))
			continue;
		context_add_to(channel, req->type);
		(*ret_added)++;
	}
	return true;
}

/* Another domain that has the context; NULL: none. */
static const struct domain_tracer *context_add_other(struct command *cmd, uint8_t domain,
						     const char *type)
{
	struct domain_tracer *other;

	domains_each(other, &cmd->sd->domains)
	{
		struct err err = { 0 };

		if (other->ops->id != domain && other->ops->available(other, &err) == 0 &&
		    other->ops->check_context(other, type, &err) == 0)
			return other;
	}
	return NULL;
}

static int context_add_check_type(struct command *cmd, uint8_t domain, const char *type)
{
	struct domain_tracer *tracer = command_tracer(cmd, domain);
	const struct domain_tracer *other;

	if (tracer->ops->check_context(tracer, type, &cmd->err) == 0 || domain == DOMAIN_USER)
		return cmd->err.code;
	other = context_add_other(cmd, domain, type);
	if (!other)
		return cmd->err.code;
	cmd->err = (struct err){ 0 };
	return err_set(&cmd->err, ERR_INVALID,
		       "context '%.60s' is of %s only (-%c): %s does not know it", type,
		       other->ops->events, other->ops->option, tracer->ops->events);
}

/* From addresses of the kernel its place in memory can be computed. */
static int context_add_check_right(struct command *cmd, const char *type)
{
	if (cmd->caller.uid == 0 || strcmp(type, "callstack-kernel") != 0)
		return 0;
	return err_set(&cmd->err, ERR_DENIED,
		       "only root may record addresses of the kernel (context callstack-kernel): run "
		       "lttctl as root (`sudo lttctl ...`)");
}

static int context_add_check_types(struct command *cmd, const struct req_context_add *req)
{
	for (const char *at = req->type;;) {
		size_t len = strcspn(at, ",");
		char *type AUTO_FREE = xasprintf("%.*s", (int)len, at);

		if (context_add_check_right(cmd, type) != 0 ||
		    context_add_check_type(cmd, req->domain, type) != 0 || !at[len])
			return cmd->err.code;
		at += len + 1;
	}
}

int cmd_context_add(struct command *cmd, struct req_context_add *req, struct rep_context_add *rep)
{
	struct domain_tracer *tracer;
	struct channel *named = NULL;
	struct context_added *added;
	uint32_t channels = 0;

	(void)rep;
	if (command_domain(cmd, req->domain) != CMD_DONE || context_add_check_types(cmd, req))
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
	tracer = command_tracer(cmd, req->domain);
	tracer->ops->refresh(tracer, cmd->session, context_add_in_force, added);
	return CMD_WAIT;
}
