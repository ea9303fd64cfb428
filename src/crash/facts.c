/* SPDX-License-Identifier: GPL-2.0-only */
#include "facts.h"

#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/macros.h"
#include "base/str.h"

#define RING_FILE "/memfd:ltt-ring-" /* the names that ltt-consumerd gives to buffers */

static FILE *core_facts_open(pid_t id, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)id, name);
	return fopen(path, "re");
}

static int64_t core_facts_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void core_facts_take_groups(struct facts *facts, const char *list)
{
	char *end;

	facts->groups = calloc(FACTS_GROUPS, sizeof(*facts->groups));
	while (facts->groups && facts->nr_groups < FACTS_GROUPS) {
		unsigned long group = strtoul(list, &end, 10);

		if (end == list)
			return;
		facts->groups[facts->nr_groups++] = (gid_t)group;
		list = end;
	}
}

/* The kernel escapes newlines in the name of the thread, which is in the same file. */
static void core_facts_take_status(struct facts *facts, const char *line)
{
	unsigned int real, effective;

	if (sscanf(line, "Uid:\t%u\t%u", &real, &effective) == 2) {
		facts->uid = effective;
		facts->is_own_user = real == effective;
	} else if (sscanf(line, "Gid:\t%u\t%u", &real, &effective) == 2) {
		facts->gid = effective;
	} else if (strncmp(line, "Groups:", 7) == 0) {
		core_facts_take_groups(facts, line + 7);
	} else {
		(void)sscanf(line, "Tgid:\t%d", &facts->pid);
	}
}

int core_facts_read_user(struct facts *ret, const char *tid)
{
	char *line AUTO_FREE = NULL;
	uint64_t number;
	size_t size = 0;
	FILE *in;

	*ret = (struct facts){ .uid = (uid_t)-1, .gid = (gid_t)-1 };
	if (parse_u64(tid, &number) != 0 || !number || number > INT_MAX)
		return -1;
	ret->tid = (pid_t)number;
	in = core_facts_open(ret->tid, "status");
	while (in && getline(&line, &size, in) > 0)
		core_facts_take_status(ret, line);
	if (in)
		fclose(in);
	return ret->pid && ret->uid != (uid_t)-1 && ret->gid != (gid_t)-1 && ret->groups ? 0 : -1;
}

/* The first thread may have ended: the memory is that of all. */
static bool core_facts_find_rings(const struct facts *facts)
{
	FILE *in = core_facts_open(facts->tid, "maps");
	char *line AUTO_FREE = NULL;
	size_t size = 0;
	bool found = false;

	while (in && !found && getline(&line, &size, in) > 0)
		found = strstr(line, RING_FILE) != NULL;
	if (in)
		fclose(in);
	return found;
}

static uint64_t core_facts_find_duration(const struct facts *facts)
{
	FILE *in = core_facts_open(facts->pid, "stat");
	char text[1024];
	size_t len = in ? fread(text, 1, sizeof(text) - 1, in) : 0;
	unsigned long long start;
	uint64_t ns;
	int64_t now = core_facts_clock(CLOCK_BOOTTIME);
	const char *at;

	if (in)
		fclose(in);
	text[len] = '\0';
	at = strrchr(text, ')'); /* the name before may have any byte */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, " %llu", &start) != 1)
		return 0;
	ns = start * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return (uint64_t)now > ns ? (uint64_t)now - ns : 0;
}

void core_facts_read(struct facts *facts)
{
	char path[64];
	FILE *in = core_facts_open(facts->pid, "comm");
	size_t len = in ? fread(facts->name, 1, sizeof(facts->name) - 1, in) : 0;
	ssize_t n;

	if (in)
		fclose(in);
	if (len && facts->name[len - 1] == '\n')
		len--;
	facts->name[len] = '\0';
	facts->time_ns = core_facts_clock(CLOCK_REALTIME);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)facts->tid);
	n = readlink(path, facts->exe, sizeof(facts->exe) - 1);
	facts->exe[n > 0 ? n : 0] = '\0';
	facts->duration_ns = core_facts_find_duration(facts);
	facts->has_rings = core_facts_find_rings(facts);
}

int core_facts_drop(const struct facts *facts)
{
	if (geteuid() != 0)
		return facts->uid == geteuid() ? 0 : -1;
	if (setgroups(facts->nr_groups, facts->groups) != 0 ||
	    setresgid(facts->gid, facts->gid, facts->gid) != 0 ||
	    setresuid(facts->uid, facts->uid, facts->uid) != 0)
		return -1;
	return geteuid() == facts->uid && getegid() == facts->gid ? 0 : -1;
}

void core_facts_fini(struct facts *facts)
{
	free(facts->groups);
}
