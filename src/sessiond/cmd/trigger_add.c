/* SPDX-License-Identifier: GPL-2.0-only */
/* trigger_add: create a trigger of the caller. */
#include "cmd.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/realtime.h"
#include "io/relayurl.h"
#include "io/spoolfacts.h"
#include "sessiond/domain/rec/filter.h"
#include "sessiond/state/triggers.h"
#include "sessiond/trigger/action_message.h"
#include "sessiond/trigger/increments.h"

static enum cmd_now trigger_add_owner(struct command *cmd, const struct req_trigger_add *req,
				      struct caller *ret)
{
	*ret = cmd->caller;
	if (!req->other)
		return CMD_DONE;
	if (cmd->caller.uid != 0)
		return command_error(cmd, ERR_DENIED, "triggers of other users are root's to add");
	if (geteuid() != 0 && req->uid != geteuid())
		return command_error(cmd, ERR_DENIED,
				     "this session daemon is not root's, and has no triggers of "
				     "other users");
	ret->uid = req->uid;
	ret->gid = req->gid;
	return CMD_DONE;
}

/* @ret_text: memory that @spec has now, to be freed, or NULL. */
static enum cmd_now trigger_add_convert(struct command *cmd, struct domain_tracer *tracer,
					struct trigger_spec *spec, char **ret_text)
{
	struct rule_spec rule = trigger_rule(spec, false);

	if (tracer->ops->convert_rule(tracer, &rule, ret_text, &cmd->err))
		return CMD_FAILED;
	spec->fetch = rule.fetch;
	return command_may_probe(cmd, spec->kind);
}

static enum cmd_now trigger_add_check_events(struct command *cmd, struct trigger_spec *spec,
					     uid_t owner, char **ret_text)
{
	struct domain_tracer *tracer;

	if (!condition_is_on_programs(spec->condition))
		return CMD_DONE;
	tracer = command_tracer(cmd, (uint8_t)spec->domain);
	if (tracer->ops->available(tracer, &cmd->err) ||
	    (condition_is_on_events(spec->condition) &&
	     trigger_add_convert(cmd, tracer, spec, ret_text) != CMD_DONE))
		return CMD_FAILED;
	if (spec->filter && *spec->filter &&
	    filter_check_syntax(tracer->ops->filters(tracer), spec->filter, &cmd->err))
		return CMD_FAILED;
	return conditions_check(&cmd->sd->conditions, spec, owner, &cmd->err) ?
		       CMD_FAILED :
		       CMD_DONE;
}

static bool trigger_add_is_relay(const char *url)
{
	struct relayurl one;
	unsigned int nr = 0;

	if (!relayurl_is_one(url) || strlen(url) >= SPOOLFACTS_URL_BYTES)
		return false;
	for (const char *at = url; at; at = relayurl_next(at))
		if (++nr > RELAYURL_MAX || relayurl_parse(at, &one) < 0)
			return false;
	return true;
}

static enum cmd_now trigger_add_check_outputs(struct command *cmd,
					      const struct action_spec *actions, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		const char *output = actions[i].output;

		if (*output && actions[i].kind != ACTION_SNAPSHOT)
			return command_error(cmd, ERR_INVALID, "snapshots alone have an output");
		if (*output == '/' && strlen(output) < PATH_MAX && actions[i].dir_ino)
			continue;
		if (*output && !trigger_add_is_relay(output))
			return command_error(cmd, ERR_INVALID,
					     "'%.200s' is neither the absolute path of a directory "
					     "nor the URL of a relay",
					     output);
	}
	return CMD_DONE;
}

static enum cmd_now trigger_add_check_increments(struct command *cmd,
						 const struct trigger_spec *spec,
						 const struct action_spec *actions, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (actions[i].kind == ACTION_INCR_MAP &&
		    increments_check(command_tracer(cmd, (uint8_t)spec->domain), &cmd->err))
			return CMD_FAILED;
	return CMD_DONE;
}

/* A trigger that is not saved would be lost with the daemon. */
static enum cmd_now trigger_add_save(struct command *cmd, struct trigger *trigger)
{
	int ret = state_save_triggers(cmd->sd);

	if (ret == 0)
		return CMD_DONE;
	conditions_end(&cmd->sd->conditions, trigger);
	trigger_free(trigger);
	(void)increments_refresh(cmd->sd, NULL, NULL);
	err_set(&cmd->err, ERR_OUTPUT,
		"the trigger can't be saved: %s can't be written (%s); make room there",
		cmd->sd->state_dir, strerror(-ret));
	return CMD_FAILED;
}

/* The trigger of a command that waits for its first figures, or for the applications. */
struct added {
	struct command *cmd;
	uint64_t trigger;
	uint32_t points;
};

static void trigger_add_first(void *data)
{
	struct added *added = data;
	const struct trigger *trigger = trigger_by_id(&added->cmd->sd->triggers, added->trigger);
	struct rep_trigger_add rep = { .name = trigger ? trigger->name : "",
				       .points = added->points };

	reply_trigger_add(added->cmd, &rep);
	free(added);
}

/* Maps are incremented; other actions may wait for more. */
static void trigger_add_incremented(void *data)
{
	struct added *added = data;
	struct sessiond *sd = added->cmd->sd;
	struct trigger *trigger = trigger_by_id(&sd->triggers, added->trigger);

	if (!trigger || !conditions_first(&sd->conditions, trigger, trigger_add_first, added))
		trigger_add_first(added);
}

static int trigger_add_await(struct command *cmd, struct trigger *trigger, uint32_t points)
{
	struct added *added = xalloc(sizeof(*added));

	*added = (struct added){ cmd, trigger->id, points };
	if (increments_refresh(cmd->sd, trigger_add_incremented, added))
		return CMD_WAIT;
	if (conditions_first(&cmd->sd->conditions, trigger, trigger_add_first, added))
		return CMD_WAIT;
	free(added);
	return CMD_DONE;
}

int cmd_trigger_add(struct command *cmd, struct req_trigger_add *req, struct rep_trigger_add *rep)
{
	struct trigger_spec spec = {
#define ASKED(type, name, init, doc) .name = (MODEL_TYPE_##type)req->name,
#include "model/trigger.def"
	};
	struct action_spec actions[TRIGGER_MAX_ACTIONS];
	struct msg_trigger_action messages[TRIGGER_MAX_ACTIONS];
	uint32_t nr = actions_from_list(req->actions, messages, actions);
	AUTO_FREE char *text = NULL;
	struct trigger *trigger;
	struct caller owner;
	char problem[300];

	if (trigger_add_owner(cmd, req, &owner) != CMD_DONE ||
	    trigger_check(&spec, actions, nr, &cmd->err) ||
	    trigger_add_check_outputs(cmd, actions, nr) != CMD_DONE ||
	    trigger_add_check_increments(cmd, &spec, actions, nr) != CMD_DONE ||
	    trigger_add_check_events(cmd, &spec, owner.uid, &text) != CMD_DONE ||
	    trigger_add(&cmd->sd->triggers, &owner, req->name, &spec, actions, nr, &trigger,
			&cmd->err))
		return CMD_FAILED;
	trigger->created_ns = realtime_ns();
	conditions_begin(&cmd->sd->conditions, trigger);
	if (trigger_add_save(cmd, trigger) != CMD_DONE)
		return CMD_FAILED;
	conditions_problem(&cmd->sd->conditions, trigger, &rep->points, problem, sizeof(problem));
	rep->name = trigger->name;
	return trigger_add_await(cmd, trigger, rep->points);
}
