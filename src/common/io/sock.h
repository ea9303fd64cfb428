/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sock.h - Unix SOCK_SEQPACKET sockets, with descriptors as ancillary data. */
#ifndef IO_SOCK_H
#define IO_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/macros.h"

/** Listen at @path (a stale socket file of a dead daemon is replaced). Non-blocking,
 *  close-on-exec. Return: descriptor or negative errno (-EADDRINUSE: another process listens
 *  there). */
int sock_listen(const char *path, mode_t mode, gid_t gid) MUST_CHECK;
#define SOCK_CONNECT_S 5 /* connect() blocks while the daemon's queue of connections is full */

/** Connect; blocking descriptor. Return: descriptor or negative errno; -EAGAIN: not accepted
 *  within SOCK_CONNECT_S. */
int sock_connect(const char *path) MUST_CHECK;
int sock_pair(int ret_fds[2]) MUST_CHECK;

/** Identity of the peer, from the kernel. */
int sock_peer(int fd, pid_t *ret_pid, uid_t *ret_uid, gid_t *ret_gid) MUST_CHECK;

/** Set whether descriptors are accepted from the peer of this connection, or from clients
 *  of this listening socket. If the kernel (before Linux 6.16) cannot reject
 *  them, sock_recv() returns them, and its caller closes them. */
void sock_accept_fds(int fd, bool accept_fds);

/** Send one message. Return: 0 or negative errno (-EAGAIN: a non-blocking socket is full). */
int sock_send(int fd, const void *data, size_t len, const int *fds, unsigned int nr_fds) MUST_CHECK;
/**
 * sock_recv() - receive one message.
 * @ret_fds: MSG_MAX_FDS entries; set to the received ones (close-on-exec), the rest to -1.
 * Return: bytes, 0 at the end of the stream, negative errno; -EMSGSIZE: it was
 * longer than @cap. If too many descriptors were sent, or more than this process may open, all
 * are closed, and the message is returned without them.
 */
ssize_t sock_recv(int fd, void *buf, size_t cap, int *ret_fds, unsigned int *ret_nr_fds) MUST_CHECK;

/** Close a descriptor from an untrusted peer, whose close() may block, without waiting for it. */
void sock_drop(int fd);
/** Close a connection whose unread messages may contain such descriptors. */
void sock_hang_up(int fd);

#endif
