/* SPDX-License-Identifier: GPL-2.0-only */
/* ring.c - the trace of a session's kernel events, and its ring sets. */
#include "ring.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/mem.h"
#include "context.h"
#include "session.h"
#include "sessiond/admission.h"
#include "trace/metadata.h"
#include "tracker.h"

void kernel_describe(struct trace *trace)
{
	const struct recording *rec = trace->rec;
	struct utsname names = { .release = "" };
	struct metadata_trace facts = {
		.uuid = trace->uuid,
		.session = rec->session->name,
		.hostname = rec->recorder->config.hostname,
		.created_ns = rec->session->created_ns,
		.uid = trace->uid,
		.clock = rec->clock,
		.hides = rec->recorder->config.consumer->hides,
	};
	struct metadata_kernel kernel = { names.release, names.version };

	uname(&names);
	facts.kernel = &kernel;
	trace_append(trace, metadata_head(&facts));
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
		if (!ring->closing)
			return ring;
	return NULL;
}

/* The contexts of each event, and the tasks that are recorded. Return: as below. */
static int describe_memory(struct kernel_session *ks, const struct ring *ring, struct err *err)
{
	const struct channel *channel = ring->trace_channel->channel;
	int ret = kernel_contexts_send(ks->kernel->kmod, ring->module, channel);

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
	int fd = kmod->fd < 0 ? -1 : kmod_call(kmod, kmod->fd, LTT_KMOD_CHANNEL, &request);

	if (kmod->fd < 0)
		return err_set(err, ERR_UNSUPPORTED, "%s", kmod->why);
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
	contexts = kernel_contexts_of(ks->kernel, channel);
	ring = make_ring(ks, trace_channel_get(get_trace(ks), channel, contexts));
	layout_free(contexts);
	return ring;
}
