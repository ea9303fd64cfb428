/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread.h - threads of the daemons and of lttctl, with a small stack: any thread starts them. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>

#include "base/macros.h"

/** Start a thread that receives no signals. @ret: NULL: it is detached. Return: 0 or negative
 *  errno. */
int thread_start(pthread_t *ret, void *(*run)(void *), void *data) MUST_CHECK;

#endif
