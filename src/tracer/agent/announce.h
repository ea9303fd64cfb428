/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * announce.h - encodes messages with the process's points, of at most MSG_MAX_BYTES. Helper thread.
 *
 * A point that does not fit into one message is announced without the labels of its enumerations
 * and its format; if it still does not fit, it is omitted.
 */
#ifndef TRACER_AGENT_ANNOUNCE_H
#define TRACER_AGENT_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>

struct encoder;

/**
 * agent_announce_points() - encode the next points that have not been sent on a link.
 * @unanswered: an announcement is unanswered; then this message does not complete another one,
 *              as the daemon may answer both at once.
 * @announced: generation whose announcement is complete, 0: none yet. Set where
 *             this message completes one; it may be empty then.
 * @enc: holds a header.
 *
 * Return: whether there is anything to send.
 */
bool agent_announce_points(unsigned int link, bool unanswered, uint32_t *announced,
			   struct encoder *enc);

/** Encode ids of removed points. Return: whether there were any. */
bool agent_announce_gone(unsigned int link, struct encoder *enc);

#endif
