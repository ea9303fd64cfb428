/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follow.h - the protocol with a viewer (LTTng-live 2.4), to which a restart of the relay or a
 * broken connection is invisible: its request waits until the relay is reachable, and is
 * answered from the same position. No packet is missing, and none is sent twice.
 */
#ifndef TUNNEL_FOLLOW_H
#define TUNNEL_FOLLOW_H

#include "link.h"

/**
 * follow_serve() - answer a viewer until it hangs up. @fd stays the caller's, non-blocking. @link:
 * open or not; it is closed afterwards.
 * Return: 0; negative: the view ended too early, and the log says why.
 */
int follow_serve(struct link *link, int fd) MUST_CHECK;

#endif
