/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * function.h - calls of a function of the kernel, by ftrace: at places that the compiler
 * reserved, which costs less than a kprobe. Each event belongs to the channel that it was
 * created for. Made by tasks; hit anywhere, NMIs included.
 */
#ifndef KMOD_FUNCTION_H
#define KMOD_FUNCTION_H

#include "event.h"
#include "ltt_kmod.h"

int function_init(void);
/** No function is recorded any more. */
void function_fini(void);

/** An event that event->kind->release() frees. Return: NULL where ftrace can't see the
 *  function's calls; or ERR_PTR. */
struct event *function_new(const struct ltt_kmod_probe *request);

#endif
