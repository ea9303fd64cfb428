/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event_enable: add an event rule, also while recording; or enable a disabled
 * one. While recording it is answered when the applications have it in force.
 * Items: markers that the rule would record but for their format; events that can't
 * be recorded or counted, as those of the kernel that its module refuses.
 */
#include "cmd.h"

#include <string.h>

#include "base/mem.h"
#include "sessiond/domain/rec/filter.h"

struct pending {
	struct command *cmd;
	struct channel *channel; /* lives as long as its session */
	struct rule *rule;
	bool nearest;
};

static void event_enable_in_force(void *data, uint32_t apps, uint32_t late,
				  const struct err *problem)
{
	struct pending *pending = data;
	struct command *cmd = pending->cmd;
	struct domain_tracer *tracer = command_tracer(cmd, (uint8_t)pending->channel->domain);
	struct session *session = command_session(cmd);
	struct rep_event_enable rep = { .channel = "", .nearest = "", .problem = "" };
	uint32_t never;

	(void)apps, (void)late, (void)problem;
	if (session) {
		rep.channel = pending->channel->name;
		if (pending->channel->domain == DOMAIN_KERNEL)
			rep.problem = session->troubles[TROUBLE_LATE];
		rep.points = tracer->ops->count_points(tracer, session, pending->rule, &never);
		if (pending->nearest && !rep.points && tracer->ops->nearest_point)
			rep.nearest = tracer->ops->nearest_point(tracer, session,
								 pending->rule->pattern);
		items_of_conflicts(cmd, session, pending->channel, pending->rule);
		items_of_refusals(cmd, session, pending->channel, pending->rule);
	}
	reply_event_enable(cmd, &rep);
	free(pending);
}

/* The event of a place in a program is that of the file which is there now. */
static void event_enable_replace(struct channel *channel, const struct rule_spec *spec)
{
	struct rule *rule;

	list_for_each(rule, &channel->rules, node) {
		if (!rule->enabled || !rule_is_outdated(rule, spec))
			continue;
		rule->enabled = false;
		channel_rule_changed(channel, rule);
	}
}

static struct rule *get_rule(struct command *cmd, struct channel *channel,
			     const struct rule_spec *spec)
{
	struct rule *rule = channel_find_rule(channel, spec);
	bool changed = false;

	if (channel_check_budget(channel, spec, &cmd->err))
		return NULL;
	if (rule && session_change_rule(cmd->session, rule, spec, &changed, &cmd->err))
		return NULL;
	if (rule && rule->enabled && !changed) {
		command_error(cmd, ERR_EVENT_EXISTS,
			      "event rule '%s' is already enabled in channel '%s'",
			      rule_handle(rule), channel->name);
		return NULL;
	}
	event_enable_replace(channel, spec);
	if (rule) {
		rule->enabled = true;
		channel_rule_changed(channel, rule);
		return rule;
	}
	return session_add_rule(cmd->session, channel, spec, &rule, &cmd->err) ? NULL : rule;
}

int cmd_event_enable(struct command *cmd, struct req_event_enable *req,
		     struct rep_event_enable *rep)
{
	struct rule_spec spec = {
#define ASKED(type, name, init, doc) .name = (MODEL_TYPE_##type)req->name,
#include "model/rule.def"
	};
	struct domain_tracer *tracer;
	struct pending *pending;
	struct channel *channel;
	AUTO_FREE char *text = NULL;
	struct rule *rule;

	(void)rep;
	cmd->session->saved.series = req->more ? cmd->client : 0;
	spec.loglevel = (int)MAX(MIN(req->loglevel, 100), -1);
	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	tracer = command_tracer(cmd, req->domain);
	if (tracer->ops->convert_rule(tracer, &spec, &text, &cmd->err) ||
	    rule_spec_check(&spec, &cmd->err))
		return CMD_FAILED;
	if (command_may_probe(cmd, spec.kind) != CMD_DONE)
		return CMD_FAILED;
	if (tracer->ops->check_rule(tracer, cmd->session, &spec, &cmd->err))
		return CMD_FAILED;
	channel = rule_chooses(spec.kind) ?
			  command_rule_channel(cmd, req->domain, req->channel, spec.pattern, true) :
			  command_channel(cmd, req->domain, req->channel, true);
	if (channel && tracer->ops->check_rule_in(tracer, channel, &spec, &cmd->err))
		return CMD_FAILED;
	if (channel && filter_check_room(tracer->ops->filters(tracer), channel, &spec, &cmd->err))
		return CMD_FAILED;
	rule = channel ? get_rule(cmd, channel, &spec) : NULL;
	if (!rule)
		return CMD_FAILED;
	pending = xalloc(sizeof(*pending));
	*pending = (struct pending){ cmd, channel, rule, req->nearest };
	tracer->ops->refresh_rule(tracer, cmd->session, rule, event_enable_in_force, pending);
	return CMD_WAIT;
}
