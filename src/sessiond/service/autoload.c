/* SPDX-License-Identifier: GPL-2.0-only */
#include "autoload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/logplace.h"
#include "io/paths.h"

/* Between two attempts to send spools. */
#define RETRY_MIN_US 2000000ull
#define RETRY_MAX_US 600000000ull

/* HOME may be that of another user: lttctl checks the directory that it has opened. */
static void add_path(struct autoload *a, char *path)
{
	if (access(path, F_OK) == 0)
		a->paths[a->nr++] = path;
	else
		free(path);
}

void autoload_find(struct autoload *a, const char *path)
{
	AUTO_FREE char *config = path ? NULL : paths_config();

	if (path) {
		a->paths[a->nr++] = xstrdup(path);
		return;
	}
	a->only_trusted = true;
	if (config)
		add_path(a, xasprintf("%s/sessions/auto", config));
	if (paths_is_system(a->rundir))
		add_path(a, xstrdup(PATHS_SYSTEM_CONFIG "/sessions/auto"));
}

/* The environment, with another LTT_RUNDIR; the array alone is allocated. */
static char **autoload_environ(char *rundir)
{
	size_t nr = 0, kept = 1;
	char **copy;

	while (environ[nr])
		nr++;
	copy = xalloc((nr + 2) * sizeof(*copy));
	copy[0] = rundir;
	for (size_t i = 0; i < nr; i++)
		if (strncmp(environ[i], "LTT_RUNDIR=", 11) != 0)
			copy[kept++] = environ[i];
	return copy;
}

/* A process group of its own, as for the consumer. @errors: file for its standard error; NULL: it
 * has ours. Return: 0 or negative errno. */
static int autoload_spawn(struct autoload *a, char *const argv[], const char *errors)
{
	AUTO_FREE char *rundir = xasprintf("LTT_RUNDIR=%s", a->rundir);
	AUTO_FREE char **env = autoload_environ(rundir);
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int err;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	for (int fd = 0; fd < 2; fd++)
		posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (errors)
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors,
						 O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setpgroup(&attr, 0);
	err = posix_spawn(&a->pid, a->program, &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (err)
		a->pid = 0;
	return -err;
}

/* Return: 0 or negative errno: the program does not run. */
static int autoload_run(struct autoload *a, char *const argv[], const char *errors,
			void (*exited)(struct loop_child *child, int status))
{
	int ret = autoload_spawn(a, argv, errors);

	if (ret < 0 && errors) /* the file, as on a full disk */
		ret = autoload_spawn(a, argv, NULL);
	if (ret == 0)
		ret = loop_child_init(&a->child, a->loop, a->pid, exited);
	if (ret < 0 && a->pid) { /* it can't be watched */
		kill(a->pid, SIGKILL);
		waitpid(a->pid, NULL, 0);
		a->pid = 0;
	}
	return ret;
}

/* --- spools -------------------------------------------------------------------- */

/* Is there anything in our directory of spools? HOME may be that of another user. */
static bool has_spools(void)
{
	AUTO_FREE char *home = paths_home();
	AUTO_FREE char *path = home ? xasprintf("%s/ltt-traces/spool", home) : NULL;
	AUTO_DIR DIR *dir = path ? dir_open(AT_FDCWD, path) : NULL;
	struct dirent *entry;
	struct stat st;

	if (!dir || fstat(dirfd(dir), &st) < 0 || st.st_uid != geteuid())
		return false;
	while ((entry = dir_next(dir)))
		if (*entry->d_name != '.')
			return true;
	return false;
}

/* One whose relay is unreachable, or full, is sent later. */
static void on_sent(struct loop_child *child, int status)
{
	struct autoload *a = container_of(child, struct autoload, child);

	loop_child_fini(child);
	a->pid = 0;
	if (status == 0) {
		log_info("the spools of earlier sessions were sent");
		return;
	}
	if (!a->pause_us)
		log_warn("not all spools of earlier sessions were sent; it is tried again; use "
			 "'lttctl spool send --all' for the reason");
	a->pause_us = a->pause_us ? MIN(2 * a->pause_us, RETRY_MAX_US) : RETRY_MIN_US;
	loop_timer_set(&a->retry, a->pause_us);
}

static void send_spools(struct autoload *a)
{
	char *argv[] = { "lttctl", "--no-sessiond", "spool", "send", "--all", NULL };
	int ret = has_spools() ? autoload_run(a, argv, NULL, on_sent) : 0;

	if (ret < 0)
		log_warn("spools of earlier sessions are not sent: can't start %s: %s", a->program,
			 strerror(-ret));
}

static void on_retry(struct loop_timer *timer)
{
	send_spools(container_of(timer, struct autoload, retry));
}

void autoload_init(struct autoload *a, struct loop *loop, const char *program, const char *rundir,
		   bool *running)
{
	*a = (struct autoload){ .loop = loop,
				.program = xstrdup(program),
				.rundir = xstrdup(rundir),
				.running = running };
	loop_timer_init(&a->retry, loop, on_retry);
}

/* --- sessions -------------------------------------------------------------------- */

static char *autoload_errors(const struct autoload *a)
{
	return xasprintf("%s/" LOGPLACE_AUTOLOAD, a->rundir);
}

/* The lines that the last run has added. */
static void autoload_log_errors(struct autoload *a)
{
	AUTO_FREE char *path = autoload_errors(a);
	char line[1024];
	FILE *file = fopen(path, "re");

	if (file && fseek(file, a->logged, SEEK_SET) == 0)
		while (fgets(line, sizeof(line), file))
			log_warn("%.*s", (int)strcspn(line, "\n"), line);
	if (file) {
		a->logged = ftell(file);
		fclose(file);
	}
}

static void autoload_exited(struct loop_child *child, int status)
{
	struct autoload *a = container_of(child, struct autoload, child);
	const char *path = a->paths[a->next - 1];

	loop_child_fini(child);
	a->pid = 0;
	autoload_log_errors(a);
	if (WIFSIGNALED(status))
		log_warn("lttctl was killed by signal %d while it loaded sessions of %s",
			 WTERMSIG(status), path);
	else if (WEXITSTATUS(status))
		log_warn("not all sessions of %s were loaded (status %d); use 'lttctl load "
			 "%s--skip-existing --input-path=%s' for the reason",
			 path, WEXITSTATUS(status), a->only_trusted ? "--only-trusted " : "", path);
	else
		log_info("sessions of %s were loaded", path);
	autoload_begin(a);
}

static int load_sessions(struct autoload *a, const char *path)
{
	AUTO_FREE char *input = xasprintf("--input-path=%s", path);
	AUTO_FREE char *errors = autoload_errors(a);
	char *argv[] = { "lttctl",
			 "--no-sessiond",
			 "load",
			 "--all",
			 "--skip-existing",
			 input,
			 a->only_trusted ? "--only-trusted" : NULL,
			 NULL };

	return autoload_run(a, argv, errors, autoload_exited);
}

void autoload_begin(struct autoload *a)
{
	AUTO_FREE char *errors = autoload_errors(a);

	if (!a->next && a->nr)
		unlink(errors); /* an earlier daemon's */
	while (a->next < a->nr && !a->pid) {
		const char *path = a->paths[a->next++];
		int ret = load_sessions(a, path);

		if (ret < 0)
			log_warn("sessions of %s are not loaded: can't start %s: %s", path,
				 a->program, strerror(-ret));
	}
	*a->running = a->pid != 0;
	if (!a->pid)
		send_spools(a);
}

void autoload_fini(struct autoload *a)
{
	if (a->pid) {
		kill(a->pid, SIGTERM);
		loop_child_fini(&a->child);
	}
	a->pid = 0;
	loop_timer_cancel(&a->retry);
	free(TAKE(a->program));
	free(TAKE(a->rundir));
	for (unsigned int i = 0; i < a->nr; i++)
		free(a->paths[i]);
	a->nr = 0;
}
