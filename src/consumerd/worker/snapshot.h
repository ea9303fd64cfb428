/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * snapshot.h - a trace of the records that a session's rings have at one moment, in a directory of
 * its own. The worker of the session's output copies the rings, while their producers go on, and
 * finishes the snapshot. In between, a thread of the snapshot writes the files, with low priority,
 * so that no ring has to wait for that. It shares no state with the worker until it has ended.
 */
#ifndef CONSUMERD_WORKER_SNAPSHOT_H
#define CONSUMERD_WORKER_SNAPSHOT_H

#include "consumerd/doorbell.h"
#include "consumerd/ring/ringcopy.h"
#include "job.h"
#include "proto/consumer.h"

/** The answer for one ring. The files of a snapshot have it, too, for the next consumer. */
struct snapshot_part {
	struct msg_con_snapshot_ring answer;
	uint64_t end; /* value of the ring's `count` behind the last record */
};

struct snapshot_ring {
	struct stream_config config; /* of a trace of the snapshot's; @config.channel is owned */
	struct ring_copy copy;
	bool lent; /* its room is the ring set's */
};

struct snapshot {
	pthread_t thread;
	uint32_t written; /* atomic: the thread has ended, or will at once */
	struct doorbell *doorbell;
	struct job *job;   /* JOB_SNAPSHOT, the snapshot's until it is finished */
	int dir_fd;	   /* in which its directory is made; owned by the worker or the job */
	bool is_elsewhere; /* it is not the output's */
	bool is_sent;	   /* to a relay: no directory is made */
	struct disk disk;
	uint64_t used_before; /* disk.used at the beginning */
	uint64_t rested_ns;   /* of the thread: see ring_copy_rest() */
	struct chunk chunk;   /* in memory until the thread writes it */
	size_t nr_rings;
	struct snapshot_ring *rings; /* @nr_rings; NULL: they were written by an earlier consumer */
	struct snapshot_part *parts; /* @nr_rings */
};

struct worker;

/** Remove the unfinished snapshot that an earlier consumer has left behind. @output: its id. */
void snapshot_clean(int dir_fd, uint64_t output);
/**
 * snapshot_recall() - the snapshot that an earlier consumer has completed for the same request, but
 * not answered: its parts, without records. The rings note that its records are saved.
 * Return: NULL: there is none.
 */
struct snapshot *snapshot_recall(struct worker *worker, struct job *job);
/** Copy the rings and begin to write the copies. Return: NULL: it failed, as in job->err. */
struct snapshot *snapshot_begin(struct worker *worker, struct job *job);
bool snapshot_is_written(const struct snapshot *snapshot);
/** Wait for the thread, then note in the rings the records that are in the files. */
void snapshot_finish(struct snapshot *snapshot, const struct list_node *sets);
struct snapshot *snapshot_free(struct snapshot *snapshot);

#endif
