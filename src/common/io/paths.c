/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/str.h"

static const char *get_nonempty(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

char *paths_home(void)
{
	const char *home = get_nonempty("LTT_HOME");

	if (!home)
		home = get_nonempty("HOME");
	if (home)
		return strdup(home);
	errno = ENOENT;
	return NULL;
}

char *paths_rundir(void)
{
	AUTO_FREE char *home = NULL;
	const char *dir = get_nonempty("LTT_RUNDIR");

	if (dir)
		return strdup(dir);
	if (geteuid() == 0)
		return strdup(PATHS_SYSTEM_RUNDIR);
	dir = get_nonempty("XDG_RUNTIME_DIR");
	if (dir)
		return str_printf("%s/ltt", dir);
	home = paths_home();
	return home ? str_printf("%s/.ltt/run", home) : NULL;
}

char *paths_config(void)
{
	const char *config = get_nonempty("LTT_HOME") ? NULL : get_nonempty("XDG_CONFIG_HOME");
	AUTO_FREE char *home = config ? NULL : paths_home();

	if (!config && !home)
		return NULL;
	return config ? str_printf("%s/ltt", config) : str_printf("%s/.config/ltt", home);
}

int paths_is_system(const char *rundir)
{
	return strcmp(rundir, PATHS_SYSTEM_RUNDIR) == 0;
}

char *paths_closed_dir(const char *dir)
{
	AUTO_FREE char *copy = strdup(dir);

	for (char *end = copy; copy; end++) {
		char was;

		end += strcspn(end, "/");
		was = *end;
		*end = '\0';
		if (*copy && faccessat(AT_FDCWD, copy, X_OK, AT_EACCESS) != 0)
			return errno == EACCES ? TAKE(copy) : NULL;
		if (!was)
			return NULL;
		*end = was;
	}
	return NULL;
}

int paths_make_dir(const char *path, unsigned int mode)
{
	AUTO_FREE char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	for (char *slash = copy + 1; *copy; slash++) {
		char was = *slash;

		if (was != '/' && was != '\0')
			continue;
		*slash = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return -errno;
		*slash = was;
		if (!was)
			return 0;
	}
	return -ENOENT;
}
