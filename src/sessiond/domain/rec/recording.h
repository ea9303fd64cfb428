/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recording.h - the part of a session in a domain, common to all domains: traces, their
 * metadata, event classes and ring sets. Embedded in a domain's structure of a session; runs on
 * the daemon's loop.
 *
 *   recording      the domain's state of a session
 *    +- trace        one CTF trace: of a user, of a process, of the kernel
 *    |   +- trace_channel  a channel in it: event classes, and
 *    |       +- ring     ring sets: one that is shared, one for each process that
 *    |                   needs its own
 *    +- ring_note    facts about a ring set
 */
#ifndef DOMAIN_REC_RECORDING_H
#define DOMAIN_REC_RECORDING_H

#include "sessiond/domain/domain.h"
#include "io/dirid.h"
#include "life.h"
#include "recorder.h"
#include "sessiond/core/class.h"
#include "trace/metadata.h"

struct recording;
struct trace;

/** A domain's reactions to events; all must be given, but for the last. */
struct recording_ops {
	/** A buffer is ready and recording is on, or metadata is written: waiting work may
	 *  continue. */
	void (*ready)(struct recording *rec);
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
	struct consumer *consumer; /* that writes the domain */
	struct session *session;
	const struct clock_facts *clock;
	enum domain_id domain;
	bool recording;
	uint64_t enables_sent;		 /* number of requests to switch ring sets on */
	uint64_t enables_confirmed;	 /* number of those that are in force */
	uint64_t cut_bytes;		 /* bytes of torn packets, cut off adopted files */
	struct err problem;		 /* the first problem since the start */
	uint32_t nr_wanted;		 /* lost ring sets that an application may offer */
	struct loop_timer enough;	 /* limits the time for which a stop waits for those */
	struct loop_timer metadata_save; /* delays traces_save_metadata_sizes() */
	struct list_node traces;	 /* struct trace */
	void *rings;			 /* tsearch by id: struct ring_note */
	struct list_node finals;	 /* final struct ring_note: one sum for each channel */
};

/** The form of the metadata of its traces. */
static inline enum metadata_form recording_form(const struct recording *rec)
{
	return rec->session->trace_format == TRACE_FORMAT_CTF_2 ? METADATA_CTF_2 : METADATA_CTF_1_8;
}

/** Metadata text to be written. Batches are sent in order, one at a time. */
struct meta_batch {
	struct list_node node;
	uint64_t number;
	size_t len;
	char text[];
};

/** Whether the consumer has its files. TRACE_UNADOPTED: it can't continue them; tried again. */
enum trace_state { TRACE_OPEN, TRACE_UNADOPTED, TRACE_FAILED };

struct trace {
	struct list_node node;
	struct recording *rec;
	uint64_t id;
	uid_t uid;
	uint64_t app; /* id of the application; 0: a trace of a user, or of the kernel */
	char *path;   /* relative to the output */
	uint8_t uuid[16];
	int metadata;		 /* its memory, for a new consumer; -1: the metadata is in a file */
	int kallsyms;		 /* functions of the kernel, to be stored with it; -1: none */
	uint64_t metadata_bytes; /* size of the metadata file up to batch `saved` */
	uint64_t acked_bytes;	 /* size of the metadata file up to batch `acked` */
	enum trace_state state;
	bool adopting;	/* the consumer has not answered the request to continue it */
	bool orphan;	/* its process has ended: freed when its metadata is written */
	bool apart;	/* buffers were damaged: each process has buffers of its own */
	bool in_flight; /* the first batch was sent, and is not acknowledged */
	struct loop_timer retry;
	struct loop_timer readopt; /* repeats the adoption of it and its ring sets */
	struct loop_work flush;
	uint64_t next_batch;
	uint64_t acked;		   /* number of the last batch on disk */
	uint64_t saved;		   /* number of the last batch that is in the saved state, too */
	struct list_node batches;  /* struct meta_batch */
	struct list_node channels; /* struct trace_channel */
};

/**
 * struct saved_classes - the classes of a channel in a trace that the session's state has.
 * @nr: the first ones, in the file of classes number @file, which they make @bytes larger.
 * @next_nr, @next_file: likewise, if save number @save succeeds.
 */
struct saved_classes {
	uint32_t nr, file;
	uint32_t next_nr, next_file;
	uint64_t bytes, save;
};

struct trace_channel {
	struct list_node node;
	struct trace *trace;
	struct channel *channel;
	uint64_t batch;		/* number of the batch that declares the stream class */
	uint32_t nr_contexts;	/* of the channel, the first ones, which that declares */
	uint32_t next_instance; /* next instance id of a stream of this class */
	bool full;		/* CLASS_FULL was reported */
	bool replaced;		/* a buffer was lost: its files keep their names */
	struct class_table classes;
	struct saved_classes saved;
	struct list_node rings; /* struct ring */
};

struct ring {
	struct list_node node;
	struct trace_channel *trace_channel;
	uint64_t id;
	uint64_t app;	/* 0: shared */
	bool exclusive; /* written by the fallback producer */
	enum ring_state state;
	bool abandoned; /* nothing records into it any more: it is closed as soon as it can be */
	bool offered;	/* its memory was lost, and an application has returned it */
	bool uncounted; /* its memory, lost or unadopted, may hold events that no file has */
	uint64_t enable_number; /* the request that switches it on; see enables_confirmed */
	char *name;		/* of its stream files */
	struct account_id account;
	uint64_t paid_bytes, paid_fds;
	uint32_t nr_rings, first_instance;
	uint64_t noted;		      /* number of events not sampled that the metadata has */
	int data, ctl, doorbell;      /* for applications; data also for a new consumer */
	int ctl_rw;		      /* for a new consumer */
	struct dirid data_id, ctl_id; /* identity of the memory: to recognise it */
	int module;		      /* the kernel module's channel; -1: an application's ring */
	uint32_t nr_contexts;	      /* of the channel, which this daemon has sent the module */
};

/**
 * struct ring_note - facts about a ring set that outlive it. In each channel, the note of the first
 * ring set that is closed stays until the session ends, and the counters of ring sets that are
 * closed later are added to it, so that a long session does not need memory for each ended process.
 * A ring set without a note is in such a sum.
 */
struct ring_note {
	struct list_node node; /* of the recording's finals */
	uint64_t id;
	struct channel *channel;
	uint64_t owner;
	bool open;
	bool final;  /* the ring set is closed, and `sum` has its streams' counters */
	bool wanted; /* lost, but an application may offer it */
	struct msg_con_stream sum;
};

/* recording.c: entries of struct domain_ops that are common to the domains, and their helpers. */
void recording_init(struct recording *rec, const struct recording_ops *ops,
		    struct recorder *recorder, enum domain_id domain, struct session *session,
		    const struct clock_facts *clock);
/** Free traces, ring sets and notes. The consumer is not notified, as it closes the whole
 *  output. */
void recording_fini(struct recording *rec);
struct recording *recording_find(struct domain_tracer *domain, const struct session *session);
/** State for the successor has changed: save it now. */
void recording_saved(struct recording *rec);
void recording_problem(struct recording *rec, enum trouble trouble, enum err_code code,
		       const char *what, const char *text);
/** Clear problems of an earlier start, as failed steps are tried again. */
void recording_begin(struct recording *rec);
void recording_retry(struct domain_tracer *domain, struct session *session);
void recording_adopt(struct domain_tracer *domain, struct session *session,
		     const struct consumer *consumer);
void recording_keep(struct domain_tracer *domain, struct session *session);
void recording_clock_remark(struct domain_tracer *domain, struct session *session,
			    const char *remark);

/* note.c */
struct ring_note *note_find(const struct recording *rec, uint64_t id);
/** Add a note, unless there is one of this id. */
void note_add(struct recording *rec, const struct ring_note *facts);
/** Add a stream's counters to those of a note. */
void note_count(struct ring_note *note, const struct msg_con_stream *stream);
/** Add a note with final counters to the sum of its channel. It may be freed. */
void note_finish(struct recording *rec, struct ring_note *note);
/** Remove the note of a ring set without records. */
void note_drop(struct recording *rec, uint64_t id);
void notes_free(struct recording *rec);
bool recording_find_ring(struct domain_tracer *domain, const struct session *session, uint64_t ring,
			 struct domain_ring *ret);
void recording_each_final(struct domain_tracer *domain, const struct session *session,
			  void (*fn)(const struct msg_con_stream *sum, void *data), void *data);

/* trace.c */
struct trace *trace_alloc(struct recording *rec, uint64_t id, uid_t uid, uint64_t app);
/** Request the consumer to create the trace. @path: allocated; owned by the trace from now on. */
void trace_open(struct trace *trace, char *path);
/** Store the descriptor of the metadata in the keeper. */
void trace_keep(const struct trace *trace);
/** Whether a trace of the session has this id. */
bool recording_has_trace(struct domain_tracer *domain, const struct session *session, uint64_t id);
void trace_adopt(struct trace *trace);
void trace_free(struct trace *trace);
/** Free a trace whose process has ended and whose rings are closed, when its metadata is
 *  written. */
void trace_abandon(struct trace *trace);
/** Append text that belongs together. Return: the batch that contains it, 0: failed. */
uint64_t trace_append(struct trace *trace, char *text);
/** The same for a remark of trace/metadata.h. */
uint64_t trace_remark(struct trace *trace, char *remark);
/** Retry failed writes. */
void trace_retry(struct trace *trace);
/** Store the functions of the kernel with it (con_trace_kallsyms). @fd: borrowed. */
void trace_set_kallsyms(struct trace *trace, int fd);
/** The same once more, after a failure. */
void trace_send_kallsyms(struct trace *trace);
/** Whether metadata is in flight. */
bool traces_busy(const struct recording *rec);
/** Earliest time for repeating an operation that began at @begin_ns. */
uint64_t recorder_next_turn(const struct recorder *recorder, uint64_t begin_ns);
/** Save how much metadata is on disk. */
void traces_save_metadata_sizes(struct loop_timer *timer);

/* trace_channel.c */
/** Find or make the trace channel. @contexts: contexts of a new stream class, see
 *  metadata_stream(). */
struct trace_channel *trace_channel_get(struct trace *trace, struct channel *channel,
					const struct layout *contexts);
struct trace_channel *trace_channel_find(struct trace *trace, const struct channel *channel);
/** A trace channel whose stream class is described on disk already. */
struct trace_channel *trace_channel_restore(struct trace *trace, struct channel *channel);
void trace_channel_free(struct trace_channel *trace_channel);

/* ring.c */
/** The only way to change its state. */
void ring_step(struct ring *ring, enum ring_event event);
/** Whether its state is one of a set (life.h). */
static inline bool ring_in(const struct ring *ring, uint32_t states)
{
	return states >> ring->state & 1;
}
/** Whether an application may begin to record into it. */
static inline bool ring_is_usable(const struct ring *ring)
{
	return !ring->abandoned && !ring_in(ring, RING_MISSING_STATES);
}
/** Allocate a ring set; the consumer has not created its memory yet. */
struct ring *ring_alloc(struct trace_channel *trace_channel, uint64_t id, uint64_t app);
/** Request the consumer to create the memory. The ring set's name and numbers are set. */
void ring_open(struct ring *ring);
/** Request the consumer to adopt memory of the kernel module; the ring set has its descriptors. */
void ring_open_module(struct ring *ring);
/** Continue after the request to open: it has succeeded, or failed. */
void ring_open_done(struct ring *ring);
/** Close the descriptors of the memory. */
void ring_close_fds(struct ring *ring);
/** Report that the memory can't be created. */
void ring_fail(struct ring *ring, enum err_code code, const char *why);
uint32_t ring_num_subbuf(const struct ring *ring);
void ring_free(struct ring *ring);
/** Free a ring set that failed before its first use, with its note. */
void ring_drop(struct ring *ring);
/** Request the last packet; then free the ring set. */
void ring_close(struct ring *ring);
void ring_keep(struct ring *ring);
/** Use the doorbell of the session's output, for a ring set that has none. */
void ring_share_doorbell(struct ring *ring);
/** Write the numbers of events that were not sampled in open ring sets to the metadata. */
void rings_note_not_sampled(struct recording *rec, const struct msg_con_stream *streams, size_t nr);
/** An item of its last counters, for the caller that closes it. */
void ring_add_final(void *data, struct decoder *dec);

/* adopt.c */
/** Pass it to a new consumer, with its contents. */
void ring_adopt(struct ring *ring);
/** Continue with memory that was lost or unadopted. */
void ring_resume(struct ring *ring);
/** The consumer does not have it: count it as lost until it is adopted. */
void ring_set_unadopted(struct ring *ring);
/** Report a failed adoption. */
void adoption_failed(struct trace *trace, int code, const char *why);
/** After an answer to a repeated adoption: let starts continue, or repeat it later. */
void adoption_answered(struct trace *trace);
/** Whether a repeated adoption is in flight. */
bool trace_is_readopted(const struct trace *trace);
/** Repeat the adoption of an unadopted trace, or of the unadopted ring sets in it. */
void trace_readopt(struct trace *trace);
void trace_readopt_on_timer(struct loop_timer *timer);
/** Describe it to a consumer, which is to adopt it. */
void ring_describe(const struct ring *ring, struct req_con_ring *ret);

/* want.c: ring sets that were lost with every process of the daemons' */
/** Store the identity of its memory. */
void ring_identify(struct ring *ring);
/** It is restored without its memory: an application may have it, if it can be recognised. */
void ring_restore_lost(struct ring *ring);
/** It is not wanted any more: an application has returned it, or will not. */
void want_ended(struct ring *ring);
/** It is not waited for any more, if it was. */
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
