/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

#include "base/macros.h"
#include "base/str.h"
#include "calls.h"
#include "io/paths.h"
#include "io/procstate.h"
#include "io/sock.h"

#define HELLO_MS 5000 /* from connect() to the first answer, and for a probe's */
#define SLICE_MS 1000
#define PROBE_MS 2000	 /* silence after which a ping is sent to the daemon */
#define GRACE_MS 1000	 /* for the answer, when the caller is interrupted */
#define CONSUMER_MS 6000 /* silence of the consumer, for which a command waits */
#define FEATURES 0	 /* none are known yet */

struct client {
	int fd;
	int interrupt; /* the caller's */
	uint64_t since_ms;
	uint32_t serial;
	unsigned int type;
	char *rundir;
	char *socket;
	char *version, *clock_why; /* of the daemon */
	struct client_daemon daemon;
	client_waiting_fn waiting;
	void *waiting_priv;
	bool probing; /* only hello, and no probe of a probe */
	struct encoder enc;
	/* not zeroed: few commands touch more than their first pages */
	uint8_t out[MSG_MAX_BYTES];
	uint8_t in[MSG_MAX_BYTES];
};

static uint64_t client_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

struct client *client_free(struct client *client)
{
	if (!client)
		return NULL;
	close_fd(client->fd);
	free(client->rundir);
	free(client->socket);
	free(client->version);
	free(client->clock_why);
	free(client);
	return NULL;
}

static void cleanup_client(struct client **client)
{
	client_free(*client);
}

const struct client_daemon *client_daemon(const struct client *client)
{
	return &client->daemon;
}

int client_fd(const struct client *client)
{
	return client->fd;
}

int client_interrupt(const struct client *client)
{
	return client->interrupt;
}

void client_on_waiting(struct client *client, client_waiting_fn fn, void *priv)
{
	client->waiting = fn;
	client->waiting_priv = priv;
}

/* The group that may use the socket @path. */
static void group_name(const char *path, char *ret, size_t size)
{
	struct group entry, *found = NULL;
	char text[1024];
	struct stat st;

	if (stat(path, &st) != 0)
		snprintf(ret, size, "tracing");
	else if (getgrgid_r(st.st_gid, &entry, text, sizeof(text), &found) == 0 && found)
		snprintf(ret, size, "%s", found->gr_name);
	else
		snprintf(ret, size, "%u", (unsigned int)st.st_gid);
}

static int connect_error(const char *rundir, const char *path, int rc, struct err *err)
{
	char group[64];
	char *closed AUTO_FREE = rc == -EACCES ? paths_closed_dir(rundir) : NULL;

	if (closed)
		return err_set(err, ERR_DENIED,
			       "you may not enter %s, so no session daemon in %s can be reached; "
			       "'lttctl doctor' shows why",
			       closed, rundir);
	switch (-rc) {
	case ENOENT:
	case ENOTDIR:
	case ECONNREFUSED:
		return err_set(err, ERR_NO_DAEMON, "no session daemon runs (no process serves %s)",
			       path);
	case EACCES:
	case EPERM:
		group_name(path, group, sizeof(group));
		return err_set(err, ERR_DENIED,
			       "you may not use the session daemon at %s; members of its group "
			       "('%s') and root may",
			       path, group);
	case EAGAIN:
	case ETIMEDOUT:
		return err_set(err, ERR_NO_ANSWER,
			       "the session daemon at %s accepts no connection; if this persists, "
			       "end it",
			       path);
	default:
		return err_errno(err, ERR_NO_DAEMON, -rc, "can't connect to %s", path);
	}
}

/* A full queue on the other side must not block forever either. */
static void set_send_timeout(int fd)
{
	const struct timeval tv = { .tv_sec = HELLO_MS / 1000 };

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

static struct client *client_connect(const char *rundir, int interrupt, struct err *err)
{
	struct client *client = malloc(sizeof(*client));

	if (!client) {
		err_memory(err);
		return NULL;
	}
	memset(client, 0, offsetof(struct client, out));
	client->fd = -1;
	client->interrupt = interrupt;
	client->since_ms = client_now_ms();
	client->rundir = strdup(rundir);
	client->socket = str_printf("%s/client.sock", rundir);
	if (!client->rundir || !client->socket) {
		err_memory(err);
		return client_free(client);
	}
	client->fd = sock_connect(client->socket);
	if (client->fd < 0) {
		connect_error(client->rundir, client->socket, client->fd, err);
		return client_free(client);
	}
	set_send_timeout(client->fd);
	return client;
}

static int send_hello(struct client *client, struct rep_hello *ret, struct err *err)
{
	struct req_hello req = { .version = LTT_VERSION, .features = FEATURES };

	return call_hello(client, &req, NULL, NULL, ret, err);
}

/* The kernel's module may have been loaded after the daemon, which no longer has the right to open
 * its device. A daemon of another user does not get it. Failure leaves all as it was. */
static void client_give_kernel(struct client *client)
{
	struct req_kernel_open req = { .device = -1 };
	struct rep_kernel_open rep;
	struct err ignored = { 0 };
	pid_t pid;
	uid_t uid;
	gid_t gid;

	if (geteuid() != 0 || sock_peer(client->fd, &pid, &uid, &gid) < 0 || uid != 0)
		return;
	req.device = open(LTT_KMOD_DEVICE, O_RDWR | O_CLOEXEC);
	if (req.device < 0)
		return;
	(void)!call_kernel_open(client, &req, NULL, NULL, &rep, &ignored);
	close(req.device);
}

int client_open(const char *rundir, int interrupt, struct client **ret, struct err *err)
{
	struct client *client CLEANUP(cleanup_client) = client_connect(rundir, interrupt, err);
	struct rep_hello hello;

	if (!client)
		return err->code;
	client->probing = true;
	if (send_hello(client, &hello, err) != 0)
		return err->code;
	client->probing = false;
	client->version = strdup(hello.version);
	client->clock_why = strdup(hello.clock_why);
	if (!client->version || !client->clock_why)
		return err_memory(err);
	client->daemon = (struct client_daemon){
		.version = client->version,
		.rundir = client->rundir,
		.pid = hello.pid,
		.clock = hello.clock,
		.clock_hz = hello.clock_hz,
		.clock_why = client->clock_why,
		.consumer_pid = hello.consumer_pid,
		.consumer_silent_ms = hello.consumer_silent_ms,
	};
	if (hello.awaits_kernel)
		client_give_kernel(client);
	*ret = TAKE(client);
	return 0;
}

struct encoder *client_request(struct client *client, unsigned int type)
{
	client->type = type;
	encoder_init(&client->enc, client->out, sizeof(client->out));
	encode_header(&client->enc, (uint16_t)type, 0, ++client->serial);
	return &client->enc;
}

static int client_connection_lost(struct client *client, struct err *err)
{
	return err_set(err, ERR_NO_DAEMON,
		       "the session daemon at %s disconnected before it answered; repeat the "
		       "command, and see its log, which 'lttctl doctor' names",
		       client->socket);
}

static int mute(struct client *client, struct err *err)
{
	char pid[32] = "";

	if (client->daemon.pid)
		snprintf(pid, sizeof(pid), " (pid %u)", client->daemon.pid);
	return err_set(err, ERR_NO_ANSWER,
		       "the session daemon%s at %s does not answer; if this persists, end it", pid,
		       client->socket);
}

static int interrupted(const struct client *client, struct err *err)
{
	return err_set(err, ERR_INTERRUPTED,
		       "interrupted while the session daemon at %s had not answered",
		       client->socket);
}

static int client_send_request(struct client *client, struct err *err)
{
	const struct encoder *enc = &client->enc;
	int rc = encoder_finish(enc);

	if (rc == -EMSGSIZE)
		return err_set(err, ERR_LIMIT, "the request is larger than %u bytes",
			       MSG_MAX_BYTES);
	rc = sock_send(client->fd, enc->buf, enc->len, enc->fds, enc->nr_fds);
	if (rc == -EAGAIN)
		return mute(client, err);
	if (rc == -EPIPE || rc == -ECONNRESET)
		return client_connection_lost(client, err);
	return rc ? err_errno(err, ERR_NO_DAEMON, -rc, "can't send to the session daemon") : 0;
}

static int consumer_mute(const struct client *client, uint32_t pid, struct err *err)
{
	if (procstate_is_killed((pid_t)pid))
		return err_set(
			err, ERR_NO_ANSWER,
			"the consumer daemon (pid %u), which the session daemon at %s waits for, "
			"has been killed, but waits in the kernel, as for a disk; the request is "
			"completed by another one, when that wait ends",
			pid, client->socket);
	return err_set(
		err, ERR_NO_ANSWER,
		"the consumer daemon (pid %u), which the session daemon at %s waits for, does not "
		"answer; the request is completed when it resumes; if this persists, end it (kill "
		"-9 %u): another one takes over",
		pid, client->socket, pid);
}

/* Does the daemon answer, and does it get on? Asked on a connection of its own. A command that
 * follows a session waits for anything that may come. Return: 0 or the code in @err. */
static int probe_daemon(struct client *client, struct err *err)
{
	struct err why = { 0 };
	struct client *probe CLEANUP(cleanup_client) = NULL;

	if (client_open(client->rundir, client->interrupt, &probe, &why) != 0)
		return why.code == ERR_INTERRUPTED ? interrupted(client, err) :
		       why.code == ERR_NO_MEMORY   ? err_memory(err) :
						     mute(client, err);
	if (client->type != MSG_session_follow && probe->daemon.consumer_silent_ms >= CONSUMER_MS)
		return consumer_mute(client, probe->daemon.consumer_pid, err);
	return 0;
}

/* Return: 1: there is something to read, or the other side has hung up; 0: not within
 * SLICE_MS; negative errno, -EINTR: the caller does not want to wait. */
static int await_slice(const struct client *client)
{
	struct pollfd pfds[] = {
		{ .fd = client->fd, .events = POLLIN },
		{ .fd = client->interrupt, .events = POLLIN },
	};
	int n = poll(pfds, ARRAY_SIZE(pfds), SLICE_MS);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (pfds[0].revents || !pfds[1].revents)
		return pfds[0].revents != 0;
	n = poll(pfds, 1, GRACE_MS);
	return n > 0 ? 1 : -EINTR;
}

int client_await(struct client *client, struct err *err)
{
	uint64_t begin = client_now_ms(), asked = begin;

	for (;;) {
		int n = await_slice(client);
		uint64_t now = client_now_ms();

		if (n > 0)
			return 0;
		if (n == -EINTR)
			return interrupted(client, err);
		if (n < 0)
			return err_errno(err, ERR_INTERNAL, -n, "can't wait for the daemon");
		if (client->probing && now - client->since_ms >= HELLO_MS)
			return mute(client, err);
		if (!client->probing && now - asked >= PROBE_MS) {
			if (probe_daemon(client, err) != 0)
				return err->code;
			asked = client_now_ms();
		}
		if (client->waiting)
			client->waiting(client->waiting_priv, (unsigned int)(now - begin));
	}
}

/* No request of this side is answered with descriptors. */
static void close_strays(const int *fds)
{
	for (unsigned int i = 0; i < MSG_MAX_FDS; i++)
		close_fd(fds[i]);
}

static int client_receive(struct client *client, struct msg_header *header, struct decoder *dec,
			  struct err *err)
{
	int fds[MSG_MAX_FDS] = { -1, -1, -1, -1 };
	unsigned int nr_fds = 0;
	ssize_t len;

	if (client_await(client, err) != 0)
		return err->code;
	len = sock_recv(client->fd, client->in, sizeof(client->in), fds, &nr_fds);
	close_strays(fds);
	if (len == 0 || len == -ECONNRESET)
		return client_connection_lost(client, err);
	if (len < 0)
		return err_errno(err, ERR_NO_DAEMON, (int)-len,
				 "can't receive from the session daemon");
	decoder_init(dec, client->in, (size_t)len, NULL, 0);
	if (decode_header(dec, header) != 0)
		return err_set(err, ERR_BAD_MESSAGE, "the server of %s is not a session daemon",
			       client->socket);
	return 0;
}

static int take_reply(struct client *client, struct decoder *dec, struct err *err)
{
	const char *text;
	enum err_code code = (enum err_code)decode_outcome(dec, &text);

	if (dec->bad)
		return err_set(err, ERR_BAD_MESSAGE, "the server of %s is not a session daemon",
			       client->socket);
	if (code != ERR_NONE)
		return err_set(err, code, "%s",
			       *text ? text : "the session daemon rejected the request");
	return 0;
}

int client_exchange(struct client *client, client_item_fn item, void *priv,
		    struct decoder *ret_reply, struct err *err)
{
	struct msg_header header;
	int item_error = 0;

	if (client_send_request(client, err) != 0)
		return err->code;
	for (;;) {
		if (client_receive(client, &header, ret_reply, err) != 0)
			return err->code;
		if (header.serial != client->serial)
			continue; /* the late answer to a call that has timed out */
		if (header.flags & MSG_REPLY)
			break;
		if ((header.flags & MSG_ITEM) && item && !item_error)
			item_error = item(priv, header.type, ret_reply);
	}
	if (take_reply(client, ret_reply, err) != 0)
		return err->code;
	if (item_error)
		return err_set(err, (enum err_code)item_error,
			       "malformed item in the session daemon's answer");
	return 0;
}

int client_send(struct client *client, struct err *err)
{
	return client_send_request(client, err);
}

int client_take(struct client *client, enum client_part *ret_part, unsigned int *ret_type,
		struct decoder *ret_dec, struct err *err)
{
	struct pollfd pfd = { .fd = client->fd, .events = POLLIN };
	struct msg_header header;

	while (poll(&pfd, 1, 0) > 0) {
		if (client_receive(client, &header, ret_dec, err) != 0)
			return err->code;
		if (header.serial != client->serial)
			continue; /* the late answer to a call that has timed out */
		*ret_type = header.type;
		*ret_part = header.flags & MSG_REPLY ? CLIENT_REPLY : CLIENT_ITEM;
		return header.flags & MSG_REPLY ? take_reply(client, ret_dec, err) : 0;
	}
	*ret_part = CLIENT_NOTHING;
	return 0;
}
