/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clients.h - connections of lttctl and others: receives requests of client.def, runs the
 * command, sends the answer. Runs on the daemon's loop.
 */
#ifndef SESSIOND_PEERS_CLIENTS_H
#define SESSIOND_PEERS_CLIENTS_H

#include "admission.h"
#include "io/peer.h"
#include "sessiond/sessiond.h"

struct client {
	struct list_node node;
	struct sessiond *sd;
	struct peer peer;
	struct pending_hello pending_hello;
	uint64_t id;
	uint32_t nr_waiting; /* commands that are not answered yet */
	struct err refusal;  /* if its code is set: the answer to all requests */
};

/** Take over a connection. Return: 0 or negative errno. */
int client_conn_new(struct sessiond *sd, int fd) MUST_CHECK;
void client_conn_free(struct client *client);
struct client *client_find(struct sessiond *sd, uint64_t id);

#endif
