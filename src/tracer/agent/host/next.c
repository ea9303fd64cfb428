/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

/* If libltt is searched behind libc, nothing follows it. A search that fails leaves a message for
 * dlerror(). */
void *agent_next(void **slot, const char *name, const void *own)
{
	void *found = __atomic_load_n(slot, __ATOMIC_RELAXED);
	int saved = errno;

	if (found)
		return found;
	found = dlsym(RTLD_NEXT, name);
	if (!found)
		found = dlsym(RTLD_DEFAULT, name);
	if (!found)
		dlerror();
	errno = saved;
	if (found == own)
		return NULL;
	__atomic_store_n(slot, found, __ATOMIC_RELAXED);
	return found;
}
