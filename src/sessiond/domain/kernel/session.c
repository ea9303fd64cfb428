/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.c - the trace of a session's kernel events, its ring sets, tracked ids, and commands that
 * wait.
 */
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "context.h"
#include "labels.h"
#include "sessiond/peers/admission.h"
#include "trace/metadata.h"

/* The trace of a session's kernel events, and its ring sets. */

void kernel_describe(struct trace *trace)
{
	const struct recording *rec = trace->rec;
	struct utsname names = { .release = "" };
	struct metadata_trace facts = {
		.form = recording_form(rec),
		.uuid = trace->uuid,
		.session = rec->session->name,
		.hostname = rec->recorder->config.hostname,
		.created_ns = rec->session->created_ns,
		.uid = trace->uid,
		.clock = rec->clock,
	};
	struct metadata_kernel kernel = { names.release, names.version };

	uname(&names);
	facts.kernel = &kernel;
	trace_append(trace, metadata_head(&facts));
	trace_append(trace, labels_of_results(facts.form));
}

static bool kernel_is_of_root(const struct kernel_session *ks)
{
	return ks->rec.session->uid == geteuid(); /* the module is root's */
}

uint32_t kernel_leaves_own(const struct kernel_session *ks)
{
	return !ks->rec.session->own_daemons && kmod_has(ks->kernel->kmod, LTT_KMOD_OWN) ?
		       LTT_KMOD_LEAVE_OWN : 0;
}

void kernel_store_names(struct ksyms *ksyms)
{
	struct kernel_domain *kernel = container_of(ksyms, struct kernel_domain, ksyms);
	struct kernel_session *ks;
	struct trace *trace;

	list_for_each(ks, &kernel->domain.recordings, rec.node)
		if (kernel_is_of_root(ks))
			list_for_each(trace, &ks->rec.traces, node)
				trace_set_kallsyms(trace, ksyms->file);
}

void kernel_want_names(struct kernel_session *ks)
{
	struct trace *trace = list_first(&ks->rec.traces, struct trace, node);
	struct kernel_domain *kernel = ks->kernel;

	if (!trace || !kernel_is_of_root(ks))
		return;
	if (kernel->ksyms.file >= 0)
		trace_set_kallsyms(trace, kernel->ksyms.file);
	ksyms_want(&kernel->ksyms, kernel->kmod->kallsyms);
}

static struct trace *get_trace(struct kernel_session *ks)
{
	struct recording *rec = &ks->rec;
	struct trace *trace = list_first(&rec->traces, struct trace, node);

	if (trace)
		return trace;
	trace = trace_alloc(rec, rec->recorder->next_id++, rec->session->uid, 0);
	trace_open(trace, xstrdup("kernel"));
	kernel_describe(trace);
	kernel_want_names(ks);
	return trace;
}

struct ring *kernel_ring_find(struct kernel_session *ks, const struct channel *channel)
{
	struct trace *trace = list_first(&ks->rec.traces, struct trace, node);
	struct trace_channel *trace_channel = trace ? trace_channel_find(trace, channel) : NULL;
	struct ring *ring;

	if (!trace_channel)
		return NULL;
	list_for_each(ring, &trace_channel->rings, node)
		if (ring_is_usable(ring))
			return ring;
	return NULL;
}

/* The contexts of each event, and the tasks that are recorded. Return: as below. */
static int describe_memory(struct kernel_session *ks, struct ring *ring, struct err *err)
{
	const struct channel *channel = ring->trace_channel->channel;
	int ret = kernel_contexts_send(ks->kernel->kmod, ring);

	if (ret < 0)
		return err_errno(err, ERR_UNSUPPORTED, -ret,
				 "the kernel module rejects the contexts of channel '%s' (%s)",
				 channel->name, channel->contexts);
	ret = kernel_tracker_send_all(ks->kernel->kmod, ring->module, ks->rec.session);
	if (ret < 0)
		return err_errno(err, ERR_NO_MEMORY, -ret,
				 "can't send the tracked ids to the kernel");
	return 0;
}

/* For the text that the module makes of the records. Sessions of several users may have one
 * name. */
static void kernel_trace_fill(struct ltt_kmod_trace *trace, const struct ring *ring)
{
	const struct recording *rec = ring->trace_channel->trace->rec;
	const struct session *session = rec->session;
	const struct clock_line clock = clock_facts_line(rec->clock, UINT64_MAX); /* from now on */

	memset(trace, 0, sizeof(*trace));
	trace->size = sizeof(*trace);
	memcpy(trace->id, ring->trace_channel->trace->uuid, sizeof(trace->id));
	trace->clock_hz = clock.hz;
	trace->clock_base_ns = clock.base_ns;
	if (session->uid)
		snprintf(trace->name, sizeof(trace->name), "%.*s-%u", LTT_KMOD_NAME_MAX - 12,
			 session->name, (unsigned int)session->uid);
	else
		snprintf(trace->name, sizeof(trace->name), "%s", session->name);
	snprintf(trace->channel, sizeof(trace->channel), "%s", ring->name);
	snprintf(trace->host, sizeof(trace->host), "%s", rec->recorder->config.hostname);
}

/* Return: an outcome of enum err_code. */
static int make_memory(struct kernel_session *ks, struct ring *ring, struct err *err)
{
	const struct channel *channel = ring->trace_channel->channel;
	const struct kmod *kmod = ks->kernel->kmod;
	struct ltt_kmod_channel request = {
		.size = sizeof(request),
		.mode = channel->overwrite ? LTT_RING_OVERWRITE : LTT_RING_DISCARD,
		.num_subbuf = channel->num_subbuf,
		.clock = ks->rec.clock->kind,
		.subbuf_size = channel->subbuf_size,
		.data_fd = -1,
		.ctl_fd = -1,
	};
	struct ltt_kmod_trace trace;
	int fd;

	if (kmod->fd < 0)
		return err_set(err, ERR_UNSUPPORTED, "%s", kmod->why);
	if (kernel_is_of_root(ks) && kmod_has(kmod, LTT_KMOD_OUTPUTS))
		request.flags = LTT_KMOD_DATA;
	request.flags |= kernel_leaves_own(ks);
	kernel_trace_fill(&trace, ring);
	request.trace = (uint64_t)(uintptr_t)&trace;
	fd = kmod_call(kmod, kmod->fd, LTT_KMOD_CHANNEL, &request);
	if (fd == -EPERM)
		return err_set(err, ERR_UNSUPPORTED, "%s", kmod_refusal(EPERM));
	if (fd < 0)
		return err_errno(err, ERR_NO_MEMORY, -fd,
				 "the kernel can't allocate %u x %llu KiB for each CPU",
				 channel->num_subbuf,
				 (unsigned long long)channel->subbuf_size >> 10);
	ring->module = fd;
	ring->data = request.data_fd;
	ring->ctl_rw = request.ctl_fd;
	ring->nr_rings = request.nr_rings;
	if (describe_memory(ks, ring, err))
		return err->code;
	if (admission_has_room(MAX(fd, MAX(ring->data, ring->ctl_rw)), ADMISSION_KEPT))
		return 0;
	return err_set(err, ERR_LIMIT,
		       "the session daemon has nearly reached its limit of open files");
}

static struct ring *make_ring(struct kernel_session *ks, struct trace_channel *trace_channel)
{
	struct recorder *recorder = ks->rec.recorder;
	struct ring *ring = ring_alloc(trace_channel, recorder->next_id++, 0);
	struct err err = { 0 };

	ring->nr_rings = recorder->config.nr_cpus;
	ring->name = trace_channel->replaced ? xasprintf("%s_r%llu", trace_channel->channel->name,
							 (unsigned long long)ring->id) :
					       xstrdup(trace_channel->channel->name);
	if (ring_charge(ring, &err) || make_memory(ks, ring, &err)) {
		ring_fail(ring, err.code, err.text);
		return ring;
	}
	ring->first_instance = trace_channel->next_instance;
	trace_channel->next_instance += ring->nr_rings;
	ring_open_module(ring);
	return ring;
}

struct ring *kernel_ring_get(struct kernel_session *ks, struct channel *channel)
{
	struct ring *ring = kernel_ring_find(ks, channel);
	struct layout *contexts;

	if (ring)
		return ring;
	contexts = kernel_contexts_of(ks->kernel, channel->contexts);
	ring = make_ring(ks, trace_channel_get(get_trace(ks), channel, contexts));
	layout_free(contexts);
	return ring;
}

/*
 * Sends the tracked ids to the module: for each buffer when it is created, and for
 * all of a session when they change. The session's list is authoritative; the module is updated
 * first, so that a successor only ever has ids to add.
 */

_Static_assert((int)TRACK_FOLLOW == (int)LTT_KMOD_TRACK_FAMILY &&
		       (int)TRACK_CGROUP == (int)LTT_KMOD_TRACK_CGROUP &&
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

/* With those of their descendants that there are. Processes that have ended are not tracked, and
 * restrict the session all the same. */
static int kernel_tracker_send_families(const struct kmod *kmod, int module,
					const struct tracker *tracker)
{
	int err = 0;

	if (tracker->limited)
		err = kernel_tracker_send(kmod, module, TRACK_FOLLOW, TRACK_NONE, 0);
	for (uint32_t i = 0; i < tracker->nr && err == 0; i++) {
		err = kernel_tracker_send(kmod, module, TRACK_FOLLOW, TRACK_ADD, tracker->ids[i]);
		if (err == -ESRCH)
			err = 0;
	}
	return err;
}

static int kernel_tracker_send_ids(const struct kmod *kmod, int module,
				   const struct session *session)
{
	int err = 0;

	for (unsigned int kind = 0; kind < TRACK_NR_KINDS && err == 0; kind++) {
		const struct tracker *tracker = &session->trackers[DOMAIN_KERNEL][kind];

		if (kind == TRACK_FOLLOW)
			continue;

		if (tracker->limited && tracker->nr == 0)
			err = kernel_tracker_send(kmod, module, kind, TRACK_NONE, 0);
		for (uint32_t i = 0; i < tracker->nr && err == 0; i++)
			err = kernel_tracker_send(kmod, module, kind, TRACK_ADD, tracker->ids[i]);
	}
	return err;
}

int kernel_tracker_send_all(const struct kmod *kmod, int module, const struct session *session)
{
	int err = kernel_tracker_send_ids(kmod, module, session);

	return err ? err :
		     kernel_tracker_send_families(
			     kmod, module, &session->trackers[DOMAIN_KERNEL][TRACK_FOLLOW]);
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

	if (ret == -ESRCH)
		return err_set(err, ERR_INVALID, "there is no process %u to follow", track->id);
	return ret ? err_errno(err, ERR_NO_MEMORY, -ret,
			       "can't send the tracked ids to the kernel") :
		     0;
}

/* The module has followed the processes since, whose ids may be those of others now. */
static int send_ring_all(struct kernel_session *ks, int module, const void *data)
{
	(void)data;
	return kernel_tracker_send_ids(ks->kernel->kmod, module, ks->rec.session);
}

void kernel_tracker_restore(struct kernel_session *ks)
{
	if (each_ring(ks, send_ring_all, NULL) < 0)
		log_warn("session '%s': the kernel has not received all tracked ids",
			 ks->rec.session->name);
}

/*
 * Waits until a change is in force. The kernel answers at once; the consumer takes
 * time, as it creates buffers and writes metadata, and so does the transfer of many events. A
 * wait ends after late_us without progress; then the session has a problem until the change is in
 * force.
 */

static void kernel_wait_finish(struct kernel_wait *wait)
{
	struct kernel_session *ks = wait->ks;
	domain_done done = wait->done;
	void *data = wait->data;

	loop_timer_cancel(&wait->late);
	list_remove(&wait->node);
	free(wait);
	done(data, 0, 0, ks->rec.problem.code ? &ks->rec.problem : NULL);
}

void kernel_late_solve(struct kernel_session *ks)
{
	const struct recorder_config *config = &ks->rec.recorder->config;

	if (*ks->rec.session->troubles[TROUBLE_LATE])
		config->trouble(ks->rec.session, TROUBLE_LATE, "");
}

/* The session records, as a later answer of the consumer enables the events. */
static void kernel_late_report(struct kernel_session *ks)
{
	const struct recorder *recorder = ks->rec.recorder;
	const struct kernel_channel *kc;
	unsigned int nr = 0;
	char text[256];

	list_for_each(kc, &ks->channels, node) nr += kc->nr_waits;
	if (!nr)
		return;
	snprintf(text, sizeof(text),
		 "%u event%s of the kernel %s not recorded yet, nor counted: ltt-consumerd has not "
		 "prepared the buffers for %llu s; recording begins when it has, and this "
		 "is no longer in 'lttctl status'",
		 nr, nr == 1 ? "" : "s", nr == 1 ? "is" : "are",
		 (unsigned long long)recorder->late_us / 1000000);
	recorder->config.trouble(ks->rec.session, TROUBLE_LATE, text);
}

static void kernel_wait_on_timeout(struct loop_timer *timer)
{
	struct kernel_wait *wait = container_of(timer, struct kernel_wait, late);

	if (!wait->finished)
		kernel_late_report(wait->ks);
	kernel_wait_finish(wait);
}

void kernel_wait_new(struct kernel_session *ks, domain_done done, void *data)
{
	struct kernel_wait *wait = xalloc(sizeof(*wait));

	wait->ks = ks;
	wait->done = done;
	wait->data = data;
	loop_timer_init(&wait->late, ks->rec.recorder->config.loop, kernel_wait_on_timeout);
	loop_timer_set(&wait->late, ks->rec.recorder->late_us);
	list_append(&ks->waits, &wait->node);
}

void kernel_waits_extend(struct kernel_session *ks)
{
	struct kernel_wait *wait;

	list_for_each(wait, &ks->waits, node)
		if (!wait->finished)
			loop_timer_set(&wait->late, ks->rec.recorder->late_us);
}

/* The callback may free anything, the session too: so it is called from timers. */
void kernel_waits_finish(struct kernel_session *ks)
{
	struct kernel_wait *wait;

	list_for_each(wait, &ks->waits, node) {
		wait->finished = true;
		loop_timer_set(&wait->late, 0);
	}
}
