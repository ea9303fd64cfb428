/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h - the ring set of a channel in the kernel domain. Owned by the recording.
 */
#ifndef DOMAIN_KERNEL_RING_H
#define DOMAIN_KERNEL_RING_H

#include "sessiond/domain/rec/recording.h"

struct kernel_session;

/** Find or make the channel's trace channel and ring set. Return: NULL: not possible now. */
struct ring *kernel_ring_get(struct kernel_session *ks, struct channel *channel);
struct ring *kernel_ring_find(struct kernel_session *ks, const struct channel *channel);
/** Append the first part of a kernel trace's metadata. */
void kernel_describe(struct trace *trace);

#endif
