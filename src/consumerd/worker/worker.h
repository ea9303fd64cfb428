/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worker.h - the thread that serves one output: it owns the output's traces,
 * ring sets and files, does jobs, and writes recorded events to disk. A slow disk delays this
 * thread only.
 *
 * Sleep. While events are recorded the worker writes the data of all rings once in a flush period,
 * and earlier if the doorbell wakes it because a producer entered a new sub-buffer. After a period
 * without records it sets LTT_RING_WAKE in all rings, so that the next record wakes it. A record
 * that was in progress at that time may have missed the bit; so the worker checks all rings once
 * more, a period later, and only then sleeps without a timeout.
 */
#ifndef CONSUMERD_WORKER_WORKER_H
#define CONSUMERD_WORKER_WORKER_H

#include <sys/types.h>

#include "job.h"
#include "consumerd/sink/sink.h"

#define WORKER_FLUSH_DEFAULT_US 200000u
#define WORKER_FLUSH_MIN_US 1000u

struct worker;

struct worker_config {
	int dir_fd;   /* taken over; -1: none, or not yet */
	bool at_path; /* JOB_START has the path of the directory */
	uid_t uid;    /* files are created as this user */
	gid_t gid;
	uint32_t flush_us;  /* 0: default */
	uint64_t keep_free; /* as in struct disk */
	uint64_t max_size;
	enum sync_mode sync;
	uint32_t sync_us;		/* with SYNC_PERIOD */
	struct relay_conn_config relay; /* addr not NULL: instead of files; taken over */
	bool relay_later;		/* the relay may be unreachable at the start */
	bool snapshots;			/* nothing is written but snapshots */
	bool gap;			/* see con_output_open */
	bool leftover;			/* only sends the spool of an earlier session */
	int doorbell_fd;		/* of an earlier consumer, now owned; -1: create one */
	struct job_queue *done;		/* receives the jobs that are done; outlives the worker */
};

/** Start a worker. Its first job must be JOB_START, whose owner also receives the JOB_NOTEs.
 *  Return: 0 or negative errno (dir_fd is closed). */
int worker_new(const struct worker_config *config, struct worker **ret) MUST_CHECK;
/** Join the thread, for which JOB_END was queued, and free the worker. */
struct worker *worker_free(struct worker *worker);

void worker_post(struct worker *worker, struct job *job);
/** Whether the worker has made no progress for so long that the file system seems to hang. Main
 *  thread. */
bool worker_hangs(const struct worker *worker);
/** See sink_relay(). */
struct relay_facts worker_relay(const struct worker *worker) MUST_CHECK;
/** Bytes of data in the spool that the relay has not received. Any thread. */
uint64_t worker_spooled(const struct worker *worker);
/** Bytes of data in the spool that the relay has, and its store does not have yet. Any thread. */
uint64_t worker_undurable(const struct worker *worker);
/** Descriptor of the doorbell's page; owned by the worker. */
int worker_doorbell_fd(const struct worker *worker);
/** Make a descriptor that is readable when a kernel ring has data for the sleeping worker, or the
 *  relay closes the connection; the caller then calls worker_on_notify(). Main thread, before the
 *  first such ring or connection. Return: the descriptor, owned by the worker; or negative
 *  errno. */
int worker_listen(struct worker *worker);
void worker_on_notify(struct worker *worker);
/** Descriptor of the output's directory, owned by the worker; or -1. */
int worker_dir_fd(const struct worker *worker);

#endif
