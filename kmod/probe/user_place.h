/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_place.h - events at a place in a file that programs run: a uprobe, or a uretprobe.
 * Of every program that has the file mapped, now or later. Each belongs to the channel that it
 * was created for. Made by tasks; hit in the task that runs there, which may sleep.
 */
#ifndef KMOD_USER_PLACE_H
#define KMOD_USER_PLACE_H

#include "event.h"
#include "ltt_kmod.h"

/** An event that event->kind->release() frees. Return: or ERR_PTR. */
struct event *user_place_new(const struct ltt_kmod_user_probe *request);

#endif
