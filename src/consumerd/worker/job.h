/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * job.h - what the main thread asks of a worker, and the queues between them.
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

enum job_kind {
	JOB_START,	 /* become the output's user; path, dir: open that one */
	JOB_TRACE_OPEN,	 /* id, path, uuid */
	JOB_METADATA,	 /* id of the trace, text */
	JOB_TRACE_ADOPT, /* as that, and bytes */
	JOB_RING_OPEN,	 /* id of the trace, spec -> set, fds */
	JOB_RING_ADOPT,	 /* id of the trace, spec, fds -> set, bytes, records */
	JOB_RING_CLOSE,	 /* id of the ring */
	JOB_TRACE_CLOSE, /* id of the trace */
	JOB_FLUSH,
	JOB_WAIT,     /* nothing: it comes back behind those before it */
	JOB_COMPLETE, /* all that an earlier consumer had has been taken over */
	JOB_END,      /* close everything and leave */
	JOB_NOTE,     /* from a worker: writing fails (error) or works again (0) */
};

struct job {
	struct list_node node;
	enum job_kind kind;
	void *owner; /* the main thread's, not looked at here */
	/* the command that waits for it */
	uint16_t type;
	uint32_t serial;
	uint32_t life; /* of the connection that it came on */

	uint64_t id;
	char *path;
	struct dirid dir;
	uint8_t uuid[16];
	uint8_t *text;
	uint32_t text_len;
	struct ringset_spec spec;

	/* results */
	struct err err;
	bool leave;		/* JOB_END: rings stay as they are, for a successor */
	int error;		/* errno */
	bool limit;		/* no failure: a limit, which err.text names */
	struct ringset *set;	/* the worker's; the main thread may switch it and peek */
	struct ringmem_fds fds; /* of the job, in any case */
	int module;		/* the kernel module's channel, the job's; or -1 */
	uint64_t bytes;		/* of metadata; cut off streams */
	uint64_t records;	/* in adopted streams */
};

struct job *job_new(enum job_kind kind, void *owner);
struct job *job_free(struct job *job);

/** struct job_queue - first in, first out; any thread. */
struct job_queue {
	pthread_mutex_t lock;
	struct list_node jobs;
	int event_fd; /* readable while there may be something; -1: nobody polls */
};

/** Return: 0 or negative errno. */
int job_queue_init(struct job_queue *queue, bool pollable) MUST_CHECK;
/** Frees what is in it. */
void job_queue_fini(struct job_queue *queue);
void job_queue_push(struct job_queue *queue, struct job *job);
/** Return: the oldest, or NULL. */
struct job *job_queue_pop(struct job_queue *queue);
bool job_queue_is_empty(struct job_queue *queue);

#endif
