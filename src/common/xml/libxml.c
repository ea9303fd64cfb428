/* SPDX-License-Identifier: GPL-2.0-only */
#include "libxml.h"

#include <pthread.h>
#include <stdbool.h>

const struct libxml *libxml(struct err *err)
{
	static const char *const names[] = { LIBXML_FUNCTIONS(LAZY_NAME) };
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct libxml functions;
	static bool loaded;
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!loaded)
		rc = lazy_load(LTT_LIBXML, names, ARRAY_SIZE(names), &functions, err);
	loaded = rc == 0;
	pthread_mutex_unlock(&lock);
	return rc ? NULL : &functions;
}
