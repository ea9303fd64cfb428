/* SPDX-License-Identifier: GPL-2.0-only */
#include "own.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

char *own_dir(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (len <= 0)
		return NULL;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	return xstrdup(path);
}

char *own_program(const char *name)
{
	static const char *const ways[] = { "", "/" LTT_WAY_TO_SESSIOND,
					    "/" LTT_WAY_TO_SESSIOND "/" LTT_WAY_TO_HELPERS };
	char *dir AUTO_FREE = own_dir();

	for (size_t i = 0; dir && i < ARRAY_SIZE(ways); i++) {
		char *path AUTO_FREE = xasprintf("%s%s/%s", dir, ways[i], name);

		if (access(path, X_OK) == 0)
			return TAKE(path);
	}
	return xstrdup(name);
}

static char *own_library_folder(const char *folder, const char *library)
{
	char *dir AUTO_FREE = own_dir();
	char *path AUTO_FREE = xasprintf("%s/../%s/%s", dir ? dir : "", folder, library);
	char *libdir AUTO_FREE = xasprintf("%s/../%s", dir ? dir : "", folder);

	return dir && access(path, R_OK) == 0 ? realpath(libdir, NULL) : NULL;
}

char *own_library_dir(const char *library)
{
	return own_library_folder("lib", library);
}

char *own_library_dir_for(unsigned int bits, const char *library)
{
	char *dir = own_library_folder(bits == 8 * sizeof(void *) ? "lib" : "lib32", library);

	return dir || bits != 32 ? dir : own_library_folder("lib/i386-linux-gnu", library);
}
