/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follow.h - serves a viewer by the LTTng-live protocol 2.4, so that it does not notice restarts of
 * the relay or broken connections: its request waits until the relay is reachable, and is
 * answered from the same position. No packet is missing, and none is sent twice.
 */
#ifndef TUNNEL_FOLLOW_H
#define TUNNEL_FOLLOW_H

#include "link.h"

/**
 * follow_serve() - answer a viewer until it disconnects. @fd: non-blocking, owned by the caller.
 * @link: open or not; it is closed afterwards.
 * Return: 0; negative: the connection had to be ended, and the log has the reason.
 */
int follow_serve(struct link *link, int fd) MUST_CHECK;

#endif
