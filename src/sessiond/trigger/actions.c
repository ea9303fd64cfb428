/* SPDX-License-Identifier: GPL-2.0-only */
#include "actions.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/realtime.h"
#include "exec.h"
#include "sessiond/cmd/cmd.h"
#include "sessiond/state/triggers.h"
#include "watchers.h"

/* --- the end of an action -------------------------------------------------------------- */

/* An action that has begun: its trigger may be removed meanwhile. */
struct begun {
	struct command_internal internal;
	struct sessiond *sd;
	uint64_t trigger;
	uint32_t index;
	char text[1024]; /* its result */
};

/* @problem: NULL: none. */
static void action_ended(struct sessiond *sd, uint64_t id, uint32_t index, const char *problem,
			 const char *text)
{
	struct trigger *trigger = trigger_by_id(&sd->triggers, id);
	struct trigger_action *action = trigger ? &trigger->actions[index] : NULL;

	if (!action)
		return;
	action->busy = false;
	action->ran += !problem;
	action->failed += problem != NULL;
	snprintf(action->problem, sizeof(action->problem), "%s", problem ? problem : "");
	if (problem)
		log_warn("trigger '%s': %s", trigger->name, problem);
	watchers_action(sd, trigger, action, problem, text);
	state_save_triggers_later(sd);
}

static void action_command_ended(struct command *cmd)
{
	struct begun *begun = container_of(cmd->internal, struct begun, internal);
	const struct err *err = &cmd->err;

	action_ended(begun->sd, begun->trigger, begun->index, err->code ? err->text : NULL,
		     begun->text);
	free(begun);
}

/* The path of the snapshot or archive. */
static void action_command_answered(struct command *cmd, struct decoder *dec)
{
	struct begun *begun = container_of(cmd->internal, struct begun, internal);
	struct rep_snapshot_record snapshot;
	struct rep_session_rotate archive;

	if (cmd->type == MSG_snapshot_record && rep_snapshot_record_decode(dec, &snapshot) == 0)
		snprintf(begun->text, sizeof(begun->text), "%s", snapshot.directory);
	if (cmd->type == MSG_session_rotate && rep_session_rotate_decode(dec, &archive) == 0)
		snprintf(begun->text, sizeof(begun->text), "%s", archive.path);
}

/* --- commands ------------------------------------------------------------------------- */

#define LATE_MOST_US 600000000u

/* A daemon that takes over has firings of its predecessor's time. @last_us: before the firing.
 * Return: before now. */
static uint64_t action_last_us(uint64_t last_us, const struct firing *firing)
{
	uint64_t now = realtime_ns();
	uint64_t late_us = now > firing->at_ns ? (now - firing->at_ns) / 1000 : 0;

	return last_us ? last_us + MIN(late_us, (uint64_t)LATE_MOST_US) : 0;
}

static uint16_t action_encode(const struct trigger_action *action, const struct firing *firing,
			      struct encoder *enc)
{
	struct req_session_start start = { .session = action->session };
	struct req_session_stop stop = { .session = action->session };
	struct req_session_rotate rotate = { .session = action->session };
	struct req_snapshot_record snapshot = {
		.session = action->session,
		.name = action->text,
		.path = action->output,
		.dir = -1,
		.max_size = action->max_size,
		.last_us = action_last_us(action->last_us, firing),
		.relay = "",
		.relay_host = "",
	};

	switch (action->kind) {
	case ACTION_START:
		req_session_start_encode(enc, &start);
		return MSG_session_start;
	case ACTION_STOP:
		req_session_stop_encode(enc, &stop);
		return MSG_session_stop;
	case ACTION_ROTATE:
		req_session_rotate_encode(enc, &rotate);
		return MSG_session_rotate;
	default:
		req_snapshot_record_encode(enc, &snapshot);
		return MSG_snapshot_record;
	}
}

static void action_begin_command(struct sessiond *sd, struct trigger *trigger, uint32_t index,
				 const struct firing *firing)
{
	const struct trigger_action *action = &trigger->actions[index];
	uint8_t buf[2 * TRIGGER_MAX_COMMAND];
	struct command *cmd = xalloc(sizeof(*cmd));
	struct begun *begun = xalloc(sizeof(*begun));
	struct encoder enc;
	struct decoder dec;

	*begun = (struct begun){
		.internal = { action_command_answered,
			      action_command_ended,
			      { action->dir_dev, action->dir_ino, action->dir_born_ns } },
		.sd = sd,
		.trigger = trigger->id,
		.index = index,
	};
	cmd->sd = sd;
	cmd->internal = &begun->internal;
	cmd->caller = (struct caller){ trigger->uid, trigger->gid };
	encoder_init(&enc, buf, sizeof(buf));
	cmd->type = action_encode(action, firing, &enc);
	decoder_init(&dec, buf, enc.len, NULL, 0);
	trigger->actions[index].busy = true;
	command_dispatch(cmd, &dec);
}

static void action_exec_ended(void *data, const char *problem)
{
	struct begun *begun = data;

	action_ended(begun->sd, begun->trigger, begun->index, problem, "");
	free(begun);
}

static void action_begin_exec(struct sessiond *sd, struct trigger *trigger, uint32_t index,
			      const struct firing *firing)
{
	struct begun *begun = xalloc(sizeof(*begun));

	*begun = (struct begun){ .sd = sd, .trigger = trigger->id, .index = index };
	trigger->actions[index].busy = true;
	exec_begin(&sd->exec, trigger, &trigger->actions[index], firing, action_exec_ended, begun);
}

void action_run(struct sessiond *sd, struct trigger *trigger, uint32_t index,
		const struct firing *firing, uint64_t nr)
{
	struct trigger_action *action = &trigger->actions[index];

	if (action->kind == ACTION_INCR_MAP) /* done in the program */
		return;
	if (action->kind == ACTION_NOTIFY) {
		action->ran += nr;
		watchers_fired(sd, trigger, firing, nr);
		return;
	}
	action->joined += action->busy ? nr : nr - 1;
	if (action->busy)
		return;
	if (action->kind == ACTION_EXEC)
		action_begin_exec(sd, trigger, index, firing);
	else
		action_begin_command(sd, trigger, index, firing);
}
