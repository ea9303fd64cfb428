/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main.c - ltt-tunnel: lets a viewer that can't speak TLS, and ends when its relay is restarted,
 * follow live sessions of a relay that wants the one or does the other. It listens on this machine
 * for the program that it starts. `lttctl view --live` starts it; users may.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/stdfds.h"
#include "io/tcp.h"
#include "io/tcp_owner.h"
#include "follow.h"

#define PAUSE_MS 100

extern char **environ;

static const char usage[] =
	"Usage: ltt-tunnel tls://RELAY[:PORT][/PATH] VIEWER [WORD...]\n"
	"       ltt-tunnel net://RELAY[:PORT][/PATH] VIEWER [WORD...]\n"
	"\n"
	"Runs a viewer of live sessions with net://127.0.0.1:N/PATH as its last word, and asks the\n"
	"relay for it, with tls:// by TLS. A relay that goes away is waited for, and the view goes\n"
	"on where it was. Keys: see ltt-keys(1).\n";

/* --- the viewer ------------------------------------------------------------------------------ */

static int listen_here(char ret[TCP_TEXT_BYTES])
{
	struct tcp_addr addr;
	int fd;

	if (tcp_parse("127.0.0.1:0", &addr) < 0)
		return -EINVAL;
	fd = tcp_listen(&addr);
	if (fd >= 0 && getsockname(fd, (struct sockaddr *)&addr.sa, &addr.len) == 0)
		tcp_text(&addr, ret);
	return fd;
}

static volatile pid_t viewer;

static void pass_on(int signo)
{
	if (viewer > 0)
		kill(viewer, signo);
}

static void ended(int signo)
{
	(void)signo; /* ends ppoll() */
}

/* The viewer has the signals as they were found. Ctrl-C reaches it without our help: it prints the
 * events that it has, and we end when it does. */
static void set_signals(posix_spawnattr_t *attr)
{
	static const int typed[] = { SIGINT, SIGQUIT }, passed[] = { SIGTERM, SIGHUP };
	sigset_t defaults;

	sigemptyset(&defaults);
	for (size_t i = 0; i < ARRAY_SIZE(typed); i++)
		if (signal(typed[i], SIG_IGN) == SIG_DFL)
			sigaddset(&defaults, typed[i]);
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
		if (signal(passed[i], pass_on) == SIG_IGN)
			signal(passed[i], SIG_IGN);
	signal(SIGCHLD, ended);
	posix_spawnattr_setsigdefault(attr, &defaults);
	posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGDEF);
}

static int start_viewer(char **words, const char *url)
{
	posix_spawnattr_t attr;
	size_t nr = 0;
	char **argv;
	pid_t pid;
	int error;

	while (words[nr])
		nr++;
	argv = xalloc((nr + 2) * sizeof(*argv));
	memcpy(argv, words, nr * sizeof(*argv));
	argv[nr] = (char *)url;
	posix_spawnattr_init(&attr);
	set_signals(&attr);
	error = posix_spawnp(&pid, argv[0], NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	if (error)
		log_error("the viewer '%s' can't be run: %s", argv[0], strerror(error));
	else
		viewer = pid;
	free(argv);
	return -error;
}

/* Others on this machine could connect, too: only our own user looks on with our keys.
 * Return: descriptor; -1: the viewer has ended. */
static int await_viewer(int listener, int owners, const sigset_t *waiting)
{
	for (;;) {
		struct pollfd poll_fd = { .fd = listener, .events = POLLIN };
		uid_t uid;
		int fd;

		if (ppoll(&poll_fd, 1, NULL, waiting) < 0)
			return -1;
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			poll(NULL, 0, PAUSE_MS); /* the connection keeps it readable */
		if (fd >= 0 && tcp_owner(owners, fd, &uid) == 0 && uid == geteuid())
			return fd;
		close_fd(fd);
	}
}

/* A viewer may connect more than once, one after the other. Return: 0; -1: one saw less than it
 * should have, and the log has the reason. */
static int tunnel_serve(struct link *link, int listener, int owners, const sigset_t *waiting,
			int *status)
{
	int fd, ret = 0;

	while (waitpid(viewer, status, WNOHANG) == 0 &&
	       (fd = await_viewer(listener, owners, waiting)) >= 0) {
		if (follow_serve(link, fd) < 0)
			ret = -1;
		close(fd);
	}
	while (waitpid(viewer, status, 0) < 0 && errno == EINTR)
		;
	return ret;
}

static int tunnel_run(struct link *link, char **words)
{
	AUTO_FD int owners = tcp_owner_open();
	char addr[TCP_TEXT_BYTES] = "";
	AUTO_FD int listener = listen_here(addr);
	AUTO_FREE char *url = xasprintf("net://%s%s", addr, link->place->path);
	sigset_t blocked, waiting;
	int status = 0, ret;

	if (listener < 0 || owners < 0)
		return log_error("can't listen on this machine"), 1;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	if (start_viewer(words, url) < 0)
		return 1;
	sigprocmask(SIG_BLOCK, &blocked, &waiting);
	ret = tunnel_serve(link, listener, owners, &waiting, &status);
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return ret < 0 && !WEXITSTATUS(status) ? 1 : WEXITSTATUS(status);
}

static int load_keys(struct tls_keys **ret)
{
	AUTO_FREE char *dir = tls_keys_default_dir();
	struct err err = { 0 };

	if (!dir)
		return log_error("HOME is not set: it contains the keys"), 1;
	if (tls_keys_load(dir, ret, &err))
		return log_error("%s", err.text), 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct tls_keys *keys = NULL;
	struct err err = { 0 };
	struct place place;
	struct link link;
	int ret = 1;

	stdfds_open();
	log_init("ltt-tunnel", LOG_WARN);
	if (argc == 2 && (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")))
		return printf("ltt-tunnel %s\n", LTT_VERSION) < 0;
	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		return fputs(usage, stdout) < 0;
	if (argc < 3 || place_parse(argv[1], &place) < 0)
		return fputs(usage, stderr), 2;
	if (place.is_tls && load_keys(&keys))
		return 1;
	link_init(&link, &place, keys);
	if (link_open(&link, &err))
		log_error("%s", err.text);
	else
		ret = tunnel_run(&link, argv + 2);
	link_close(&link);
	tls_keys_unref(keys);
	return ret;
}
