/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tcp_owner.h - whose the other end of a connection within this machine is. TCP says nothing
 * of users, but the kernel does, of its own sockets (sock_diag(7)). Any thread, one at a
 * time for a socket.
 */
#ifndef IO_TCP_OWNER_H
#define IO_TCP_OWNER_H

#include <sys/types.h>

#include "base/macros.h"

/** The socket to ask with; it has been tried. Return: descriptor or negative errno: the kernel
 *  can't answer (for want of a module of its, tcp_diag). */
int tcp_owner_open(void) MUST_CHECK;
/**
 * The user of the other end of @fd.
 * @diag_fd: negative where there is none; then the kernel's table of all connections is read, which
 *	takes its time.
 * Return: 0, or negative errno: the other end is closed, or elsewhere.
 */
int tcp_owner(int diag_fd, int fd, uid_t *ret_uid) MUST_CHECK;

#endif
