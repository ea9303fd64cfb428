/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worker.h - the thread that serves one output: it owns the output's traces,
 * ring sets and files, does jobs, and moves what applications record to disk. A
 * slow disk makes it slow, and nobody else.
 *
 * How it sleeps. While data flows it cuts every ring once a flush period, and
 * earlier where the doorbell says that a producer entered a new sub-buffer. A
 * period without new records makes it idle: every ring gets LTT_RING_WAKE, so
 * that its next record rings. A record that was being made in that moment may
 * not have seen the bit; so it looks once more, a period later, and only then
 * sleeps for good, without a time-out.
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
	bool relay_later;		/* whether it is there now does not matter */
	bool rest;			/* all that there will be is in the spool */
	int doorbell_fd;		/* of an earlier consumer, taken over; -1: make one */
	struct job_queue *done;		/* jobs come back through this; outlives the worker */
};

/** Start it; its first job is JOB_START, whose owner the notes will have too.
 *  Return: 0 or negative errno (dir_fd is closed). */
int worker_new(const struct worker_config *config, struct worker **ret) MUST_CHECK;
/** Wait for the thread, which has been given JOB_END, and free. */
struct worker *worker_free(struct worker *worker);

void worker_post(struct worker *worker, struct job *job);
/** Has it been in one round of work for longer than any file system takes that answers?
 *  Main thread. */
bool worker_hangs(const struct worker *worker);
/** As relay_conn_clock(); where there is no relay nothing is known. */
void worker_clock(const struct worker *worker, int64_t *ret_offset_ns, uint64_t *ret_error_ns);
/** Bytes that wait in its spool. Any thread. */
uint64_t worker_spooled(const struct worker *worker);
/** Descriptor of the page that applications ring; the worker's. */
int worker_doorbell_fd(const struct worker *worker);
/** Have a descriptor that is readable when rings of the kernel's have something for the
 *  worker that sleeps, or its relay hangs up; then call worker_on_notify(). Main thread, before the
 *  first such ring, or connection. Return: it, the worker's; or negative errno. */
int worker_listen(struct worker *worker);
void worker_on_notify(struct worker *worker);
/** Descriptor of the output's directory, or -1; the worker's. */
int worker_dir_fd(const struct worker *worker);

#endif
