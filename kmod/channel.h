/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * channel.h - channels: a ring set and the events that are recorded into it. A channel has
 * three descriptors: one for its requests, two for the memory of its rings (ltt_kmod.h). Called in
 * process context only.
 */
#ifndef KMOD_CHANNEL_H
#define KMOD_CHANNEL_H

#include "ltt_kmod.h"

/** Make a channel and its three descriptors. Return: the one for requests, or -errno. */
int channel_open(struct ltt_kmod_channel *request);

#endif
