/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * channel.h - a ring set and the events that are recorded into it, behind a
 * descriptor; the memory behind two more. Tasks only.
 */
#ifndef KMOD_CHANNEL_H
#define KMOD_CHANNEL_H

#include "ltt_kmod.h"

/** Make a channel and its three descriptors. Return: the channel's, or -errno. */
int channel_open(struct ltt_kmod_channel *request);

#endif
