/* SPDX-License-Identifier: GPL-2.0-only */
/* event_disable: disable event rules by the pattern with which they were enabled. */
#include "cmd.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static void event_disable_in_force(void *data, uint32_t apps, uint32_t late,
				   const struct err *problem)
{
	struct rep_event_disable rep;

	(void)apps, (void)late, (void)problem;
	reply_event_disable(data, &rep);
}

static uint32_t event_disable_rules(struct channel *channel, const char *pattern, bool all)
{
	struct rule *rule;
	uint32_t nr = 0;

	list_for_each(rule, &channel->rules, node) {
		if (!all && strcmp(rule_handle(rule), pattern) != 0)
			continue;
		rule->enabled = false;
		channel_rule_changed(channel, rule);
		nr++;
	}
	return nr;
}

static void no_rule(struct command *cmd, const struct channel *channel, const char *pattern)
{
	const char **words = xalloc((SESSION_MAX_RULES + 1) * sizeof(*words));
	const struct rule *rule;
	const char *near;
	size_t nr = 0;

	list_for_each(rule, &channel->rules, node)
		words[nr++] = rule_handle(rule);
	near = nearest_word(pattern, words);
	if (near)
		command_error(cmd, ERR_NO_EVENT,
			      "channel '%s' has no event rule '%.100s'; did you mean '%.100s'?",
			      channel->name, pattern, near);
	else
		command_error(cmd, ERR_NO_EVENT, "channel '%s' has no event rule '%.200s'",
			      channel->name, pattern);
	free(words);
}

int cmd_event_disable(struct command *cmd, struct req_event_disable *req,
		      struct rep_event_disable *rep)
{
	bool all = req->all || strcmp(req->pattern, "*") == 0;
	struct domain_tracer *tracer;
	struct channel *channel;

	(void)rep;
	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	channel = command_rule_channel(cmd, req->domain, req->channel, req->pattern, false);
	if (!channel)
		return CMD_FAILED;
	if (event_disable_rules(channel, req->pattern, all) == 0 && !all) {
		no_rule(cmd, channel, req->pattern);
		return CMD_FAILED;
	}
	tracer = command_tracer(cmd, req->domain);
	tracer->ops->refresh(tracer, cmd->session, event_disable_in_force, cmd);
	return CMD_WAIT;
}
