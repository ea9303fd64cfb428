/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lazy.h"

#include <dlfcn.h>
#include <string.h>

static int lazy_refuse(const char *file, struct err *err)
{
	return err_set(err, ERR_INTERNAL, "%s can't be loaded: %s; install this library", file,
		       dlerror());
}

int lazy_load(const char *file, const char *const *names, size_t nr, void *ret_functions,
	      struct err *err)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return lazy_refuse(file, err);
	for (size_t i = 0; i < nr; i++) {
		void *function = dlsym(library, names[i]);

		if (!function)
			return lazy_refuse(file, err);
		memcpy((char *)ret_functions + i * sizeof(function), &function, sizeof(function));
	}
	return 0;
}
