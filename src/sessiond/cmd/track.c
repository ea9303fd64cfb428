/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * track: choose the tasks, or the applications, whose events a session records, also while it
 * records. Either all ids of a request are changed, or none, unless the kernel's module fails.
 */
#include "cmd.h"

#include <string.h>

#include "base/mem.h"

static struct tracker *tracker_of(struct command *cmd, const struct req_track *req)
{
	return &cmd->session->trackers[req->domain][req->kind];
}

static bool track_has_room(struct command *cmd, const struct req_track *req)
{
	const struct tracker *tracker = tracker_of(cmd, req);
	struct list ids = req->ids;
	struct msg_track_id item;
	uint32_t nr = tracker->nr;

	while (msg_track_id_next(&ids, &item))
		nr += !tracker_has(tracker, item.id);
	return nr <= TRACKER_MAX;
}

static enum cmd_now track_check(struct command *cmd, const struct req_track *req)
{
	struct domain_tracer *tracer;

	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	if (req->kind >= TRACK_NR_KINDS || req->op >= TRACK_NR_OPS)
		return command_error(cmd, ERR_INVALID, "unknown kind %u or operation %u", req->kind,
				     req->op);
	tracer = command_tracer(cmd, req->domain);
	if (tracer->ops->check_track(tracer, (enum track_kind)req->kind, &cmd->err))
		return CMD_FAILED;
	if (req->op == TRACK_REMOVE && !tracker_of(cmd, req)->limited)
		return command_error(
			cmd, ERR_INVALID,
			"session '%s' tracks all ids, and none can be excluded: first select the "
			"ids to record, with `lttctl track`",
			cmd->session->name);
	if (req->op == TRACK_ADD && !track_has_room(cmd, req))
		return command_error(cmd, ERR_LIMIT, "a session tracks at most %u ids of a kind",
				     TRACKER_MAX);
	return CMD_DONE;
}

/* --- the change ------------------------------------------------------------------- */

static enum cmd_now track_apply(struct command *cmd, const struct req_track *req, uint32_t id)
{
	const struct domain_track track = { (enum track_kind)req->kind, (enum track_op)req->op,
					    id };
	struct domain_tracer *tracer = command_tracer(cmd, req->domain);

	if (!tracer->ops->track)
		return CMD_DONE;
	return tracer->ops->track(tracer, cmd->session, &track, &cmd->err) ? CMD_FAILED : CMD_DONE;
}

/* The kind as a whole. */
static enum cmd_now change_kind(struct command *cmd, const struct req_track *req)
{
	struct tracker *tracker = tracker_of(cmd, req);

	if (track_apply(cmd, req, 0) != CMD_DONE)
		return CMD_FAILED;
	tracker_clear(tracker);
	tracker->limited = req->op == TRACK_NONE;
	return CMD_DONE;
}

static enum cmd_now change_ids(struct command *cmd, struct req_track *req, uint32_t *ret_changed)
{
	struct tracker *tracker = tracker_of(cmd, req);
	struct msg_track_id item;

	while (msg_track_id_next(&req->ids, &item)) {
		if (track_apply(cmd, req, item.id) != CMD_DONE)
			return CMD_FAILED;
		if (req->op == TRACK_ADD)
			*ret_changed +=
				!tracker_has(tracker, item.id) && tracker_add(tracker, item.id);
		else
			*ret_changed += tracker_remove(tracker, item.id);
	}
	return CMD_DONE;
}

/* --- in force ----------------------------------------------------------------- */

struct track_changed {
	struct command *cmd;
	struct rep_track rep;
};

static void track_in_force(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	struct track_changed *changed = data;

	(void)apps, (void)late, (void)problem;
	reply_track(changed->cmd, &changed->rep);
	free(changed);
}

int cmd_track(struct command *cmd, struct req_track *req, struct rep_track *rep)
{
	struct domain_tracer *tracer;
	bool all = req->op == TRACK_ALL || req->op == TRACK_NONE;
	struct track_changed *changed;

	if (track_check(cmd, req) != CMD_DONE)
		return CMD_FAILED;
	if ((all ? change_kind(cmd, req) : change_ids(cmd, req, &rep->changed)) != CMD_DONE)
		return CMD_FAILED;
	tracer = command_tracer(cmd, req->domain);
	if (tracer->ops->track)
		return CMD_DONE;
	changed = xalloc(sizeof(*changed));
	*changed = (struct track_changed){ cmd, *rep };
	tracer->ops->refresh(tracer, cmd->session, track_in_force, changed);
	return CMD_WAIT;
}
