/* SPDX-License-Identifier: GPL-2.0-only */
#include "apps.h"

#include <errno.h>

#include "base/log.h"
#include "base/mem.h"
#include "sessiond/domain/user/user.h"
#include "admission.h"
#include "follow.h"
#include "io/sock.h"
#include "proto/app.h"

struct app_conn {
	struct list_node node;
	struct sessiond *sd;
	struct peer peer;
	struct pending_hello pending_hello;
	struct user_app *app; /* NULL until it has sent hello */
};

/* A user's daemon is for the user's own applications. */
static int check_user(const struct peer *peer)
{
	uid_t me = geteuid();

	return me == 0 || me == peer->uid ? 0 : -EACCES;
}

static void welcome(struct app_conn *conn)
{
	struct msg_app_welcome msg = { .instance = conn->sd->instance };
	struct encoder enc;
	uint8_t buf[64];

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_app_welcome, 0, 0);
	msg_app_welcome_encode(&enc, &msg);
	peer_send(&conn->peer, &enc);
}

static int handle_app_hello(struct app_conn *conn, struct msg_app_hello *msg)
{
	if (conn->app)
		return -EPROTO;
	if (msg->bits != 64 && msg->bits != 32) {
		log_warn_some("process %d: applications of %u bits can't be traced",
			      (int)conn->peer.pid, msg->bits);
		return -EPROTO;
	}
	admission_remove(&conn->pending_hello);
	log_debug("process %d (%.40s) registers", (int)conn->peer.pid, msg->procname);
	welcome(conn);
	conn->app = user_app_new(conn->sd->domains.of[DOMAIN_USER], &conn->peer, msg);
	ends_app_begun(&conn->sd->conditions.ends, &conn->peer, msg->procname);
	return 0;
}

static int handle_app_points_add(struct app_conn *conn, struct msg_app_points_add *msg)
{
	return user_app_points_add(conn->app, msg);
}

static int handle_app_points_remove(struct app_conn *conn, struct msg_app_points_remove *msg)
{
	return user_app_points_remove(conn->app, msg);
}

static int handle_app_channels(struct app_conn *conn, struct msg_app_channels *msg)
{
	return user_app_channels(conn->app, msg);
}

static int handle_app_synced(struct app_conn *conn, struct msg_app_synced *msg)
{
	return user_app_synced(conn->app, msg);
}

static int handle_app_producer(struct app_conn *conn, struct msg_app_producer *msg)
{
	return user_app_producer(conn->app, msg);
}

static int handle_app_begun(struct app_conn *conn, struct msg_app_begun *msg)
{
	return user_app_begun(conn->app, msg);
}

static int handle_app_buffer_failed(struct app_conn *conn, struct msg_app_buffer_failed *msg)
{
	return user_app_buffer_failed(conn->app, msg);
}

static int handle_app_silent(struct app_conn *conn, struct msg_app_silent *msg)
{
	return user_app_silent(conn->app, msg);
}

static int handle_app_buffer_offer(struct app_conn *conn, struct msg_app_buffer_offer *msg)
{
	int ret = user_app_offer(conn->app, msg);

	/* in any case: an application's descriptors are opened again, not kept */
	sock_drop(msg->data);
	sock_drop(msg->ctl);
	return ret;
}

/* One case for each message that an application may send, from the table. */
#define TAKES_APP(name)                                 \
	case MSG_##name: {                              \
		struct msg_##name msg;                  \
                                                        \
		if (msg_##name##_decode(dec, &msg) < 0) \
			return -EPROTO;                 \
		return handle_##name(conn, &msg);       \
	}
#define TAKES_DAEMON(name)
#define TAKES_NESTED(name)
#define MESSAGE(name, number, who, doc) TAKES_##who(name)

static int dispatch(struct app_conn *conn, uint16_t type, struct decoder *dec)
{
	if (!conn->app && type != MSG_app_hello)
		return -EPROTO;
	switch (type) {
#include "proto/app.def"
	}
	return 0; /* a newer library's message */
}

static int apps_on_message(struct peer *peer, const struct msg_header *header, struct decoder *dec)
{
	struct app_conn *conn = container_of(peer, struct app_conn, peer);
	int ret = conn->sd->ending ? -ESHUTDOWN : dispatch(conn, header->type, dec);

	if (ret == -EPROTO)
		log_warn_some("process %d (user %u) violates the protocol; disconnected",
			      (int)peer->pid, peer->uid);
	return ret;
}

static void apps_on_close(struct peer *peer)
{
	app_conn_free(container_of(peer, struct app_conn, peer));
}

static int apps_charge_backlog(struct peer *peer, ssize_t bytes)
{
	struct app_conn *conn = container_of(peer, struct app_conn, peer);

	return sessiond_backlog(conn->sd, peer->uid, bytes);
}

static const struct peer_ops ops = { apps_on_message, apps_on_close, apps_charge_backlog };

/* The sessions that record its user's programs lack its events. It has not sent its scope: it may
 * be a program of any of them. */
static void apps_refuse(struct sessiond *sd, const struct peer *peer, const char *why)
{
	struct session *session;
	char name[32];

	log_warn_some("process %d of user %u is refused: %s", (int)peer->pid, peer->uid, why);
	peer_process_name(peer->pid, name, sizeof(name));
	list_for_each(session, &sd->sessions.list, node)
		if (session->state == SESSION_RECORDING &&
		    session_admits(session, peer->uid, session->scope)) {
			session_note_unrecorded(session, peer->pid, name, why);
			follow_changed(sd, session);
		}
}

/* Root's socket is open to all users: none may use up the daemon's descriptors. */
static int apps_admit(struct sessiond *sd, const struct peer *peer)
{
	const struct account_id account = { .uid = peer->uid };
	struct err err = { 0 };

	if (!admission_has_room(peer->source.fd, ADMISSION_APP))
		err_set(&err, ERR_LIMIT,
			"the session daemon's limit of %u open files is near; raise it (ulimit -n, "
			"LimitNOFILE=)",
			admission_fd_limit());
	else if (quota_take_or_explain(&sd->quotas, account, QUOTA_APPS, 1, &err) == 0)
		return 0;
	apps_refuse(sd, peer, err.text);
	return -EUSERS;
}

int app_conn_new(struct sessiond *sd, int fd)
{
	struct app_conn *conn = xalloc(sizeof(*conn));
	int ret = peer_init(&conn->peer, sd->loop, fd, &ops);

	conn->sd = sd;
	if (ret == 0)
		ret = check_user(&conn->peer);
	if (ret == 0)
		ret = apps_admit(sd, &conn->peer);
	if (ret < 0) {
		peer_fini(&conn->peer);
		free(conn);
		return ret;
	}
	list_append(&sd->apps, &conn->node);
	admission_add(&sd->admission, &conn->pending_hello, &conn->peer);
	return 0;
}

void app_conn_free(struct app_conn *conn)
{
	const struct account_id account = { .uid = conn->peer.uid };
	struct sessiond *sd = conn->sd;

	admission_remove(&conn->pending_hello);
	if (conn->app)
		user_app_free(conn->app);
	peer_fini(&conn->peer);
	quota_give(&sd->quotas, account, QUOTA_APPS, 1);
	list_remove(&conn->node);
	free(conn);
}

struct app_conn *app_conn_first(struct sessiond *sd)
{
	return list_first(&sd->apps, struct app_conn, node);
}
