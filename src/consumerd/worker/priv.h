/* SPDX-License-Identifier: GPL-2.0-only */
/* priv.h - a worker from inside: worker.c is its rhythm, jobs.c has its jobs, disk.c the state of
 * its output. All of it belongs to the worker's thread but config, doorbell, notifier, inbox, sink
 * (see sink.h) and disk.busy_since_ns. */
#ifndef CONSUMERD_WORKER_PRIV_H
#define CONSUMERD_WORKER_PRIV_H

#include "notifier.h"
#include "consumerd/doorbell.h"
#include "worker.h"

#define WORKER_TEXT_BYTES 190

enum pace {
	PACE_FLOWING,  /* data comes: cut every period */
	PACE_SETTLING, /* WAKE is set; one more look when the period is over */
	PACE_IDLE,     /* nothing to do until somebody rings */
};

struct worker {
	struct worker_config config;
	pthread_t thread;
	struct doorbell doorbell;
	struct notifier
		notifier; /* made by the main thread, before the first job that needs them */
	struct job_queue inbox;

	struct list_node traces;  /* struct tracedir */
	struct list_node sets;	  /* struct ringset */
	struct list_node delayed; /* struct job: metadata that could not be written yet */
	struct list_node closing; /* struct job: traces of which the spool may have something */
	void *owner;		  /* of the notes */
	bool ended;

	enum pace pace;
	uint64_t period_ns;
	uint64_t due_ns;	  /* of the next flush, or last look */
	unsigned int false_rings; /* in a row; half of them are forgotten in a quiet moment */

	int failing;		  /* errno of the output; 0: it works */
	bool unreported;	  /* an adopted output's: the daemon may not know of it */
	enum disk_limit at_limit; /* the limit that makes it fail, if it is one */
	uint64_t retry_ns;
	uint64_t backoff_ns;

	struct sink *sink;
	struct sink_host host; /* the worker, for the sink */
	int trouble_reported;  /* of the sink's */
	bool awaited;	       /* a flush, or the end, is being waited for */
	bool incomplete;       /* more ring sets may hold what an earlier consumer did not send */
	struct {
		uint32_t clock;
		uint64_t ts, ns; /* one instant on the rings' clock and on ours; 0: not taken yet */
	} base;
	struct disk disk;
	uint64_t closed_bytes; /* of traces that are closed */
	bool measure;	       /* disk.used is not known */
	uint64_t sync_due_ns;  /* with SYNC_PERIOD, while something is to be synced; 0: nothing */
};

/** Return: the trace or NULL. A trace lives until it is closed, or its output is. */
struct tracedir *worker_find_trace(const struct worker *worker, uint64_t id);

/** Be awake and cut at once. */
void worker_flow(struct worker *worker);

/** Do everything that is in the inbox. Return: whether there was anything. */
bool worker_do_jobs(struct worker *worker);

/** Cut everything, metadata first; keeps account of whether the output works.
 *  Return: how many rings had something. */
unsigned int worker_cut_all(struct worker *worker, enum stream_cut how);

/** Have records ring, or not: LTT_RING_WAKE of all rings. */
void worker_set_wake(struct worker *worker, bool on);

/** Has the directory of a trace been removed? */
bool worker_is_any_gone(const struct worker *worker);

/** Learn how large the output's files are. */
void worker_measure(struct worker *worker);

/** Append metadata wherever it goes. Return: 0 or negative errno. */
int worker_append(struct worker *worker, struct tracedir *dir, const void *text,
		  uint32_t len) MUST_CHECK;

/** Make all streams known to the relay before younger data is sent. */
int worker_attach(struct worker *worker) MUST_CHECK;

/** Sync written data to the disk, as far as the output is to be synced. */
void worker_sync(struct worker *worker);

/** A whole sentence for why the output fails, if there is one: a limit, or what the relay
 *  has; else "". @ret is used for it. */
const char *worker_limit_text(const struct worker *worker, char ret[WORKER_TEXT_BYTES]);

/** Keep the counters of all rings up to date where nothing is cut. */
void worker_update(struct worker *worker);

/** Close a trace's files and forget it. */
void worker_close_trace(struct worker *worker, struct tracedir *dir);

/** Send data that the sink stored, until all is sent, or none for @timeout_ns; for @most_ns at
 *  most. */
void worker_wait_for_drain(struct worker *worker, uint64_t timeout_ns, uint64_t most_ns);
/** Report the sink's trouble, if it has changed. */
void worker_note_trouble(struct worker *worker);

/** Note that the output fails (errno) or works (0); the main thread hears of changes. */
void worker_note(struct worker *worker, int error, const char *doing);

#endif
