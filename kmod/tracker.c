// SPDX-License-Identifier: GPL-2.0-only
#include "tracker.h"

#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/user_namespace.h>

static u32 id_of_current(u32 kind)
{
	switch (kind) {
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

/** struct tracked_ids - ids of a kind, ascending. It is replaced as a whole, so that a reader sees
 *  the ids before a change or those after it. */
struct tracked_ids {
	struct rcu_head rcu;
	u32 nr;
	u32 ids[];
};

/* Of the first id that is not smaller. */
static u32 place_of(const struct tracked_ids *tracked, u32 id)
{
	u32 low = 0, high = tracked->nr;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (tracked->ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_tracked(const struct tracked_ids *tracked, u32 id)
{
	u32 at = place_of(tracked, id);

	return at < tracked->nr && tracked->ids[at] == id;
}

#ifdef CONFIG_CGROUPS
/* By that of the task, or one above it, in the hierarchy of version 2. */
static bool tracker_in_cgroup(const struct tracked_ids *tracked)
{
	struct cgroup *cgroup;
	bool is_in = false;
	int level;

	rcu_read_lock();
	cgroup = task_dfl_cgroup(current);
	for (level = cgroup->level; level >= 0 && !is_in; level--)
		is_in = is_tracked(tracked, cgroup_id(cgroup_ancestor(cgroup, level)));
	rcu_read_unlock();
	return is_in;
}
#else
static bool tracker_in_cgroup(const struct tracked_ids *tracked)
{
	return false;
}
#endif

void tracker_fini(struct tracker *tracker)
{
	u32 kind;

	for (kind = 0; kind < LTT_KMOD_TRACK_KINDS; kind++)
		kvfree(tracker->tracked[kind]);
	family_free(tracker->family);
}

static int tracker_change_family(struct tracker *tracker, const struct ltt_kmod_track *request)
{
	struct family *family = tracker->family;
	int ret = 0;

	if (!family && request->op == LTT_KMOD_TRACK_ALL)
		return 0;
	if (!family) {
		family = family_new();
		if (IS_ERR(family))
			return PTR_ERR(family);
		smp_store_release(&tracker->family, family);
	}
	if (request->op == LTT_KMOD_TRACK_ADD)
		ret = family_add(family, request->id);
	else if (request->op == LTT_KMOD_TRACK_REMOVE)
		ret = family_remove(family, request->id);
	if (ret)
		return ret;
	if (request->op == LTT_KMOD_TRACK_ALL) {
		WRITE_ONCE(tracker->on, tracker->on & ~BIT(LTT_KMOD_TRACK_FAMILY));
		family_clear(family);
		return 0;
	}
	if (request->op == LTT_KMOD_TRACK_NONE)
		family_clear(family);
	WRITE_ONCE(tracker->on, tracker->on | BIT(LTT_KMOD_TRACK_FAMILY));
	return 0;
}

/* The ids after `request`, which is not LTT_KMOD_TRACK_ALL. @old: can be NULL. */
static struct tracked_ids *changed_ids(const struct tracked_ids *old,
				       const struct ltt_kmod_track *request)
{
	bool adds = request->op == LTT_KMOD_TRACK_ADD, has = old && is_tracked(old, request->id);
	u32 nr = old && request->op != LTT_KMOD_TRACK_NONE ? old->nr : 0;
	struct tracked_ids *ids;
	u32 at;

	if (adds && has)
		return ERR_PTR(-EEXIST);
	if (request->op == LTT_KMOD_TRACK_REMOVE && !has)
		return ERR_PTR(-ENOENT);
	ids = kvmalloc(struct_size(ids, ids, (size_t)nr + 1), GFP_KERNEL_ACCOUNT);
	if (!ids)
		return ERR_PTR(-ENOMEM);
	ids->nr = nr;
	if (!nr && !adds)
		return ids;
	at = nr ? place_of(old, request->id) : 0;
	if (nr)
		memcpy(ids->ids, old->ids, at * sizeof(u32));
	if (adds) {
		ids->ids[at] = request->id;
		ids->nr++;
	} else {
		ids->nr--;
	}
	if (nr)
		memcpy(&ids->ids[at + adds], &old->ids[at + !adds],
		       (nr - at - !adds) * sizeof(u32));
	return ids;
}

int tracker_change(struct tracker *tracker, const struct ltt_kmod_track *request)
{
	struct tracked_ids *old, *ids = NULL;

	if (request->kind >= LTT_KMOD_TRACK_KINDS || request->op > LTT_KMOD_TRACK_REMOVE)
		return -EINVAL;
	if (request->kind == LTT_KMOD_TRACK_FAMILY)
		return tracker_change_family(tracker, request);
	old = tracker->tracked[request->kind];
	if (request->op != LTT_KMOD_TRACK_ALL)
		ids = changed_ids(old, request);
	if (IS_ERR(ids))
		return PTR_ERR(ids);
	smp_store_release(&tracker->tracked[request->kind], ids);
	if (ids)
		WRITE_ONCE(tracker->on, tracker->on | BIT(request->kind));
	else
		WRITE_ONCE(tracker->on, tracker->on & ~BIT(request->kind));
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

/* @on: bits of the kinds that are not yet known to admit the task. */
static noinline notrace bool wants_by(const struct tracker *tracker, u32 on)
{
	for (; on; on &= on - 1) {
		u32 kind = __ffs(on);
		const struct tracked_ids *tracked = READ_ONCE(tracker->tracked[kind]);

		if (tracked && !(kind == LTT_KMOD_TRACK_CGROUP ?
					 tracker_in_cgroup(tracked) :
					 is_tracked(tracked, id_of_current(kind))))
			return false;
	}
	return true;
}

/* Usually processes are tracked. */
bool notrace tracker_wants_current(const struct tracker *tracker)
{
	const struct family *family = READ_ONCE(tracker->family);
	const struct tracked_ids *processes = READ_ONCE(tracker->tracked[LTT_KMOD_TRACK_PID]);
	u32 others = READ_ONCE(tracker->on) & ~BIT(LTT_KMOD_TRACK_PID);

	if (others & BIT(LTT_KMOD_TRACK_FAMILY)) {
		if (!family || !family_has_current(family))
			return false;
		others &= ~BIT(LTT_KMOD_TRACK_FAMILY);
	}
	if (processes && !is_tracked(processes, task_tgid_nr(current)))
		return false;
	return likely(!others) || wants_by(tracker, others);
}

bool notrace tracker_wants_about(const struct tracker *tracker, u32 tid)
{
	const struct family *family = READ_ONCE(tracker->family);
	u32 on = READ_ONCE(tracker->on);

	if (!(on & BIT(LTT_KMOD_TRACK_FAMILY)) || !family || !family_has(family, tid))
		return tracker_wants_current(tracker);
	return wants_by(tracker, on & ~BIT(LTT_KMOD_TRACK_FAMILY));
}
