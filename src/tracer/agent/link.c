/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "tracer/agent/host/alone.h"
#include "buffers.h"
#include "kept.h"
#include "message.h"
#include "points.h"
#include "tracer/base/sys.h"
#include "tracer/ring/context.h"
#include "tracer/ring/fallback.h"
#include "thread.h"
#include "tracer/site/site.h"
#include "tracer/base/large.h"

#define SOCKET_NAME "/apps.sock"
#define STATE_NAME "/state"

#define OVERRUN_MS 5	     /* its queue of connections is full */
#define FIRST_TRY_MS 5	     /* bound but not listening yet; doubles ... */
#define MAX_TRIES 9	     /* ... for two and a half seconds */
#define EARLY_TRIES 3	     /* bound but without its mode: 35 ms */
#define KILLED_HANG_UPS 2    /* by a killed daemon: one connection, and one in its queue */
#define BUSY_DIR_MS 50	     /* other files appear in the watched directory; doubles ... */
#define MAX_BUSY_MS 1000     /* ... while they do so all the time */
#define NO_WATCH_MS 2000     /* the kernel sends no notification */
#define PENALTY_MS 1000	     /* the daemon misbehaved; doubles ... */
#define MAX_PENALTY_MS 60000 /* ... to a minute */
#define REPORT_MS 1000	     /* the helper may have to wait for a CPU */
#define MESSAGES_A_TURN 64
#define SEND_BUFFER_BYTES (4 * MSG_MAX_BYTES) /* independent of the machine's default */
#define OVERFLOW_UID 65534		      /* the kernel's default */
#define ALL_UIDS 0xfffffffful		      /* all ids but the one that means none */

struct agent_link agent_links[AGENT_LINKS];
static uint8_t kept_bytes[AGENT_LINKS][MSG_MAX_BYTES] TRACER_LARGE; /* of messages */
static struct agent_silence silence;
static uint32_t nr_begins; /* threads that began before the daemons answered */

int64_t agent_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void reset(struct agent_link *link)
{
	link->state = LINK_RETRY;
	link->fd = -1;
	link->retry_at = 0;
	link->tries = 0;
	link->busy_ms = BUSY_DIR_MS;
	link->queued = false;
	link->expected = false;
	link->hang_ups = 0;
	link->tx_len = 0;
	link->watch = AGENT_WATCH_NONE;
}

void agent_links_init(void)
{
	for (unsigned int i = 0; i < AGENT_LINKS; i++) {
		agent_links[i].index = i;
		agent_links[i].tx = kept_bytes[i];
		reset(&agent_links[i]);
	}
}

void agent_links_after_fork_child(void)
{
	for (unsigned int i = 0; i < AGENT_LINKS; i++) {
		agent_links[i].penalty_ms = 0;
		reset(&agent_links[i]);
	}
}

static void retry_in(struct agent_link *link, int ms)
{
	link->state = LINK_RETRY;
	link->retry_at = agent_now_ms() + ms;
}

/* --- up and down ---------------------------------------------------------------- */

static void link_down(struct agent_link *link)
{
	agent_buffers_leave(link->index);
	tracer_debug("disconnected from %s", tracer_env.dir[link->index]);
	sys_close(link->fd);
	link->fd = -1;
	link->tx_len = 0;
	link->tries = 0;
	agent_points_close(link->index);
	link->expected = !link->penalty_ms;
	retry_in(link, link->penalty_ms);
}

size_t agent_links_fds(int *ret_fds, size_t max)
{
	size_t nr = 0;

	for (unsigned int i = 0; i < AGENT_LINKS; i++)
		if (agent_links[i].state == LINK_UP && nr < max)
			ret_fds[nr++] = agent_links[i].fd;
	return nr;
}

/* Return: whether all descriptors that are to be sent were moved. */
static bool move_tx_fds(struct agent_link *link)
{
	for (unsigned int i = 0; link->tx_len && i < link->nr_tx_fds; i++) {
		link->tx_fds[i] = agent_alone_moved(link->tx_fds[i]);
		if (link->tx_fds[i] < 0)
			return false;
	}
	return true;
}

void agent_links_moved(void)
{
	for (unsigned int i = 0; i < AGENT_LINKS; i++) {
		struct agent_link *link = &agent_links[i];

		link->watch = AGENT_WATCH_NONE;
		if (link->state == LINK_IDLE)
			retry_in(link, 0);
		if (link->state != LINK_UP)
			continue;
		link->fd = agent_alone_moved(link->fd);
		if (link->fd < 0 || !move_tx_fds(link))
			link_down(link);
	}
}

/* The penalty doubles with each violation until the daemon has sent app_ready. */
static void punish(struct agent_link *link)
{
	link->penalty_ms = link->penalty_ms ? link->penalty_ms * 2 : PENALTY_MS;
	if (link->penalty_ms > MAX_PENALTY_MS)
		link->penalty_ms = MAX_PENALTY_MS;
}

/* The beginning of a file in /proc as a string, empty where it can't be read. */
static void agent_link_read_text(const char *path, char *ret_text, size_t size)
{
	int fd = sys_open(path, O_RDONLY);
	ssize_t len = fd >= 0 ? sys_read(fd, ret_text, size - 1) : 0;

	if (fd >= 0)
		sys_close(fd);
	ret_text[len > 0 ? len : 0] = '\0';
}

/* Whether every user has an id in this user namespace. */
static bool all_users_have_ids(void)
{
	unsigned long inside, outside, count, sum = 0;
	char text[512];
	int len;

	agent_link_read_text("/proc/thread-self/uid_map", text, sizeof(text));
	for (const char *line = text;
	     sscanf(line, "%lu %lu %lu%n", &inside, &outside, &count, &len) == 3; line += len)
		sum += count;
	return sum == ALL_UIDS;
}

/* The kernel shows all users that have no id in this user namespace as this one. */
static bool is_shared_id(uid_t uid)
{
	unsigned int shared = OVERFLOW_UID;
	char text[16];

	if (all_users_have_ids())
		return false;
	agent_link_read_text("/proc/sys/kernel/overflowuid", text, sizeof(text));
	(void)sscanf(text, "%u", &shared);
	return uid == shared;
}

/* A default directory may belong to another user: a root shell that
 * kept its user's HOME must not be traced by that user. */
static bool is_trusted(int fd)
{
	uint32_t ids[CONTEXT_NR_IDS];
	struct ucred peer;

	if (tracer_env.chosen)
		return true;
	context_ids(ids); /* a seccomp filter may forbid geteuid() */
	if (sys_peer(fd, &peer) < 0 || (peer.uid != 0 && peer.uid != ids[1]))
		return false;
	return !is_shared_id(peer.uid);
}

static void link_up(struct agent_link *link, int fd)
{
	link->expected = false;
	if (!is_trusted(fd)) {
		tracer_debug("%s: the daemon belongs to another user", tracer_env.dir[link->index]);
		sys_close(fd);
		punish(link);
		retry_in(link, link->penalty_ms);
		return;
	}
	agent_watch_disarm(&link->watch);
	sys_send_buffer(fd, SEND_BUFFER_BYTES);
	link->state = LINK_UP;
	link->fd = fd;
	link->tries = 0;
	link->unanswered = false;
	link->announced = 0;
	link->sent_begun = 0;
	link->announced_begun = 0;
	link->sent_silence = (struct agent_silence){ 0 };
	link->sent_channels = 0;
	if (++link->round == 0)
		link->round = 1;
	tracer_debug("connected to %s", tracer_env.dir[link->index]);
	if (sys_may_call(SYS_readlinkat))
		ring_clock_find_namespace();
	site_register_rest();
	agent_points_open(link->index);
	agent_send_hello(link);
}

/* --- finding the daemon ------------------------------------------------------- */

static bool other_link_has(const struct agent_link *link, const struct stat *st)
{
	for (unsigned int i = 0; i < AGENT_LINKS; i++) {
		const struct agent_link *other = &agent_links[i];

		if (other != link && other->state == LINK_UP && other->sock_dev == st->st_dev &&
		    other->sock_ino == st->st_ino)
			return true;
	}
	return false;
}

static void note_socket(struct agent_link *link, const struct stat *st)
{
	bool same = link->sock_dev == st->st_dev && link->sock_ino == st->st_ino &&
		    link->sock_changed.tv_sec == st->st_ctim.tv_sec &&
		    link->sock_changed.tv_nsec == st->st_ctim.tv_nsec;

	if (same)
		return;
	link->sock_dev = st->st_dev;
	link->sock_ino = st->st_ino;
	link->sock_changed = st->st_ctim;
	link->hang_ups = 0;
}

/* Return: a connected socket; -ENOENT: no daemon can be found until a file appears; -EALREADY: the
 * other link has this one; another negative errno: retry. */
static int try_connect(struct agent_link *link)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *dir = tracer_env.dir[link->index];
	struct stat st;
	int fd, err;

	if (tracer_join(addr.sun_path, sizeof(addr.sun_path), dir, SOCKET_NAME, NULL) >=
	    sizeof(addr.sun_path))
		return -ENOENT;
	if (sys_stat(addr.sun_path, &st) < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (other_link_has(link, &st))
		return -EALREADY;
	fd = sys_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (sys_connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		err = -errno;
		sys_close(fd);
		return err;
	}
	note_socket(link, &st);
	return fd;
}

/* Sessions wait there for the next daemon. It removes the old socket before it makes its own. */
static bool has_state(const struct agent_link *link)
{
	char path[AGENT_PATH_MAX + sizeof(STATE_NAME)];
	struct stat st;

	tracer_join(path, sizeof(path), tracer_env.dir[link->index], STATE_NAME, NULL);
	return sys_stat(path, &st) == 0;
}

/* Whether a daemon is to come. A daemon that is killed or replaced leaves its socket, or its
 * sessions; one that ends removes both. */
static bool is_expected(const struct agent_link *link, int err)
{
	if (err == -ECONNREFUSED)
		return true;
	if (err == -EALREADY)
		return false;
	return err == -ENOENT ? has_state(link) : link->tries < EARLY_TRIES;
}

/* @err: the result of try_connect(). */
static void try_later(struct agent_link *link, int err)
{
	link->queued = err == -EAGAIN;
	link->expected = is_expected(link, err);
	if (link->queued) {
		retry_in(link, OVERRUN_MS);
	} else if (err != -ENOENT && err != -EALREADY && link->tries < MAX_TRIES) {
		retry_in(link, FIRST_TRY_MS << link->tries);
		link->tries++;
	} else {
		link->state = LINK_IDLE;
	}
}

/*
 * The watch is armed before the check, so that no change is missed. A watch fires once; it is armed
 * again when the next check is due.
 */
static void agent_link_probe(struct agent_link *link, bool watch)
{
	int fd, err = 0;

	if (watch)
		err = agent_watch_arm(&link->watch, tracer_env.dir[link->index], agent_thread_id());
	fd = try_connect(link);
	if (fd >= 0) {
		link_up(link, fd);
		return;
	}
	try_later(link, fd);
	if (err < 0 && link->state == LINK_IDLE)
		retry_in(link, NO_WATCH_MS);
}

/* Woken while idle: try to connect. If that fails, another file has appeared in a directory that
 * may be busy; retry after a pause, and arm the watch again then. */
static void agent_link_probe_later(struct agent_link *link)
{
	bool busy = agent_now_ms() < link->retry_at + MAX_BUSY_MS;

	link->tries = 0;
	agent_link_probe(link, false);
	if (link->state != LINK_IDLE)
		return;
	link->busy_ms = busy ? 2 * link->busy_ms : BUSY_DIR_MS;
	if (link->busy_ms > MAX_BUSY_MS)
		link->busy_ms = MAX_BUSY_MS;
	retry_in(link, link->busy_ms);
}

void agent_link_step(struct agent_link *link, bool woken)
{
	uint32_t begins = __atomic_load_n(&nr_begins, __ATOMIC_ACQUIRE);

	if (link->index >= tracer_env.nr_dirs)
		return;
	if (link->state == LINK_IDLE && woken)
		agent_link_probe_later(link);
	else if (link->state == LINK_RETRY && agent_now_ms() >= link->retry_at)
		agent_link_probe(link, true);
	while (link->state == LINK_UP && link->tx_len == 0 && agent_send_news(link))
		;
	__atomic_store_n(&link->reported_begins, begins, __ATOMIC_RELEASE);
}

/* --- messages --------------------------------------------------------------------- */

static ssize_t send_tx(const struct agent_link *link, size_t len)
{
	if (link->nr_tx_fds)
		return sys_send_fds(link->fd, link->tx, len, link->tx_fds, link->nr_tx_fds);
	return sys_send(link->fd, link->tx, len);
}

void agent_link_send(struct agent_link *link, const struct encoder *enc)
{
	if (encoder_finish(enc) < 0) /* never: the encoded message was measured to fit */
		return;
	link->nr_tx_fds = enc->nr_fds;
	memcpy(link->tx_fds, enc->fds, sizeof(link->tx_fds));
	if (send_tx(link, enc->len) >= 0)
		return;
	if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)
		link->tx_len = enc->len;
	else
		sys_hang_up(link->fd); /* poll() reports it next */
}

static void agent_link_flush(struct agent_link *link)
{
	ssize_t sent = send_tx(link, link->tx_len);

	if (sent < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS))
		return;
	link->tx_len = 0;
	if (sent < 0)
		sys_hang_up(link->fd);
}

static unsigned int agent_link_take_fds(struct msghdr *msg, int *fds)
{
	unsigned int nr = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		nr = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), nr * sizeof(int));
	}
	return nr;
}

/* Return: 1 a message was handled, 0 none is pending, negative errno: close the connection. */
static int agent_link_receive(struct agent_link *link)
{
	static uint8_t rx[MSG_MAX_BYTES] TRACER_LARGE;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(MSG_MAX_FDS * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = rx, .iov_len = sizeof(rx) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int fds[MSG_MAX_FDS];
	struct decoder dec;
	unsigned int nr_fds;
	ssize_t len;
	int err;

	agent_lock();
	agent_kept_make_room();
	agent_unlock();
	len = sys_recvmsg(link->fd, &msg);
	if (len < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	nr_fds = agent_link_take_fds(&msg, fds);
	/* There was no room for the other descriptors: the message is handled without them. */
	while (msg.msg_flags & MSG_CTRUNC && nr_fds < MSG_MAX_FDS)
		fds[nr_fds++] = -1;
	decoder_init(&dec, rx, (size_t)len, fds, nr_fds);
	if (len == 0)
		err = -EPIPE;
	else
		err = msg.msg_flags & MSG_TRUNC ? -EBADMSG : agent_message(link, &dec);
	for (unsigned int i = 0; i < nr_fds; i++)
		sys_close(fds[i]);
	return err ? err : 1;
}

void agent_link_ready(struct agent_link *link, short revents)
{
	int result = 1;

	if (link->state != LINK_UP)
		return;
	if (revents & POLLOUT && link->tx_len)
		agent_link_flush(link);
	if (!(revents & (POLLIN | POLLHUP | POLLERR)))
		return;
	for (int i = 0; i < MESSAGES_A_TURN && result > 0 && link->tx_len == 0; i++)
		result = agent_link_receive(link);
	if (result == 0 && revents & POLLERR)
		result = -EPIPE;
	if (result >= 0)
		return;
	tracer_debug("%s: %s", tracer_env.dir[link->index], strerror(-result));
	link->hang_ups = link->unanswered ? link->hang_ups + 1 : 0;
	if (result == -EBADMSG || link->hang_ups > KILLED_HANG_UPS)
		punish(link);
	link_down(link);
}

struct agent_silence agent_links_set_silence(uint8_t to, uint8_t reason)
{
	struct agent_silence next = { to, reason }, before;

	__atomic_exchange(&silence, &next, &before, __ATOMIC_ACQ_REL);
	return before;
}

struct agent_silence agent_links_silence(void)
{
	struct agent_silence now;

	__atomic_load(&silence, &now, __ATOMIC_ACQUIRE);
	return now;
}

bool agent_links_have_sent_silence(void)
{
	struct agent_silence now = agent_links_silence(), sent;

	for (unsigned int i = 0; i < AGENT_LINKS; i++) {
		__atomic_load(&agent_links[i].sent_silence, &sent, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&agent_links[i].state, __ATOMIC_RELAXED) == LINK_UP &&
		    sent.silence != now.silence)
			return false;
	}
	return true;
}

static bool await_until(const struct agent_link *link, short events, int64_t end)
{
	struct pollfd fd = { .fd = link->fd, .events = events };
	int64_t left = end - agent_now_ms();

	return left > 0 && sys_poll(&fd, 1, (int)left) > 0;
}

/* A connection that is closed with unread messages is broken, and the daemon would not read on. */
static void send_last(struct agent_link *link, int64_t end)
{
	uint8_t unread[64];

	while (link->tx_len && await_until(link, POLLOUT, end)) {
		agent_link_flush(link);
		agent_link_step(link, false);
	}
	sys_end_sending(link->fd);
	while (await_until(link, POLLIN, end) && sys_read(link->fd, unread, sizeof(unread)) > 0)
		;
}

void agent_links_send_due(void)
{
	for (unsigned int i = 0; i < AGENT_LINKS; i++)
		if (agent_links[i].state == LINK_UP)
			agent_link_step(&agent_links[i], false);
}

void agent_links_take_leave(bool connect, int ms)
{
	const int64_t end = agent_now_ms() + ms;

	for (unsigned int i = 0; i < AGENT_LINKS; i++) {
		if (connect || agent_links[i].state == LINK_UP)
			agent_link_step(&agent_links[i], false);
		if (agent_links[i].state == LINK_UP)
			send_last(&agent_links[i], end);
	}
}

short agent_link_events(const struct agent_link *link)
{
	return link->tx_len ? POLLOUT : POLLIN;
}

static bool is_confirmed(const struct agent_link *link, uint32_t generation)
{
	if (link->state == LINK_UP)
		return link->tx_len == 0 && !link->unanswered &&
		       (int32_t)(link->announced - generation) >= 0;
	if (link->index >= tracer_env.nr_dirs)
		return true;
	return !link->queued && !link->expected && (link->state == LINK_IDLE || link->retry_at > 0);
}

bool agent_link_confirm(struct agent_link *link, uint32_t generation)
{
	if (!is_confirmed(link, generation))
		return false;
	__atomic_store_n(&link->confirmed, generation, __ATOMIC_RELEASE);
	return true;
}

static bool have_reported(uint32_t begins)
{
	for (unsigned int i = 0; i < tracer_env.nr_dirs; i++)
		if ((int32_t)(__atomic_load_n(&agent_links[i].reported_begins, __ATOMIC_ACQUIRE) -
			      begins) < 0)
			return false;
	return true;
}

/* The program may end at once: a daemon that is stopped reads the messages later. */
static void await_report(int64_t end)
{
	uint32_t begins = __atomic_add_fetch(&nr_begins, 1, __ATOMIC_ACQ_REL);

	agent_wake();
	while (agent_thread_id() && !have_reported(begins) && agent_now_ms() < end)
		sys_poll(NULL, 0, 1);
}

void agent_links_begin(uint32_t generation)
{
	int64_t now = agent_now_ms();

	for (unsigned int i = 0; i < tracer_env.nr_dirs; i++) {
		struct agent_link *link = &agent_links[i];
		uint32_t confirmed = __atomic_load_n(&link->confirmed, __ATOMIC_ACQUIRE);

		if ((int32_t)(confirmed - generation) >= 0)
			continue;
		__atomic_store_n(&link->begun_first,
				 __atomic_load_n(&link->answered, __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
		__atomic_store_n(&link->begun_ms, now, __ATOMIC_RELEASE);
	}
	await_report(now + REPORT_MS);
}
