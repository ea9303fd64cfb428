/* SPDX-License-Identifier: GPL-2.0-only */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define TICK_MS 1000u

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static int cannot(struct err *err, const char *program, int error)
{
	err_errno(err, ERR_INVALID, error, "can't run '%s'", program);
	return error == ENOENT || error == ENOTDIR ? RUN_NOT_FOUND : RUN_CANNOT;
}

/* Return: 0, or why this file can't be run. */
static int ctl_run_check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) == 0 ? 0 : errno;
}

/* As execvp() searches; a file without permission counts only if none is found that has it. */
static int check_path(const char *program)
{
	const char *path = getenv("PATH");
	char *copy AUTO_FREE = xstrdup(path ? path : "/bin:/usr/bin");
	char *rest = copy, *dir;
	int result = ENOENT;

	while ((dir = strsep(&rest, ":"))) {
		char *file AUTO_FREE = xasprintf("%s/%s", *dir ? dir : ".", program);
		int error = ctl_run_check_file(file);

		if (error == 0)
			return 0;
		if (error == EACCES)
			result = EACCES;
	}
	return result;
}

int run_check(const char *program, struct err *err)
{
	int error = strchr(program, '/') ? ctl_run_check_file(program) :
		    *program		 ? check_path(program) :
					   ENOENT;

	if (error == ENOENT && !strchr(program, '/')) {
		err_set(err, ERR_INVALID, "there is no program '%s' in PATH", program);
		return RUN_NOT_FOUND;
	}
	return error ? cannot(err, program, error) : 0;
}

char *run_find(const char *program)
{
	const char *path = getenv("PATH");
	char *copy AUTO_FREE = xstrdup(path ? path : "/bin:/usr/bin");
	char *rest = copy, *dir;

	while (!strchr(program, '/') && (dir = strsep(&rest, ":"))) {
		char *file = xasprintf("%s/%s", *dir ? dir : ".", program);

		if (access(file, X_OK) == 0)
			return file;
		free(file);
	}
	return xstrdup(program);
}

int run_begin(struct run *run, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, &run->old_mask);
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	run->children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signals >= 0 && run->children >= 0)
		return 0;
	err_errno(err, ERR_INTERNAL, errno, "can't watch for signals");
	sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
	return err->code;
}

void run_fini(struct run *run)
{
	if (run->signals < 0)
		return;
	run->signals = close_fd(run->signals);
	run->children = close_fd(run->children);
	sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
}

/* Next signal that came; false: none. */
static bool next_signal(struct run *run, struct signalfd_siginfo *ret)
{
	if (read(run->signals, ret, sizeof(*ret)) != sizeof(*ret))
		return false;
	run->ended = run->ended || ret->ssi_signo != SIGHUP;
	return true;
}

bool run_is_interrupted(const struct run *run)
{
	struct pollfd pfd = { .fd = run->signals, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

int run_interrupted(struct run *run)
{
	struct signalfd_siginfo info;

	return next_signal(run, &info) ? (int)info.ssi_signo : 0;
}

/* @go: its other end is closed without a byte if the program is not to be run. */
static void exec_program(struct run *run, int report, int go)
{
	int error;
	char byte;

	if (go >= 0 && read(go, &byte, 1) != 1)
		_exit(RUN_CANNOT);
	for (size_t i = 0; run->environment && run->environment[i]; i++)
		putenv((char *)run->environment[i]);
	if (run->to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	signal(SIGPIPE, run->sigpipe);
	sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
	execvp(run->argv[0], (char *const *)run->argv);
	error = errno;
	while (write(report, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(RUN_NOT_FOUND);
}

/* A signal that the terminal sent, it has sent to the program as well. */
static void forward(struct run *run, pid_t pid)
{
	struct signalfd_siginfo info;

	while (next_signal(run, &info))
		if (info.ssi_code <= 0)
			kill(pid, (int)info.ssi_signo);
}

uint64_t run_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int run_tick(struct run *run)
{
	uint64_t now = run_now_ns();

	if (run->tick && now >= run->tick_ns) {
		run->tick_ns = now + (run->tick_ms ? run->tick_ms : TICK_MS) * 1000000u;
		if (!run->tick(run->tick_priv))
			run->tick = NULL;
	}
	return run->tick ? (int)((run->tick_ns - now) / 1000000u) + 1 : -1;
}

/*
 * A child stops for its tracer, which it has made of its parent (PTRACE_TRACEME): no other process
 * lets it go on. It does not get the SIGTRAP that only tracees get when they execute a program.
 */
static void run_release(const siginfo_t *stopped)
{
	siginfo_t info = { .si_pid = 0 };
	pid_t pid = stopped->si_pid;
	int signo = stopped->si_status & 0x7f;

	if (ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) == 0 && signo == SIGTRAP &&
	    info.si_code == SI_USER && info.si_pid == pid)
		signo = 0;
	ptrace(PTRACE_DETACH, pid, NULL, (long)signo);
}

/* The reports of the kernel about it are read first, while /proc still has it. */
static void run_note_end(struct run *run, const siginfo_t *ended)
{
	if (!run->faults)
		return;
	faults_read(run->faults);
	if (ended->si_code != CLD_EXITED)
		faults_take_child(run->faults, ended->si_pid, ended->si_status);
}

/* Reap orphans that have ended. */
static void run_reap(struct run *run)
{
	struct signalfd_siginfo signal;
	siginfo_t info = { .si_pid = 0 };

	while (read(run->children, &signal, sizeof(signal)) == sizeof(signal))
		;
	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid) {
		if (info.si_code == CLD_TRAPPED) {
			run_release(&info);
		} else if (info.si_pid == run->pid && !run->reaped) {
			return;
		} else {
			run_note_end(run, &info);
			waitpid(info.si_pid, NULL, 0);
		}
		info.si_pid = 0;
	}
}

/* Return: @limit_ms, or the time until crashes are to be taken again if that is shorter. */
static int run_take_crashes(struct run *run, int limit_ms)
{
	int again_ms = -1;

	if (run->faults)
		faults_read(run->faults);
	if (run->faults && run->crashed)
		again_ms = run->crashed(run->crashed_priv);
	return again_ms < 0 || (limit_ms >= 0 && limit_ms < again_ms) ? limit_ms : again_ms;
}

bool run_pause(struct run *run, int limit_ms)
{
	struct pollfd pfds[] = {
		{ .fd = run->signals, .events = POLLIN },
		{ .fd = run->children, .events = POLLIN },
		{ .fd = run->faults ? run->faults->fd : -1, .events = POLLIN },
	};

	run_reap(run);
	(void)run_tick(run);
	limit_ms = run_take_crashes(run, limit_ms);
	return poll(pfds, ARRAY_SIZE(pfds), limit_ms) > 0 && pfds[0].revents;
}

static void ctl_run_await_end(struct run *run, pid_t pid)
{
	int pidfd AUTO_FD = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd pfds[] = {
		{ .fd = pidfd, .events = POLLIN },
		{ .fd = run->signals, .events = POLLIN },
		{ .fd = run->watch },
		{ .fd = run->children, .events = POLLIN },
		{ .fd = run->faults ? run->faults->fd : -1, .events = POLLIN },
	};

	while (pidfd >= 0) {
		int limit_ms = run_take_crashes(run, run_tick(run));

		if (poll(pfds, ARRAY_SIZE(pfds), limit_ms) < 0) {
			if (errno == EINTR)
				continue;
			return; /* the program is waited for without forwarding signals */
		}
		if (pfds[1].revents)
			forward(run, pid);
		if (pfds[0].revents)
			return;
		if (pfds[2].revents)
			pfds[2].fd = run->repair(run->priv);
		run_reap(run);
	}
}

static void take_status(struct run *run, pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	run->reaped = true;
	run->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	run->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void run_extend(struct run *run)
{
	run->duration_ns = run_now_ns() - run->begin_ns;
}

/* Let the process that was made execute the program. */
static int run_let_go(struct run *run, int go, struct err *err)
{
	if (!run->made)
		return 0;
	if (run->made(run->made_priv, run->pid, err) != 0)
		return err->code;
	return write(go, "", 1) == 1 ? 0 : cannot(err, run->argv[0], errno);
}

int run_program(struct run *run, struct err *err)
{
	int go[2] = { -1, -1 }, refused = 0;
	int report[2], error = 0;
	ssize_t said;
	pid_t pid;

	run->begin_ns = run_now_ns();
	if (run->made && pipe2(go, O_CLOEXEC) != 0)
		return cannot(err, run->argv[0], errno);
	if (pipe2(report, O_CLOEXEC) != 0)
		return cannot(err, run->argv[0], errno);
	fflush(NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	run->pid = pid = fork();
	if (pid == 0) {
		close_fd(go[1]);
		exec_program(run, report[1], go[0]);
	}
	if (run->faults)
		run->faults->program = pid;
	close(report[1]);
	close_fd(go[0]);
	if (pid > 0)
		refused = run_let_go(run, go[1], err);
	close_fd(go[1]);
	do
		said = pid < 0 ? 0 : read(report[0], &error, sizeof(error));
	while (said < 0 && errno == EINTR);
	close(report[0]);
	if (pid < 0)
		return cannot(err, run->argv[0], EAGAIN);
	if (said != sizeof(error))
		ctl_run_await_end(run, pid);
	if (run->faults)
		faults_read(run->faults);
	take_status(run, pid);
	run_extend(run);
	if (refused)
		return RUN_CANNOT;
	return said == sizeof(error) ? cannot(err, run->argv[0], error) : 0;
}
