/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follow.h - the conversation with a viewer (LTTng-live 2.4), which hears nothing of it when the
 * relay is restarted or the line is cut: its question waits until the relay is back, and is
 * answered from where it was. No packet is missing, and none comes twice.
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
