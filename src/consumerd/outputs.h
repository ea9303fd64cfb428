/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * outputs.h - what the main thread knows of each output: its worker, the ids of
 * its traces and rings, and the rings' counters, which stay until the output
 * is closed. Owned by struct control.
 */
#ifndef CONSUMERD_OUTPUTS_H
#define CONSUMERD_OUTPUTS_H

#include "control.h"
#include "consumerd/worker/worker.h"

struct output {
	struct idmap_node node;
	struct list_node all_node;
	struct worker *worker;
	struct list_node traces;
	struct list_node rings;
	struct loop_fd notifier; /* of the kernel's rings, for the worker */
	bool closing;		 /* JOB_END is on its way */
	bool failing;		 /* as its worker has noted; */
	bool hanging;		 /* it does not come to noting, which has been told */
	uint32_t life;		 /* of the control connection that opened or took it over */
};

struct trace_ref {
	struct idmap_node node;
	struct list_node output_node;
	struct output *output;
};

/** @set: to switch and peek; NULL before it is open and once it is to be closed. */
struct ring_ref {
	struct idmap_node node;
	struct list_node output_node;
	struct output *output;
	struct ringset *set;
	int data, ctl_rw; /* for a session daemon that has lost them, and its keeper; */
	int module;	  /* so is the kernel module's channel */
	bool closing;
	bool closed;	       /* its counters are final */
	uint32_t closing_life; /* of the connection on which that was asked for */
	bool adopting;	       /* it has counters, but they are not read yet */
	bool repaired;	       /* its memory was lost: there are but its files' counters */
	bool switched, on;     /* how, when it is open */
	uint32_t life;	       /* as its output's */
	uint32_t nr;
	struct stats_box boxes[]; /* nr */
};

/** @worker is taken over. */
struct output *output_new(struct control *control, uint64_t id, struct worker *worker);
/** Waits for the worker, which has ended. Forgets its traces and rings. */
void output_free(struct output *output);
/** From here on no ring of it is touched. */
void output_begin_closing(struct output *output);
/** Have its worker write all data and end; then it is closed. */
void output_end(struct output *output);
/** The same, but they stay as they are: a successor goes on with them. */
void output_begin_leaving(struct output *output);
/** Hear the kernel's rings in the place of the worker, which sleeps on memory. Return: 0 or
 *  negative errno. */
int output_watch_kernel(struct output *output, struct loop *loop) MUST_CHECK;
struct output *output_find(struct control *control, uint64_t id);

struct trace_ref *trace_ref_new(struct control *control, struct output *output, uint64_t id);
struct trace_ref *trace_ref_find(struct control *control, uint64_t id);
void trace_ref_free(struct trace_ref *trace);

struct ring_ref *ring_ref_new(struct control *control, struct output *output, uint64_t id,
			      uint32_t nr);
struct ring_ref *ring_ref_find(struct control *control, uint64_t id);
void ring_ref_begin_closing(struct ring_ref *ring);
/** Return: NULL. */
struct ring_ref *ring_ref_free(struct ring_ref *ring);

#endif
