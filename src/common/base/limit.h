/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limit.h - limits of resources of this process. Any thread. */
#ifndef BASE_LIMIT_H
#define BASE_LIMIT_H

/** limit_raise() - raise the soft limit to the hard one, which needs no right. @which: as of
 *  setrlimit(2). Return: the soft limit, at most UINT_MAX; 0: unknown. */
unsigned int limit_raise(int which);

#endif
