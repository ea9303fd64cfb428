/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/thread.h"

#include <signal.h>

#define STACK_BYTES (512u << 10) /* libc's resolver keeps answers there */

int thread_start(pthread_t *ret, void *(*run)(void *), void *data)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t detached;
	int error;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (!ret)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(ret ? ret : &detached, &attr, run, data);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -error;
}
