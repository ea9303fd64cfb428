/* SPDX-License-Identifier: GPL-2.0-only */
#include "reach.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "ctl/print/text.h"

#define UNIT_SUFFIX ".service"

bool reach_finds(pid_t pid, const char *rundir, const char *dir)
{
	bool is_absolute = dir[0] == '/';
	char *theirs AUTO_FREE = xasprintf("/proc/%d/%s%s%s/apps.sock", (int)pid,
					   is_absolute ? "root" : "cwd", is_absolute ? "" : "/", dir);
	char *ours AUTO_FREE = xasprintf("%s/apps.sock", rundir);
	struct stat a, b;

	return stat(ours, &a) == 0 && stat(theirs, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static bool reach_has_other_mounts(pid_t pid)
{
	char *path AUTO_FREE = xasprintf("/proc/%d/ns/mnt", (int)pid);
	struct stat theirs, ours;

	return stat(path, &theirs) == 0 && stat("/proc/self/ns/mnt", &ours) == 0 &&
	       theirs.st_ino != ours.st_ino;
}

/* A filter, not the strict mode, in which there is no libltt. */
static bool reach_has_filter(pid_t pid)
{
	char *path AUTO_FREE = xasprintf("/proc/%d/status", (int)pid);
	char status[4096];

	return text_read(path, status, sizeof(status)) && strstr(status, "\nSeccomp:\t2");
}

enum reach_obstacle reach_find_obstacle(pid_t pid, const char *rundir)
{
	if (reach_has_other_mounts(pid) && !reach_finds(pid, rundir, rundir))
		return REACH_MOUNTS;
	return reach_has_filter(pid) ? REACH_SECCOMP : REACH_NONE;
}

char *reach_explain(enum reach_obstacle obstacle, const char *rundir)
{
	if (obstacle == REACH_MOUNTS)
		return xasprintf("is in a container or mount namespace where %s is not that of the "
				 "session daemon",
				 rundir);
	return xstrdup("has a filter of system calls (seccomp), which probably forbids a connection "
		       "to the session daemon");
}

/* The unit of systemd that the process is in; NULL: none. */
static char *reach_unit(pid_t pid)
{
	char *path AUTO_FREE = xasprintf("/proc/%d/cgroup", (int)pid);
	char text[4096], *found = NULL, *rest;

	if (!text_read(path, text, sizeof(text)))
		return NULL;
	for (char *part = strtok_r(text, "/\n", &rest); part; part = strtok_r(NULL, "/\n", &rest)) {
		size_t len = strlen(part);

		if (len > strlen(UNIT_SUFFIX) &&
		    strcmp(part + len - strlen(UNIT_SUFFIX), UNIT_SUFFIX) == 0)
			found = part;
	}
	return found ? text_shell_word(found) : NULL;
}

char *reach_repair(enum reach_obstacle obstacle, pid_t pid, const char *rundir)
{
	char *unit AUTO_FREE = reach_unit(pid), *word AUTO_FREE = text_shell_word(rundir);

	if (obstacle == REACH_SECCOMP)
		return xasprintf("sudo systemctl edit %s # [Service] RestrictAddressFamilies=AF_UNIX "
				 "SystemCallFilter=@network-io @process",
				 unit ? unit : "UNIT");
	if (unit)
		return xasprintf("sudo systemctl edit %s # [Service] BindPaths=%s, and no "
				 "InaccessiblePaths= with it",
				 unit, rundir);
	return xasprintf("podman run --volume=%s:%s ... # or bind-mount it", word, word);
}
