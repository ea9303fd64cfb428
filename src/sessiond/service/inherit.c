/* SPDX-License-Identifier: GPL-2.0-only */
#include "inherit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/loop.h"
#include "io/sock.h"
#include "sessiond/peers/admission.h"
#include "sessiond/peers/consumer.h"

#define ANSWER_S 2
#define USER_NS 5000000000ull /* for all that a user's consumer sends */

struct entry {
	struct list_node node;
	char *name;
	uid_t from;
	int fds[INHERIT_FDS];
};

static struct entry *inherit_find(struct inherit *inherit, const char *name, uid_t from)
{
	struct entry *entry;

	list_for_each(entry, &inherit->entries, node)
		if (entry->from == from && strcmp(entry->name, name) == 0)
			return entry;
	return NULL;
}

static void entry_free(struct entry *entry)
{
	for (size_t i = 0; i < INHERIT_FDS; i++)
		close_fd(entry->fds[i]);
	list_remove(&entry->node);
	free(entry->name);
	free(entry);
}

void inherit_init(struct inherit *inherit)
{
	list_init(&inherit->entries);
}

void inherit_fini(struct inherit *inherit)
{
	struct entry *entry;

	while ((entry = list_first(&inherit->entries, struct entry, node)))
		entry_free(entry);
}

void inherit_add(struct inherit *inherit, const char *name, uid_t from, unsigned int slot, int fd)
{
	struct entry *entry = inherit_find(inherit, name, from);

	if (fd < 0)
		return;
	if (slot >= INHERIT_FDS || (entry && entry->fds[slot] >= 0)) {
		close(fd);
		return;
	}
	if (!entry) {
		entry = xalloc(sizeof(*entry));
		entry->name = xstrdup(name);
		entry->from = from;
		for (size_t i = 0; i < INHERIT_FDS; i++)
			entry->fds[i] = -1;
		list_append(&inherit->entries, &entry->node);
	}
	entry->fds[slot] = fd;
}

bool inherit_take(struct inherit *inherit, const char *name, uid_t uid, int ret_fds[INHERIT_FDS])
{
	struct entry *entry = inherit_find(inherit, name, INHERIT_TRUSTED);

	if (!entry)
		entry = inherit_find(inherit, name, uid);
	if (!entry)
		return false;
	for (size_t i = 0; i < INHERIT_FDS; i++)
		ret_fds[i] = TAKE_FD(entry->fds[i]);
	entry_free(entry);
	return true;
}

char *inherit_any(const struct inherit *inherit)
{
	const struct entry *entry = list_first(&inherit->entries, struct entry, node);

	return entry ? xstrdup(entry->name) : NULL;
}

/* --- the consumer ------------------------------------------------------------------ */

static int inherit_request(int fd)
{
	struct timeval timeout = { ANSWER_S, 0 };
	struct req_con_held req;
	struct encoder enc;
	uint8_t buf[64];

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_con_held, 0, 1);
	req_con_held_encode(&enc, &req);
	return sock_send(fd, enc.buf, enc.len, NULL, 0);
}

/* The descriptors of one consumer. A user's is limited, or it could use up the time of this daemon
 * and its descriptors, which others need. @skip: beginning of names that are not wanted of it. */
struct transfer {
	struct inherit *inherit;
	uid_t from;
	const char *skip;
	int fd;
	uint64_t end_ns;
	unsigned int fds_left;
};

static void transfer_init(struct transfer *t, struct inherit *inherit, uid_t from, int fd,
			  const char *skip)
{
	bool trusted = from == INHERIT_TRUSTED;

	*t = (struct transfer){ .inherit = inherit, .from = from, .skip = skip, .fd = fd };
	t->end_ns = trusted ? UINT64_MAX : loop_now_ns() + USER_NS;
	t->fds_left = trusted ? UINT_MAX : admission_fd_limit() / 2;
}

static void transfer_store(const struct transfer *t, const struct msg_held *held)
{
	inherit_add(t->inherit, held->name, t->from, 0, held->first);
	inherit_add(t->inherit, held->name, t->from, 1, held->second);
	inherit_add(t->inherit, held->name, t->from, 2, held->third);
}

/* Return: 1: there is more; 0: that was all; negative errno. */
static int transfer_receive(struct transfer *t)
{
	static uint8_t buf[MSG_MAX_BYTES];
	struct msg_header header;
	struct msg_held held;
	int fds[MSG_MAX_FDS];
	struct decoder dec;
	unsigned int nr_fds;
	ssize_t n = sock_recv(t->fd, buf, sizeof(buf), fds, &nr_fds);
	int ret;

	if (n <= 0)
		return n < 0 ? (int)n : -ECONNRESET;
	decoder_init(&dec, buf, (size_t)n, fds, nr_fds);
	ret = nr_fds > t->fds_left || loop_now_ns() > t->end_ns ? -EDQUOT : 0;
	if (ret == 0)
		ret = decode_header(&dec, &header);
	if (ret == 0 && header.type == MSG_held && msg_held_decode(&dec, &held) == 0) {
		t->fds_left -= nr_fds;
		if (!t->skip || strncmp(held.name, t->skip, strlen(t->skip)) != 0)
			transfer_store(t, &held);
	}
	for (unsigned int i = 0; i < nr_fds; i++)
		close_fd(fds[i]);
	return ret < 0 ? ret : !(header.flags & MSG_REPLY);
}

static void inherit_from_consumer(struct inherit *inherit, uid_t from, const char *path,
				  const char *skip)
{
	AUTO_FD int fd = sock_connect(path);
	struct transfer transfer;
	int ret;

	if (fd < 0)
		return;
	transfer_init(&transfer, inherit, from, fd, skip);
	ret = inherit_request(fd);
	if (ret == 0)
		do
			ret = transfer_receive(&transfer);
		while (ret > 0);
	if (ret < 0)
		log_warn("%s: ltt-consumerd does not transfer all its buffers: %s", path,
			 strerror(-ret));
}

void inherit_from_consumers(struct inherit *inherit, const char *rundir)
{
	AUTO_FREE char *own = xasprintf("%s/consumer.sock", rundir);
	struct consumer_socket socket;
	DIR *dir = opendir(rundir);

	inherit_from_consumer(inherit, INHERIT_TRUSTED, own, NULL);
	/* a session's doorbell is its other consumer's */
	consumer_socket_of_kernel(rundir, &socket);
	inherit_from_consumer(inherit, INHERIT_TRUSTED, socket.path, "output-");
	while (dir && consumer_socket_next(dir, rundir, &socket))
		inherit_from_consumer(inherit, socket.uid, socket.path, NULL);
	if (dir)
		closedir(dir);
}
