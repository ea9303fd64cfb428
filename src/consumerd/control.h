/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control.h - the consumer's side of consumer.def: maps ids to outputs, traces and rings, queues
 * slow operations as jobs of the workers, and replies when they are done. Owned by main(); runs on
 * the main thread's loop, which never touches a disk, so that switching rings and reading counters
 * never waits for one.
 */
#ifndef CONSUMERD_CONTROL_H
#define CONSUMERD_CONTROL_H

#include "base/idmap.h"
#include "io/loop.h"
#include "consumerd/worker/job.h"
#include "proto/codec.h"

struct control;

struct control_ops {
	void (*send)(struct control *control, const struct encoder *enc);
	/** con_end has arrived. */
	void (*end)(struct control *control);
	/** Called when control_end() is complete: all outputs are closed. */
	void (*ended)(struct control *control);
};

struct control {
	const struct control_ops *ops;
	struct loop *loop;
	struct idmap outputs;  /* struct output */
	struct idmap traces;   /* struct trace_ref */
	struct idmap rings;    /* struct ring_ref */
	struct list_node all;  /* struct output, in the order of their creation */
	struct job_queue done; /* jobs that workers have done */
	struct loop_fd done_source;
	bool ending;
	uint32_t connection; /* number of the connection with a session daemon */
	bool requester_gone; /* the pending request arrived on an earlier connection */
};

/** Return: 0 or negative errno. */
int control_init(struct control *control, struct loop *loop,
		 const struct control_ops *ops) MUST_CHECK;
/** Allowed only if no output is open. */
void control_fini(struct control *control);

/** Handle a message of the session daemon. Each is answered, at once or later. */
void control_message(struct control *control, const struct msg_header *header, struct decoder *dec);

/**
 * control_end() - write all data of the rings and close all outputs; `ended` is called later, never
 * by this function itself.
 * @leave: a successor takes over the rings; else no producer records into them any more.
 */
void control_end(struct control *control, bool leave);

#endif
