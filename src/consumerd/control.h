/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control.h - consumer.def as the consumer answers it: knows outputs, traces and
 * rings by id, hands what takes time to the workers, and answers when it is
 * done. Owned by main(); runs on the main thread's loop, which never touches a
 * disk, so that switching rings and asking for counters never waits for one.
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
	/** control_end() is through: every output is closed. */
	void (*ended)(struct control *control);
};

struct control {
	const struct control_ops *ops;
	struct loop *loop;
	struct idmap outputs; /* struct output */
	struct idmap traces;  /* struct trace_ref */
	struct idmap rings;   /* struct ring_ref */
	struct list_node all; /* outputs again, to walk them */
	struct job_queue done;
	struct loop_fd done_source;
	bool ending;
	uint32_t life;	 /* number of the connection with a session daemon */
	bool asker_gone; /* what is being answered was asked on an earlier one */
};

/** Return: 0 or negative errno. */
int control_init(struct control *control, struct loop *loop,
		 const struct control_ops *ops) MUST_CHECK;
/** Only when no output is left. */
void control_fini(struct control *control);

/** A message of the session daemon's. Always answered, now or later. */
void control_message(struct control *control, const struct msg_header *header, struct decoder *dec);

/**
 * control_end() - write everything that is in the rings and close; `ended` follows,
 * never from inside.
 * @leave: a successor goes on with the rings; else nobody records into them any more.
 */
void control_end(struct control *control, bool leave);

#endif
