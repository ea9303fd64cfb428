/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * apps.h - connections of traced applications: receives messages of app.def and passes them to
 * the user domain. An application that violates the protocol is disconnected; others are not
 * affected.
 * Runs on the daemon's loop.
 */
#ifndef SESSIOND_PEERS_APPS_H
#define SESSIOND_PEERS_APPS_H

#include "io/peer.h"
#include "sessiond/sessiond.h"

struct app_conn;

/** Take over a connection. Return: 0 or negative errno. */
int app_conn_new(struct sessiond *sd, int fd) MUST_CHECK;
void app_conn_free(struct app_conn *conn);
struct app_conn *app_conn_first(struct sessiond *sd);

#endif
