/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * confine_calls.h - limits the system calls of each daemon, by a seccomp filter.
 * All others fail with EPERM, and are in the kernel's audit log. The filter applies to the
 * calling thread, and to threads and programs that it starts.
 */
#ifndef IO_CONFINE_CALLS_H
#define IO_CONFINE_CALLS_H

#include "confine.h"

/** Install the filter. Return: 0 (also in a build without libseccomp, or with a sanitizer, whose
 *  runtime needs other calls), or negative errno. */
int confine_calls(enum confine_role role);

#endif
