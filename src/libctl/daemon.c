/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/macros.h"
#include "base/str.h"
#include "calls.h"
#include "io/paths.h"

#define SPAWN_MS 20000 /* until --daemonize has returned */
#define RIVAL_MS 5000  /* for a daemon that another process is starting */
#define RETRY_MS 10
#define END_MS 5000	/* a daemon takes 2 s at most */
#define EXIT_IDLE "5m"	/* a daemon that is started here exits when idle */
#define STATUS_SERVED 4 /* of ltt-sessiond: another one has the directory */

extern char **environ;

static uint64_t daemon_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Allocated; a word without a slash is left to PATH. NULL: no memory. */
static char *daemon_program(const struct daemon_request *request)
{
	const char *env = secure_getenv("LTT_SESSIOND_PATH");

	if (request->path || (env && *env))
		return strdup(request->path ? request->path : env);
	return strdup(request->installed ? request->installed : "ltt-sessiond");
}

/* An attempt to start a daemon. */
struct attempt {
	const struct daemon_request *request;
	char *program;
	int words;  /* memfd: the messages of the daemon until it serves */
	int status; /* of --daemonize */
};

static void cleanup_attempt(struct attempt *attempt)
{
	free(attempt->program);
	close_fd(attempt->words);
}

/* Whether a daemon is to have this variable of its first client: it serves others, too. */
static bool is_for_daemon(const char *variable)
{
	static const char *const names[] = { "HOME=", "PATH=",	 "USER=", "LOGNAME=", "LANG=",
					     "LTT_",  "TMPDIR=", "LC_",	  "XDG_" };
	const char *sanitizer = strstr(variable, "SAN_OPTIONS=");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return sanitizer && sanitizer - variable < 8; /* of a build with one */
}

/* The array alone is allocated; NULL: no memory. */
static char **daemon_environ(void)
{
	size_t nr = 0, kept = 0;
	char **copy;

	while (environ[nr])
		nr++;
	copy = calloc(nr + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++)
		if (is_for_daemon(environ[i]))
			copy[kept++] = environ[i];
	return copy;
}

int daemon_spawn(char *const argv[], int words, pid_t *ret)
{
	char **env AUTO_FREE = daemon_environ();
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int error;

	if (!env)
		return -ENOMEM;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawn_file_actions_init(&files);
	error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null",
							 O_WRONLY, 0);
	if (!error && words >= 0)
		error = posix_spawn_file_actions_adddup2(&files, words, STDERR_FILENO);
	if (!error)
		error = posix_spawnp(ret, argv[0], &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -error;
}

int daemon_words(const char *name)
{
	int fd AUTO_FD = memfd_create(name, MFD_CLOEXEC);

	if (fd > STDERR_FILENO)
		return TAKE_FD(fd);
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

void daemon_read_words(int fd, char *buf, size_t len)
{
	ssize_t n = fd < 0 ? 0 : pread(fd, buf, len - 1, 0);

	buf[n > 0 ? n : 0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

static int interrupt_fd(const struct daemon_request *request)
{
	return request->interrupt ? *request->interrupt : -1;
}

/* Until a process has ended. @pidfd: -1: that can't be seen. Return: 0, -ETIMEDOUT, or -EINTR:
 * @interrupt is readable. */
static int daemon_await_exit(int pidfd, int interrupt, unsigned int limit_ms)
{
	struct pollfd pfds[] = {
		{ .fd = pidfd, .events = POLLIN },
		{ .fd = interrupt, .events = POLLIN },
	};
	uint64_t begin = daemon_now_ms();
	int n = 0;

	while (pidfd >= 0 && n <= 0) {
		uint64_t waited = daemon_now_ms() - begin;

		n = poll(pfds, ARRAY_SIZE(pfds), waited < limit_ms ? (int)(limit_ms - waited) : 0);
		if (n == 0)
			return -ETIMEDOUT;
		if (n < 0 && errno != EINTR)
			break;
	}
	return n > 0 && !pfds[0].revents && pfds[1].revents ? -EINTR : 0;
}

int daemon_reap(int interrupt, pid_t pid, int *ret_status)
{
	int pidfd AUTO_FD = (int)syscall(SYS_pidfd_open, pid, 0);
	int ret = daemon_await_exit(pidfd, interrupt, SPAWN_MS);

	if (ret < 0)
		return ret;
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/* How the daemon did is seen from whether one serves afterwards: one that found
 * another there has failed, and that is as good. */
static int await_start(struct attempt *attempt, pid_t pid, struct err *err)
{
	int ret = daemon_reap(interrupt_fd(attempt->request), pid, &attempt->status);

	if (ret == 0)
		return 0;
	if (ret == -EINTR)
		return err_set(err, ERR_INTERRUPTED,
			       "interrupted while '%s' (pid %d) was not ready yet",
			       attempt->program, (int)pid);
	return err_set(err, ERR_NO_DAEMON,
		       "no session daemon runs, and '%s' (pid %d), which was started, does not "
		       "become ready",
		       attempt->program, (int)pid);
}

static int daemon_start(struct attempt *attempt, struct err *err)
{
	const char *group = attempt->request->group;
	char *argv[] = { attempt->program,
			 "--daemonize",
			 "--exit-idle=" EXIT_IDLE,
			 "--on-demand",
			 NULL,
			 NULL,
			 NULL };
	pid_t pid;
	int error;

	if (group) {
		argv[4] = "--group";
		argv[5] = (char *)group;
	}
	attempt->words = daemon_words("ltt-sessiond says");
	error = daemon_spawn(argv, attempt->words, &pid);
	if (error < 0)
		return err_errno(err, error == -ENOMEM ? ERR_NO_MEMORY : ERR_NO_DAEMON, -error,
				 "no session daemon runs, and '%s' can't be started",
				 attempt->program);
	return await_start(attempt, pid, err);
}

/* A process that holds, or held, the directory's lock: it may be about to serve. */
static int open_rival(const char *rundir)
{
	char *path AUTO_FREE = str_printf("%s/sessiond.lock", rundir);
	int fd AUTO_FD = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	char text[32] = "";
	int pid;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return -1;
	pid = atoi(text);
	return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

/* Several commands may have started daemons at once, of which one is left. */
static int open_started(const struct daemon_request *request, const char *rundir,
			struct client **ret, struct err *err)
{
	uint64_t begin = daemon_now_ms();
	int rival AUTO_FD = -1;

	do {
		struct pollfd pfds[] = {
			{ .fd = -1, .events = POLLIN },
			{ .fd = interrupt_fd(request), .events = POLLIN },
		};

		*err = (struct err){ 0 };
		if (client_open(rundir, interrupt_fd(request), ret, err) == 0 ||
		    err->code != ERR_NO_DAEMON)
			return err->code;
		if (rival < 0)
			rival = open_rival(rundir);
		pfds[0].fd = rival;
		if (rival < 0 || poll(pfds, ARRAY_SIZE(pfds), RETRY_MS) != 0)
			return err->code;
	} while (daemon_now_ms() - begin < RIVAL_MS);
	return err->code;
}

/* One that was there, or was about to be, kept ours from serving, and does not serve either:
 * it is just dying, or can't be distinguished from such a one yet. */
static bool is_worth_another(const struct attempt *attempt)
{
	return WIFEXITED(attempt->status) && WEXITSTATUS(attempt->status) == STATUS_SERVED;
}

static int try_spawn(const struct daemon_request *request, const char *rundir, struct client **ret,
		     bool *ret_again, struct err *err)
{
	struct attempt attempt CLEANUP(cleanup_attempt) = {
		.request = request,
		.program = daemon_program(request),
		.words = -1,
	};
	char words[200];

	if (!attempt.program)
		return err_memory(err);
	if (daemon_start(&attempt, err) != 0)
		return err->code;
	if (open_started(request, rundir, ret, err) == 0 || err->code != ERR_NO_DAEMON)
		return err->code;
	*ret_again = is_worth_another(&attempt);
	daemon_read_words(attempt.words, words, sizeof(words));
	*err = (struct err){ 0 };
	return err_set(err, ERR_NO_DAEMON,
		       "no session daemon runs in %s, and one could not be started there%s%s",
		       rundir, *words ? ": " : "", words);
}

static int spawn_and_open(const struct daemon_request *request, const char *rundir,
			  struct client **ret, struct err *err)
{
	uint64_t begin = daemon_now_ms();
	bool again;

	do {
		again = false;
		*err = (struct err){ 0 };
		if (try_spawn(request, rundir, ret, &again, err) == 0)
			return 0;
		if (again)
			poll(NULL, 0, RETRY_MS);
	} while (again && daemon_now_ms() - begin < RIVAL_MS);
	return err->code;
}

/* Is the system's daemon an alternative that is worth a try? */
static bool try_system(const char *own)
{
	const char *env = secure_getenv("LTT_RUNDIR");

	return !(env && *env) && !paths_is_system(own);
}

/* A daemon was killed while it had sessions: the next command starts its successor. */
static bool left_sessions(const char *rundir)
{
	char *path AUTO_FREE = str_printf("%s/state/daemon", rundir);

	return path && access(path, F_OK) == 0;
}

/* One that does not answer is the caller's all the same. */
static bool is_final(const struct err *err)
{
	return err->code == ERR_NO_ANSWER || err->code == ERR_INTERRUPTED ||
	       err->code == ERR_NO_MEMORY;
}

int daemon_open(const struct daemon_request *request, struct client **ret, struct err *err)
{
	char *own AUTO_FREE = paths_rundir();
	struct err first = { 0 };

	if (!own && errno == ENOMEM)
		return err_memory(err);
	if (!own)
		return err_set(err, ERR_NO_DAEMON,
			       "no place for a session daemon: set HOME or LTT_RUNDIR");
	if (try_system(own)) {
		if (client_open(PATHS_SYSTEM_RUNDIR, interrupt_fd(request), ret, &first) == 0)
			return 0;
		if (is_final(&first)) {
			*err = first;
			return err->code;
		}
	}
	first = (struct err){ 0 };
	if (client_open(own, interrupt_fd(request), ret, &first) == 0)
		return 0;
	if (first.code != ERR_NO_DAEMON || request->never_spawn ||
	    (!request->spawn && !left_sessions(own))) {
		*err = first;
		return err->code;
	}
	return spawn_and_open(request, own, ret, err);
}

int daemon_shutdown(struct client *client, bool force, uint32_t *ret_sessions, struct err *err)
{
	const struct req_daemon_end req = { .force = force };
	uint32_t pid = client_daemon(client)->pid;
	/* before it ends: the number may be another process's then */
	int pidfd AUTO_FD = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	struct rep_daemon_end rep;
	int ret;

	if (call_daemon_end(client, &req, NULL, NULL, &rep, err) != 0)
		return err->code;
	ret = daemon_await_exit(pidfd, client_interrupt(client), END_MS);
	if (ret == -EINTR)
		return err_set(err, ERR_INTERRUPTED,
			       "interrupted while the session daemon (pid %u) had not ended", pid);
	if (ret < 0)
		return err_set(err, ERR_BUSY,
			       "the session daemon (pid %u) has not ended within 5 s; 'kill -9 %u' "
			       "ends it",
			       pid, pid);
	*ret_sessions = rep.sessions;
	return 0;
}
