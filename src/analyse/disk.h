/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * disk.h - the requests to block devices, from where they were handed to the driver until they were
 * complete, by the kernel's events block_rq_issue and block_rq_complete. Owned by one reader.
 */
#ifndef ANALYSE_DISK_H
#define ANALYSE_DISK_H

#include "span.h"

struct disk;
struct event;

/** The names of its events, for view_select.names. */
#define DISK_EVENTS "block_rq_issue,block_rq_complete"

/** @fn: is called with each request; its name is that of the device and of the operation. */
struct disk *disk_new(span_fn fn, void *priv);
void disk_free(struct disk *disk);

/** The event is the next one in time; any event may be passed. */
void disk_take(struct disk *disk, const struct event *event);
/** Return: the requests that were not complete. @ret_alone: ends without a begin. */
uint64_t disk_open(const struct disk *disk, uint64_t *ret_alone);

#endif
