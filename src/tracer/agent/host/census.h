/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * census.h - programs that count their threads.
 *
 * A program that sandboxes itself makes sure first that it has one thread, as Chromium's zygote
 * does: by the number of links of /proc/self/task, or by the entries of that directory. With the
 * helper it has two, and refuses to run. The result is not changed, since a second thread would
 * stay outside the sandbox: if a call counts the program's thread and the helper, the helper ends
 * (agent_alone_depart()) and the call is repeated. Until exec it is not started again, in forked
 * children neither.
 *
 * libltt defines stat() and its variants, opendir(), fdopendir() and getdents64() in place of
 * libc's, which they call. The result of the call decides, so that paths, links and descriptors are
 * treated alike, and the kernel rejects invalid arguments. In other cases that costs a few
 * comparisons, and a call of fstat() for each directory that is listed by its descriptor; the path
 * of one that opendir() lists must end in "task" or ".".
 */
#ifndef TRACER_AGENT_HOST_CENSUS_H
#define TRACER_AGENT_HOST_CENSUS_H

#include <stdbool.h>

struct stat;
struct statx;

/** Find libc's functions. Before that, each is found by its first call. */
void agent_census_init(void);

/** A call has succeeded with this result. Return: whether to repeat it, as the helper has ended. */
bool agent_census_stat(const struct stat *st);
bool agent_census_statx(const struct statx *stx);
/** A directory is about to be read; -1: none. Preserves errno. */
void agent_census_list(int fd);

#endif
