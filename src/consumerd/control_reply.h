/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control_reply.h - answers of struct control to the session daemon: immediate ones, and those to
 * requests for which a worker had to do a job. Main thread.
 */
#ifndef CONSUMERD_CONTROL_REPLY_H
#define CONSUMERD_CONTROL_REPLY_H

#include "control.h"
#include "outputs.h"

/** Begin an answer to the request @serial; its body follows. */
void control_begin_reply(struct encoder *enc, void *buf, size_t cap, uint16_t type, uint32_t serial,
			 const struct err *err);
/** Send, if the requesting connection is still open. */
void control_send(struct control *c, const struct encoder *enc);
/** An answer without a body. */
void control_answer(struct control *c, uint16_t type, uint32_t serial, const struct err *err);
/** Set @err: no object of the kind @what has this number. Return: the code. */
int control_unknown(struct err *err, const char *what, uint64_t id);
/** Answer the request to adopt a ring set that this consumer has open already. */
void control_answer_kept(struct control *c, uint32_t serial);
/** Answer with the counters of one ring set, and of all ring sets of an output. */
void control_send_counters(struct control *c, uint32_t serial, const struct ring_ref *ring);
void control_send_all_counters(struct control *c, uint32_t serial, const struct output *output);
/** Report whether an output's worker hangs, because its file system does not answer, if that has
 *  changed. */
void control_watch_output(struct control *c, struct output *output);
/** Answer with the descriptors of the output that a keeper stores: MSG_held. */
void control_send_held(struct control *c, uint32_t serial, const struct output *output);
/** Handler of control.done_source: answer the requests whose jobs are done. */
void control_on_done(struct loop_fd *source, uint32_t events);

#endif
