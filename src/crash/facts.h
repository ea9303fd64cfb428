/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * facts.h - facts about a process that has crashed and whose core is being dumped: from /proc,
 * where they are until the dump is read. All of them but the ids are chosen by the process.
 */
#ifndef CRASH_FACTS_H
#define CRASH_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FACTS_GROUPS 65536u

/**
 * struct facts - @tid: the thread that crashed; @pid: its process: both as the first namespace has
 * them.
 * @uid, @gid: effective ids; @groups: allocated, @nr_groups of them. @is_own_user: false: the
 * program has changed its user, as set-user-ID programs do.
 * @has_rings: buffers of a session are mapped.
 * @time_ns: CLOCK_REALTIME. @duration_ns: since the start of the process; 0: not known.
 * @name: as in /proc/PID/comm. @exe: path of the program; "": not known.
 */
struct facts {
	pid_t tid, pid;
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t nr_groups;
	bool is_own_user;
	bool has_rings;
	int64_t time_ns;
	uint64_t duration_ns;
	char name[32];
	char exe[PATH_MAX];
};

/** Whose process it is, alone. @tid: text. Return: 0, or -1: the thread is not there. */
int core_facts_read_user(struct facts *ret, const char *tid);
/** All the rest. */
void core_facts_read(struct facts *facts);
/** Become the user of the process, for good. Return: 0, or -1: not possible. */
int core_facts_drop(const struct facts *facts);
void core_facts_fini(struct facts *facts);

#endif
