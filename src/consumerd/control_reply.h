/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control_reply.h - the control's answers to the session daemon: those that are given at once, and
 * those to requests for which a worker had to do a job. Main thread.
 */
#ifndef CONSUMERD_CONTROL_REPLY_H
#define CONSUMERD_CONTROL_REPLY_H

#include "control.h"
#include "outputs.h"

/** Begin an answer to the request @serial; its body follows. */
void control_begin_reply(struct encoder *enc, void *buf, size_t cap, uint16_t type, uint32_t serial,
			 const struct err *err);
/** Send, if the connection that asked is still there. */
void control_send(struct control *c, const struct encoder *enc);
/** An answer without a body. */
void control_answer(struct control *c, uint16_t type, uint32_t serial, const struct err *err);
/** Set @err: no object of the kind @what has this number. Return: the code. */
int control_unknown(struct err *err, const char *what, uint64_t id);
/** To the takeover of a ring set that this consumer has already. */
void control_answer_kept(struct control *c, uint32_t serial, const struct ring_ref *ring);
/** The counters of one ring set, and of all. */
void control_send_counters(struct control *c, uint32_t serial, const struct ring_ref *ring);
void control_send_all_counters(struct control *c, uint32_t serial, const struct output *output);
/** Report an output whose worker hangs in a file system that does not answer, and when it
 *  no longer does. A request for figures would not show it. */
void control_watch_output(struct control *c, struct output *output);
/** All descriptors of it that a keeper stores: MSG_held. */
void control_send_held(struct control *c, uint32_t serial, const struct output *output);
/** The event of control.done_source: workers have done jobs. */
void control_on_done(struct loop_fd *source, uint32_t events);

#endif
