/* SPDX-License-Identifier: GPL-2.0-only */
#include "save.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "facts.h"

#define WAIT_MS 100	/* of the handler, for the facts */
#define MOST_SECONDS 60 /* that the events may take */

/* --- lttctl -------------------------------------------------------------------------- */

/* Beside this program (a build folder), else where it is installed. */
static char *save_find_lttctl(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash, *path;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	path = xasprintf("%s/lttctl", self);
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return xasprintf("%s/" LTT_WAY_FROM_HELPERS "/lttctl", self);
}

/* The kernel starts programs without an environment; nothing is taken from that of the process. */
static void save_set_environment(uid_t uid)
{
	const struct passwd *user = getpwuid(uid);
	char *runtime AUTO_FREE = xasprintf("/run/user/%u", uid);

	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 0);
	if (user && *user->pw_dir == '/')
		setenv("HOME", user->pw_dir, 0);
	if (uid != 0)
		setenv("XDG_RUNTIME_DIR", runtime, 0);
}

/* Standard input of lttctl: fields, each ended by a zero, as ctl/crash/save.c reads them. */
static int save_write_facts(const struct facts *facts, const char *signal, const char *core)
{
	int fd = memfd_create("ltt-crash", MFD_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");

	if (!out)
		return -1;
	fprintf(out, "%d%c%d%c%s%c%u%c%" PRId64 "%c%" PRIu64 "%c%s%c%s%c%s%c", (int)facts->pid, 0,
		(int)facts->tid, 0, signal, 0, facts->uid, 0, facts->time_ns, 0, facts->duration_ns,
		0, facts->name, 0, facts->exe, 0, core, 0);
	fclose(out);
	(void)lseek(fd, 0, SEEK_SET);
	return fd;
}

static void save_exec(const struct facts *facts, const char *signal, const char *core)
{
	char *lttctl = save_find_lttctl();
	int in = save_write_facts(facts, signal, core);

	if (!lttctl || in < 0 || dup2(in, STDIN_FILENO) < 0)
		return;
	save_set_environment(geteuid());
	alarm(MOST_SECONDS); /* a child has none of its parent's */
	execl(lttctl, "lttctl", "--quiet", "crash", "--save", NULL);
}

/* Sessions of the user of the process are saved as that user, and those of root as root. */
static void save_both(const struct facts *facts, const char *signal, const char *core)
{
	if (facts->uid == 0 || geteuid() != 0 || fork() == 0) {
		if (core_facts_drop(facts) == 0)
			save_exec(facts, signal, core);
		_exit(1);
	}
	save_exec(facts, signal, core);
}

/* --- beside the handler ---------------------------------------------------------------- */

/* The kernel waits until all readers of the core have closed it. */
static void save_detach(int ready)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (null >= 0 && fd != ready && fd != null)
			dup2(null, fd);
	if (null < 0)
		close(STDIN_FILENO);
	setsid();
	alarm(MOST_SECONDS);
}

static void save_run(const char *tid, const char *signal, const char *core, int ready)
{
	struct facts facts;

	save_detach(ready);
	if (core_facts_read_user(&facts, tid) != 0)
		return;
	core_facts_read(&facts);
	close(ready);
	if (facts.has_rings && facts.is_own_user)
		save_both(&facts, signal, core);
}

void save_begin(const char *tid, const char *signal, const char *core)
{
	int ready[2];
	pid_t child;

	if (pipe2(ready, O_CLOEXEC) != 0)
		return;
	child = fork();
	if (child == 0) {
		if (fork() == 0)
			save_run(tid, signal, core, ready[1]);
		_exit(0);
	}
	close(ready[1]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	(void)!poll(&(struct pollfd){ .fd = ready[0], .events = POLLIN }, 1, WAIT_MS);
	close(ready[0]);
}
