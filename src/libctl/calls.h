/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls.h - a function for each command of client.def:
 *
 *   int call_NAME(client, &req, item, priv, &rep, &err)
 *
 * Strings and lists in the reply are valid until the next call. Return: 0 or
 * the enum err_code in err; then the reply is empty.
 *
 * call_session_follow() returns when the session has been destroyed; until then @item receives
 * MSG_news for each change. It needs a connection without other requests meanwhile. If the
 * session daemon dies, it returns ERR_NO_DAEMON: connect again (daemon_open() starts the
 * successor) and follow again; the session's current state is sent first, also if it was sent
 * before.
 */
#ifndef LIBCTL_CALLS_H
#define LIBCTL_CALLS_H

#include <string.h>

#include "client.h"

#define COMMAND(name, number, access, turn, doc)                                               \
	static inline int call_##name(struct client *client, const struct req_##name *req,     \
				      client_item_fn item, void *priv, struct rep_##name *ret, \
				      struct err *err)                                         \
	{                                                                                      \
		struct decoder reply;                                                          \
                                                                                               \
		memset(ret, 0, sizeof(*ret));                                                  \
		req_##name##_encode(client_request(client, MSG_##name), req);                  \
		if (client_exchange(client, item, priv, &reply, err) != 0)                     \
			return err->code;                                                      \
		if (rep_##name##_decode(&reply, ret) == 0)                                     \
			return 0;                                                              \
		memset(ret, 0, sizeof(*ret));                                                  \
		return err_set(err, ERR_BAD_MESSAGE,                                           \
			       "malformed answer of the session daemon to '" #name "'");       \
	}
#include "proto/client.def"

#endif
