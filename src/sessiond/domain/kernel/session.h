/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - the kernel domain, and its state of a session. Runs on the daemon's loop.
 *
 *   kernel_session      a recording (recording.h) with one trace
 *    +- kernel_channel  the state of each event in a channel
 *
 * After each change (of a rule, a buffer that is ready, metadata that is written) the required
 * state of all events is computed again by a walk (walk.h).
 */
#ifndef DOMAIN_KERNEL_SESSION_H
#define DOMAIN_KERNEL_SESSION_H

#include "fire.h"
#include "kernel.h"
#include "sessiond/domain/rec/filter.h"
#include "sessiond/domain/rec/recording.h"
#include "kmod.h"
#include "ksyms.h"
#include "replaced.h"
#include "io/loop.h"
#include "base/list.h"
#include "sessiond/domain/domain.h"

struct kernel_event;
struct kernel_tally;

struct kernel_domain {
	struct domain_tracer domain;
	struct recorder *recorder;
	struct kmod *kmod;
	struct kernel_event *events; /* in the module's order */
	uint32_t nr_events;
	struct layout *contexts;	    /* all contexts of the module, loaded on demand */
	struct filter_tracer filter_tracer; /* made from @contexts */
	struct ksyms ksyms;
	struct loop_work events_came; /* there are more events than before */
	struct replaced replaced;
	struct kernel_fire fire;
};

/** The state of an event in a channel, as sent to the module. */
enum slot_state {
	SLOT_UNKNOWN = 0, /* an earlier daemon may have enabled it */
	SLOT_OFF,
	SLOT_WAITS, /* waits for a buffer, or for its description on disk */
	SLOT_ON,
	SLOT_REFUSED,
};

struct slot {
	uint32_t id;		     /* of the event class, with SLOT_ON */
	uint8_t state;		     /* enum slot_state */
	uint8_t nr_contexts;	     /* of the channel, with SLOT_ON */
	uint16_t error;		     /* with SLOT_REFUSED: errno; 0: the event can't be described */
	struct event_filter *filter; /* with SLOT_ON and SLOT_REFUSED; NULL: none */
};

#define KERNEL_MODULE_MAX 56u /* of a module's name with its NUL: MODULE_NAME_LEN on 64 bits */
#define PROBE_PARTS 2u /* most events of such a rule: a function's entry and exit */

/** A rule that names a place in the kernel: one event, or two. */
struct kernel_probe {
	struct rule *rule;
	char module[KERNEL_MODULE_MAX]; /* of the place, as the module answered; empty: none */
	struct probe_file file; /* of a place in a program */
	struct shape *shapes[PROBE_PARTS]; /* made when they are needed */
	struct slot slots[PROBE_PARTS];
};

struct kernel_channel {
	struct list_node node;
	struct channel *channel;
	struct slot *slots; /* one for each event */
	uint32_t nr_slots;
	struct kernel_probe **probes; /* one for each rule about a place */
	uint32_t nr_probes;
	struct kernel_tally **tallies; /* one for each rule that counts */
	uint32_t nr_tallies;
	uint32_t next; /* next step of the walk */
	uint32_t nr_waits;
	bool dump_due; /* state dump events were newly enabled */
};

struct kernel_session {
	struct recording rec;
	struct kernel_domain *kernel;
	struct list_node channels; /* struct kernel_channel */
	struct list_node waits;	   /* struct kernel_wait */
	struct event_filters filters;
	int counting;	    /* the module's channel that counts; -1: none */
	uint32_t last_stat; /* last id of an event in that channel */
	struct loop_timer walk;
	bool walking; /* a walk is in progress */
	bool again;   /* another walk must follow it */
};

static inline struct kernel_domain *kernel_of(struct domain_tracer *domain)
{
	return container_of(domain, struct kernel_domain, domain);
}

static inline struct kernel_session *ks_of(struct recording *rec)
{
	return container_of(rec, struct kernel_session, rec);
}

/* The ring set of a channel in the kernel domain. Owned by the recording. */

/** Find or make the channel's trace channel and ring set. Return: NULL: not possible now. */
struct ring *kernel_ring_get(struct kernel_session *ks, struct channel *channel);
struct ring *kernel_ring_find(struct kernel_session *ks, const struct channel *channel);
/** Store the names of the kernel's functions with the session's trace, at once or when they are
 *  read. Only root may see its addresses. */
void kernel_want_names(struct kernel_session *ks);
/** They were read. */
void kernel_store_names(struct ksyms *ksyms);
/** The flag of a channel of the module that leaves out our own daemons, or 0. */
uint32_t kernel_leaves_own(const struct kernel_session *ks);
/** Append the first part of a kernel trace's metadata. */
void kernel_describe(struct trace *trace);

/* Tracked ids of processes and users, as sent to the module. */

/** Send all ids to the module, for a new channel. Return: 0 or negative errno. */
int kernel_tracker_send_all(const struct kmod *kmod, int module,
			    const struct session *session) MUST_CHECK;
/** Send ids that an earlier daemon may not have sent. */
void kernel_tracker_restore(struct kernel_session *ks);

/*
 * Commands that wait until a change is in force in the module. Owned by the session; each
 * is completed once.
 */

/** A command that waits until a change is in force. */
struct kernel_wait {
	struct list_node node;
	struct kernel_session *ks;
	struct loop_timer late;
	bool finished; /* not late */
	domain_done done;
	void *data;
};

/** @done is called from the loop, after the walk that has nothing left to do, or late_us after the
 *  last progress. */
void kernel_wait_new(struct kernel_session *ks, domain_done done, void *data);
/** Restart the timeout, as there is progress. */
void kernel_waits_extend(struct kernel_session *ks);
/** Complete all waiting commands: the change is in force, or the session ends. */
void kernel_waits_finish(struct kernel_session *ks);
/** No event waits any more: the problem of those that were late is solved. */
void kernel_late_solve(struct kernel_session *ks);

#endif
