/* SPDX-License-Identifier: GPL-2.0-only */
#include "triggers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "file.h"
#include "msg.h"
#include "priv.h"
#include "sessiond/trigger/action_message.h"
#include "sessiond/trigger/increments.h"

#define SAVE_US 200000u
#define SAVE_AGAIN_US 1000000u

/* --- save ------------------------------------------------------------------------------ */

static struct list put_actions(const struct trigger *trigger, uint8_t *buf, size_t cap)
{
	struct encoder enc;

	encoder_init(&enc, buf, cap);
	for (uint32_t i = 0; i < trigger->nr_actions; i++) {
		const struct msg_trigger_action msg = action_to_message(&trigger->actions[i]);

		msg_trigger_action_add(&enc, &msg);
	}
	return encoder_list(&enc);
}

static uint32_t running_actions(const struct trigger *trigger)
{
	uint32_t running = 0;

	for (uint32_t i = 0; i < trigger->nr_actions; i++)
		running |= (uint32_t)trigger->actions[i].busy << i;
	return running;
}

static void put_trigger(struct encoder *enc, const struct trigger *trigger)
{
	static uint8_t actions[MSG_MAX_BYTES];
	const struct msg_state_trigger msg = {
		.id = trigger->id,
		.name = trigger->name,
		.uid = trigger->uid,
		.gid = trigger->gid,
		.created_ns = trigger->created_ns,
		.fired = trigger->fired,
		.delivered = trigger->delivered,
		.suppressed = trigger->suppressed,
		.unrecorded = trigger->unrecorded,
		.last_ns = trigger->last_ns,
#define SAVED(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))trigger->name,
#include "model/trigger.def"
		.actions = put_actions(trigger, actions, sizeof(actions)),
		.value = trigger->look.last,
		.since_ns = trigger->look.since_ns,
		.known = trigger->look.known,
		.held = trigger->look.held,
		.running = running_actions(trigger),
	};

	msg_state_trigger_add(enc, &msg);
}

/* Return: false: @cap is too small. */
static bool encode_triggers(const struct sessiond *sd, uint8_t *buf, uint8_t *lists, size_t cap,
			    struct encoder *ret)
{
	struct msg_state_triggers msg = { .next_id = sd->triggers.next_id };
	const struct trigger *trigger;
	struct encoder list;

	encoder_init(&list, lists, cap);
	list_for_each(trigger, &sd->triggers.list, node)
		put_trigger(&list, trigger);
	msg.triggers = encoder_list(&list);
	encoder_init(ret, buf, cap);
	encode_header(ret, MSG_state_triggers, 0, 0);
	msg_state_triggers_encode(ret, &msg);
	return !list.overflow && !ret->overflow;
}

static int save_triggers(struct sessiond *sd)
{
	int ret = state_save_daemon(sd);

	if (ret < 0)
		return ret;
	ret = -ENOSPC;
	for (size_t cap = 64u << 10; cap <= STATE_FILE_MAX && ret == -ENOSPC; cap *= 8) {
		AUTO_FREE uint8_t *buf = xrealloc(NULL, cap), *lists = xrealloc(NULL, cap);
		struct encoder enc;

		if (encode_triggers(sd, buf, lists, cap, &enc))
			return state_file_write(sd->state_dir, STATE_TRIGGERS_FILE, &enc);
	}
	return ret;
}

int state_save_triggers(struct sessiond *sd)
{
	int ret;

	loop_timer_cancel(&sd->save_triggers);
	if (!sd->state_dir || sd->ending)
		return 0;
	ret = save_triggers(sd);
	if (ret < 0 && sd->triggers_error != -ret)
		log_warn("the counts of triggers can't be saved: %s; make room in %s",
			 strerror(-ret), sd->state_dir);
	sd->triggers_error = -ret;
	if (ret < 0)
		loop_timer_set(&sd->save_triggers, SAVE_AGAIN_US);
	return ret;
}

static void save_now(struct loop_timer *timer)
{
	(void)!state_save_triggers(container_of(timer, struct sessiond, save_triggers));
}

void state_save_triggers_later(struct sessiond *sd)
{
	if (!sd->save_triggers.at_ns)
		loop_timer_set(&sd->save_triggers, SAVE_US);
}

void state_triggers_init(struct sessiond *sd)
{
	loop_timer_init(&sd->save_triggers, sd->loop, save_now);
}

void state_triggers_fini(struct sessiond *sd)
{
	loop_timer_cancel(&sd->save_triggers);
}

/* --- load ------------------------------------------------------------------------------ */

/* Counts of events begin anew in each daemon. */
static void restore_look(const struct msg_state_trigger *msg, struct trigger *trigger)
{
	trigger->look.held = msg->held;
	if (!condition_is_on_events(trigger->condition)) {
		trigger->look.last = msg->value;
		trigger->look.known = msg->known;
	}
	if (trigger->condition == CONDITION_SILENCE && msg->held)
		trigger->look.since_ns = msg->since_ns;
}

/* Return: 0 or the code set in @err. */
static int load_trigger(struct sessiond *sd, const struct msg_state_trigger *msg, struct err *err)
{
	const struct caller owner = { msg->uid, msg->gid };
	const struct trigger_spec spec = {
#define ASKED(type, name, init, doc) .name = (MODEL_TYPE_##type)msg->name,
#include "model/trigger.def"
	};
	struct action_spec actions[TRIGGER_MAX_ACTIONS];
	struct msg_trigger_action msgs[TRIGGER_MAX_ACTIONS];
	uint32_t nr = actions_from_list(msg->actions, msgs, actions);
	struct trigger *trigger;

	if (trigger_check(&spec, actions, nr, err) ||
	    trigger_add(&sd->triggers, &owner, msg->name, &spec, actions, nr, &trigger, err))
		return err->code;
	trigger->id = msg->id;
	trigger->created_ns = msg->created_ns;
	trigger->fired = msg->fired;
	trigger->delivered = msg->delivered;
	trigger->suppressed = msg->suppressed;
	trigger->unrecorded = msg->unrecorded;
	trigger->last_ns = msg->last_ns;
	for (uint32_t i = 0; i < nr; i++) {
		trigger->actions[i].ran = msgs[i].ran;
		trigger->actions[i].failed = msgs[i].failed;
		trigger->actions[i].joined = msgs[i].joined;
		snprintf(trigger->actions[i].problem, sizeof(trigger->actions[i].problem), "%s",
			 msgs[i].problem);
		if (msg->running >> i & 1)
			action_interrupted(&trigger->actions[i]);
	}
	restore_look(msg, trigger);
	conditions_begin(&sd->conditions, trigger);
	return 0;
}

void state_load_triggers(struct sessiond *sd)
{
	struct state_file file CLEANUP(state_file_fini) = { 0 };
	struct msg_state_triggers msg;
	struct msg_state_trigger one;
	int ret = state_file_read(sd->state_dir, STATE_TRIGGERS_FILE, MSG_state_triggers, &file);

	if (ret == -ENOENT)
		return;
	if (ret || msg_state_triggers_decode(&file.dec, &msg) < 0) {
		log_error("the triggers of the previous daemon can't be taken over: their file is "
			  "damaged");
		return;
	}
	sd->triggers.next_id = MAX(sd->triggers.next_id, msg.next_id);
	while (msg_state_trigger_next(&msg.triggers, &one)) {
		struct err err = { 0 };

		if (load_trigger(sd, &one, &err))
			log_error("trigger '%s' can't be taken over: %s", one.name, err.text);
	}
	(void)increments_refresh(sd, NULL, NULL);
}
