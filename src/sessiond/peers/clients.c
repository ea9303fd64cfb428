/* SPDX-License-Identifier: GPL-2.0-only */
#include "clients.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "follow.h"
#include "sessiond/cmd/cmd.h"
#include "sessiond/state/state.h"
#include "sessiond/trigger/watchers.h"

/* Requests of one client that may wait for an answer at the same time. */
#define MAX_WAITING 256u
/* Rejected clients at a time that are sent the reason; further ones are just closed. */
#define MAX_REFUSED 4u

struct client *client_find(struct sessiond *sd, uint64_t id)
{
	struct client *client;

	list_for_each(client, &sd->clients, node)
		if (client->id == id)
			return client;
	return NULL;
}

static int clients_on_message(struct peer *peer, const struct msg_header *header,
			      struct decoder *dec)
{
	struct client *client = container_of(peer, struct client, peer);
	struct command *cmd;

	if (header->flags || client->sd->ending)
		return -EPROTO;
	cmd = xalloc(sizeof(*cmd));
	cmd->sd = client->sd;
	cmd->client = client->id;
	cmd->caller = (struct caller){ peer->uid, peer->gid };
	cmd->type = header->type;
	cmd->serial = header->serial;
	client->nr_waiting++;
	if (client->refusal.code) {
		cmd->err = client->refusal;
		command_fail(cmd);
		peer_hang_up(peer);
		return 0;
	}
	admission_remove(&client->pending_hello);
	if (client->nr_waiting > MAX_WAITING) {
		command_error(
			cmd, ERR_BUSY,
			"this connection has %u pending requests, which is the limit; wait for "
			"replies",
			MAX_WAITING);
		command_fail(cmd);
		return 0;
	}
	command_dispatch(cmd, dec);
	return 0;
}

static void clients_on_close(struct peer *peer)
{
	client_conn_free(container_of(peer, struct client, peer));
}

static int clients_charge_backlog(struct peer *peer, ssize_t bytes)
{
	struct client *client = container_of(peer, struct client, peer);

	return sessiond_backlog(client->sd, peer->uid, bytes);
}

static const struct peer_ops ops = { clients_on_message, clients_on_close, clients_charge_backlog };

/* Return: 0, or the code set in @err. */
static int clients_admit(struct sessiond *sd, const struct peer *peer, struct err *err)
{
	const struct account_id account = { .uid = peer->uid };

	if (!admission_has_room(peer->source.fd, ADMISSION_CLIENT))
		return err_set(err, ERR_LIMIT,
			       "the session daemon has nearly reached its limit of %u open files; "
			       "destroy sessions, or start it with a higher limit (ulimit -n)",
			       admission_fd_limit());
	return quota_take_or_explain(&sd->quotas, account, QUOTA_CLIENTS, 1, err);
}

int client_conn_new(struct sessiond *sd, int fd)
{
	struct client *client = xalloc(sizeof(*client));
	int ret = peer_init(&client->peer, sd->loop, fd, &ops);

	client->sd = sd;
	/* some rejected clients are sent the reason */
	if (ret == 0 && clients_admit(sd, &client->peer, &client->refusal) &&
	    sd->nr_refused >= MAX_REFUSED)
		ret = -EUSERS;
	if (ret < 0) {
		peer_fini(&client->peer);
		free(client);
		return ret;
	}
	sd->nr_refused += client->refusal.code != 0;
	client->id = sd->next_client++;
	list_append(&sd->clients, &client->node);
	admission_add(&sd->admission, &client->pending_hello, &client->peer);
	return 0;
}

void client_conn_free(struct client *client)
{
	const struct account_id account = { .uid = client->peer.uid };
	struct sessiond *sd = client->sd;

	follow_leave(sd, client->id);
	watchers_leave(sd, client->id);
	state_save_series(sd, client->id);
	admission_remove(&client->pending_hello);
	peer_fini(&client->peer);
	if (client->refusal.code)
		sd->nr_refused--;
	else
		quota_give(&sd->quotas, account, QUOTA_CLIENTS, 1);
	list_remove(&client->node);
	free(client);
}
