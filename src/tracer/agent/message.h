/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * message.h - messages from the helper thread to a daemon, and the handling of a daemon's
 * messages (src/common/proto/app.def).
 */
#ifndef TRACER_AGENT_MESSAGE_H
#define TRACER_AGENT_MESSAGE_H

#include <stdbool.h>

#include "proto/codec.h"

struct agent_link;

/** First message of a connection. */
void agent_send_hello(struct agent_link *link);
/** Encode one message with news for the daemon. Return: whether there was any. */
bool agent_send_news(struct agent_link *link);

/**
 * agent_message() - act on a message; unknown ones are ignored.
 * Descriptors that are still in @dec->fds afterwards are the caller's to close.
 * Return: 0, or -EBADMSG: malformed message.
 */
int agent_message(struct agent_link *link, struct decoder *dec);

/** The same of messages that agent_message() does not know: those about counting and triggers. */
int agent_count_message(struct agent_link *link, uint16_t type, struct decoder *dec);
int agent_fired_message(struct agent_link *link, uint16_t type, struct decoder *dec);

#endif
