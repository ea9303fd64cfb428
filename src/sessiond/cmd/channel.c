/* SPDX-License-Identifier: GPL-2.0-only */
/* channel.c - finds the channel that a command refers to. */
#include "cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define EVENTS_BYTES 256u /* of a preset */

/* A preset that is searched by its name, or by a pattern of events. */
struct preset_search {
	struct command *cmd;
	struct domain_tracer *tracer;
	const char *name, *pattern; /* NULL: not by this */
	char found[NAME_MAX_BYTES]; /* its name; empty: none yet */
	char events[EVENTS_BYTES];
	struct domain_preset preset;
};

/* Its sizes are not the user's: one that can't be made is no preset. */
static bool preset_is_feasible(const struct preset_search *search,
			       const struct domain_preset *preset)
{
	struct channel_attr attr = { .subbuf_size = preset->subbuf_size,
				     .num_subbuf = preset->num_subbuf };
	struct err ignored = { 0 };

	return channel_attr_resolve(&attr, search->tracer->ops->id, &search->cmd->sd->limits,
				    &ignored) == 0;
}

static void preset_is_found(const struct domain_preset *preset, void *data)
{
	struct preset_search *search = data;

	if (*search->found || *preset->unused || strlen(preset->events) >= EVENTS_BYTES ||
	    (search->name && strcmp(preset->name, search->name) != 0) ||
	    (search->pattern &&
	     !search->tracer->ops->is_preset_for(search->tracer, preset, search->pattern)) ||
	    !preset_is_feasible(search, preset))
		return;
	snprintf(search->found, sizeof(search->found), "%s", preset->name);
	snprintf(search->events, sizeof(search->events), "%s", preset->events);
	search->preset = *preset;
	search->preset.name = search->found;
	search->preset.events = search->events;
}

/* Return: whether a preset is found. The obstacles of one are searched, which takes its time. */
static bool preset_find(struct preset_search *search)
{
	const struct domain_ops *ops = search->tracer->ops;
	uid_t uid = search->cmd->session->uid;

	ops->each_preset(search->tracer, uid, preset_is_found, search);
	return *search->found && (!ops->preset_obstacle ||
				  !*ops->preset_obstacle(search->tracer, &search->preset, uid));
}

void command_channel_preset(struct command *cmd, uint8_t domain, const char *name,
			    struct channel_attr *attr)
{
	struct preset_search search = { .cmd = cmd,
					.tracer = command_tracer(cmd, domain),
					.name = name };

	if (!preset_find(&search))
		return;
	if (!attr->subbuf_size)
		attr->subbuf_size = search.preset.subbuf_size;
	if (!attr->num_subbuf)
		attr->num_subbuf = search.preset.num_subbuf;
}

/* As LTTng does: a channel that is named first by an event rule has the defaults. */
static struct channel *cmd_channel_make_channel(struct command *cmd, enum domain_id domain,
						const char *name)
{
	struct channel_attr attr = { 0 };
	struct channel *channel = NULL;

	command_channel_preset(cmd, (uint8_t)domain, name, &attr);
	if (session_choose_mode(cmd->session, domain, CHANNEL_DEFAULT, &attr, &cmd->err) == 0 &&
	    channel_attr_resolve(&attr, domain, &cmd->sd->limits, &cmd->err) == 0 &&
	    session_add_channel(cmd->session, name, domain, &attr, &channel, &cmd->err) == 0)
		return channel;
	return NULL;
}

static struct channel *next_of(const struct session *session, enum domain_id domain,
			       const struct channel *after)
{
	struct channel *channel;
	bool behind = !after;

	list_for_each(channel, &session->channels, node) {
		if (behind && channel->domain == domain && !channel->preset && !channel->remember)
			return channel;
		behind |= channel == after;
	}
	return NULL;
}

/* The only channel of the domain; of several the one with the default name. */
static struct channel *meant_channel(struct command *cmd, enum domain_id domain, bool make)
{
	struct channel *channel = next_of(cmd->session, domain, NULL);

	if (!channel) {
		if (make)
			return cmd_channel_make_channel(cmd, domain, CHANNEL_DEFAULT_NAME);
		command_error(cmd, ERR_NO_CHANNEL, "session '%s' has no channel%s yet",
			      cmd->session->name, domain == DOMAIN_KERNEL ? " of the kernel" : "");
		return NULL;
	}
	if (!next_of(cmd->session, domain, channel))
		return channel;
	channel = session_find_channel(cmd->session, domain, CHANNEL_DEFAULT_NAME);
	if (!channel)
		command_error(cmd, ERR_NO_CHANNEL,
			      "session '%s' has several channels; name one with --channel",
			      cmd->session->name);
	return channel;
}

static void no_channel(struct command *cmd, enum domain_id domain, const char *name)
{
	const char **words = xalloc((SESSION_MAX_CHANNELS + 1) * sizeof(*words));
	const struct channel *channel;
	const char *near;
	size_t nr = 0;

	list_for_each(channel, &cmd->session->channels, node)
		if (channel->domain == domain)
			words[nr++] = channel->name;
	near = nearest_word(name, words);
	if (near)
		command_error(cmd, ERR_NO_CHANNEL,
			      "session '%s' has no channel '%s'; did you mean '%s'?",
			      cmd->session->name, name, near);
	else
		command_error(cmd, ERR_NO_CHANNEL,
			      "session '%s' has no channel '%s'; create it with `lttctl "
			      "enable-channel -%c`",
			      cmd->session->name, name,
			      command_tracer(cmd, (uint8_t)domain)->ops->option);
	free(words);
}

struct channel *command_channel(struct command *cmd, uint8_t domain, const char *name, bool make)
{
	struct channel *channel;

	if (!name[0])
		return meant_channel(cmd, (enum domain_id)domain, make);
	channel = session_find_channel(cmd->session, (enum domain_id)domain, name);
	if (!channel && make)
		return cmd_channel_make_channel(cmd, (enum domain_id)domain, name);
	if (!channel)
		no_channel(cmd, (enum domain_id)domain, name);
	return channel;
}

static bool has_rule(const struct channel *channel, const char *pattern)
{
	const struct rule *rule;

	list_for_each(rule, &channel->rules, node)
		if (strcmp(rule->pattern, pattern) == 0)
			return true;
	return false;
}

/* The program that has registered it may have ended. */
static struct channel *preset_with_rule(const struct session *session, enum domain_id domain,
					const char *pattern)
{
	struct channel *channel;

	list_for_each(channel, &session->channels, node)
		if (channel->domain == domain && channel->preset && has_rule(channel, pattern))
			return channel;
	return NULL;
}

/* It is created for its events; a channel that the user has created with that name has them,
 * too. */
static struct channel *preset_channel(struct command *cmd, enum domain_id domain,
				      const char *pattern, bool make)
{
	struct preset_search search = { .cmd = cmd,
					.tracer = command_tracer(cmd, (uint8_t)domain),
					.pattern = pattern };
	bool found = preset_find(&search);
	struct channel *channel =
		found ? session_find_channel(cmd->session, domain, search.found) : NULL;

	if (!make)
		return channel && has_rule(channel, pattern) ?
			       channel :
			       preset_with_rule(cmd->session, domain, pattern);
	if (!found || channel)
		return channel;
	channel = cmd_channel_make_channel(cmd, domain, search.found);
	if (channel)
		channel->preset = true;
	return channel;
}

struct channel *command_rule_channel(struct command *cmd, uint8_t domain, const char *name,
				     const char *pattern, bool make)
{
	struct channel *channel = NULL;

	if (!name[0])
		channel = preset_channel(cmd, (enum domain_id)domain, pattern, make);
	if (channel || cmd->err.code)
		return channel;
	return command_channel(cmd, domain, name, make);
}
