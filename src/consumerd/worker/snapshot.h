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

/** The result of a snapshot, as its files have it for the next consumer. */
struct snapshot_parts {
	uint64_t output;
	uint32_t nr;
	uint32_t crc32c; /* of the parts */
	struct snapshot_part {
		struct msg_con_snapshot_ring answer;
		uint64_t end; /* value of the ring's `count` behind the last record */
	} part[];
};

struct snapshot_ring {
	struct stream_config config; /* of a trace of the snapshot's; @config.channel is owned */
	struct ring_copy *copy;	     /* the ring set's, or @own */
	struct ring_copy own;
};

struct snapshot {
	pthread_t thread;
	uint32_t written; /* atomic: the thread has ended, or will at once */
	struct doorbell *doorbell;
	struct job *job; /* JOB_SNAPSHOT, the snapshot's until it is finished */
	struct sink *sink; /* NULL: that of another worker sends the copies */
	int dir_fd; /* in which files get a directory; owned by the worker or the job */
	struct disk disk;
	uint64_t used_before; /* disk.used at the beginning */
	uint64_t rested_ns;   /* of the thread: see ring_copy_rest() */
	struct chunk chunk;   /* in memory until the sink stores it */
	struct snapshot_ring *rings; /* one for each of the job's parts */
};

struct worker;

/** Remove the unfinished snapshot that an earlier consumer has left behind. @output: its id. */
void snapshot_clean(int dir_fd, uint64_t output);
/**
 * snapshot_begin() - copy the rings and begin to write the copies.
 * Return: NULL: the job is done: it failed, or has the copies for another worker, or an earlier
 * consumer has completed the same request, but not answered: then the rings note that its records
 * are saved.
 */
struct snapshot *snapshot_begin(struct worker *worker, struct job *job);
bool snapshot_is_written(const struct snapshot *snapshot);
/** Wait for the thread, note in the rings the records that are in the files, and free the
 *  snapshot: its job is done. */
void snapshot_finish(struct worker *worker, struct snapshot *snapshot);
/** Send the copies that this worker, or another one, has made: @job->snapshot.to is this one's
 *  output. Its error is the outcome. */
void snapshot_send(struct worker *worker, struct job *job);
/** Note in the rings that these copies were sent. */
void snapshot_note_sent(struct worker *worker, const struct job *job);
struct snapshot *snapshot_free(struct snapshot *snapshot);

#endif
