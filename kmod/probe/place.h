/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * place.h - events at a place in the kernel that a user names: a kprobe, or a
 * kretprobe. They are not in the registry's list: each belongs to the channel that it was
 * created for. Tasks only.
 */
#ifndef KMOD_PLACE_H
#define KMOD_PLACE_H

#include "event.h"
#include "ltt_kmod.h"

/** An event that event->kind->release() frees. Return: or ERR_PTR. */
struct event *place_new(const struct ltt_kmod_probe *request);

#endif
