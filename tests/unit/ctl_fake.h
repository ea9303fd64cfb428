/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ctl_fake.h - a session daemon for tests of lttctl: threads of the test that
 * speak client.def over the real socket and answer as ctl_model.h says, and a way to
 * run lttctl and to look at what it says.
 */
#ifndef TESTS_CTL_FAKE_H
#define TESTS_CTL_FAKE_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/sock.h"

#include "ctl_model.h"

extern char **environ;

/* Return: is the connection to be kept? */
static bool fake_serve(struct fake_answer *a, struct decoder *dec)
{
	static const char noise[] = "\xff\xff\xff noise";

	if (fake.mute)
		return true;
	if (fake.nonsense) {
		send(a->fd, noise, a->asked.type == MSG_hello ? 3 : sizeof(noise), MSG_NOSIGNAL);
		return false;
	}
	if (fake.hang_up && a->asked.type != MSG_hello)
		return false;
	if (fake.slow && a->asked.type == MSG_session_stop)
		sleep(7);
	pthread_mutex_lock(&fake.lock);
	fake_command(a, dec);
	pthread_mutex_unlock(&fake.lock);
	return true;
}

static void *fake_connection(void *arg)
{
	struct fake_answer *a = xalloc(sizeof(*a));
	uint8_t *in = xalloc(MSG_MAX_BYTES);
	bool keep = true;

	a->fd = (int)(intptr_t)arg;
	while (keep) {
		int fds[MSG_MAX_FDS];
		unsigned int nr_fds;
		struct decoder dec;
		ssize_t len = sock_recv(a->fd, in, MSG_MAX_BYTES, fds, &nr_fds);

		if (len <= 0)
			break;
		decoder_init(&dec, in, (size_t)len, fds, nr_fds);
		CHECK(decode_header(&dec, &a->asked) == 0);
		keep = fake_serve(a, &dec);
	}
	close(a->fd);
	free(in);
	free(a);
	return NULL;
}

static void *fake_accept(void *arg)
{
	struct pollfd pfd = { .fd = fake.listener, .events = POLLIN };

	(void)arg;
	for (;;) {
		pthread_t thread;
		int fd;

		poll(&pfd, 1, -1);
		fd = accept4(fake.listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		CHECK(pthread_create(&thread, NULL, fake_connection, (void *)(intptr_t)fd) == 0);
		pthread_detach(thread);
	}
	return NULL;
}

/** Serve $LTT_RUNDIR/client.sock until the test ends. */
static void fake_daemon(void)
{
	char *path AUTO_FREE = xasprintf("%s/client.sock", getenv("LTT_RUNDIR"));
	pthread_t thread;

	fake.listener = sock_listen(path, 0600, (gid_t)-1);
	CHECK(fake.listener >= 0);
	fake.uid = getuid();
	fake.serving = true;
	pthread_mutex_lock(&fake.lock);
	CHECK(pthread_create(&thread, NULL, fake_accept, NULL) == 0);
	pthread_detach(thread);
}

/* ---- running lttctl ---- */

static struct {
	int status;
	char out[20000];
	char err[20000];
} said;

static void read_back(FILE *file, char *buf, size_t cap)
{
	size_t len;

	rewind(file);
	len = fread(buf, 1, cap - 1, file);
	buf[len] = '\0';
	fclose(file);
}

/** Run a shell command line in which lttctl is the one of this build. */
static int sh(const char *line)
{
	char *command AUTO_FREE = xasprintf("PATH=\"$BUILD/bin:$PATH\"; %s", line);
	char *argv[] = { "sh", "-c", command, NULL };
	FILE *out = tmpfile(), *err = tmpfile();
	posix_spawn_file_actions_t files;
	int status = 0;
	pid_t pid;

	CHECK(out && err);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fileno(out), 1);
	posix_spawn_file_actions_adddup2(&files, fileno(err), 2);
	CHECK(posix_spawn(&pid, "/bin/sh", &files, NULL, argv, environ) == 0);
	posix_spawn_file_actions_destroy(&files);
	if (fake.serving)
		pthread_mutex_unlock(&fake.lock);
	while (waitpid(pid, &status, 0) < 0)
		CHECK(errno == EINTR);
	if (fake.serving)
		pthread_mutex_lock(&fake.lock);
	read_back(out, said.out, sizeof(said.out));
	read_back(err, said.err, sizeof(said.err));
	said.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	return said.status;
}

static inline void tell(const char *line)
{
	fprintf(stderr, "%s\n-> %d\nout: %s\nerr: %s\nasked:\n%s\n", line, said.status, said.out,
		said.err, fake.asked);
}

/** Run it and compare: status, all of stdout, a part of stderr (NULL: nothing may be there). */
#define EXPECT(line, want_status, want_out, want_err)                                        \
	do {                                                                                 \
		const char *want_err_ = (want_err);                                          \
		bool good_ = sh(line) == (want_status) && strcmp(said.out, want_out) == 0 && \
			     (want_err_ ? strstr(said.err, want_err_) != NULL : !*said.err); \
                                                                                             \
		if (!good_)                                                                  \
			tell(line);                                                          \
		CHECK(good_);                                                                \
	} while (0)

#define EXPECT_PART(line, want_status, part)                                      \
	do {                                                                      \
		bool good_ = sh(line) == (want_status) && strstr(said.out, part); \
                                                                                  \
		if (!good_)                                                       \
			tell(line);                                               \
		CHECK(good_);                                                     \
	} while (0)

/** Check the daemon's requests since the last time. */
#define ASKED(text)                                   \
	do {                                          \
		if (strcmp(fake.asked, text) != 0)    \
			tell("asked");                \
		CHECK(strcmp(fake.asked, text) == 0); \
		fake.asked[0] = '\0';                 \
	} while (0)

#endif
