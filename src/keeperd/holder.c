/* SPDX-License-Identifier: GPL-2.0-only */
#include "holder.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/peer.h"
#include "proto/keeper.h"

#define NAME_BYTES 64u
#define ENTRIES_MAX 65536u

struct entry {
	struct list_node node;
	int fds[3];
	char name[NAME_BYTES + 1];
};

struct keeper_client {
	struct peer peer;
	struct list_node node;
	struct holder *holder;
};

static struct entry *holder_find(struct holder *holder, const char *name)
{
	struct entry *entry;

	list_for_each(entry, &holder->entries, node)
		if (strcmp(entry->name, name) == 0)
			return entry;
	return NULL;
}

static void entry_close(struct entry *entry)
{
	for (size_t i = 0; i < ARRAY_SIZE(entry->fds); i++)
		entry->fds[i] = close_fd(entry->fds[i]);
}

/* --- commands -------------------------------------------------------------------- */

static void holder_reply(struct keeper_client *client, const struct msg_header *asked,
			 enum err_code code, const char *text)
{
	uint8_t buf[256];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, asked->type, MSG_REPLY, asked->serial);
	encode_outcome(&enc, code, text);
	peer_send(&client->peer, &enc);
}

static int holder_put(struct keeper_client *client, const struct msg_header *header,
		      struct decoder *dec)
{
	struct holder *holder = client->holder;
	struct req_keep_put req;
	struct entry *entry;

	if (req_keep_put_decode(dec, &req) < 0)
		return -EBADMSG;
	entry = holder_find(holder, req.name);
	if (!entry && (holder->nr_entries == ENTRIES_MAX || strlen(req.name) > NAME_BYTES)) {
		close_fd(req.first), close_fd(req.second), close_fd(req.third);
		holder_reply(client, header, ERR_LIMIT,
			     holder->nr_entries == ENTRIES_MAX ?
				     "the descriptor store has no free entry" :
				     "the name of the entry is too long");
		return 0;
	}
	if (!entry) {
		entry = xalloc(sizeof(*entry));
		strcpy(entry->name, req.name);
		list_append(&holder->entries, &entry->node);
		holder->nr_entries++;
	} else {
		entry_close(entry);
	}
	entry->fds[0] = req.first;
	entry->fds[1] = req.second;
	entry->fds[2] = req.third;
	holder_reply(client, header, ERR_NONE, "");
	return 0;
}

static int holder_drop(struct keeper_client *client, const struct msg_header *header,
		       struct decoder *dec)
{
	struct holder *holder = client->holder;
	struct req_keep_drop req;
	struct entry *entry;

	if (req_keep_drop_decode(dec, &req) < 0)
		return -EBADMSG;
	entry = holder_find(holder, req.name);
	if (entry) {
		entry_close(entry);
		list_remove(&entry->node);
		free(entry);
		holder->nr_entries--;
	}
	holder_reply(client, header, ERR_NONE, "");
	return 0;
}

static int holder_list(struct keeper_client *client, const struct msg_header *header)
{
	struct entry *entry;

	list_for_each(entry, &client->holder->entries, node) {
		struct msg_kept msg = { entry->name };
		struct encoder enc;
		uint8_t buf[256];

		encoder_init(&enc, buf, sizeof(buf));
		encode_header(&enc, MSG_kept, MSG_ITEM, header->serial);
		msg_kept_encode(&enc, &msg);
		peer_send(&client->peer, &enc);
	}
	holder_reply(client, header, ERR_NONE, "");
	return 0;
}

static int holder_get(struct keeper_client *client, const struct msg_header *header,
		      struct decoder *dec)
{
	struct rep_keep_get rep;
	struct req_keep_get req;
	struct encoder enc;
	struct entry *entry;
	uint8_t buf[256];

	if (req_keep_get_decode(dec, &req) < 0)
		return -EBADMSG;
	entry = holder_find(client->holder, req.name);
	if (!entry) {
		holder_reply(client, header, ERR_INVALID,
			     "the keeper has no descriptor of that name");
		return 0;
	}
	rep = (struct rep_keep_get){ entry->fds[0], entry->fds[1], entry->fds[2] };
	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, header->type, MSG_REPLY, header->serial);
	encode_outcome(&enc, ERR_NONE, "");
	rep_keep_get_encode(&enc, &rep);
	peer_send(&client->peer, &enc);
	return 0;
}

static int holder_on_message(struct peer *peer, const struct msg_header *header,
			     struct decoder *dec)
{
	struct keeper_client *client = container_of(peer, struct keeper_client, peer);

	switch (header->type) {
	case MSG_keep_put:
		return holder_put(client, header, dec);
	case MSG_keep_drop:
		return holder_drop(client, header, dec);
	case MSG_keep_list:
		return holder_list(client, header);
	case MSG_keep_get:
		return holder_get(client, header, dec);
	default:
		holder_reply(client, header, ERR_UNKNOWN_COMMAND, "unknown request");
		return 0;
	}
}

static void holder_on_close(struct peer *peer)
{
	struct keeper_client *client = container_of(peer, struct keeper_client, peer);
	struct holder *holder = client->holder;

	list_remove(&client->node);
	peer_fini(peer);
	free(client);
	holder->changed(holder);
}

static const struct peer_ops ops = { .message = holder_on_message, .closed = holder_on_close };

/* --- life ------------------------------------------------------------------------ */

void holder_init(struct holder *holder, struct loop *loop, void (*changed)(struct holder *holder))
{
	*holder = (struct holder){ .loop = loop, .changed = changed };
	list_init(&holder->entries);
	list_init(&holder->clients);
}

void holder_fini(struct holder *holder)
{
	struct keeper_client *client, *next_client;
	struct entry *entry, *next;

	list_for_each_safe(client, next_client, &holder->clients, node) {
		list_remove(&client->node);
		peer_fini(&client->peer);
		free(client);
	}
	list_for_each_safe(entry, next, &holder->entries, node) {
		entry_close(entry);
		list_remove(&entry->node);
		free(entry);
	}
}

int holder_serve(struct holder *holder, int fd)
{
	struct keeper_client *client = xalloc(sizeof(*client));
	int ret = peer_init(&client->peer, holder->loop, fd, &ops);

	if (ret < 0) {
		free(client);
		return ret;
	}
	client->holder = holder;
	list_append(&holder->clients, &client->node);
	if (client->peer.uid != geteuid() && client->peer.uid != 0)
		peer_hang_up(&client->peer);
	holder->changed(holder);
	return 0;
}

bool holder_is_idle(const struct holder *holder)
{
	return list_empty(&holder->entries) && list_empty(&holder->clients);
}
