/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/mem.h"
#include "io/paths.h"

#define SPAWN_MS 20000 /* until --daemonize has returned */
#define RIVAL_MS 5000  /* for a daemon that somebody else is starting */
#define RETRY_MS 10
#define EXIT_IDLE "5m"	/* what lttctl starts does not stay for ever */
#define STATUS_SERVED 4 /* of ltt-sessiond: another one has the directory */

const char daemon_system_rundir[] = PATHS_SYSTEM_RUNDIR;

char *daemon_rundir(void)
{
	return paths_rundir();
}

char *daemon_closed_dir(const char *rundir)
{
	return paths_closed_dir(rundir);
}

char *daemon_own_dir(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (len <= 0)
		return NULL;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	return xstrdup(path);
}

static uint64_t daemon_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Beside our own program (a build folder), then where it is installed. Allocated; a word
 * without a slash is left to PATH. */
static char *daemon_program(const char *request)
{
	static const char *const ways[] = { "", "/" LTT_WAY_TO_SESSIOND };
	char *dir AUTO_FREE = NULL;
	const char *env = secure_getenv("LTT_SESSIOND_PATH");

	if (request || (env && *env))
		return xstrdup(request ? request : env);
	dir = daemon_own_dir();
	for (size_t i = 0; dir && i < ARRAY_SIZE(ways); i++) {
		char *path AUTO_FREE = xasprintf("%s%s/ltt-sessiond", dir, ways[i]);

		if (access(path, X_OK) == 0)
			return TAKE(path);
	}
	return xstrdup("ltt-sessiond");
}

/* An attempt to start a daemon. */
struct attempt {
	const struct daemon_request *request;
	char *program;
	int words;     /* memfd: what it says before it serves */
	int report[2]; /* pipe: why it can't be executed */
	int status;    /* of --daemonize */
};

static void cleanup_attempt(struct attempt *attempt)
{
	free(attempt->program);
	close_fd(attempt->words);
	close_fd(attempt->report[0]);
	close_fd(attempt->report[1]);
}

/* The child's side. The daemon lets go of its standard files when it serves. */
static void exec_daemon(const struct attempt *attempt)
{
	const char *group = attempt->request->group;
	char *argv[] = {
		attempt->program, "--daemonize", "--exit-idle=" EXIT_IDLE, NULL, NULL, NULL
	};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;
	int error;

	if (group) {
		argv[3] = "--group";
		argv[4] = (char *)group;
	}
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (attempt->words >= 0)
		dup2(attempt->words, STDERR_FILENO);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	error = errno;
	while (write(attempt->report[1], &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

static int interrupt_fd(const struct daemon_request *request)
{
	return request->interrupt ? *request->interrupt : -1;
}

/* Wait for the child, but not for ever. Return: 0, -ETIMEDOUT or -EINTR. */
static int daemon_reap(const struct daemon_request *request, pid_t pid, int *ret_status)
{
	int pidfd AUTO_FD = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd pfds[] = {
		{ .fd = pidfd, .events = POLLIN },
		{ .fd = interrupt_fd(request), .events = POLLIN },
	};

	if (pidfd >= 0 && poll(pfds, ARRAY_SIZE(pfds), SPAWN_MS) == 0)
		return -ETIMEDOUT;
	if (pidfd >= 0 && !pfds[0].revents && pfds[1].revents)
		return -EINTR;
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/* How the daemon did is seen from whether one serves afterwards: one that found
 * another there has failed, and that is as good. */
static int await_start(struct attempt *attempt, pid_t pid, struct err *err)
{
	int ret, error = 0;

	attempt->report[1] = close_fd(attempt->report[1]);
	if (read(attempt->report[0], &error, sizeof(error)) == sizeof(error)) {
		waitpid(pid, NULL, 0);
		return err_errno(err, ERR_NO_DAEMON, error,
				 "no session daemon runs, and '%s' can't be started",
				 attempt->program);
	}
	ret = daemon_reap(attempt->request, pid, &attempt->status);
	if (ret == 0)
		return 0;
	if (ret == -EINTR)
		return err_set(err, ERR_INTERRUPTED,
			       "interrupted while '%s' (pid %d) had not got ready",
			       attempt->program, (int)pid);
	return err_set(err, ERR_NO_DAEMON,
		       "no session daemon runs, and '%s' (pid %d), which was started, does not "
		       "get ready",
		       attempt->program, (int)pid);
}

static int daemon_spawn(struct attempt *attempt, struct err *err)
{
	pid_t pid;

	if (pipe2(attempt->report, O_CLOEXEC) != 0)
		return err_errno(err, ERR_NO_DAEMON, errno, "can't start '%s'", attempt->program);
	attempt->words = memfd_create("ltt-sessiond says", MFD_CLOEXEC);
	pid = fork();
	if (pid < 0)
		return err_errno(err, ERR_NO_DAEMON, errno, "can't start '%s'", attempt->program);
	if (pid == 0)
		exec_daemon(attempt);
	return await_start(attempt, pid, err);
}

/* A process that holds, or held, the directory's lock: it may be about to serve. */
static int open_rival(const char *rundir)
{
	char *path AUTO_FREE = xasprintf("%s/sessiond.lock", rundir);
	int fd AUTO_FD = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
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

/* The first line of what the daemon said. */
static void daemon_read_words(int fd, char *buf, size_t len)
{
	ssize_t n = fd < 0 ? 0 : pread(fd, buf, len - 1, 0);

	buf[n > 0 ? n : 0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

/* One that was there, or was about to be, kept ours from serving, and does not serve either:
 * it is just dying, or has not got far enough to be told from one that is. */
static bool is_worth_another(const struct attempt *attempt)
{
	return WIFEXITED(attempt->status) && WEXITSTATUS(attempt->status) == STATUS_SERVED;
}

static int try_spawn(const struct daemon_request *request, const char *rundir, struct client **ret,
		     bool *ret_again, struct err *err)
{
	struct attempt attempt CLEANUP(cleanup_attempt) = {
		.request = request,
		.program = daemon_program(request->path),
		.words = -1,
		.report = { -1, -1 },
	};
	char words[200];

	if (daemon_spawn(&attempt, err) != 0)
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
	char *path AUTO_FREE = xasprintf("%s/state/daemon", rundir);

	return access(path, F_OK) == 0;
}

/* One that does not answer is the caller's all the same. */
static bool is_final(const struct err *err)
{
	return err->code == ERR_NO_ANSWER || err->code == ERR_INTERRUPTED;
}

int daemon_open(const struct daemon_request *request, struct client **ret, struct err *err)
{
	char *own AUTO_FREE = paths_rundir();
	struct err first = { 0 };

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
