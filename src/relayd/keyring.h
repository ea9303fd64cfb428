/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * keyring.h - the keys that a relay uses with each peer, the peers without encryption, and the
 * sessions that an authenticated peer may view. One for all threads; its contents can be replaced,
 * and open connections are then checked again. Owned by main().
 */
#ifndef RELAYD_KEYRING_H
#define RELAYD_KEYRING_H

#include <pthread.h>

#include "io/chan.h"
#include "io/loop.h"
#include "io/tls.h"
#include "proto/enums.h"
#include "relayd/viewer/live.h"

struct keyring {
	pthread_mutex_t lock;
	int dir_fd;
	char *path;
	/* under the lock */
	struct tls_keys *keys; /* NULL: there are none */
	char *viewers;	       /* contents of the file of that name; NULL: none */
};

/** Return: 0, or the code in @err; keyring_fini() is then not needed. */
int keyring_init(struct keyring *ring, const char *path, struct err *err) MUST_CHECK;
void keyring_fini(struct keyring *ring);
/** Load the directory's current contents; the loaded ones stay if those are invalid. */
int keyring_reload(struct keyring *ring, struct err *err) MUST_CHECK;

/** Log a warning if the relay's certificate expires soon. */
void keyring_warn(struct keyring *ring);

/**
 * keyring_accept() - begin TLS, if required, for a peer that has connected with @fd, at an address
 * that was opened as @link.
 * @ring: NULL: there are no keys.
 * @ret: NULL: the connection is not encrypted.
 * Return: 0 or negative errno.
 */
int keyring_accept(struct keyring *ring, enum relay_link link, int fd, struct tls **ret) MUST_CHECK;

/** Check @chan's peer again after a change of the keys or the passing of time.
 *  Return: 0 or -EPROTO: chan_problem() has the reason. */
int keyring_recheck(struct keyring *ring, struct chan *chan) MUST_CHECK;
/** Set @timer to the time at which the certificate of @chan's peer may have expired. To be called
 *  after the handshake, and again when the timer expired and the peer is still accepted. */
void keyring_watch(struct loop_timer *timer, const struct chan *chan);

/**
 * keyring_view_acl() - the sessions that the authenticated @peer may view: those of its host, and
 * those that the file `viewers` beside the keys grants: lines of a name and hosts, or `*` for all.
 */
void keyring_view_acl(struct keyring *ring, const char *peer, struct view_acl *ret);

#endif
