/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tasks.h - the threads of this process, libltt's helper included: read by system calls of the
 * test's own, as the helper ends if the program counts its threads (tracer/agent/host/census.h).
 */
#ifndef UNIT_TASKS_H
#define UNIT_TASKS_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracer/ring/sys.h"

#define TASKS_MAX 64

/** Return: their number, at most TASKS_MAX. */
static inline int tasks_list(int *ret_tids)
{
	char list[4096] __attribute__((aligned(8)));
	int dir = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), nr = 0;
	long len;

	while ((len = ring_syscall(SYS_getdents64, dir, (long)list, sizeof(list), 0)) > 0) {
		for (long at = 0; at < len;) {
			const struct dirent64 *entry = (const void *)(list + at);

			if (entry->d_name[0] != '.' && nr < TASKS_MAX)
				ret_tids[nr++] = atoi(entry->d_name);
			at += entry->d_reclen;
		}
	}
	close(dir);
	return nr;
}

/** Return: the helper's tid, if it has its name already; else 0. */
static inline int tasks_helper(void)
{
	int tids[TASKS_MAX], nr = tasks_list(tids), tid = 0;

	for (int i = 0; i < nr && !tid; i++) {
		char path[64], name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tids[i]);
		f = fopen(path, "re");
		if (f && fgets(name, sizeof(name), f) && strstr(name, "-ltt\n"))
			tid = tids[i];
		if (f)
			fclose(f);
	}
	return tid;
}

#endif
