/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracker.c - sends the tracked ids to the module: for each buffer when it is created, and for
 * all of a session when they change. The session's list is authoritative; the module is updated
 * first, so that a successor only ever has ids to add.
 */
#include "tracker.h"

#include <errno.h>

#include "base/log.h"
#include "session.h"

_Static_assert((int)TRACK_VGID == (int)LTT_KMOD_TRACK_VGID &&
		       (int)TRACK_REMOVE == (int)LTT_KMOD_TRACK_REMOVE &&
		       (int)TRACK_NR_KINDS == (int)LTT_KMOD_TRACK_KINDS,
	       "the module's numbers");

/* A state that the module has already is fine. */
static int kernel_tracker_send(const struct kmod *kmod, int module, enum track_kind kind,
			       enum track_op op, uint32_t id)
{
	struct ltt_kmod_track request = {
		.size = sizeof(request),
		.kind = kind,
		.op = op,
		.id = id,
	};
	int err = kmod_call(kmod, module, LTT_KMOD_TRACK, &request);

	return err == -EEXIST || err == -ENOENT ? 0 : err;
}

int kernel_tracker_send_all(const struct kmod *kmod, int module, const struct session *session)
{
	int err = 0;

	for (unsigned int kind = 0; kind < TRACK_NR_KINDS && err == 0; kind++) {
		const struct tracker *tracker = &session->trackers[DOMAIN_KERNEL][kind];

		if (tracker->limited && tracker->nr == 0)
			err = kernel_tracker_send(kmod, module, kind, TRACK_NONE, 0);
		for (uint32_t i = 0; i < tracker->nr && err == 0; i++)
			err = kernel_tracker_send(kmod, module, kind, TRACK_ADD, tracker->ids[i]);
	}
	return err;
}

/* Of each channel that the module has for a session. Return: 0 or the first error. */
static int each_ring(struct kernel_session *ks,
		     int (*fn)(struct kernel_session *ks, int module, const void *data),
		     const void *data)
{
	struct trace *trace;
	struct trace_channel *trace_channel;
	struct ring *ring;
	int err = 0, first = 0;

	list_for_each(trace, &ks->rec.traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each(ring, &trace_channel->rings, node) {
				err = ring->module < 0 ? 0 : fn(ks, ring->module, data);
				first = first ? first : err;
			}
	if (ks->counting >= 0)
		err = fn(ks, ks->counting, data);
	return first ? first : err;
}

static int send_ring(struct kernel_session *ks, int module, const void *data)
{
	const struct domain_track *track = data;

	return kernel_tracker_send(ks->kernel->kmod, module, track->kind, track->op, track->id);
}

int kernel_track(struct domain_tracer *domain, const struct session *session,
		 const struct domain_track *track, struct err *err)
{
	struct recording *rec = recording_find(domain, session);
	int ret = rec ? each_ring(ks_of(rec), send_ring, track) : 0;

	return ret ? err_errno(err, ERR_NO_MEMORY, -ret,
			       "can't send the tracked ids to the kernel") :
		     0;
}

static int send_ring_all(struct kernel_session *ks, int module, const void *data)
{
	(void)data;
	return kernel_tracker_send_all(ks->kernel->kmod, module, ks->rec.session);
}

void kernel_tracker_restore(struct kernel_session *ks)
{
	if (each_ring(ks, send_ring_all, NULL) < 0)
		log_warn("session '%s': the kernel has not received all tracked ids",
			 ks->rec.session->name);
}
