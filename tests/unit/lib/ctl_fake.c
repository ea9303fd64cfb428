/* SPDX-License-Identifier: GPL-2.0-only */
#include "ctl_fake.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "io/sock.h"

struct ctl_output ctl_output;

/* Interrupt the process at the other end, and let it wait for more than its second of grace. */
static void ctl_fake_interrupt(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	CHECK_IS(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len), ==, 0);
	CHECK_IS(kill(peer.pid, SIGINT), ==, 0);
	sleep(3);
}

/* Return: is the connection to be kept? */
static bool ctl_fake_serve(struct ctl_answer *a, struct decoder *dec)
{
	static const char noise[] = "\xff\xff\xff noise";

	if (ctl_model.mute)
		return true;
	if (ctl_model.nonsense) {
		send(a->fd, noise, a->request.type == MSG_hello ? 3 : sizeof(noise), MSG_NOSIGNAL);
		return false;
	}
	if (ctl_model.hang_up && a->request.type != MSG_hello)
		return false;
	if (ctl_model.slow && a->request.type == MSG_session_stop)
		sleep(7);
	if (ctl_model.interrupt && a->request.type == MSG_session_start) {
		ctl_fake_interrupt(a->fd);
		return false;
	}
	pthread_mutex_lock(&ctl_model.lock);
	ctl_model_command(a, dec);
	pthread_mutex_unlock(&ctl_model.lock);
	return true;
}

static void *ctl_fake_connection(void *arg)
{
	struct ctl_answer *a = xalloc(sizeof(*a));
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
		CHECK_IS(decode_header(&dec, &a->request), ==, 0);
		keep = ctl_fake_serve(a, &dec);
	}
	close(a->fd);
	free(in);
	free(a);
	return NULL;
}

static void *ctl_fake_accept(void *arg)
{
	struct pollfd pfd = { .fd = ctl_model.listener, .events = POLLIN };

	(void)arg;
	for (;;) {
		pthread_t thread;
		int fd;

		poll(&pfd, 1, -1);
		fd = accept4(ctl_model.listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		CHECK_IS(pthread_create(&thread, NULL, ctl_fake_connection, (void *)(intptr_t)fd),
			 ==, 0);
		pthread_detach(thread);
	}
	return NULL;
}

void ctl_fake_start(void)
{
	char *path AUTO_FREE = xasprintf("%s/client.sock", getenv("LTT_RUNDIR"));
	pthread_t thread;

	ctl_model.listener = sock_listen(path, 0600, (gid_t)-1);
	CHECK_IS(ctl_model.listener, >=, 0);
	ctl_model.uid = getuid();
	ctl_model.serving = true;
	pthread_mutex_lock(&ctl_model.lock);
	CHECK_IS(pthread_create(&thread, NULL, ctl_fake_accept, NULL), ==, 0);
	pthread_detach(thread);
}

static void ctl_fake_read(FILE *file, char *buf, size_t cap)
{
	size_t len;

	rewind(file);
	len = fread(buf, 1, cap - 1, file);
	buf[len] = '\0';
	fclose(file);
}

int ctl_run(const char *line)
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
	CHECK_IS(posix_spawn(&pid, "/bin/sh", &files, NULL, argv, environ), ==, 0);
	posix_spawn_file_actions_destroy(&files);
	if (ctl_model.serving)
		pthread_mutex_unlock(&ctl_model.lock);
	while (waitpid(pid, &status, 0) < 0)
		CHECK_IS(errno, ==, EINTR);
	if (ctl_model.serving)
		pthread_mutex_lock(&ctl_model.lock);
	ctl_fake_read(out, ctl_output.out, sizeof(ctl_output.out));
	ctl_fake_read(err, ctl_output.err, sizeof(ctl_output.err));
	ctl_output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	return ctl_output.status;
}

void ctl_run_print(const char *line)
{
	fprintf(stderr, "%s\n-> %d\nout: %s\nerr: %s\nasked:\n%s\n", line, ctl_output.status,
		ctl_output.out, ctl_output.err, ctl_model.requests);
}
