/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "relay_local.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "daemon.h"

extern char **environ;

static const char local_url[] = "net://127.0.0.1";

/* The one that was asked for, else the one that came with this program, else what PATH finds.
 * Allocated. */
static char *program(const char *given)
{
	AUTO_FREE char *dir = daemon_own_dir();
	AUTO_FREE char *beside = dir ? xasprintf("%s/ltt-relayd", dir) : NULL;

	if (given)
		return xstrdup(given);
	if (beside && access(beside, X_OK) == 0)
		return TAKE(beside);
	return xstrdup("ltt-relayd");
}

/* It has nothing of the caller's but a place for what it says before it serves. */
static int relay_local_spawn(const char *path, int words, pid_t *ret)
{
	char *argv[] = { (char *)path, (char *)"--daemonize", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, pipe;
	int error;

	sigemptyset(&none);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &pipe);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (words >= 0)
		posix_spawn_file_actions_adddup2(&files, words, STDERR_FILENO);
	error = posix_spawnp(ret, path, &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -error;
}

/* The beginning of its output. */
static void relay_local_read_words(int fd, char *buf, size_t len)
{
	ssize_t n = fd < 0 ? 0 : pread(fd, buf, len - 1, 0);

	buf[n > 0 ? n : 0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

/* However it did: somebody else may have started one in the same moment, which is as good. */
static int relay_local_start(const char *given, char *words, size_t len, struct err *err)
{
	AUTO_FD int fd = memfd_create("ltt-relayd says", MFD_CLOEXEC);
	AUTO_FREE char *path = program(given);
	pid_t pid;
	int error = relay_local_spawn(path, fd, &pid);

	if (error < 0)
		return err_errno(err, ERR_OUTPUT, -error,
				 "no relay runs here, and '%s' can't be "
				 "started",
				 path);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	relay_local_read_words(fd, words, len);
	return 0;
}

int relay_local(const char *path, struct relay_url *ret, struct err *err)
{
	struct err first = { 0 }, second = { 0 };
	char words[200];

	if (url_relay(local_url, false, ret, &first) == 0)
		return 0;
	if (relay_local_start(path, words, sizeof(words), err) != 0)
		return err->code;
	if (url_relay(local_url, false, ret, &second) == 0)
		return 0;
	return err_set(err, ERR_OUTPUT,
		       "a live session needs a relay, and none could be started here%s%s",
		       *words ? ": " : "", words);
}
