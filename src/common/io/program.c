/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

char *program_find(const char *wish, const char *variable, const char *name, const char *way)
{
	const char *env = variable ? getenv(variable) : NULL;
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash, *path;

	if (wish)
		return xstrdup(wish);
	if (env && *env)
		return xstrdup(env);
	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	path = xasprintf("%s/%s", self, name);
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return xasprintf("%s/%s/%s", self, way, name);
}
