/* SPDX-License-Identifier: GPL-2.0-only */
/* consumer_daemon.c - starts ltt-consumerd and sends it requests. */
#include "consumer_client.h"

uint64_t mono_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void sleep_ms(unsigned int ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

void build_path(const char *name, char ret[4096])
{
	const char *build = getenv("BUILD");
	char self[4000];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	CHECK_IS(n, >, 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	if (build)
		snprintf(ret, 4096, "%s/%s", build, name);
	else
		snprintf(ret, 4096, "%s/../%s", self, name);
}

void need_preload(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("nothing may be preloaded before a sanitizer");
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	SKIP("nothing may be preloaded before a sanitizer");
#endif
#endif
}

void daemon_preload(const char *library)
{
	char path[4096];

	build_path(library, path);
	CHECK_IS(access(path, R_OK), ==, 0);
	setenv("LD_PRELOAD", path, 1);
}

struct daemon daemon_start(void)
{
	struct daemon d = { 0 };
	char path[4096];
	int fds[2];

	build_path("bin/ltt-consumerd", path);
	CHECK_IS(sock_pair(fds), ==, 0);
	d.fd = fds[0];
	d.pid = fork();
	CHECK_IS(d.pid, >=, 0);
	if (d.pid == 0) {
		char number[16];

		snprintf(number, sizeof(number), "%d", fds[1]);
		fcntl(fds[1], F_SETFD, 0);
		execl(path, "ltt-consumerd", "--fd", number, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	unsetenv("LD_PRELOAD");
	return d;
}

pid_t fork_child(const struct daemon *d)
{
	pid_t parent = getpid(), pid = fork();

	CHECK_IS(pid, >=, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(d->fd);
	}
	return pid;
}

int daemon_wait(struct daemon *d)
{
	int status;

	CHECK_IS(waitpid(d->pid, &status, 0), ==, d->pid);
	return status;
}

void daemon_end(struct daemon *d)
{
	close(d->fd);
	CHECK_IS(daemon_wait(d), ==, 0);
}

/* --- requests ------------------------------------------------------------------- */

static void note_error(struct daemon *d, struct decoder *dec)
{
	struct msg_con_output_error msg;

	CHECK_IS(msg_con_output_error_decode(dec, &msg), ==, 0);
	CHECK(msg.error == 0 || msg.text[0]);
	d->last_error = msg.error;
	if (msg.error)
		d->errors++;
	else
		d->recoveries++;
}

/* Return: false: it is an answer. */
static bool note_event(struct daemon *d, const struct msg_header *header, struct decoder *dec)
{
	struct msg_con_ring_damaged msg;

	if (header->type == MSG_con_output_error) {
		note_error(d, dec);
		return true;
	}
	if (header->type != MSG_con_ring_damaged)
		return false;
	CHECK_IS(msg_con_ring_damaged_decode(dec, &msg), ==, 0);
	d->damaged = msg.ring;
	return true;
}

/** Read one message. Return: false where none came in time. */
static bool daemon_read(struct daemon *d, struct reply *r, struct msg_header *header,
			int timeout_ms)
{
	struct pollfd p = { .fd = d->fd, .events = POLLIN };
	unsigned int nr;
	ssize_t n;

	if (poll(&p, 1, timeout_ms) <= 0)
		return false;
	n = sock_recv(d->fd, r->buf, sizeof(r->buf), r->fds, &nr);
	CHECK_IS(n, >, 0);
	decoder_init(&r->dec, r->buf, (size_t)n, r->fds, nr);
	CHECK_IS(decode_header(&r->dec, header), ==, 0);
	return true;
}

void daemon_listen(struct daemon *d, int ms)
{
	uint64_t end = mono_ns() + (uint64_t)ms * 1000000u;
	struct msg_header header;
	struct reply r;

	while (mono_ns() < end)
		if (daemon_read(d, &r, &header, (int)((end - mono_ns()) / 1000000u) + 1))
			CHECK(note_event(d, &header, &r.dec));
}

void daemon_await(struct daemon *d, uint32_t serial, struct reply *r, item_fn item, void *data)
{
	for (;;) {
		struct msg_header header;

		CHECK(daemon_read(d, r, &header, 60000));
		if (note_event(d, &header, &r->dec))
			continue;
		CHECK_IS(header.serial, ==, serial);
		if (header.flags & MSG_ITEM) {
			if (item)
				item(&r->dec, data);
			continue;
		}
		CHECK(header.flags & MSG_REPLY);
		r->code = decode_u32(&r->dec);
		snprintf(r->text, sizeof(r->text), "%s", decode_str(&r->dec));
		CHECK_IS(!r->code, ==, !r->text[0]);
		return;
	}
}

void send_begin(struct daemon *d, struct encoder *enc, uint8_t *buf, uint16_t type)
{
	encoder_init(enc, buf, MSG_MAX_BYTES);
	encode_header(enc, type, 0, ++d->serial);
}

void send_end(struct daemon *d, struct encoder *enc)
{
	CHECK_IS(encoder_finish(enc), ==, 0);
	CHECK_IS(sock_send(d->fd, enc->buf, enc->len, enc->fds, enc->nr_fds), ==, 0);
}
