/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * disk.h - the limits of an output's use of the disk, and its policy for syncing. Owned by a
 * worker, shared by its traces and their streams.
 */
#ifndef STORE_DISK_H
#define STORE_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "proto/enums.h"

/** Bytes that are reserved for metadata: data must not use them. */
#define DISK_METADATA_RESERVE (64u << 10)

enum disk_limit {
	DISK_NO_LIMIT,
	DISK_KEEP_FREE, /* more data would leave less free space on the file system than required */
	DISK_MAX_SIZE,	/* more data would exceed the requested limit of the output */
};

struct disk {
	uint64_t keep_free; /* bytes; 0: none */
	uint64_t max_size;  /* bytes; 0: unlimited */
	enum sync_mode sync;

	uint64_t used;	       /* bytes of all files, as far as they are known */
	enum disk_limit limit; /* the limit that disk_room() reached last */
	bool stalled;	       /* nothing can be written, so that rings fill up */
	bool accounting;       /* the last counts of losses are being written: limits don't apply */
	uint64_t busy_since_ns; /* atomic: time of the worker's last progress; 0: it sleeps, or does
				 * work without the disk */
	/* Called by disk_progress(), in the worker's thread; NULL: not needed. */
	void (*progress)(void *data);
	void *data;
};

/** A worker without progress for this long is blocked by the file system. */
#define DISK_HANGS_NS 2000000000u

/** A slow disk is not one that hangs: called after each step of a long write. */
static inline void disk_progress(const struct disk *disk)
{
	if (disk->progress)
		disk->progress(disk->data);
}

/** Long work begins that does not need the disk, until disk_progress(). */
static inline void disk_leave(struct disk *disk)
{
	disk_progress(disk); /* it may have hung until now */
	__atomic_store_n(&disk->busy_since_ns, 0, __ATOMIC_RELAXED);
}

/** Whether the worker has made no progress for DISK_HANGS_NS at @now. Any thread. */
static inline bool disk_hangs(const struct disk *disk, uint64_t now)
{
	uint64_t since = __atomic_load_n(&disk->busy_since_ns, __ATOMIC_RELAXED);

	return since && now > since && now - since > DISK_HANGS_NS;
}

/**
 * disk_room() - check whether @bytes more data may be written.
 * @fd: a descriptor on the file system.
 * Return: 0, -EDQUOT: disk->limit is the reason, or negative errno.
 */
int disk_room(struct disk *disk, int fd, uint64_t bytes) MUST_CHECK;

/** Whether written data must be synced, now or soon. */
static inline bool disk_syncs(const struct disk *disk)
{
	return disk->sync != SYNC_NONE;
}

/** Sync the data of a file; the entries of a directory. Return: 0 or negative errno. */
int disk_sync_data(int fd) MUST_CHECK;
int disk_sync_dir(int fd) MUST_CHECK;
/** Sync the parent of directory @fd, which has its name, if the user may open the parent. */
int disk_sync_parent(int fd) MUST_CHECK;

#endif
