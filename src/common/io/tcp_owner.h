/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tcp_owner.h - the user at the other end of a connection within this machine. TCP does not
 * transfer users, but the kernel knows the owners of its sockets (sock_diag(7)). Any thread, but
 * one at a time for each socket.
 */
#ifndef IO_TCP_OWNER_H
#define IO_TCP_OWNER_H

#include <sys/types.h>

#include "base/macros.h"

/** Open and test the netlink socket for such requests. Return: descriptor or negative errno: the
 *  kernel can't answer (the module tcp_diag is missing). */
int tcp_owner_open(void) MUST_CHECK;
/**
 * The user of the other end of @fd.
 * @diag_fd: negative: there is none; then the kernel's table of all connections is read, which
 * is slow.
 * Return: 0, or negative errno: the other end is closed, or elsewhere.
 */
int tcp_owner(int diag_fd, int fd, uid_t *ret_uid) MUST_CHECK;

#endif
