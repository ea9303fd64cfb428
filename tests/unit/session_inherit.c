/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptors that a user's consumer offers to a new daemon are for sessions of that user only,
 * whatever it calls them. It can neither keep the daemon waiting nor take all its descriptors.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "check.h"
#include "io/sock.h"
#include "proto/consumer.h"
#include "sessiond/service/inherit.h"

#define A 1000u
#define B 1001u
#define FD_LIMIT 256u

static int new_file(ino_t *ret)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct stat st;

	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	*ret = st.st_ino;
	return fd;
}

/* Return: inode of its first descriptor; 0: it has none for this user. */
static ino_t take(struct inherit *in, const char *name, uid_t uid)
{
	int fds[INHERIT_FDS];
	struct stat st;

	if (!inherit_take(in, name, uid, fds))
		return 0;
	CHECK(fstat(fds[0], &st) == 0);
	for (int i = 0; i < INHERIT_FDS; i++)
		close_fd(fds[i]);
	return st.st_ino;
}

static void offers(void)
{
	ino_t of_b, trusted, ino;
	int fds[INHERIT_FDS];
	struct inherit in;

	inherit_init(&in);
	inherit_add(&in, "ring-1", B, 0, new_file(&of_b));
	CHECK_IS(take(&in, "ring-1", A), ==, 0);
	CHECK_IS(take(&in, "ring-1", INHERIT_TRUSTED), ==, 0);
	CHECK_IS(take(&in, "ring-1", B), ==, of_b);
	CHECK_IS(take(&in, "ring-1", B), ==, 0);

	/* one that came first does not replace that of the daemon's own, nor add to it */
	inherit_add(&in, "ring-2", B, 0, new_file(&of_b));
	inherit_add(&in, "ring-2", INHERIT_TRUSTED, 0, new_file(&trusted));
	inherit_add(&in, "ring-2", B, 1, new_file(&ino));
	CHECK(inherit_take(&in, "ring-2", A, fds));
	CHECK(fds[1] < 0 && fds[2] < 0);
	close(fds[0]);
	CHECK_IS(take(&in, "ring-2", A), ==, 0);
	inherit_add(&in, "ring-2", INHERIT_TRUSTED, 0, new_file(&trusted));
	CHECK_IS(take(&in, "ring-2", B), ==, trusted);
	CHECK_IS(take(&in, "ring-2", B), ==, of_b);
	inherit_fini(&in);
}

/* --- consumers ---------------------------------------------------------------------- */

static bool offer(int fd, const char *name, int file)
{
	const struct msg_held held = { name, file, -1, -1 };
	struct encoder enc;
	uint8_t buf[128];

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_held, MSG_ITEM, 1);
	msg_held_encode(&enc, &held);
	return sock_send(fd, enc.buf, enc.len, enc.fds, enc.nr_fds) == 0;
}

static void that_was_all(int fd)
{
	struct encoder enc;
	uint8_t buf[64];

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_con_held, MSG_REPLY, 1);
	encode_outcome(&enc, 0, "");
	CHECK_IS(sock_send(fd, enc.buf, enc.len, NULL, 0), ==, 0);
}

static void honest(int fd, int file)
{
	CHECK(offer(fd, "ring-1", file) && offer(fd, "ring-2", file));
	that_was_all(fd);
}

static void offers_all(int fd, int file)
{
	char name[32];

	for (int i = 0; i < (int)FD_LIMIT; i++) {
		snprintf(name, sizeof(name), "ring-%d", i);
		if (!offer(fd, name, file))
			return;
	}
	that_was_all(fd);
}

static void endless(int fd, int file)
{
	(void)file;
	while (offer(fd, "ring-1", -1))
		;
}

/* A consumer in a process of its own. */
static pid_t consumer(const char *path, void (*answer)(int fd, int file), int file)
{
	int listening = sock_listen(path, 0600, (gid_t)-1), fd;
	struct pollfd client = { .fd = listening, .events = POLLIN };
	char request[64];
	pid_t pid;

	CHECK_IS(listening, >=, 0);
	pid = fork();
	CHECK_IS(pid, >=, 0);
	if (pid) {
		close(listening);
		return pid;
	}
	CHECK_IS(poll(&client, 1, -1), ==, 1);
	fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	CHECK(fd >= 0 && recv(fd, request, sizeof(request), 0) > 0);
	answer(fd, file);
	_exit(0);
}

static void end(pid_t pid, const char *path)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	unlink(path);
}

static void fetch(struct inherit *in, void (*answer_of_b)(int fd, int file), ino_t *ret_own,
		  ino_t *ret_b)
{
	int own_file = new_file(ret_own), file = new_file(ret_b);
	pid_t own = consumer("run/consumer.sock", honest, own_file);
	pid_t of_b = consumer("run/consumer-1001.sock", answer_of_b, file);

	close(own_file);
	close(file);
	inherit_init(in);
	inherit_from_consumers(in, "run");
	end(own, "run/consumer.sock");
	end(of_b, "run/consumer-1001.sock");
}

static void by_socket(void)
{
	struct inherit in;
	ino_t own, of_b;

	fetch(&in, honest, &own, &of_b);
	CHECK_IS(take(&in, "ring-1", A), ==, own);
	CHECK_IS(take(&in, "ring-1", A), ==, 0);
	CHECK_IS(take(&in, "ring-1", B), ==, of_b);
	inherit_fini(&in);
}

static void honest_kernel(int fd, int file)
{
	CHECK(offer(fd, "output-1", file) && offer(fd, "ring-7", file));
	that_was_all(fd);
}

/* The kernel's consumer has another doorbell of a session than the session's applications. */
static void of_kernel(void)
{
	struct inherit in;
	ino_t kernel;
	int file = new_file(&kernel);
	pid_t pid = consumer("run/consumer-kernel.sock", honest_kernel, file);

	close(file);
	inherit_init(&in);
	inherit_from_consumers(&in, "run");
	end(pid, "run/consumer-kernel.sock");
	CHECK_IS(take(&in, "ring-7", A), ==, kernel);
	CHECK_IS(take(&in, "output-1", A), ==, 0);
	inherit_fini(&in);
}

static unsigned int nr_open(void)
{
	unsigned int nr = 0;

	for (int fd = 0; fd < (int)FD_LIMIT; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void too_many(void)
{
	unsigned int before = nr_open();
	struct inherit in;
	ino_t own, of_b;

	fetch(&in, offers_all, &own, &of_b);
	CHECK_IS(nr_open() - before, ==, FD_LIMIT / 2 + 2); /* those of the own one, too */
	CHECK_IS(take(&in, "ring-2", A), ==, own);
	CHECK_IS(take(&in, "ring-2", B), ==, of_b);
	inherit_fini(&in);
	CHECK_IS(nr_open(), ==, before);
}

/* It ends. */
static void without_end(void)
{
	struct inherit in;
	ino_t own, of_b;

	fetch(&in, endless, &own, &of_b);
	CHECK_IS(take(&in, "ring-1", A), ==, own);
	inherit_fini(&in);
}

int main(void)
{
	const struct rlimit limit = { FD_LIMIT, FD_LIMIT };
	char dir[] = "/tmp/ltt-inherit-XXXXXX";

	signal(SIGPIPE, SIG_IGN);
	log_init("test", LOG_QUIET);
	CHECK(mkdtemp(dir) && chdir(dir) == 0 && mkdir("run", 0700) == 0);
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
	offers();
	by_socket();
	of_kernel();
	too_many();
	without_end();
	CHECK(rmdir("run") == 0 && chdir("/") == 0 && rmdir(dir) == 0);
	return 0;
}
