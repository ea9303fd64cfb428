/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * channel_file.h - the descriptors of a channel that user space made (ltt_kmod.h): one for its
 * requests, which owns the channel, and two for the memory of its rings. Called in process context
 * only.
 */
#ifndef KMOD_CHANNEL_FILE_H
#define KMOD_CHANNEL_FILE_H

#include "ltt_kmod.h"

/** Make a channel and its three descriptors. @answer: the request in user space, to be filled.
 *  Return: the one for requests, or -errno. */
int channel_open(struct ltt_kmod_channel *request, void __user *answer);

#endif
