/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bypass.h - finds out which of the functions that libltt defines in place of libc's the program
 * calls in libc all the same: all of them, if the dynamic linker searches libc before libltt. That
 * is so in a program that links a library with tracepoints, but not libltt itself, and where libltt
 * was loaded by dlopen(). Then libltt does not notice such a call, and must not rely on it.
 */
#ifndef TRACER_AGENT_HOST_BYPASS_H
#define TRACER_AGENT_HOST_BYPASS_H

#include <stdint.h>

#define BYPASS_LOADS 256u
#define BYPASS_FILTERS 512u
#define BYPASS_STACKS 1024u

/** bypass_find() - read the symbol tables of all loaded objects, and redirect calls that
 *  concern libltt's thread. Not in a signal handler.
 *  Return: bits: enum context_kind: changed by functions of libc to which an object refers;
 *  BYPASS_LOADS: the process can load others, which may refer to more;
 *  BYPASS_FILTERS: it can forbid system calls (seccomp); BYPASS_STACKS: it can hide alternate
 *  stacks (stacks.c). */
uint32_t bypass_find(void);

#endif
