/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main.c - ltt-tunnel: lets a viewer that can't speak TLS look on at a relay that wants it. It
 * listens on this machine for the one program that it starts, and passes everything on.
 * `lttctl view --live` starts it; people may.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/tcp.h"
#include "io/tcp_owner.h"
#include "pump.h"

#define HOST_BYTES 256
#define PORT 5344u
#define CONNECT_MS 2000u
#define HANDSHAKE_S 5

extern char **environ;

static const char usage[] =
	"Usage: ltt-tunnel tls://RELAY[:PORT][/PATH] VIEWER [WORD...]\n"
	"\n"
	"Runs a viewer of live sessions with net://127.0.0.1:N/PATH as its last word, and passes\n"
	"on by TLS what it says to the relay. Keys: see ltt-keys(1).\n";

struct place {
	char host[HOST_BYTES], port[8];
	const char *path; /* with its slash; or "" */
};

/* Return: 0 or -EINVAL. */
static int parse(const char *url, struct place *ret)
{
	const char *at = strncmp(url, "tls://", 6) == 0 ? url + 6 : "";
	uint16_t port = PORT;

	at = tcp_take_host(at, ret->host, sizeof(ret->host));
	at = at ? tcp_take_port(at, &port) : NULL;
	if (!at || (*at && *at != '/'))
		return -EINVAL;
	snprintf(ret->port, sizeof(ret->port), "%u", port);
	ret->path = at;
	return 0;
}

/* --- the relay ------------------------------------------------------------------------------ */

static int connect_to(const struct place *place)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	int rc = getaddrinfo(place->host, place->port, &hints, &list), fd = -EADDRNOTAVAIL;

	if (rc) {
		log_error("the host '%s' is not known: %s", place->host, gai_strerror(rc));
		return -EADDRNOTAVAIL;
	}
	for (struct addrinfo *at = list; at && fd < 0; at = at->ai_next) {
		struct tcp_addr addr = { .len = at->ai_addrlen };

		memcpy(&addr.sa, at->ai_addr, at->ai_addrlen);
		fd = tcp_connect(&addr, CONNECT_MS);
	}
	freeaddrinfo(list);
	if (fd < 0)
		log_error("no relay answers at %s:%s: %s", place->host, place->port, strerror(-fd));
	return fd;
}

static int shake_hands(struct chan *relay)
{
	time_t until = time(NULL) + HANDSHAKE_S;
	int ret;

	while ((ret = chan_open(relay)) == -EAGAIN) {
		struct pollfd fd = { relay->fd, chan_wants_write(relay) ? POLLOUT : POLLIN, 0 };

		if (poll(&fd, 1, HANDSHAKE_S * 1000) == 0 || time(NULL) > until)
			return -ETIMEDOUT;
	}
	return ret;
}

static void close_chan(struct chan *chan)
{
	chan_fini(chan);
	chan->fd = close_fd(chan->fd);
}

/* @ret: closed. Return: 0, or negative: it has been said why. */
static int open_relay(const struct place *place, struct tls_keys *keys, struct chan *ret)
{
	int fd = connect_to(place), error;
	struct tls *tls;

	if (fd < 0)
		return fd;
	error = tls_new_client(keys, fd, place->host, &tls);
	if (error < 0) {
		close(fd);
		return error;
	}
	chan_init(ret, fd, tls);
	error = shake_hands(ret);
	if (error < 0) {
		log_error("the relay at %s: %s", place->host,
			  *chan_problem(ret) ? chan_problem(ret) : strerror(-error));
		close_chan(ret);
	}
	return error;
}

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

static int start_viewer(char **words, const char *url, pid_t *ret)
{
	size_t nr = 0;
	char **argv;
	int error;

	while (words[nr])
		nr++;
	argv = xalloc((nr + 2) * sizeof(*argv));
	memcpy(argv, words, nr * sizeof(*argv));
	argv[nr] = (char *)url;
	error = posix_spawnp(ret, argv[0], NULL, NULL, argv, environ);
	if (error)
		log_error("the viewer '%s' can't be run: %s", argv[0], strerror(error));
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
		if (fd >= 0 && tcp_owner(owners, fd, &uid) == 0 && uid == geteuid())
			return fd;
		close_fd(fd);
	}
}

static void ended(int signo)
{
	(void)signo; /* ends ppoll() */
}

/* A viewer may connect more than once, one after the other. */
static int serve(const struct place *place, struct tls_keys *keys, struct chan *relay, char **words)
{
	AUTO_FD int owners = tcp_owner_open();
	char addr[TCP_TEXT_BYTES] = "";
	AUTO_FD int listener = listen_here(addr);
	AUTO_FREE char *url = xasprintf("net://%s%s", addr, place->path);
	sigset_t blocked, waiting;
	int fd, status = 0;
	pid_t pid;

	if (listener < 0 || owners < 0)
		return log_error("can't listen on this machine"), 1;
	signal(SIGCHLD, ended);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	if (start_viewer(words, url, &pid) < 0)
		return 1;
	sigprocmask(SIG_BLOCK, &blocked, &waiting);
	while (waitpid(pid, &status, WNOHANG) == 0 &&
	       (fd = await_viewer(listener, owners, &waiting)) >= 0) {
		struct chan here;

		chan_init(&here, fd, NULL);
		if (relay->fd >= 0 || open_relay(place, keys, relay) == 0)
			pump(relay, &here);
		close_chan(relay);
		close_chan(&here);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	AUTO_FREE char *dir = tls_keys_default_dir();
	struct tls_keys *keys = NULL;
	struct err err = { 0 };
	struct place place;
	struct chan relay;
	int ret;

	log_init("ltt-tunnel", LOG_WARN);
	if (argc == 2 && (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")))
		return printf("ltt-tunnel %s\n", LTT_VERSION) < 0;
	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		return fputs(usage, stdout) < 0;
	if (argc < 3 || parse(argv[1], &place) < 0)
		return fputs(usage, stderr), 2;
	if (!dir)
		return log_error("HOME is not set, where the keys would be"), 1;
	if (tls_keys_load(dir, &keys, &err))
		return log_error("%s", err.text), 1;
	chan_init(&relay, -1, NULL);
	ret = open_relay(&place, keys, &relay) < 0 ? 1 : serve(&place, keys, &relay, argv + 2);
	close_chan(&relay);
	tls_keys_unref(keys);
	return ret;
}
