/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tcp_owner.h - the user at the other end of a local TCP connection, from the kernel's table of
 * sockets (sock_diag(7)). Any thread, but one at a time for each netlink socket.
 */
#ifndef IO_TCP_OWNER_H
#define IO_TCP_OWNER_H

#include <sys/types.h>

#include "base/macros.h"

/** Open and test a netlink socket. Return: descriptor; negative errno: the kernel does not support
 *  such requests (the module tcp_diag is missing). */
int tcp_owner_open(void) MUST_CHECK;
/**
 * The user of the other end of @fd.
 * @diag_fd: netlink socket; negative: none, and /proc/net/tcp is read, which is slow.
 * Return: 0, or negative errno: the other end is closed, or elsewhere.
 */
int tcp_owner(int diag_fd, int fd, uid_t *ret_uid) MUST_CHECK;

#endif
