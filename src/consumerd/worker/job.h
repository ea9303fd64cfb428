/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * job.h - requests of the main thread to a worker, and the queues between them.
 * A job belongs to one side at a time: to the main thread until it is pushed, to
 * the worker until it is done, then to the main thread again. Nothing else is
 * shared but rings, doorbells and counters.
 */
#ifndef CONSUMERD_WORKER_JOB_H
#define CONSUMERD_WORKER_JOB_H

#include <pthread.h>

#include "base/err.h"
#include "base/list.h"
#include "io/dirid.h"
#include "ringset.h"

struct snapshot;

enum job_kind {
	/* arguments -> results */
	JOB_START,	 /* change to the output's user, open the directory path if it is dir */
	JOB_TRACE,	 /* id, path, uuid; adopt, bytes of metadata */
	JOB_METADATA,	 /* id of the trace, text */
	JOB_RING,	 /* id of the trace, spec; adopt, fds -> set, fds; bytes */
	JOB_RING_CLOSE,	 /* id of the ring */
	JOB_TRACE_CLOSE, /* id of the trace */
	JOB_FLUSH,
	JOB_SNAPSHOT, /* id of the output; path: the new directory, in that of the output or in
		       * fds.data; bytes: greatest size, or 0 -> snapshot */
	JOB_WAIT,     /* no work: it is done when the jobs before it are */
	JOB_COMPLETE, /* id of the output: all of an earlier consumer was adopted */
	JOB_END,      /* close everything and end the thread */
	/* notifications by a worker */
	JOB_NOTE,   /* writing fails (error) or works again (0) */
	JOB_DAMAGE, /* id of a ring that was found damaged */
};

struct job {
	struct list_node node;
	enum job_kind kind;
	void *owner; /* used by the main thread only */
	/* The request that is answered when the job is done. */
	uint16_t type;
	uint32_t serial;
	uint32_t connection; /* number of the connection on which it was received */

	uint64_t id;
	bool adopt; /* of an earlier consumer: it is continued */
	char *path;
	struct dirid dir;
	uint8_t uuid[16];
	uint8_t *text;
	uint32_t text_len;
	struct ringset_spec spec;

	/* results */
	struct err err;
	bool leave;		/* JOB_END: rings stay unchanged, for the next consumer */
	int error;		/* errno */
	bool spooled;		/* not an error: data goes to the spool; err.text has the reason */
	bool limit;		/* not an error, but a limit was reached, which err.text names */
	struct ringset *set;	/* owned by the worker; the main thread may switch and read it */
	struct ringmem_fds fds; /* owned by the job */
	int module;		/* the kernel module's channel, owned by the job; or -1 */
	uint64_t bytes;		/* of metadata; or bytes that were cut off adopted streams */
	struct snapshot *snapshot; /* owned by the job; NULL: it failed */
};

/** Whether the job opens a trace or a ring set, or writes metadata for one. */
static inline bool job_opens(const struct job *job)
{
	return job->kind == JOB_METADATA ||
	       ((job->kind == JOB_TRACE || job->kind == JOB_RING) && !job->adopt);
}

struct job *job_new(enum job_kind kind, void *owner);
struct job *job_free(struct job *job);

/** struct job_queue - first in, first out; any thread. */
struct job_queue {
	pthread_mutex_t lock;
	struct list_node jobs;
	int event_fd; /* readable while there may be jobs; -1: not polled */
};

/** Return: 0 or negative errno. */
int job_queue_init(struct job_queue *queue, bool pollable) MUST_CHECK;
/** Free the queue's jobs, too. */
void job_queue_fini(struct job_queue *queue);
void job_queue_push(struct job_queue *queue, struct job *job);
/** Return: the oldest job, or NULL. */
struct job *job_queue_pop(struct job_queue *queue);
/** Return: the oldest job for which job_opens(), if only flushes are before it; or NULL. */
struct job *job_queue_pop_opening(struct job_queue *queue);
bool job_queue_is_empty(struct job_queue *queue);

#endif
