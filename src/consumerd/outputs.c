/* SPDX-License-Identifier: GPL-2.0-only */
#include "outputs.h"

#include "base/mem.h"

struct output *output_new(struct control *control, uint64_t id, struct worker *worker)
{
	struct output *output = xalloc(sizeof(*output));

	output->worker = worker;
	list_init(&output->traces);
	list_init(&output->rings);
	idmap_add(&control->outputs, &output->node, id);
	list_append(&control->all, &output->all_node);
	return output;
}

void output_free(struct output *output)
{
	struct trace_ref *trace, *trace_tmp;
	struct ring_ref *ring, *ring_tmp;

	loop_fd_fini(&output->notifier);
	worker_free(output->worker);
	list_for_each_safe(trace, trace_tmp, &output->traces, output_node)
		trace_ref_free(trace);
	list_for_each_safe(ring, ring_tmp, &output->rings, output_node)
		ring_ref_free(ring);
	idmap_remove(&output->node);
	list_remove(&output->all_node);
	free(output);
}

void output_begin_closing(struct output *output)
{
	struct ring_ref *ring;

	output->closing = true;
	list_for_each(ring, &output->rings, output_node)
		ring_ref_begin_closing(ring);
}

void output_end(struct output *output)
{
	struct job *job = job_new(JOB_END, output);

	output_begin_closing(output);
	job->id = output->writer;
	worker_post(output->worker, job);
}

void output_begin_leaving(struct output *output)
{
	struct ring_ref *ring;

	output->closing = true;
	list_for_each(ring, &output->rings, output_node) {
		ring->set = NULL;
		ring->closing = true;
	}
}

static void outputs_on_notify(struct loop_fd *source, uint32_t events)
{
	(void)events;
	worker_on_notify(container_of(source, struct output, notifier)->worker);
}

int output_watch_kernel(struct output *output, struct loop *loop)
{
	int fd = worker_listen(output->worker);

	if (fd < 0 || output->notifier.loop)
		return MIN(fd, 0);
	return loop_fd_init(&output->notifier, loop, fd, EPOLLIN, outputs_on_notify);
}

struct output *output_find(struct control *control, uint64_t id)
{
	return idmap_get(&control->outputs, id, struct output, node);
}

struct trace_ref *trace_ref_new(struct control *control, struct output *output, uint64_t id)
{
	struct trace_ref *trace = xalloc(sizeof(*trace));

	trace->output = output;
	trace->metadata = -1;
	idmap_add(&control->traces, &trace->node, id);
	list_append(&output->traces, &trace->output_node);
	return trace;
}

struct trace_ref *trace_ref_find(struct control *control, uint64_t id)
{
	return idmap_get(&control->traces, id, struct trace_ref, node);
}

void trace_ref_free(struct trace_ref *trace)
{
	idmap_remove(&trace->node);
	list_remove(&trace->output_node);
	close_fd(trace->metadata);
	free(trace);
}

struct ring_ref *ring_ref_new(struct control *control, struct output *output, uint64_t id,
			      uint32_t nr)
{
	struct ring_ref *ring = xalloc(sizeof(*ring) + nr * sizeof(ring->boxes[0]));

	ring->output = output;
	ring->nr = nr;
	ring->data = ring->ctl_rw = ring->module = -1;
	idmap_add(&control->rings, &ring->node, id);
	list_append(&output->rings, &ring->output_node);
	return ring;
}

struct ring_ref *ring_ref_find(struct control *control, uint64_t id)
{
	return idmap_get(&control->rings, id, struct ring_ref, node);
}

/* Switched off at once, even while the worker is busy. */
void ring_ref_begin_closing(struct ring_ref *ring)
{
	if (ring->set)
		ringset_clear_state(ring->set, LTT_RING_ON);
	ring->set = NULL;
	ring->closing = true;
	ring->data = close_fd(ring->data);
	ring->ctl_rw = close_fd(ring->ctl_rw);
	ring->module = close_fd(ring->module);
}

struct ring_ref *ring_ref_free(struct ring_ref *ring)
{
	idmap_remove(&ring->node);
	list_remove(&ring->output_node);
	close_fd(ring->data);
	close_fd(ring->ctl_rw);
	close_fd(ring->module);
	free(ring);
	return NULL;
}
