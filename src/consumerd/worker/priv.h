/* SPDX-License-Identifier: GPL-2.0-only */
/* priv.h - private part of a worker: worker.c has its main loop, jobs.c its jobs, disk.c the state
 * of its output. All members are used by the worker's thread only, except config, doorbell,
 * notifier, inbox, sink (see sink.h) and disk.busy_since_ns. */
#ifndef CONSUMERD_WORKER_PRIV_H
#define CONSUMERD_WORKER_PRIV_H

#include "notifier.h"
#include "consumerd/doorbell.h"
#include "snapshot.h"
#include "worker.h"

#define WORKER_TEXT_BYTES 190

/** State of a worker's main loop, see worker.h. */
enum pace {
	PACE_FLOWING,  /* events are being recorded: packets are cut each period */
	PACE_SETTLING, /* LTT_RING_WAKE is set; the rings are checked once more after a period */
	PACE_IDLE,     /* the worker sleeps until the doorbell wakes it */
};

struct worker {
	struct worker_config config;
	pthread_t thread;
	struct doorbell doorbell;
	struct notifier notifier; /* created by the main thread, before the first job needs it */
	struct job_queue inbox;

	struct chunk chunk;	  /* the traces of the output */
	struct list_node sets;	  /* struct ringset */
	struct list_node delayed; /* struct job: metadata that could not be written yet */
	struct list_node closing; /* struct job: to close a trace, once the spool is sent */
	struct snapshot *saving;  /* the snapshot that is being written */
	uint64_t sent_traces;	  /* by snapshot_send() */
	struct archives *removing; /* archives that are being removed; NULL: none */
	struct list_node held;	  /* struct job: to close ring sets, or to wait for that, once it is
				   * written */
	void *owner;		  /* owner of the worker's JOB_NOTE */
	bool ended;
	bool opening; /* a job is being done that opens a trace or ring set, or ends */

	enum pace pace;
	uint64_t period_ns;
	uint64_t due_ns;	     /* next flush; PACE_SETTLING: the last check */
	unsigned int spurious_wakes; /* recent ones: they lengthen the next sleep */

	int failing;		  /* errno of the output; 0: it works */
	bool unreported;	  /* the session daemon may not know @failing (adopted output) */
	enum disk_limit at_limit; /* the limit because of which it fails, if any */
	uint64_t retry_ns;
	uint64_t backoff_ns;

	struct sink *sink;
	struct sink_host host; /* functions for the sink */
	int trouble_reported;  /* sink_state().trouble that was reported last */
	bool awaited;	       /* a client waits for a flush, or for the end */
	bool incomplete;       /* not all ring sets of an earlier consumer were adopted yet */
	struct {
		uint32_t clock;
		uint64_t ts, ns; /* the same time on the rings' clock and on CLOCK_MONOTONIC */
		uint64_t margin; /* 0: not known yet */
	} base;
	uint32_t marked_epoch; /* the relay's connection for which a round was made */
	struct disk disk;
	uint64_t closed_bytes; /* bytes of traces that are closed */
	bool measure;	       /* disk.used is not known */
	bool adopted;	       /* @closed_bytes has the archives of earlier consumers */
	pthread_t remover;     /* removes cleared archives; if @removes */
	bool removes;
	char *turning;	       /* the archive of the turn that is not finished; NULL: none */
	bool clears;	       /* the turn is a clear, as far as known */
	uint64_t sync_due_ns;  /* with SYNC_PERIOD: time of the next sync; 0: all is synced */
	uint64_t reclaim_due_ns; /* next time that memory of free sub-buffers is given back */
};

/** Enter PACE_FLOWING, and cut packets at once. */
void worker_flow(struct worker *worker);

/** Do all jobs in the inbox. Return: whether there were any. */
bool worker_do_jobs(struct worker *worker);

/** In the middle of a write: do the jobs of the inbox that open traces and ring sets. */
void worker_do_openings(struct worker *worker);

/** Finish the snapshot that is being written, if its files are complete, or (@wait) when they are.
 *  Return: whether there was one to finish. */
bool worker_finish_snapshot(struct worker *worker, bool wait);

/** The same of archives that are being removed: @wait: no more of them are removed. */
bool worker_finish_archives(struct worker *worker, bool wait);

/** Write delayed metadata, then the data of all rings; update the state of the output.
 *  Return: number of rings that had data. */
unsigned int worker_cut_all(struct worker *worker, enum stream_cut how);

/** Set or clear LTT_RING_WAKE in all rings. */
void worker_set_wake(struct worker *worker, bool on);

/** Whether the directory of any trace was removed. */
bool worker_is_any_gone(const struct worker *worker);

/** Measure the size of the output's files. */
void worker_measure(struct worker *worker);

/** Append the text of a JOB_METADATA to its trace, which exists. Return: 0 or negative errno. */
int worker_append(struct worker *worker, struct job *job) MUST_CHECK;

/** Open all streams at the relay: before a turn, or (sink_attaches_all()) newer data. */
int worker_attach(struct worker *worker) MUST_CHECK;

/** Sync written data to the disk, if the output's sync mode requires it. */
void worker_sync(struct worker *worker);

/** A sentence with the reason why the output fails, if known: a limit, or an error of the relay;
 *  else "". @ret is used for it. */
const char *worker_limit_text(const struct worker *worker, char ret[WORKER_TEXT_BYTES]);

/** Report the ring sets that applications have damaged. */
void worker_report_damage(struct worker *worker);

/** Update the counters of all rings without writing packets. */
void worker_update(struct worker *worker);

/** Wait until the files that were cleared are removed. */
void worker_await_removal(struct worker *worker);

/** The turn is finished, or goes on in the next consumer. */
void worker_end_turn(struct worker *worker);
/** The streams go on behind the turn's packets, where the sink has stored them. */
void worker_turn_away(struct worker *worker);

/** Close a trace's files and free the trace. */
void worker_close_trace(struct worker *worker, struct chunk_trace *dir);

/** Send data that the sink stored, until all is sent, or no data could be sent for @timeout_ns; for
 *  @most_ns at most. */
void worker_wait_for_drain(struct worker *worker, uint64_t timeout_ns, uint64_t most_ns);
/** The same until the relay's store has all data, if it has a store. */
void worker_wait_for_store(struct worker *worker, uint64_t timeout_ns, uint64_t most_ns);
/** Report the sink's trouble, if it has changed. */
void worker_note_trouble(struct worker *worker);

/** Set the state of the output: @error: errno; 0: it works. Changes are reported to the main
 *  thread. */
void worker_note(struct worker *worker, int error, const char *doing);

#endif
