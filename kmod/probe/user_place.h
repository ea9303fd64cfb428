/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_place.h - events at a place in a file that programs run, by a uprobe or uretprobe, in every
 * program that has the file mapped, now or later. A new file of the same path joins the event,
 * whose earlier files stay while programs run them. Each event belongs to the channel that it was
 * created for. Made in process context; hit in the task that runs the program, which may sleep.
 */
#ifndef KMOD_USER_PLACE_H
#define KMOD_USER_PLACE_H

#include "event.h"
#include "ltt_kmod.h"

struct file;

/** Make an event, which event->kind->release() frees. @opened: in place of request->fd; its
 *  reference is taken over, also on failure; NULL: -EBADF. Return: the event or ERR_PTR. */
struct event *user_place_new(const struct ltt_kmod_user_probe *request, struct file *opened);

#endif
