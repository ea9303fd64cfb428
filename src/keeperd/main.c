/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt-keeperd - stores descriptors for ltt-sessiond, and does nothing else: it neither parses
 * untrusted data nor opens files. If all other daemons are killed, their buffers still exist in it,
 * and the next daemons fetch them. It ends when it stores nothing and no client is connected. One
 * loop, one thread.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/macros.h"
#include "holder.h"
#include "io/confine.h"
#include "io/listener.h"
#include "io/sock.h"

#define LINGER_US 2000000u /* the starting daemon connects sooner */

struct keeper {
	struct loop *loop;
	const char *path;
	int fd; /* that it listens on */
	struct listener listener;
	struct loop_timer linger;
	struct holder holder;
	bool visited;
};

static void linger_or_stay(struct keeper *keeper)
{
	if (holder_is_idle(&keeper->holder))
		loop_timer_set(&keeper->linger, keeper->visited ? 0 : LINGER_US);
	else
		loop_timer_cancel(&keeper->linger);
}

static void keeperd_on_change(struct holder *holder)
{
	linger_or_stay(container_of(holder, struct keeper, holder));
}

static void keeperd_take(struct listener *listener, int fd)
{
	struct keeper *keeper = container_of(listener, struct keeper, listener);

	keeper->visited = true;
	if (holder_serve(&keeper->holder, fd) < 0)
		linger_or_stay(keeper);
}

static void alone(struct loop_timer *timer)
{
	struct keeper *keeper = container_of(timer, struct keeper, linger);

	unlink(keeper->path);
	loop_stop(keeper->loop);
}

/* The keeper must survive the end of a login or terminal. */
static void ignore_signal(int signo, void *data)
{
	(void)signo, (void)data;
}

static int keeperd_start(struct keeper *keeper)
{
	sigset_t set;
	int ret;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGPIPE);
	ret = loop_new(&keeper->loop);
	if (ret == 0)
		ret = loop_signals(keeper->loop, &set, ignore_signal, NULL);
	if (ret < 0)
		return ret;
	holder_init(&keeper->holder, keeper->loop, keeperd_on_change);
	keeper->fd = sock_listen(keeper->path, 0600, (gid_t)-1);
	if (keeper->fd < 0)
		return keeper->fd;
	loop_timer_init(&keeper->linger, keeper->loop, alone);
	linger_or_stay(keeper);
	return listener_init(&keeper->listener, keeper->loop, keeper->fd, keeperd_take);
}

static const char usage[] =
	"Usage: ltt-keeperd [-V] [-h] SOCKET\n"
	"\n"
	"Stores the buffers of ltt-sessiond while that is restarted. Started by it, not by people.\n"
	"\n"
	"  SOCKET         path to listen at\n"
	"  -V, --version  print the version and exit\n"
	"  -h, --help     print this and exit\n";

/* Return: -1: serve; else the exit status. */
static int keeperd_parse_args(int argc, char **argv)
{
	const char *word = argc == 2 ? argv[1] : "";

	if (!strcmp(word, "-V") || !strcmp(word, "--version"))
		return printf("ltt-keeperd %s\n", LTT_VERSION) < 0;
	if (!strcmp(word, "-h") || !strcmp(word, "--help"))
		return fputs(usage, stdout) < 0;
	if (*word && *word != '-')
		return -1;
	if (*word)
		log_error("bad option '%s'; see --help", word);
	else
		log_error("the path of one socket is expected; see --help");
	return 2;
}

int main(int argc, char **argv)
{
	struct keeper keeper = { .path = argv[1], .fd = -1 };
	int ret;

	log_init("ltt-keeperd", LOG_WARN);
	ret = keeperd_parse_args(argc, argv);
	if (ret >= 0)
		return ret;
	setsid();
	ret = keeperd_start(&keeper);
	if (ret == 0) {
		confine(&(struct confine){ CONFINE_KEEPER, 0, 0 });
		ret = loop_run(keeper.loop);
	} else if (ret == -EADDRINUSE)
		ret = 0; /* another one serves already */
	if (ret < 0)
		log_error("can't serve %s: %s", keeper.path, strerror(-ret));
	close_fd(keeper.fd);
	keeper.loop = loop_free(keeper.loop);
	return ret < 0;
}
