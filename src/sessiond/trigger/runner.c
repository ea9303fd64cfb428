/* SPDX-License-Identifier: GPL-2.0-only */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"

#define RUNNER_MOST_ENV 64u

/* --- the command's process ------------------------------------------------------------- */

static int runner_become(uid_t uid, gid_t gid)
{
	const struct passwd *user;

	if (geteuid() != 0)
		return uid == geteuid() ? 0 : -EPERM;
	user = getpwuid(uid);
	if (user ? initgroups(user->pw_name, gid) < 0 : setgroups(0, NULL) < 0)
		return -errno;
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	return 0;
}

/* @text: the command, and the environment up to @end, which ends with a NUL. */
static _Noreturn void runner_exec(const struct runner_request *request, char *text, char *end,
				  int output)
{
	char *env[RUNNER_MOST_ENV + 1] = { NULL };
	char *argv[] = { "sh", "-c", text, NULL };
	int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t all;
	unsigned int nr = 0;

	for (char *at = text + strlen(text) + 1; at < end && nr < RUNNER_MOST_ENV;
	     at += strlen(at) + 1)
		env[nr++] = at;
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
	if (none < 0 || dup2(none, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(output, STDERR_FILENO) < 0 || chdir("/") < 0 ||
	    runner_become(request->uid, request->gid) < 0)
		_exit(126);
	closefrom(STDERR_FILENO + 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing else would limit its time */
	execve("/bin/sh", argv, env);
	_exit(127);
}

/* --- its supervisor -------------------------------------------------------------------- */

static int64_t runner_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Read the output of the command and its children, until all have ended or the time is over. The
 * rest of a long output is read and dropped. Return: bytes in @buf. */
static size_t runner_read(int fd, char *buf, size_t cap, int64_t until_ms)
{
	char rest[4096];
	size_t len = 0;

	for (;;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		int64_t left = until_ms - runner_now_ms();
		ssize_t n;

		if (left <= 0 || poll(&ready, 1, (int)left) == 0)
			return len;
		n = len < cap ? read(fd, buf + len, cap - len) : read(fd, rest, sizeof(rest));
		if (n == 0 || (n < 0 && errno != EINTR))
			return len;
		if (n > 0 && len < cap)
			len += (size_t)n;
	}
}

/* Return: false: it was ended. */
static bool runner_await(pid_t pid, int64_t until_ms, int *ret_status)
{
	pid_t ended;

	while ((ended = waitpid(pid, ret_status, WNOHANG)) == 0 && runner_now_ms() < until_ms)
		usleep(5000);
	if (ended == pid)
		return true;
	kill(-pid, SIGKILL);
	waitpid(pid, ret_status, 0);
	return false;
}

static _Noreturn void runner_supervise(int fd, const struct runner_request *request, char *text,
				       char *end)
{
	int64_t until = runner_now_ms() + (int64_t)request->seconds * 1000;
	struct {
		struct runner_answer head;
		char output[RUNNER_OUTPUT_BYTES];
	} answer = { .head = { .serial = request->serial } };
	size_t len = 0;
	int fds[2];
	pid_t pid;

	signal(SIGCHLD, SIG_DFL); /* before the command can end: its status is read */
	pid = pipe2(fds, O_CLOEXEC) < 0 ? -1 : fork();
	if (pid == 0) {
		setpgid(0, 0);
		runner_exec(request, text, end, fds[1]);
	}
	answer.head.error = pid < 0 ? errno : 0;
	if (pid > 0) {
		setpgid(pid, pid);
		close(fds[1]);
		len = runner_read(fds[0], answer.output, sizeof(answer.output), until);
		answer.head.late = !runner_await(pid, until, &answer.head.wait_status);
	}
	(void)!send(fd, &answer, sizeof(answer.head) + len, MSG_NOSIGNAL);
	_exit(0);
}

/* --- the runner --------------------------------------------------------------------------- */

static void runner_take(int fd, char *packet, size_t len)
{
	struct runner_request request;
	pid_t pid;

	if (len <= sizeof(request) || packet[len - 1])
		return;
	memcpy(&request, packet, sizeof(request));
	pid = fork();
	if (pid == 0)
		runner_supervise(fd, &request, packet + sizeof(request), packet + len);
	if (pid < 0) {
		struct runner_answer answer = { .serial = request.serial, .error = errno };

		(void)!send(fd, &answer, sizeof(answer), MSG_NOSIGNAL);
	}
}

static _Noreturn void runner_work(int fd)
{
	static char packet[RUNNER_BYTES];
	ssize_t len;

	signal(SIGCHLD, SIG_IGN); /* supervisors are not waited for */
	do {
		len = recv(fd, packet, sizeof(packet), 0);
		if (len > 0)
			runner_take(fd, packet, (size_t)len);
	} while (len > 0 || (len < 0 && errno == EINTR));
	_exit(0);
}

/* The daemon can't fork another runner: its parent does, if it was ended by a signal. */
void runner_serve(int fd)
{
	int none = open("/dev/null", O_RDWR | O_CLOEXEC), status;

	prctl(PR_SET_NAME, "ltt-runner");
	setsid();
	for (int std = STDIN_FILENO; none >= 0 && std <= STDERR_FILENO; std++)
		dup2(none, std); /* a caller may wait for their end */
	signal(SIGCHLD, SIG_DFL);
	dup2(fd, STDERR_FILENO + 1);
	closefrom(STDERR_FILENO + 2);
	fd = STDERR_FILENO + 1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	do {
		pid_t pid = fork();

		if (pid <= 0) /* or no memory for another process */
			runner_work(fd);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	} while (WIFSIGNALED(status));
	_exit(0);
}
