// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * closing.h - dlclose() of the wrappers: a library that is there for less time than libltt's thread
 * needs to see it is in the trace before it goes, and its end before another one is at its place.
 * Nothing is noted unless a session has state dumps.
 */
#ifndef WRAPPERS_CLOSING_H
#define WRAPPERS_CLOSING_H

#include <dlfcn.h>

#include <ltt/statedump.h>

typedef int closing_close(void *);

/* Losing a race with another thread that looks it up does no harm. */
__attribute__((no_instrument_function)) static closing_close *closing_next(void)
{
	static closing_close *next;
	closing_close *call = __atomic_load_n(&next, __ATOMIC_RELAXED);

	if (!call) {
		call = (closing_close *)dlsym(RTLD_NEXT, "dlclose");
		__atomic_store_n(&next, call, __ATOMIC_RELAXED);
	}
	return call;
}

__attribute__((visibility("default"), no_instrument_function)) int dlclose(void *handle)
{
	closing_close *call = closing_next();
	int result;

	ltt_statedump_libraries();
	result = call ? call(handle) : -1;
	ltt_statedump_libraries();
	return result;
}

#endif
