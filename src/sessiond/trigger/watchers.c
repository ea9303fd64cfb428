/* SPDX-License-Identifier: GPL-2.0-only */
#include "watchers.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/realtime.h"

#define MISSED_US 100000u
#define VALUES_BYTES 4096u
#define UID_ANY UINT32_MAX

struct watcher {
	struct list_node node;
	struct command *cmd;
	char *name; /* of the only trigger; "": all */
	uid_t uid;  /* of its owner, or UID_ANY */
	uint64_t missed;
	struct loop_timer retry;
};

static bool watcher_wants(const struct watcher *w, const struct trigger *trigger)
{
	uid_t caller = w->cmd->caller.uid;

	return (caller == 0 || caller == trigger->uid) &&
	       (w->uid == UID_ANY || w->uid == trigger->uid) &&
	       (!*w->name || strcmp(w->name, trigger->name) == 0);
}

/* --- messages ------------------------------------------------------------------------ */

static void watcher_tell_missed(struct watcher *w)
{
	struct msg_notification m = { .kind = NOTIFICATION_MISSED, .count = w->missed };

	if (!w->missed)
		return;
	w->missed = 0;
	item_notification(w->cmd, &m);
}

static void watcher_retry(struct loop_timer *timer)
{
	struct watcher *w = container_of(timer, struct watcher, retry);

	if (command_choked(w->cmd))
		loop_timer_set(&w->retry, MISSED_US);
	else
		watcher_tell_missed(w);
}

static void watcher_send(struct watcher *w, const struct msg_notification *m, uint64_t nr)
{
	if (command_choked(w->cmd)) {
		w->missed += nr;
		if (!w->retry.at_ns)
			loop_timer_set(&w->retry, MISSED_US);
		return;
	}
	watcher_tell_missed(w);
	item_notification(w->cmd, m);
}

static void watchers_send(struct sessiond *sd, const struct trigger *trigger,
			  const struct msg_notification *m, uint64_t nr)
{
	struct watcher *w;

	list_for_each(w, &sd->watchers, node)
		if (watcher_wants(w, trigger))
			watcher_send(w, m, nr);
}

/* The name of the @number-th capture, in @buf. */
static const char *watchers_capture(const char *names, uint32_t number, char buf[256])
{
	while (number-- && names)
		names = strchr(names, ',') ? strchr(names, ',') + 1 : NULL;
	if (!names)
		return "";
	snprintf(buf, 256, "%.*s", (int)strcspn(names, ","), names);
	return buf;
}

static struct list watchers_values(const struct trigger *trigger, const struct firing *firing,
				   uint8_t buf[VALUES_BYTES])
{
	struct encoder enc;
	char name[256];

	encoder_init(&enc, buf, VALUES_BYTES);
	for (uint32_t i = 0; i < firing->nr_values; i++) {
		const struct firing_value *value = &firing->values[i];
		const struct msg_captured m = {
			.name = watchers_capture(trigger->captures, i, name),
			.kind = (uint8_t)value->kind,
			.bits = value->bits,
			.text = value->text ? value->text : "",
		};

		msg_captured_add(&enc, &m);
	}
	return encoder_list(&enc);
}

static const char *watchers_text(const char *text)
{
	return text ? text : "";
}

void watchers_fired(struct sessiond *sd, const struct trigger *trigger, const struct firing *firing,
		    uint64_t nr)
{
	uint8_t buf[VALUES_BYTES];
	const struct msg_notification m = {
		.kind = NOTIFICATION_FIRED,
		.trigger = trigger->name,
		.uid = trigger->uid,
		.at_ns = firing->at_ns,
		.number = trigger->fired,
		.count = nr,
		.condition = (uint8_t)trigger->condition,
		.duration_ns = firing->duration_ns,
		.value = firing->value,
		.pid = (uint32_t)firing->pid,
		.tid = (uint32_t)firing->tid,
		.process = watchers_text(firing->process),
		.event = watchers_text(firing->event),
		.session = watchers_text(firing->session),
		.values = watchers_values(trigger, firing, buf),
	};

	watchers_send(sd, trigger, &m, nr);
}

void watchers_action(struct sessiond *sd, const struct trigger *trigger,
		     const struct trigger_action *action, const char *problem, const char *text)
{
	const struct msg_notification m = {
		.kind = problem ? NOTIFICATION_FAILED : NOTIFICATION_DONE,
		.trigger = trigger->name,
		.uid = trigger->uid,
		.at_ns = realtime_ns(),
		.number = trigger->fired,
		.condition = (uint8_t)trigger->condition,
		.session = action->session,
		.action = (uint8_t)action->kind,
		.text = problem ? problem : watchers_text(text),
	};

	watchers_send(sd, trigger, &m, 1);
}

/* --- watchers ------------------------------------------------------------------------ */

bool watchers_have(struct sessiond *sd, uint64_t client)
{
	struct watcher *w;

	list_for_each(w, &sd->watchers, node)
		if (w->cmd->client == client)
			return true;
	return false;
}

void watchers_begin(struct command *cmd, const char *name, uid_t uid)
{
	struct watcher *w = xalloc(sizeof(*w));

	w->cmd = cmd;
	w->name = xstrdup(name);
	w->uid = uid;
	loop_timer_init(&w->retry, cmd->sd->loop, watcher_retry);
	list_append(&cmd->sd->watchers, &w->node);
}

/* Return: the command, which is the caller's again. */
static struct command *watcher_release(struct watcher *w)
{
	struct command *cmd = w->cmd;

	loop_timer_cancel(&w->retry);
	list_remove(&w->node);
	free(w->name);
	free(w);
	return cmd;
}

void watchers_leave(struct sessiond *sd, uint64_t client)
{
	struct watcher *w, *next;

	list_for_each_safe(w, next, &sd->watchers, node)
		if (w->cmd->client == client)
			command_free(watcher_release(w));
}

void watchers_end(struct sessiond *sd)
{
	struct watcher *w;

	while ((w = list_first(&sd->watchers, struct watcher, node))) {
		struct command *cmd = watcher_release(w);

		command_error(cmd, ERR_STATE, "the session daemon ends, and its triggers with it");
		command_fail(cmd);
	}
}
