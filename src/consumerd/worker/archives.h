/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * archives.h - the removal of an output's oldest archives, by a thread of its own, as that of large
 * files takes long. The thread has the ids of the worker that starts it. Owned by the worker.
 */
#ifndef CONSUMERD_WORKER_ARCHIVES_H
#define CONSUMERD_WORKER_ARCHIVES_H

#include "consumerd/doorbell.h"
#include "job.h"

struct archives;

/**
 * archives_begin() - start the removal that a JOB_ARCHIVES describes.
 * @dir_fd: directory of the output; outlives the thread. @done: receives the job when it is done.
 * @doorbell: rings then.
 * Return: NULL: it is not done, as in job->err.
 */
struct archives *archives_begin(int dir_fd, struct job *job, struct job_queue *done,
				struct doorbell *doorbell);
/** Whether the thread has no more to do. */
bool archives_are_done(const struct archives *archives);
/** End the thread, at the latest when an archive is removed; the next removal continues. Return:
 *  bytes that were removed. */
uint64_t archives_end(struct archives *archives);

#endif
