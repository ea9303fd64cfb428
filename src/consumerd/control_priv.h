/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control_priv.h - the control from inside: control.c hands each request to its
 * handler, control_open.c has those that open things, control_reply.c makes answers,
 * control_done.c gives those that waited for a worker. Main thread.
 */
#ifndef CONSUMERD_CONTROL_PRIV_H
#define CONSUMERD_CONTROL_PRIV_H

#include "control.h"
#include "outputs.h"
#include "proto/consumer.h"

/** A request that is being answered. */
struct request {
	struct control *control;
	const struct msg_header *header;
	struct decoder *dec;
};

/*
 * Handlers: each returns a code (then the caller answers with @err), or 0 where the
 * answer has been given or is a worker's to give.
 */
int on_output_open(const struct request *rq, struct err *err);
int on_trace_open(const struct request *rq, struct err *err);
int on_trace_adopt(const struct request *rq, struct err *err);
int on_trace_close(const struct request *rq, struct err *err);
int on_metadata_append(const struct request *rq, struct err *err);
int on_ring_open(const struct request *rq, struct err *err);
int on_ring_adopt(const struct request *rq, struct err *err);
int on_stats(const struct request *rq, struct err *err);

/** The output, if it is there and not being closed; else NULL and @err. */
struct output *request_output(const struct request *rq, uint64_t id, struct err *err);
/** A worker's job whose end answers the request. */
struct job *request_job(const struct request *rq, enum job_kind kind, struct output *output);
void request_answer(const struct request *rq, const struct err *err);
/** To be answered when what the worker was asked before is done. @ring: 0: none. */
void request_answer_behind(const struct request *rq, struct output *output, uint64_t ring);
/* Sentences; each returns the code. */
int request_is_bad(struct err *err);
int request_unknown(struct err *err, const char *what, uint64_t id);
int request_taken(struct err *err, const char *what, uint64_t id);

/** Send, if the connection that asked is still there. */
void control_send(struct control *c, const struct encoder *enc);
void control_begin_reply(struct encoder *enc, void *buf, size_t cap, uint16_t type, uint32_t serial,
			 const struct err *err);
void control_answer(struct control *c, uint16_t type, uint32_t serial, const struct err *err);
/** To con_adopted. */
void control_answer_all_adopted(const struct request *rq, const struct err *err);
void control_answer_adopted(struct control *c, uint32_t serial,
			    const struct rep_con_ring_adopt *rep);
void control_answer_kept(struct control *c, uint32_t serial, const struct ring_ref *ring);
void control_send_counters(struct control *c, uint32_t serial, const struct ring_ref *ring);
void control_send_all_counters(struct control *c, uint32_t serial, const struct output *output);
/** Tell of an output whose worker hangs in a file system that does not answer, and that it
 *  does no more. A request for figures would not show it. */
void control_watch_output(struct control *c, struct output *output);
/** All that a keeper would hold of it: MSG_held. */
void control_send_held(struct control *c, uint32_t serial, const struct output *output);

/** Have its worker write everything and end. */
void control_end_output(struct output *output);
/** Workers have done something. */
void control_done_ready(struct loop_fd *source, uint32_t events);

#endif
