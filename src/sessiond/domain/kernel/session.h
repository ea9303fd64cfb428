/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - a session as the kernel domain sees it, and the domain itself. Runs on the daemon's
 * loop.
 *
 *   kernel_session      a recording (recording.h) with one trace
 *    +- kernel_channel  the state of each event in a channel
 *
 * State is computed, not maintained: each change - a rule, a buffer that is ready, metadata that
 * is written - makes the session walk through all events again (walk.h).
 */
#ifndef DOMAIN_KERNEL_SESSION_H
#define DOMAIN_KERNEL_SESSION_H

#include "kernel.h"
#include "sessiond/domain/rec/recording.h"

struct kernel_event;
struct kernel_tally;

struct kernel_domain {
	struct domain_tracer domain;
	struct recorder *recorder;
	struct kmod *kmod;
	struct kernel_event *events; /* in the module's order */
	uint32_t nr_events;
	struct layout *contexts; /* all that exist, loaded on demand */
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
	uint32_t id; /* the event class's; only where it is on */
	uint8_t state;
	uint16_t error; /* if it is rejected: errno, or 0: it can't be described */
};

#define PROBE_PARTS 2u /* at most: a function's entry and exit */

/** A rule that is about a place in the kernel: one event, or two. */
struct kernel_probe {
	struct rule *rule;
	struct shape *shapes[PROBE_PARTS]; /* made when they are needed */
	struct slot slots[PROBE_PARTS];
};

struct kernel_channel {
	struct list_node node;
	struct channel *channel;
	struct slot *slots; /* one an event */
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
	int counting;		   /* the module's channel that counts; -1 */
	uint32_t last_stat;	   /* id in it */
	struct loop_timer walk;
	bool walking; /* a walk is under way, and */
	bool again;   /* has to be followed by another */
};

static inline struct kernel_domain *kernel_of(struct domain_tracer *domain)
{
	return container_of(domain, struct kernel_domain, domain);
}

static inline struct kernel_session *ks_of(struct recording *rec)
{
	return container_of(rec, struct kernel_session, rec);
}

#endif
