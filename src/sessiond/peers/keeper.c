/* SPDX-License-Identifier: GPL-2.0-only */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/sock.h"
#include "proto/keeper.h"

#define NAME_BYTES 65
#define ANSWER_MS 250 /* then it may have been stopped, and is sent SIGCONT */
#define ANSWER_TRIES 6
#define START_TRIES 500 /* of 2 ms */

struct answer {
	uint8_t buf[1024];
	int fds[MSG_MAX_FDS];
	unsigned int nr_fds;
	struct decoder dec;
	struct msg_header header;
};

static void keeper_make_name(char name[NAME_BYTES], const char *kind, uint64_t id)
{
	snprintf(name, NAME_BYTES, "%s-%llu", kind, (unsigned long long)id);
}

/* --- the connection ------------------------------------------------------------- */

static void hang_up(struct keeper *k)
{
	loop_fd_fini(&k->source);
	k->fd = close_fd(k->fd);
}

static bool keeper_restart(struct keeper *k);

static pid_t pid_of(const struct keeper *k)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	return getsockopt(k->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 ? peer.pid : 0;
}

/* It was killed; only its descriptors are lost, and are stored again. */
static void keeper_on_close(struct loop_fd *source, uint32_t events)
{
	struct keeper *k = container_of(source, struct keeper, source);

	(void)events;
	log_warn("ltt-keeperd has ended; starting another one");
	hang_up(k);
	if (keeper_restart(k))
		k->refill(k);
}

static bool keeper_attach(struct keeper *k)
{
	const struct timeval timeout = { 0, ANSWER_MS * 1000 };
	int fd = sock_connect(k->path);

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (loop_fd_init(&k->source, k->loop, fd, EPOLLRDHUP, keeper_on_close) < 0) {
		close(fd);
		return false;
	}
	k->fd = fd;
	k->mute = false;
	return true;
}

static void keeper_on_exit(struct loop_child *child, int status)
{
	(void)status;
	loop_child_fini(child);
	container_of(child, struct keeper, child)->running = false;
}

static int keeper_spawn(struct keeper *k)
{
	char *argv[] = { "ltt-keeperd", k->path, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;
	int err;

	if (k->running) { /* it has hung up: it is dying, or of no use */
		kill(k->child.pid, SIGKILL);
		waitpid(k->child.pid, NULL, 0);
		loop_child_fini(&k->child);
	}
	k->running = false;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_addopen(&files, i, "/dev/null", O_RDWR, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setpgroup(&attr, 0);
	err = posix_spawn(&pid, k->program, &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (err)
		return -err;
	k->running = loop_child_init(&k->child, k->loop, pid, keeper_on_exit) == 0;
	return 0;
}

static bool keeper_restart(struct keeper *k)
{
	int ret;

	if (!k->program)
		return false;
	ret = keeper_spawn(k);
	for (int i = 0; ret == 0 && i < START_TRIES; i++) {
		if (keeper_attach(k))
			return true;
		poll(NULL, 0, 2);
	}
	log_warn("can't start %s: %s; buffers will not survive this daemon and its consumer",
		 k->program, ret < 0 ? strerror(-ret) : "it does not answer");
	free(TAKE(k->program)); /* reported once */
	return false;
}

/* --- requests --------------------------------------------------------------------- */

static void answer_fini(struct answer *a)
{
	for (unsigned int i = 0; i < a->nr_fds; i++)
		a->fds[i] = close_fd(a->fds[i]);
}

/* By a signal, and not by a debugger, which another signal would confuse. */
static bool keeper_is_stopped(pid_t pid)
{
	AUTO_FREE char *path = xasprintf("/proc/%d/stat", (int)pid);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *name_end;

	text[MAX(n, 0)] = '\0';
	name_end = strrchr(text, ')');
	return name_end && strncmp(name_end, ") T", 3) == 0;
}

/* It only stores descriptors: there is no reason to keep it stopped, and they are lost if
 * another keeper replaces it. */
static ssize_t wait_message(struct keeper *k, struct answer *a)
{
	ssize_t n = -EAGAIN;

	for (int i = 0; n == -EAGAIN && i < ANSWER_TRIES; i++) {
		n = sock_recv(k->fd, a->buf, sizeof(a->buf), a->fds, &a->nr_fds);
		if (n == -EAGAIN && keeper_is_stopped(pid_of(k)))
			kill(pid_of(k), SIGCONT);
	}
	return n;
}

/* A late reply, after the wait for it has ended, is not mistaken for the reply to a later request.
 * Descriptors that come along are closed by answer_fini(). */
static int keeper_receive(struct keeper *k, struct answer *a)
{
	int ret;

	do {
		ssize_t n;

		answer_fini(a);
		a->nr_fds = 0;
		n = wait_message(k, a);
		if (n <= 0)
			return n < 0 ? (int)n : -ECONNRESET;
		decoder_init(&a->dec, a->buf, (size_t)n, a->fds, a->nr_fds);
		ret = decode_header(&a->dec, &a->header);
	} while (ret == 0 && a->header.serial != k->serial);
	return ret;
}

static int submit(struct keeper *k, const struct encoder *enc)
{
	int ret = encoder_finish(enc);

	return ret < 0 ? ret : sock_send(k->fd, enc->buf, enc->len, enc->fds, enc->nr_fds);
}

/* A keeper that does not answer is sent no further requests: its descriptors stay there for the
 * next daemon. */
static void keeper_abandon(struct keeper *k)
{
	log_warn("ltt-keeperd (pid %d) does not answer: buffers will not survive this daemon and "
		 "its consumer; kill it, and another one is started",
		 (int)pid_of(k));
	k->mute = true;
}

/* Return: 0, 1: it refuses; or negative errno: the connection is over. */
static int keeper_request(struct keeper *k, const struct encoder *enc, struct answer *a)
{
	const char *text;
	int ret = k->mute ? -EAGAIN : submit(k, enc);

	a->nr_fds = 0;
	if (ret == 0)
		ret = keeper_receive(k, a);
	if (ret == 0)
		return decode_outcome(&a->dec, &text) ? 1 : 0;
	answer_fini(a);
	if (ret == -EAGAIN && !k->mute)
		keeper_abandon(k);
	return ret;
}

static void keeper_begin(struct keeper *k, struct encoder *enc, void *buf, size_t len,
			 uint16_t type)
{
	encoder_init(enc, buf, len);
	encode_header(enc, type, 0, ++k->serial);
}

static void keeper_send(struct keeper *k, const char *name, const int fds[KEEPER_FDS])
{
	struct req_keep_put req = { name, fds[0], fds[1], fds[2] };
	struct answer a;
	struct encoder enc;
	uint8_t buf[256];
	int ret;

	if (k->fd < 0 && !keeper_restart(k))
		return;
	keeper_begin(k, &enc, buf, sizeof(buf), MSG_keep_put);
	req_keep_put_encode(&enc, &req);
	ret = keeper_request(k, &enc, &a);
	if (ret && !k->mute)
		log_warn("ltt-keeperd does not store %s: %s", name,
			 ret < 0 ? strerror(-ret) : "refused");
	if (ret >= 0)
		answer_fini(&a);
}

void keeper_put(struct keeper *k, const char *kind, uint64_t id, const int fds[KEEPER_FDS])
{
	char name[NAME_BYTES];

	keeper_make_name(name, kind, id);
	if (k->store) {
		fdstore_forget(k->store, name);
		fdstore_keep(k->store, name, fds);
	}
	keeper_send(k, name, fds);
}

void keeper_drop(struct keeper *k, const char *kind, uint64_t id)
{
	struct req_keep_drop req;
	char name[NAME_BYTES];
	struct answer a;
	struct encoder enc;
	uint8_t buf[256];

	keeper_make_name(name, kind, id);
	if (k->store)
		fdstore_forget(k->store, name);
	if (k->fd < 0)
		return;
	req.name = name;
	keeper_begin(k, &enc, buf, sizeof(buf), MSG_keep_drop);
	req_keep_drop_encode(&enc, &req);
	if (keeper_request(k, &enc, &a) >= 0)
		answer_fini(&a);
}

static int keeper_fetch(struct keeper *k, const char *name, int ret_fds[KEEPER_FDS])
{
	struct rep_keep_get rep = { -1, -1, -1 };
	struct req_keep_get req = { name };
	struct answer a;
	struct encoder enc;
	uint8_t buf[256];
	int ret;

	keeper_begin(k, &enc, buf, sizeof(buf), MSG_keep_get);
	req_keep_get_encode(&enc, &req);
	ret = keeper_request(k, &enc, &a);
	if (ret < 0)
		return ret;
	if (ret == 0 && rep_keep_get_decode(&a.dec, &rep) < 0)
		ret = -EBADMSG;
	if (ret == 0) {
		ret_fds[0] = rep.first;
		ret_fds[1] = rep.second;
		ret_fds[2] = rep.third;
	}
	answer_fini(&a); /* the rest, which was not stored */
	return ret == 0 ? 0 : -ENOENT;
}

int keeper_get(struct keeper *k, uid_t uid, const char *kind, uint64_t id, int ret_fds[KEEPER_FDS])
{
	char name[NAME_BYTES];

	keeper_make_name(name, kind, id);
	if (k->fd >= 0 && keeper_fetch(k, name, ret_fds) == 0)
		return 0;
	if (k->store && inherit_take(&k->store->left, name, INHERIT_TRUSTED, ret_fds)) {
		keeper_send(k, name, ret_fds);
		return 0;
	}
	if (k->rundir) {
		inherit_from_consumers(&k->inherit, k->rundir);
		free(TAKE(k->rundir));
	}
	if (!inherit_take(&k->inherit, name, uid, ret_fds))
		return -ENOENT;
	keeper_put(k, kind, id, ret_fds);
	return 0;
}

struct kept {
	struct list_node node;
	char kind[NAME_BYTES];
	uint64_t id;
};

static bool parse_name(const char *name, char kind[NAME_BYTES], uint64_t *ret_id)
{
	unsigned long long id = 0;
	bool good = sscanf(name, "%32[a-z]-%llu", kind, &id) == 2;

	*ret_id = id;
	return good;
}

static void note_kept(struct list_node *names, struct answer *a)
{
	struct kept *kept = xalloc(sizeof(*kept));
	struct msg_kept msg;

	if (msg_kept_decode(&a->dec, &msg) < 0 || !parse_name(msg.name, kept->kind, &kept->id)) {
		free(kept);
		return;
	}
	list_append(names, &kept->node);
}

/* Descriptors from the service manager that were not used: the keeper had them, or they are
 * useless. */
static void sweep_left(struct keeper *k,
		       bool (*wanted)(struct keeper *keeper, const char *kind, uint64_t id))
{
	int fds[KEEPER_FDS];
	char *name;

	while (k->store && (name = inherit_any(&k->store->left))) {
		char kind[NAME_BYTES];
		uint64_t id;

		if (!parse_name(name, kind, &id) || !wanted(k, kind, id))
			fdstore_forget(k->store, name);
		if (inherit_take(&k->store->left, name, INHERIT_TRUSTED, fds))
			for (size_t i = 0; i < KEEPER_FDS; i++)
				close_fd(fds[i]);
		free(name);
	}
}

void keeper_sweep(struct keeper *k,
		  bool (*wanted)(struct keeper *keeper, const char *kind, uint64_t id))
{
	struct list_node names;
	struct kept *kept, *next;
	struct answer a = { 0 };
	struct encoder enc;
	uint8_t buf[64];
	int ret;

	inherit_fini(&k->inherit);
	sweep_left(k, wanted);
	if (k->fd < 0 || k->mute)
		return;
	list_init(&names);
	keeper_begin(k, &enc, buf, sizeof(buf), MSG_keep_list);
	ret = submit(k, &enc);
	while (ret == 0 && keeper_receive(k, &a) == 0 && (a.header.flags & MSG_ITEM))
		note_kept(&names, &a);
	answer_fini(&a);
	list_for_each_safe(kept, next, &names, node) {
		if (!wanted(k, kept->kind, kept->id))
			keeper_drop(k, kept->kind, kept->id);
		list_remove(&kept->node);
		free(kept);
	}
}

/* --- life ------------------------------------------------------------------------- */

void keeper_init(struct keeper *k, struct loop *loop, const char *path, const char *program,
		 const char *rundir, void (*refill)(struct keeper *))
{
	*k = (struct keeper){ .loop = loop, .fd = -1, .refill = refill };
	k->source.fd = -1;
	k->path = xstrdup(path);
	k->program = program ? xstrdup(program) : NULL;
	k->rundir = xstrdup(rundir);
	inherit_init(&k->inherit);
	keeper_attach(k);
}

void keeper_fini(struct keeper *k)
{
	if (!k->path)
		return;
	hang_up(k);
	if (k->running)
		loop_child_fini(&k->child);
	inherit_fini(&k->inherit);
	free(k->rundir);
	free(k->path);
	free(k->program);
	*k = (struct keeper){ .fd = -1 };
}
