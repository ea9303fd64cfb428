/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recording.h - the part of a session in a domain, common to all domains: traces, their
 * metadata, event classes and ring sets. Embedded in what a domain keeps of a
 * session; runs on the daemon's loop.
 *
 *   recording      a session as a domain sees it
 *    +- trace        one CTF trace: of a user, of a process, of the kernel
 *    |   +- trace_channel  a channel in it: event classes, and
 *    |       +- ring     ring sets: one that is shared, one for each process that
 *    |                   needs its own
 *    +- ring_note    facts that are kept of a ring set
 */
#ifndef DOMAIN_REC_RECORDING_H
#define DOMAIN_REC_RECORDING_H

#include "sessiond/domain/domain.h"
#include "io/dirid.h"
#include "recorder.h"
#include "sessiond/core/class.h"

struct recording;
struct trace;

/** A domain's reactions to events; all must be given, but for the last. */
struct recording_ops {
	/** A buffer is ready and on, or metadata is written: waiting work may continue. */
	void (*ready)(struct recording *rec);
	/** A buffer can't be recorded into any more. */
	void (*lost)(struct recording *rec);
	/** No metadata is in flight, or it can't be written for now. */
	void (*metadata_done)(struct recording *rec);
	/** Append the beginning of a trace's metadata. */
	void (*describe)(struct trace *trace);
	/** No ring set that was lost is waited for any longer. */
	void (*wanted_done)(struct recording *rec);
};

struct recording {
	struct list_node node; /* of domain_tracer.recordings */
	const struct recording_ops *ops;
	struct recorder *recorder;
	struct session *session;
	const struct clock_facts *clock;
	enum domain_id domain;
	bool recording;
	uint64_t ons_requested;	  /* requests to switch ring sets on, and */
	uint64_t ons_answered;	  /* those of them that are in force */
	uint64_t cut_bytes;	  /* torn ends of files, at takeovers */
	struct err problem;	  /* the first since the start */
	uint32_t nr_wanted;	  /* ring sets that an application may offer, and */
	struct loop_timer enough; /* how long a stop waits for them */
	struct loop_timer commit; /* metadata that is on disk waits for its turn */
	struct list_node traces;  /* struct trace */
	void *rings;		  /* tsearch by id: struct ring_note */
	struct list_node finals;  /* sums: final ones of these, one a channel */
};

/** Text of metadata on its way to the file, in order, one batch at a time. */
struct meta_batch {
	struct list_node node;
	uint64_t number;
	size_t len;
	char text[];
};

struct trace {
	struct list_node node;
	struct recording *rec;
	uint64_t id;
	uid_t uid;
	uint64_t app; /* 0: the user's, or the kernel's */
	char *path;   /* relative to the output */
	uint8_t uuid[16];
	uint64_t metadata_bytes; /* of the file, up to `written` */
	uint64_t acked_bytes;	 /* of the file, acknowledged */
	bool failed;
	bool orphan;	/* its process has ended: freed when its metadata is written */
	bool stalled;	/* the last attempt to write metadata failed */
	bool in_flight; /* the first batch */
	struct loop_timer retry;
	struct loop_work flush;
	uint64_t next_batch;
	uint64_t acked;		  /* number of the last batch on disk, */
	uint64_t written;	  /* and of the last one that is saved for a successor, too */
	struct list_node batches; /* struct meta_batch */
	struct list_node channels; /* struct trace_channel */
};

struct trace_channel {
	struct list_node node;
	struct trace *trace;
	struct channel *channel;
	uint64_t batch;		/* that declares the stream class */
	uint32_t next_instance; /* of streams of this class */
	bool full;		/* and it was reported */
	bool replaced;		/* a buffer was lost, its files keep their names */
	struct class_table classes;
	struct list_node rings; /* struct ring */
};

enum ring_state { RING_OPENING, RING_READY, RING_FAILED };

struct ring {
	struct list_node node;
	struct trace_channel *trace_channel;
	uint64_t id;
	uint64_t app;	/* 0: shared */
	bool exclusive; /* written by the fallback producer */
	enum ring_state state;
	uint64_t on;  /* the request that switches it on; see ons_answered */
	bool awaited; /* the consumer has not answered yet */
	bool closing; /* until the consumer has made the last cut, */
	bool lost;    /* its memory: only its files are to be closed, */
	bool uncounted; /* it may have held events that no file has; */
	bool mending; /* which the consumer does now; */
	bool wanted;  /* but an application that records into it may offer it (want.c), */
	bool offered; /* and one has offered it, */
	bool departed; /* which has died since: to be closed when it is open */
	bool closed;  /* which it has */
	char *name;   /* of its stream files */
	struct account_id account;
	uint64_t paid_bytes, paid_fds;
	uint32_t nr_rings, first_instance;
	int data, ctl, doorbell;      /* for applications, and for a new consumer, */
	int ctl_rw;		      /* which gets this one instead of ctl */
	struct dirid data_id, ctl_id; /* identity of the memory: to recognise it */
	int module;		      /* the kernel module's channel; -1: an application's ring */
};

/**
 * struct ring_note - what is known of a ring set. The first of a channel that is closed
 * stays until the session ends and has the sums of all that are closed after it: a long
 * session does not remember each process that there was. A ring set without a note is in such a
 * sum.
 */
struct ring_note {
	struct list_node node; /* of the recording's finals */
	uint64_t id;
	struct channel *channel;
	uint64_t owner;
	bool open;
	bool final;  /* it is closed and `sum` is what its streams had; */
	bool wanted; /* but it may be offered */
	struct msg_con_stream sum;
};

/* recording.c: most of it is rows of a domain's table. */
void recording_init(struct recording *rec, const struct recording_ops *ops,
		    struct recorder *recorder, enum domain_id domain, struct session *session,
		    const struct clock_facts *clock);
/** Traces, ring sets and notes. The consumer is not notified: the output is closed as a whole. */
void recording_fini(struct recording *rec);
struct recording *recording_find(struct domain_tracer *domain, const struct session *session);
/** State for the successor has changed: save it now. */
void recording_saved(struct recording *rec);
void recording_problem(struct recording *rec, enum trouble trouble, enum err_code code,
		       const char *what, const char *text);
/** Steps that failed at an earlier start may work now, and are no problem until they fail again. */
void recording_begin(struct recording *rec);
void recording_retry(struct domain_tracer *domain, struct session *session);
void recording_adopt(struct domain_tracer *domain, struct session *session);
void recording_keep(struct domain_tracer *domain, struct session *session);

/* note.c */
struct ring_note *note_find(const struct recording *rec, uint64_t id);
/** A second one of the same id is not added. */
void note_add(struct recording *rec, const struct ring_note *facts);
/** It has its final counters. It may be freed afterwards. */
void note_finish(struct recording *rec, struct ring_note *note);
/** Of a ring set without records. */
void note_drop(struct recording *rec, uint64_t id);
void notes_free(struct recording *rec);
bool recording_find_ring(struct domain_tracer *domain, const struct session *session, uint64_t ring,
			 struct domain_ring *ret);
void recording_each_final(struct domain_tracer *domain, const struct session *session,
			  void (*fn)(const struct msg_con_stream *sum, void *data), void *data);

/* trace.c */
struct trace *trace_alloc(struct recording *rec, uint64_t id, uid_t uid, uint64_t app);
/** Request the consumer to create it. @path: allocated, taken over. */
void trace_open(struct trace *trace, char *path);
void trace_adopt(struct trace *trace);
void trace_free(struct trace *trace);
/** Its process has ended, its rings are closed. */
void trace_abandon(struct trace *trace);
/** Append text that belongs together. Return: the batch that contains it, 0: failed. */
uint64_t trace_append(struct trace *trace, char *text);
/** Retry failed writes. */
void trace_retry(struct trace *trace);
/** Whether metadata is in flight. */
bool traces_busy(const struct recording *rec);
/** Earliest time for repeating an operation that began at @begin_ns. */
uint64_t recorder_next_turn(const struct recorder *recorder, uint64_t begin_ns);
/** Its turn has come. */
void traces_commit(struct loop_timer *timer);
/** Whether there is metadata that could not be written. */
bool traces_stalled(const struct recording *rec);

/* trace_channel.c */
/** Find or make the trace channel. @contexts: those of its stream class if it is made, see
 *  metadata_stream(). */
struct trace_channel *trace_channel_get(struct trace *trace, struct channel *channel,
					const struct layout *contexts);
struct trace_channel *trace_channel_find(struct trace *trace, const struct channel *channel);
/** A trace channel whose stream class is described on disk already. */
struct trace_channel *trace_channel_restore(struct trace *trace, struct channel *channel);
void trace_channel_free(struct trace_channel *trace_channel);

/* ring.c */
/** A ring set that the consumer has not created yet. */
struct ring *ring_alloc(struct trace_channel *trace_channel, uint64_t id, uint64_t app);
/** Request the consumer to create it. Its name and numbers are set. */
void ring_open(struct ring *ring);
/** The same for memory that the kernel module made, whose descriptors it has. */
void ring_open_module(struct ring *ring);
/** It has been created, or that has failed. */
void ring_open_done(struct ring *ring);
/** Its descriptors. */
void ring_close_fds(struct ring *ring);
/** It can't be created. */
void ring_fail(struct ring *ring, enum err_code code, const char *why);
void ring_free(struct ring *ring);
/** Free one that failed before its first use, with its note. */
void ring_drop(struct ring *ring);
/** Last cut, then it is freed. */
void ring_close(struct ring *ring);
void ring_keep(struct ring *ring);
/** An item of its last counters, for the caller that closes it. */
void ring_add_final(void *data, struct decoder *dec);

/* adopt.c */
/** Pass it to a new consumer, with its contents. */
void ring_adopt(struct ring *ring);
/** Continue with memory that was lost and has been recovered. */
void ring_resume(struct ring *ring);
/** Describe it to the consumer. */
void ring_describe(const struct ring *ring, struct req_con_ring_adopt *ret);

/* want.c: ring sets that were lost with every process of the daemons' */
/** Store the identity of its memory. */
void ring_identify(struct ring *ring);
/** It is lost: whether it can be recognised, and an application may have it. */
void ring_want(struct ring *ring);
/** It has been recovered, or is freed. Idempotent. */
void ring_unwant(struct ring *ring);
/** No application will offer it: it is freed, at the latest when its files are repaired. */
void ring_give_up(struct ring *ring);
/** It was offered, and its descriptors have been received. */
void ring_offered(struct ring *ring);

/* switch.c */
void ring_switch_off(struct ring *ring);
void ring_switch_on(struct ring *ring);
void rings_enable(struct recording *rec, bool on);
/** Whether it may be armed. Events in a ring set that is off are not counted. */
bool ring_is_on(const struct ring *ring);

/* charge.c */
/** The user that makes a trace grow: another user's application is a guest in a session of
 *  root's. */
struct account_id trace_account(const struct trace *trace);
/** Before it is created. Return: 0 or the code set in @err. */
int ring_charge(struct ring *ring, struct err *err) MUST_CHECK;
void ring_refund(struct ring *ring); /* twice is once */

/* state.c */
/** Append the traces to STATE_TRACES, the sums of closed rings to STATE_FINALS. @put_app: for
 *  each process with a trace or ring set of its own. */
void recording_save(struct recording *rec, struct state_space *space,
		    void (*put_app)(struct recording *rec, struct encoder *enc, uint64_t app));
/** The reverse, for this domain. */
void recording_restore(struct recording *rec, const struct msg_state_session *msg);

#endif
