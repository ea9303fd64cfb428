/* SPDX-License-Identifier: GPL-2.0-only */
#include "spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/loop.h"
#include "io/sock.h"
#include "proto/codec.h"

#define BACKOFF_MIN_US 100000u
#define BACKOFF_MAX_US 30000000u
#define STEADY_NS 60000000000ull /* a program that ran for so long is started again at once */

#define AGAIN_MS 100 /* until another attempt to fork */

struct spawner {
	const struct spawner_command *command;
	struct loop *loop;
	struct loop_fd relay;
	struct loop_child guard; /* the parent */
	struct loop_child child; /* pid 0: none runs */
	struct loop_timer retry;
	uint64_t backoff_us;
	uint64_t started_ns;
};

/* Signals for all processes of a service end the relay, and that ends these. */
static void spawner_set_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGHUP, SIG_IGN); /* a relay reads its keys then */
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void spawner_exec(const struct spawner_command *command, int fd) __attribute__((noreturn));

/* In the new process. */
static void spawner_exec(const struct spawner_command *command, int fd)
{
	AUTO_FREE char *relay = xasprintf("--relay-fd=%d", fd);
	AUTO_FREE char *store = xasprintf("--store=%s", command->store);
	char *const argv[] = {
		(char *)command->program, "--follow", relay, store, (char *)command->dir, NULL,
	};

	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && fcntl(fd, F_SETFD, 0) == 0)
		execv(command->program, argv);
	log_error("can't start %s: %s; install it: nothing is put into the store without it",
		  command->program, strerror(errno));
	_exit(127);
}

static void spawner_on_exit(struct loop_child *child, int status);

/* Return: 0 or negative errno. */
static int spawner_start_program(struct spawner *s)
{
	int fds[2], ret;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		spawner_exec(s->command, fds[1]);
	close(fds[1]);
	ret = pid < 0 ? -errno : loop_child_init(&s->child, s->loop, pid, spawner_on_exit);
	if (ret == 0)
		ret = sock_send(s->relay.fd, "", 1, fds, 1);
	close(fds[0]);
	if (ret < 0 && pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		loop_child_fini(&s->child);
		s->child.pid = 0;
	}
	return ret;
}

static void spawner_retry(struct spawner *s)
{
	loop_timer_set(&s->retry, s->backoff_us);
	s->backoff_us = MIN(2 * s->backoff_us, (uint64_t)BACKOFF_MAX_US);
}

static void spawner_on_time(struct loop_timer *timer)
{
	struct spawner *s = container_of(timer, struct spawner, retry);
	int ret;

	s->started_ns = loop_now_ns();
	ret = spawner_start_program(s);
	if (ret == 0)
		return;
	if (ret == -EPIPE || ret == -ECONNRESET) /* the relay has ended */
		_exit(0);
	log_error("can't start %s: %s; it is tried again", s->command->program, strerror(-ret));
	spawner_retry(s);
}

static void spawner_on_exit(struct loop_child *child, int status)
{
	struct spawner *s = container_of(child, struct spawner, child);

	child->pid = 0;
	if (loop_now_ns() - s->started_ns > STEADY_NS)
		s->backoff_us = BACKOFF_MIN_US;
	if (WIFSIGNALED(status))
		log_warn("%s was killed by signal %d; it is started again", s->command->program,
			 WTERMSIG(status));
	else if (WEXITSTATUS(status) && WEXITSTATUS(status) != 127) /* 0: its relay has left it */
		log_warn("%s has ended with status %d; it is started again", s->command->program,
			 WEXITSTATUS(status));
	spawner_retry(s);
}

static void spawner_kill(const struct spawner *s)
{
	if (s->child.pid)
		kill(s->child.pid, SIGKILL);
}

/* The relay's end is ours: data that the store lacks is in the relay's directory. */
static void spawner_on_message(struct loop_fd *source, uint32_t events)
{
	struct spawner *s = container_of(source, struct spawner, relay);
	int fds[MSG_MAX_FDS];
	unsigned int nr;
	char byte;
	ssize_t n = sock_recv(source->fd, &byte, sizeof(byte), fds, &nr);

	(void)events;
	if (n == -EAGAIN)
		return;
	spawner_kill(s);
	if (n <= 0)
		_exit(0);
}

static void spawner_on_guard(struct loop_child *child, int status)
{
	struct spawner *s = container_of(child, struct spawner, guard);

	(void)status;
	log_warn("the guard of the process that starts ltt-archive has ended; it is replaced");
	loop_stop(s->loop);
}

/* Return: when its guard has ended; ltt-archive has, too. */
static void spawner_run(const struct spawner_command *command, int fd, pid_t guard)
{
	struct spawner s = { .command = command, .backoff_us = BACKOFF_MIN_US };

	if (loop_new(&s.loop) < 0 ||
	    loop_fd_init(&s.relay, s.loop, fd, EPOLLIN, spawner_on_message) < 0)
		_exit(1);
	loop_timer_init(&s.retry, s.loop, spawner_on_time);
	loop_timer_set(&s.retry, 0);
	if (loop_child_init(&s.guard, s.loop, guard, spawner_on_guard) == 0 && getppid() == guard)
		(void)loop_run(s.loop);
	spawner_kill(&s);
	if (s.child.pid)
		waitpid(s.child.pid, NULL, 0);
	loop_child_fini(&s.child);
	loop_child_fini(&s.guard);
	loop_free(s.loop);
}

/* Return: when the spawner @pid was killed; -1: none could be started. */
static void guard_wait(pid_t pid, int relay_fd)
{
	AUTO_FD int pidfd = pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd polled[] = { { relay_fd, 0, 0 }, { pidfd, POLLIN, 0 } };
	int status;

	if (poll(polled, ARRAY_SIZE(polled), pid < 0 ? AGAIN_MS : -1) > 0 && polled[0].revents) {
		if (pid > 0)
			kill(pid, SIGKILL);
		_exit(0); /* with the relay */
	}
	if (pid < 0)
		return;
	if (waitpid(pid, &status, 0) < 0 || !WIFSIGNALED(status))
		_exit(1);
	log_warn("the process that starts ltt-archive was killed by signal %d; it is started again",
		 WTERMSIG(status));
}

/* Two processes: whichever of them is killed, the other one starts it again. */
static void guard_run(const struct spawner_command *command, int fd)
{
	if (fd > 3)
		(void)syscall(SYS_close_range, 3, (unsigned int)fd - 1, 0);
	(void)syscall(SYS_close_range, (unsigned int)fd + 1, ~0u, 0);
	spawner_set_signals();
	for (;;) {
		pid_t guard = getpid(), pid = fork();

		if (pid == 0)
			spawner_run(command, fd, guard);
		else
			guard_wait(pid, fd);
	}
}

int spawner_start(const struct spawner_command *command)
{
	int fds[2], ret = sock_pair(fds);
	pid_t pid;

	if (ret < 0)
		return ret;
	pid = fork();
	if (pid == 0)
		guard_run(command, fds[1]);
	close(fds[1]);
	ret = pid < 0 || fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : fds[0];
	if (ret < 0)
		close(fds[0]);
	return ret;
}
