/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * place.h - events at a location in the kernel that a user specifies, recorded by a kprobe or
 * kretprobe.
 * They are not in the registry: each belongs to the channel that it was created for.
 * Process context only.
 */
#ifndef KMOD_PLACE_H
#define KMOD_PLACE_H

#include "event.h"
#include "ltt_kmod.h"

/** Make an event, which event->kind->release() frees. Return: the event or ERR_PTR; the
 *  request is the answer: of -ERANGE its offset is the number of bytes of the function. */
struct event *place_new(struct ltt_kmod_probe *request);

#endif
