/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * guest_message.h - what the helper thread tells a daemon, and what it does
 * with a daemon's messages (src/common/proto/app.def).
 */
#ifndef TRACER_GUEST_MESSAGE_H
#define TRACER_GUEST_MESSAGE_H

#include <stdbool.h>

#include "proto/codec.h"

struct guest_link;

/** First message of a connection. */
void guest_say_hello(struct guest_link *link);
/** Anything that the daemon does not know yet: one message of it.
 *  Return: whether there was any. */
bool guest_say_news(struct guest_link *link);

/**
 * guest_message() - act on a message; unknown ones are ignored.
 * Descriptors that are still in @dec->fds afterwards are the caller's to close.
 * Return: 0, or -EBADMSG: the daemon talks nonsense.
 */
int guest_message(struct guest_link *link, struct decoder *dec);

/** The same of messages that guest_message() does not know: those about counting. */
int guest_count_message(struct guest_link *link, uint16_t type, struct decoder *dec);

#endif
