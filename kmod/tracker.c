// SPDX-License-Identifier: GPL-2.0-only
#include "tracker.h"

#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/user_namespace.h>

static u32 id_of_current(u32 kind)
{
	switch (kind) {
	case LTT_KMOD_TRACK_PID:
		return task_tgid_nr(current);
	case LTT_KMOD_TRACK_TID:
		return task_pid_nr(current);
	case LTT_KMOD_TRACK_VPID:
		return task_tgid_vnr(current);
	case LTT_KMOD_TRACK_VTID:
		return task_pid_vnr(current);
	case LTT_KMOD_TRACK_UID:
		return from_kuid_munged(&init_user_ns, current_uid());
	case LTT_KMOD_TRACK_GID:
		return from_kgid_munged(&init_user_ns, current_gid());
	case LTT_KMOD_TRACK_VUID:
		return from_kuid_munged(current_user_ns(), current_uid());
	default:
		return from_kgid_munged(current_user_ns(), current_gid());
	}
}

void tracker_init(struct tracker *tracker)
{
	u32 kind;

	for (kind = 0; kind < LTT_KMOD_TRACK_KINDS; kind++)
		xa_init(&tracker->ids[kind]);
}

void tracker_fini(struct tracker *tracker)
{
	u32 kind;

	for (kind = 0; kind < LTT_KMOD_TRACK_KINDS; kind++)
		xa_destroy(&tracker->ids[kind]);
}

/* A concurrent reader may or may not see the change. */
static int change_ids(struct xarray *ids, u32 op, u32 id)
{
	int ret;

	switch (op) {
	case LTT_KMOD_TRACK_ADD:
		ret = xa_insert(ids, id, xa_mk_value(1), GFP_KERNEL_ACCOUNT);
		return ret == -EBUSY ? -EEXIST : ret;
	case LTT_KMOD_TRACK_REMOVE:
		return xa_erase(ids, id) ? 0 : -ENOENT;
	case LTT_KMOD_TRACK_NONE:
	case LTT_KMOD_TRACK_ALL:
		xa_destroy(ids);
		return 0;
	default:
		return -EINVAL;
	}
}

int tracker_change(struct tracker *tracker, const struct ltt_kmod_track *request)
{
	u32 on = tracker->on;
	int ret;

	if (request->kind >= LTT_KMOD_TRACK_KINDS)
		return -EINVAL;
	if (request->op == LTT_KMOD_TRACK_ALL)
		WRITE_ONCE(tracker->on, on & ~BIT(request->kind));
	ret = change_ids(&tracker->ids[request->kind], request->op, request->id);
	if (!ret && request->op != LTT_KMOD_TRACK_ALL)
		WRITE_ONCE(tracker->on, on | BIT(request->kind));
	return ret;
}

bool notrace tracker_wants_current(struct tracker *tracker)
{
	u32 on = READ_ONCE(tracker->on), kind;

	for (kind = 0; kind < LTT_KMOD_TRACK_KINDS; kind++)
		if ((on & BIT(kind)) && !xa_load(&tracker->ids[kind], id_of_current(kind)))
			return false;
	return true;
}
