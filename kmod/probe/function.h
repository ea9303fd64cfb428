/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * function.h - events for calls of a kernel function, by ftrace: at places that the compiler
 * reserved, which costs less than a kprobe. Each event belongs to the channel that it was
 * created for. Made in process context; hit in any context, NMIs included.
 */
#ifndef KMOD_FUNCTION_H
#define KMOD_FUNCTION_H

#include "event.h"
#include "ltt_kmod.h"

int function_init(void);
/** No function is recorded any more. */
void function_fini(void);

/** Make an event, which event->kind->release() frees. Called with coming_lock(). Return: NULL:
 *  ftrace can't trace the function; or ERR_PTR. */
struct event *function_new(const struct ltt_kmod_probe *request);

#endif
