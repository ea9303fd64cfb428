/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main.c - ltt-consumerd: moves recorded events from the rings of applications to disk.
 * ltt-sessiond starts it and sends requests of consumer.def over a socketpair. If
 * that daemon dies, it continues to record and waits for the next one. It writes all data and exits
 * on the daemon's request, on SIGTERM, or, without a daemon, when no session records.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limit.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stdfds.h"
#include "base/str.h"
#include "control.h"
#include "io/confine.h"
#include "io/listener.h"
#include "io/lockfile.h"
#include "io/peer.h"
#include "io/sock.h"
#include "proto/consumer.h"

#define CONTROL_FD 3
#define END_TIMEOUT_US 1800000u /* a disk that hangs does not keep us longer */

struct daemon {
	struct loop *loop;
	struct peer peer;
	struct control control;
	struct loop_timer end_timer;
	struct loop_work terminate;
	bool connected;
	bool stuck;
	bool is_user; /* only one user's sessions are written, with that user's rights */
	uint64_t uid, gid;
	const char *socket; /* where the next ltt-sessiond finds us; NULL: nowhere */
	int lock;	    /* one consumer at a time there */
	int listening;	    /* descriptor; -1: none */
	struct listener listener;
};

static const char usage[] =
	"Usage: ltt-consumerd [--fd N] [--listen PATH] [-v] [-V] [-h]\n"
	"\n"
	"Writes what applications record to disk. Started by ltt-sessiond, not by people.\n"
	"\n"
	"  --fd N         descriptor of the connection with ltt-sessiond (default: 3)\n"
	"  --user UID:GID become that user, for good, and write as that user only\n"
	"  --listen PATH  live on without ltt-sessiond, whose successor connects there\n"
	"  -v, --verbose  log more on stderr\n"
	"  -V, --version  print the version and exit\n"
	"  -h, --help     print this and exit\n";

/* @leave: a successor takes over the rings; else no producer records into them. */
static void begin_end(struct daemon *d, bool leave)
{
	if (list_empty(&d->control.all)) {
		loop_stop(d->loop);
		return;
	}
	loop_timer_set(&d->end_timer, END_TIMEOUT_US);
	control_end(&d->control, leave);
}

static void on_stuck(struct loop_timer *timer)
{
	struct daemon *d = container_of(timer, struct daemon, end_timer);

	log_error("the output hangs: the daemon ends without writing the rest of the buffers");
	d->stuck = true;
	loop_stop(d->loop);
}

static void consumerd_on_signal(int signo, void *data)
{
	struct daemon *d = data;

	log_info("ending on %s", strsignal(signo));
	loop_defer(d->loop, &d->terminate);
}

/* After all messages of ltt-sessiond so far: one of them may request the same, for good. */
static void terminate(struct loop_work *work)
{
	struct daemon *d = container_of(work, struct daemon, terminate);

	begin_end(d, d->socket != NULL);
}

/* --- the connection -------------------------------------------------------------- */

static int on_message(struct peer *peer, const struct msg_header *header, struct decoder *dec)
{
	struct daemon *d = container_of(peer, struct daemon, peer);

	control_message(&d->control, header, dec);
	return 0;
}

static void on_closed(struct peer *peer)
{
	struct daemon *d = container_of(peer, struct daemon, peer);

	peer_fini(&d->peer);
	d->connected = false;
	if (!d->socket || list_empty(&d->control.all)) {
		log_info("ltt-sessiond is gone: ending");
		begin_end(d, false);
	} else {
		log_info("ltt-sessiond is gone; its successor finds me at %s", d->socket);
	}
}

static const struct peer_ops peer_ops = { .message = on_message, .closed = on_closed };

static int serve_daemon(struct daemon *d, int fd)
{
	int ret = peer_init(&d->peer, d->loop, fd, &peer_ops);

	d->connected = ret == 0;
	d->control.connection++;
	return ret;
}

/* The newest is right: an older one that is still connected has been killed. */
static void consumerd_on_connect(struct listener *listener, int fd)
{
	struct daemon *d = container_of(listener, struct daemon, listener);
	uid_t uid;
	gid_t gid;
	pid_t pid;

	if (sock_peer(fd, &pid, &uid, &gid) < 0 || (uid != geteuid() && uid != 0)) {
		close(fd);
		return;
	}
	if (d->connected)
		peer_fini(&d->peer);
	if (serve_daemon(d, fd) == 0)
		log_info("ltt-sessiond (pid %d) takes over", (int)pid);
}

#define LOCK_STEP_NS 10000000
#define LOCK_STEPS 30 /* then ltt-sessiond checks again which consumer is there */

/* A consumer before us may still be dying: two must never write. Or it lives: it was started by
 * a daemon that was killed before it could be found. Return: -EWOULDBLOCK: it is still there. */
static int await_lock(const char *path, int *ret_fd)
{
	const struct timespec step = { 0, LOCK_STEP_NS };
	int ret;

	for (int i = 0; i < LOCK_STEPS; i++) {
		ret = lockfile_lock(AT_FDCWD, path, ret_fd);
		if (ret != -EWOULDBLOCK)
			return ret;
		*ret_fd = close_fd(*ret_fd);
		nanosleep(&step, NULL);
	}
	return -EWOULDBLOCK;
}

static int consumerd_acquire_lock(struct daemon *d)
{
	size_t stem = strlen(d->socket) - (strstr(d->socket, ".sock") ? strlen(".sock") : 0);
	AUTO_FREE char *path = xasprintf("%.*s.lock", (int)stem, d->socket);

	return await_lock(path, &d->lock);
}

static int begin_listening(struct daemon *d)
{
	int ret = consumerd_acquire_lock(d);

	if (ret < 0)
		return ret;
	d->listening = sock_listen(d->socket, 0600, (gid_t)-1);
	if (d->listening < 0)
		return d->listening;
	return listener_init(&d->listener, d->loop, d->listening, consumerd_on_connect);
}

static void end_listening(struct daemon *d)
{
	if (!d->socket || d->listening < 0)
		return;
	listener_fini(&d->listener);
	d->listening = close_fd(d->listening);
	unlink(d->socket);
	d->lock = close_fd(d->lock);
}

static void on_send(struct control *control, const struct encoder *enc)
{
	struct daemon *d = container_of(control, struct daemon, control);

	if (d->connected)
		peer_send(&d->peer, enc);
}

static void on_end(struct control *c)
{
	begin_end(container_of(c, struct daemon, control), false);
}

static void on_ended(struct control *control)
{
	struct daemon *d = container_of(control, struct daemon, control);

	loop_stop(d->loop);
}

/* --- life --------------------------------------------------------------------- */

static int consumerd_set_up_signals(struct daemon *d)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a size limit is an error of write(), not our end */
	signal(SIGINT, SIG_IGN);  /* ^C is for ltt-sessiond, which then ends us */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	return loop_signals(d->loop, &set, consumerd_on_signal, d);
}

/* Workers create files as the session's owner, with the owner's groups: SETUID, SETGID.
 * Root's own sessions may write anywhere: DAC_OVERRIDE. */
static void consumerd_drop_rights(void)
{
	const uint64_t caps =
		CONFINE_CAP(CAP_SETUID) | CONFINE_CAP(CAP_SETGID) | CONFINE_CAP(CAP_DAC_OVERRIDE);

	confine(&(struct confine){ CONFINE_CONSUMER, caps, caps });
}

/* Nothing of root's is left to take. Its memory and descriptors stay root's, as the kernel makes a
 * process that changes its user. */
static int consumerd_become_user(const struct daemon *d)
{
	uid_t uid = (uid_t)d->uid;
	gid_t gid = (gid_t)d->gid;

	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
#ifdef __SANITIZE_ADDRESS__
	prctl(PR_SET_DUMPABLE, 1); /* LeakSanitizer inspects its own threads */
#endif
	confine(&(struct confine){ CONFINE_CONSUMER, 0, 0 });
	return 0;
}

static int daemon_init(struct daemon *d, int fd)
{
	static const struct control_ops control_ops = { .send = on_send,
							.end = on_end,
							.ended = on_ended };
	int ret = loop_new(&d->loop);

	if (ret == 0)
		ret = consumerd_set_up_signals(d);
	if (ret == 0)
		ret = control_init(&d->control, d->loop, &control_ops);
	loop_timer_init(&d->end_timer, d->loop, on_stuck);
	loop_work_init(&d->terminate, terminate);
	if (ret == 0)
		ret = serve_daemon(d, fd);
	if (ret == 0 && d->socket)
		ret = begin_listening(d);
	return ret;
}

static int daemon_run(struct daemon *d)
{
	int ret = loop_run(d->loop);

	if (ret < 0)
		log_error("%s", strerror(-ret));
	if (d->stuck) /* a worker hangs in the kernel: nothing can be freed */
		_exit(1);
	peer_fini(&d->peer);
	end_listening(d);
	loop_timer_cancel(&d->end_timer);
	control_fini(&d->control);
	d->loop = loop_free(d->loop);
	return ret < 0;
}

static bool consumerd_parse_user(struct daemon *d, const char *text)
{
	AUTO_FREE char *uid = xstrdup(text);
	char *gid = strchr(uid, ':');

	if (!gid)
		return false;
	*gid++ = '\0';
	d->is_user = parse_u64(uid, &d->uid) == 0 && parse_u64(gid, &d->gid) == 0 && d->uid &&
		     d->uid < UINT32_MAX && d->gid < UINT32_MAX;
	return d->is_user;
}

/* Return: the descriptor, or -1 - exit status where there is nothing to run. */
static int consumerd_parse_args(struct daemon *d, int argc, char **argv)
{
	uint64_t fd = CONTROL_FD;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-V") || !strcmp(argv[i], "--version")) {
			printf("ltt-consumerd %s\n", LTT_VERSION);
			return -1;
		}
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) {
			fputs(usage, stdout);
			return -1;
		}
		if (!strcmp(argv[i], "-v") || !strcmp(argv[i], "--verbose")) {
			log_init("ltt-consumerd", LOG_INFO);
		} else if (!strcmp(argv[i], "--listen") && argv[i + 1]) {
			d->socket = argv[++i];
		} else if (!strcmp(argv[i], "--user") && argv[i + 1] &&
			   consumerd_parse_user(d, argv[i + 1])) {
			i++;
		} else if (strcmp(argv[i], "--fd") || !argv[i + 1] ||
			   parse_u64(argv[++i], &fd) < 0 || fd > INT32_MAX) {
			log_error("bad option '%s'; see --help", argv[i]);
			return -2;
		}
	}
	return (int)fd;
}

int main(int argc, char **argv)
{
	static struct daemon d;
	int fd, ret;

	stdfds_open();
	log_init("ltt-consumerd", LOG_WARN);
	d.listening = d.lock = -1;
	fd = consumerd_parse_args(&d, argc, argv);
	if (fd < 0)
		return -1 - fd;
	(void)limit_raise(RLIMIT_NOFILE); /* each stream has a file and an index open */
	ret = daemon_init(&d, fd);
	if (ret == -EWOULDBLOCK)
		return CON_EXIT_BUSY;
	if (ret < 0) {
		log_error("no connection on descriptor %d (ltt-sessiond starts this program): %s",
			  fd, strerror(-ret));
		return 1;
	}
	if (!d.is_user) {
		consumerd_drop_rights();
		return daemon_run(&d);
	}
	ret = consumerd_become_user(&d);
	if (ret == 0)
		return daemon_run(&d);
	log_error("can't become user %u: %s", (unsigned int)d.uid, strerror(-ret));
	return 1;
}
