/* SPDX-License-Identifier: GPL-2.0-only */
#include "job.h"

#include <errno.h>
#include <sys/eventfd.h>

#include "base/mem.h"
#include "snapshot.h"

struct job *job_new(enum job_kind kind, void *owner)
{
	struct job *job = xalloc(sizeof(*job));

	list_init(&job->node);
	job->kind = kind;
	job->owner = owner;
	if (kind == JOB_TRACE)
		job->trace.metadata = -1;
	else if (kind == JOB_SNAPSHOT)
		job->snapshot.dir_fd = -1;
	else if (kind == JOB_RING)
		job->ring = (struct job_ring){ .fds = { -1, -1, -1 }, .module = -1 };
	return job;
}

static void job_ring_fini(struct job_ring *ring)
{
	close_fd(ring->fds.data);
	close_fd(ring->fds.ctl);
	close_fd(ring->fds.ctl_rw);
	close_fd(ring->module);
	free(ring->spec.channel);
}

static void job_snapshot_fini(struct job_snapshot *snapshot)
{
	snapshot_free(snapshot->copied);
	close_fd(snapshot->dir_fd);
	relay_conn_config_fini(&snapshot->relay);
	free(snapshot->parts);
	free(snapshot->name);
	free(snapshot->path);
}

struct job *job_free(struct job *job)
{
	if (!job)
		return NULL;
	list_remove(&job->node);
	if (job->kind == JOB_START) {
		free(job->start.path);
		free(job->start.turning);
	} else if (job->kind == JOB_TRACE) {
		close_fd(job->trace.metadata);
		free(job->trace.path);
	} else if (job->kind == JOB_METADATA) {
		free(job->metadata.text);
	} else if (job->kind == JOB_KALLSYMS) {
		close_fd(job->kallsyms.file);
	} else if (job->kind == JOB_RING) {
		job_ring_fini(&job->ring);
	} else if (job->kind == JOB_SNAPSHOT) {
		job_snapshot_fini(&job->snapshot);
	} else if (job->kind == JOB_TURN) {
		free(job->turn.name);
	}
	free(job);
	return NULL;
}

int job_queue_init(struct job_queue *queue, bool pollable)
{
	list_init(&queue->jobs);
	queue->event_fd = -1;
	if (pollable) {
		queue->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (queue->event_fd < 0)
			return -errno;
	}
	pthread_mutex_init(&queue->lock, NULL);
	return 0;
}

void job_queue_fini(struct job_queue *queue)
{
	struct job *job;

	while ((job = job_queue_pop(queue)))
		job_free(job);
	pthread_mutex_destroy(&queue->lock);
	queue->event_fd = close_fd(queue->event_fd);
}

void job_queue_push(struct job_queue *queue, struct job *job)
{
	uint64_t one = 1;

	pthread_mutex_lock(&queue->lock);
	list_append(&queue->jobs, &job->node);
	pthread_mutex_unlock(&queue->lock);
	if (queue->event_fd >= 0) /* fails only where it is readable already */
		(void)!write(queue->event_fd, &one, sizeof(one));
}

struct job *job_queue_pop(struct job_queue *queue)
{
	struct job *job;

	pthread_mutex_lock(&queue->lock);
	job = list_first(&queue->jobs, struct job, node);
	if (job)
		list_remove(&job->node);
	pthread_mutex_unlock(&queue->lock);
	return job;
}

struct job *job_queue_pop_opening(struct job_queue *queue)
{
	struct job *job, *found = NULL;

	pthread_mutex_lock(&queue->lock);
	list_for_each(job, &queue->jobs, node) {
		found = job_opens(job) ? job : NULL;
		if (job->kind != JOB_FLUSH)
			break;
	}
	if (found)
		list_remove(&found->node);
	pthread_mutex_unlock(&queue->lock);
	return found;
}

bool job_queue_is_empty(struct job_queue *queue)
{
	bool empty;

	pthread_mutex_lock(&queue->lock);
	empty = list_empty(&queue->jobs);
	pthread_mutex_unlock(&queue->lock);
	return empty;
}
