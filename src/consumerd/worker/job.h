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

struct snapshot_parts;

enum job_kind {
	JOB_START,	 /* change to the output's user, open its directory */
	JOB_TRACE,	 /* open a trace */
	JOB_METADATA,	 /* append to that of a trace */
	JOB_KALLSYMS,	 /* write the functions of the kernel beside it */
	JOB_TRACE_CLOSE, /* no data: close the trace */
	JOB_RING,	 /* open a ring set */
	JOB_RING_CLOSE,	 /* no data: close the ring set */
	JOB_FLUSH,	 /* no data: write all that the rings have */
	JOB_SNAPSHOT,	 /* write copies of the rings to a new directory */
	JOB_TURN,	 /* move the traces to an archive, and go on in new files */
	JOB_ARCHIVES,	 /* remove the oldest archives */
	JOB_RECLAIM,	 /* give the memory of free sub-buffers back */
	JOB_WAIT,	 /* no data: it is done when the jobs before it are */
	JOB_COMPLETE,	 /* no data: all of an earlier consumer was adopted */
	JOB_END,	 /* close everything and end the thread */
	/* notifications by a worker */
	JOB_NOTE,   /* the state of the output has changed */
	JOB_DAMAGE, /* no data: a ring set was found damaged */
	JOB_KINDS
};

/** @path: the directory, if the output has no descriptor of it; else NULL. @turning: the archive of
 *  a turn that an earlier consumer has perhaps not finished; NULL: none. */
struct job_start {
	char *path;
	struct dirid dir;
	char *turning;
};

struct job_trace {
	bool adopt; /* of an earlier consumer: it is continued */
	char *path;
	uint8_t uuid[16];
	uint64_t metadata_bytes; /* adopt: the acknowledged ones */
	int metadata;		 /* memory with them, for the next consumer; -1: in a file */
};

struct job_metadata {
	uint8_t *text;
	uint32_t text_len;
	uint64_t bytes; /* result: of the metadata */
};

struct job_kallsyms {
	int file; /* the content */
};

struct job_ring {
	bool adopt; /* of an earlier consumer: it is continued */
	uint64_t trace;
	struct ringset_spec spec;
	struct ringmem_fds fds; /* adopt: its memory, or none; result: the same */
	int module;		/* the kernel module's channel; or -1 */
	/* results */
	struct ringset *set; /* owned by the worker; the main thread may switch and read it */
	uint64_t cut_bytes;  /* that were cut off adopted streams */
};

struct job_snapshot {
	char *name;
	int dir_fd;		   /* the directory in which it is made; -1: that of the output, */
	char *path;		   /* or the one at this path, which is not opened yet, */
	struct dirid dir;	   /* if it is this one; its inode is 0: any */
	struct relay_conn_config relay; /* addr not NULL: the relay to which it is sent instead */
	uint64_t max_size;	   /* bytes; 0: no limit */
	uint64_t last;		   /* of the rings' clock, before now; 0: no limit */
	uint8_t remembered;	   /* not 0: only of these domains' sets that are remembered */
	uint64_t to;		   /* not 0: the output whose worker sends the copies; */
	uint8_t to_id[16];	   /* of its session at the relay; */
	struct snapshot *copied;   /* these; owned; NULL: they are not made yet */
	bool sent, noted;	   /* and it has done so; the rings have noted it, or will */
	struct snapshot_parts *parts; /* result */
};

struct job_turn {
	char *name; /* of the archive: a path below the output's directory */
	bool clear; /* it is removed, with the records in the rings */
	/* results */
	uint64_t bytes;	  /* of the files that were moved */
	uint64_t cleared; /* records */
	bool waits;	  /* for the relay, in the spool */
};

/** Limits as in con_archive_remove. */
struct job_archives {
	uint32_t most;
	uint64_t since_s, max_size;
	uint32_t left, removed; /* results */
};

/** As in con_reclaim. */
struct job_reclaim {
	bool all;
	uint32_t stream_class;
	uint64_t age_ns;
	uint64_t bytes; /* result */
	uint32_t left;	/* result */
};

struct job_end {
	bool leave; /* rings stay unchanged, for the next consumer */
};

struct job_note {
	int error;    /* errno: writing fails; 0: it works again */
	bool spooled; /* not an error: data goes to the spool; err.text has the reason */
	bool limit;   /* not an error, but a limit was reached, which err.text names */
};

struct job {
	struct list_node node;
	enum job_kind kind;
	void *owner; /* used by the main thread only */
	/* The request that is answered when the job is done. */
	uint16_t type;
	uint32_t serial;
	uint32_t connection; /* number of the connection on which it was received */

	struct err err;
	uint64_t id; /* of the trace, of the ring set, or of the output */
	union {	     /* the job's own, with the memory that it points to */
		struct job_start start;
		struct job_trace trace;
		struct job_metadata metadata;
		struct job_kallsyms kallsyms;
		struct job_ring ring;
		struct job_snapshot snapshot;
		struct job_turn turn;
		struct job_archives archives;
		struct job_reclaim reclaim;
		struct job_end end;
		struct job_note note;
	};
};

/** Whether the job opens a trace or a ring set, or writes metadata for one. */
static inline bool job_opens(const struct job *job)
{
	return job->kind == JOB_METADATA || (job->kind == JOB_TRACE && !job->trace.adopt) ||
	       (job->kind == JOB_RING && !job->ring.adopt);
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
