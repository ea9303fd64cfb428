/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linger.c - the number of processes that record is requested from the session daemon. As a forked
 * process records before it is registered, such processes are found by their environment, which has
 * the scope's word. A daemon may overwrite that with its title: it is found as a descendant of
 * lttctl, which becomes the parent of orphans (run_program()). Processes without libltt, and those
 * without a point that a rule matches, are not waited for.
 */
#include "linger.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/elf.h"
#include "ctl/connect.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"

#define ENVIRONMENT_BYTES (1u << 20)
#define MAPS_BYTES (4u << 20)
#define SCOPE "LTT_SCOPE="
#define DISABLE "LTT_APP_DISABLE="

#define POLL_MS 50
#define QUIET_MS 500 /* most waits are shorter: they are not reported */
/* A process that has libltt registers within milliseconds, or never. */
#define REGISTER_MS 5000
/* A process that has just been forked may be about to execute a program that has it. */
#define YOUNG_MS 1000
#define FORKED_NO_EXEC 0x40u /* PF_FORKNOEXEC of the kernel */
#define DEPTH 4096 /* of a tree of processes */

static uint64_t linger_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* --- processes that the session daemon may not know yet -------------------------------- */

static bool linger_has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	while (*words) {
		size_t n = strcspn(words, ":");

		if (n == len && strncmp(words, word, len) == 0)
			return true;
		words += n + (words[n] == ':');
	}
	return false;
}

/* Return: whether the environment has the scope's word, and libltt is enabled. */
static bool is_in_scope(const char *env, size_t len, const char *scope)
{
	bool in_scope = false;

	for (const char *at = env; at < env + len; at += strlen(at) + 1) {
		if (strncmp(at, DISABLE, strlen(DISABLE)) == 0 &&
		    strcmp(at + strlen(DISABLE), "0") != 0)
			return false;
		if (strncmp(at, SCOPE, strlen(SCOPE)) == 0)
			in_scope = linger_has_word(at + strlen(SCOPE), scope);
	}
	return in_scope;
}

bool linger_has_libltt(const char *pid)
{
	char *maps AUTO_FREE = xasprintf("/proc/%s/maps", pid);
	char *exe AUTO_FREE = xasprintf("/proc/%s/exe", pid);
	char *buf AUTO_FREE = xalloc(MAPS_BYTES);
	struct elf_facts facts = { .dynamic = true };

	if (text_read(maps, buf, MAPS_BYTES) && strstr(buf, "/libltt.so.1"))
		return true;
	return elf_read(exe, &facts) == 0 && facts.instrumented && !facts.dynamic;
}

struct process {
	char state;
	int parent;
	unsigned int flags;
	unsigned long long begin; /* clock ticks since the start of the machine */
};

/* Return: whether there is such a process. */
static bool read_process(int pid, struct process *ret)
{
	char *path AUTO_FREE = xasprintf("/proc/%d/stat", pid);
	char text[1024];
	const char *at = text_read(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;

	/* the third, fourth, ninth and 22nd field; the name is the second */
	return at && sscanf(at,
			    ") %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			    "%*s %*s %llu",
			    &ret->state, &ret->parent, &ret->flags, &ret->begin) == 4;
}

uint64_t linger_age_ms(int pid)
{
	struct process process;
	struct timespec now;
	uint64_t begin_ms;

	if (!read_process(pid, &process) || process.state == 'Z' || process.state == 'X')
		return UINT64_MAX;
	clock_gettime(CLOCK_BOOTTIME, &now);
	begin_ms = process.begin * 1000 / (unsigned long long)sysconf(_SC_CLK_TCK);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 - begin_ms;
}

bool linger_is_young(const char *pid)
{
	return linger_age_ms(atoi(pid)) < YOUNG_MS;
}

bool linger_awaits_exec(int pid)
{
	struct process process;

	return read_process(pid, &process) && process.flags & FORKED_NO_EXEC &&
	       linger_age_ms(pid) < YOUNG_MS;
}

int linger_is_descendant(int pid)
{
	struct process process = { .parent = pid };

	for (int i = 0; i < DEPTH && process.parent > 1; i++) {
		if (!read_process(process.parent, &process))
			return -ESRCH;
		if (process.parent == getpid())
			return 1;
	}
	return 0;
}

/* Return: whether nothing else was written over the environment. */
static bool is_intact(const char *env, size_t len)
{
	for (const char *at = env; at < env + len; at += strlen(at) + 1)
		if (!strchr(at, '='))
			return false;
	return true;
}

/* While a process executes a program, it has no environment. */
static bool may_be_in_scope(int pid, const char *path, const char *env, size_t len,
			    const char *scope)
{
	struct stat st;

	if (!len)
		return stat(path, &st) == 0 && st.st_uid == geteuid();
	return is_in_scope(env, len, scope) ||
	       (!is_intact(env, len) && linger_is_descendant(pid) > 0);
}

/** The processes of the scope that /proc shows to the caller. */
struct found {
	unsigned int nr; /* processes of the scope that have libltt */
	bool young;	 /* there are others that may have it soon */
	/* One that has it may have registered libltt's own points alone: those of the program
	 * follow, from its constructors. */
	bool has_begun;
};

static struct found linger_scan(const char *scope)
{
	char *buf AUTO_FREE = xalloc(ENVIRONMENT_BYTES);
	struct found found = { 0 };
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		const char *pid = entry->d_name;
		char *path AUTO_FREE = NULL;
		size_t len;

		if (!isdigit((unsigned char)*pid))
			continue;
		path = xasprintf("/proc/%s/environ", pid);
		len = text_read(path, buf, ENVIRONMENT_BYTES);
		if (!may_be_in_scope(atoi(pid), path, buf, len, scope))
			continue;
		if (len && linger_has_libltt(pid)) {
			found.nr++;
			found.has_begun = found.has_begun || linger_is_young(pid);
		} else {
			found.young = found.young || linger_is_young(pid);
		}
	}
	if (proc)
		closedir(proc);
	return found;
}

/* --- those that it knows --------------------------------------------------------------- */

/** The applications of the session that the daemon knows. */
struct known {
	unsigned int recording;
	unsigned int applications;
};

/* Return: 0, or a code: the session has ended, or the daemon is too old to report it. */
static int linger_request(struct ctl *ctl, const struct others *others, struct known *ret)
{
	struct ltt_ctl_programs *programs;
	struct err err = { 0 };
	int code;

	*ret = (struct known){ 0 };
	if (!ctl_is_connected(ctl) && others->run->repair(others->run->priv) < 0)
		return 0;
	code = ltt_ctl_list_programs(ctl->library, others->session, &programs);
	if (ctl_done(ctl, code, &err) == 0) {
		ret->recording = programs->recording;
		ret->applications = programs->applications;
		ltt_ctl_programs_free(programs);
		return 0;
	}
	if (err.code == ERR_NO_ANSWER)
		ctl->err = err;
	if (err.code != ERR_NO_DAEMON && err.code != ERR_INTERRUPTED)
		return err.code;
	return 0; /* its successor, or it again, is queried next time */
}

static void print_waiting_for(struct ctl *ctl, unsigned int nr)
{
	print_note(
		ctl,
		"'%s' has ended; waiting for %u process%s that it started and that still record%s "
		"(Ctrl-C ends the waiting; --no-wait: do not wait)",
		ctl->operands[0], nr, nr == 1 ? "" : "es", nr == 1 ? "s" : "");
}

unsigned int linger(struct ctl *ctl, const struct others *others)
{
	uint64_t begin = linger_now_ms(), complete = begin; /* until when all had registered */
	bool said = false;

	for (;;) {
		struct known known;
		struct found found = { 0 };
		uint64_t now = linger_now_ms();
		unsigned int nr, more;
		bool unknown;

		if (linger_request(ctl, others, &known) != 0)
			return 0;
		if (known.recording == 0 || others->no_wait)
			found = linger_scan(others->scope);
		more = found.nr - MIN(found.nr, known.applications);
		unknown = found.young || more || (found.has_begun && !known.recording);
		nr = known.recording + more;
		if (!unknown)
			complete = now;
		if (now - complete >= REGISTER_MS || (!unknown && (nr == 0 || others->no_wait)))
			return nr;
		if (!said && known.recording && now - begin >= QUIET_MS) {
			print_waiting_for(ctl, known.recording);
			said = true;
		}
		if (run_pause(others->run, POLL_MS) && run_interrupted(others->run))
			return nr;
	}
}
