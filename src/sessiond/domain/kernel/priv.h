/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * priv.h - what the files of the kernel domain share.
 *
 *   kernel_session   a session as this domain sees it: a recording with one trace, and
 *    +- kernel_channel  the state of each event in a channel
 *
 * State is computed, not maintained: each change - a rule, a buffer that is ready, metadata that
 * is written - makes the session walk through all events again, compare the wanted with the
 * actual state of each, and send the difference to the module. A walk runs for some milliseconds
 * at a time, so that it does not delay others.
 */
#ifndef DOMAIN_KERNEL_PRIV_H
#define DOMAIN_KERNEL_PRIV_H

#include "kernel.h"
#include "fetch.h"
#include "sessiond/domain/rec/recording.h"

/** An event of the module's list. */
struct kernel_event {
	char *name;	  /* as the module says, "system:name" or a system call's */
	const char *bare; /* without the system: the name in traces */
	uint32_t index;	  /* in the module's list */
	uint32_t nr_fields;
	uint32_t flags;
	struct shape *shape; /* created on demand */
	bool refused;	     /* its fields can't be described; logged once */
};

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

/** An event that is counted, or was. */
struct kernel_stat {
	uint32_t id;	/* in the module's channel */
	bool on;
	uint16_t error; /* if it was rejected: errno */
	uint64_t since_ns;
	struct ltt_counts before; /* when it was last switched off */
};

/** A rule whose events are counted. */
struct kernel_tally {
	struct rule *rule;
	struct kernel_stat **stats; /* one for each event, once it is to be counted */
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
	int counting;	     /* the module's channel that counts; -1 */
	uint32_t last_stat;  /* id in it */
	struct loop_timer walk;
	bool walking; /* a walk is under way, and */
	bool again;   /* has to be followed by another */
};

/** A command that waits until a change is in force. */
struct kernel_wait {
	struct list_node node;
	struct kernel_session *ks;
	struct loop_timer late;
	domain_done done;
	void *data;
};

static inline struct kernel_domain *kernel_of(struct domain_tracer *domain)
{
	return container_of(domain, struct kernel_domain, domain);
}

static inline struct kernel_session *ks_of(struct recording *rec)
{
	return container_of(rec, struct kernel_session, rec);
}

/* event.c */
/** Read the list of events. Return: 0 or negative errno. */
int kernel_events_load(struct kernel_domain *kernel);
void kernel_events_free(struct kernel_domain *kernel);
/** Append a field as described by the module. Return: false where there is no room. */
bool kernel_add_field(struct layout *layout, const struct ltt_kmod_field *f);
/** Return: the event's shape, borrowed; NULL: it can't be described. */
struct shape *kernel_event_shape(struct kernel_domain *kernel, struct kernel_event *event);
/** Whether a rule matches this event. */
bool kernel_rule_matches(const struct rule *rule, const struct kernel_event *event);
/** The same, regardless of the rule's kind. */
bool kernel_rule_names(const struct rule *rule, const struct kernel_event *event);
bool kernel_wants(const struct channel *channel, const struct kernel_event *event);
/** An event of this name, with or without its system; NULL. */
struct kernel_event *kernel_event_find(const struct kernel_domain *kernel, const char *name);

/* probe.c */
/** How many events such a rule has; 0: it is not about a place. */
uint32_t kernel_probe_parts(enum rule_kind kind);
/** The place, and the additional values to record. */
struct kernel_place {
	enum rule_kind kind;
	const char *location, *fetch;
	const char *file, *places; /* of RULE_USER */
};
struct kernel_place kernel_place_of(const struct rule *rule);
/** Ask the module for a part of it. Return: what it says: 0 or negative errno; -EINVAL with
 *  @err set: it was not asked, as the place makes no sense. */
int kernel_probe_send(const struct kmod *kmod, int module, uint32_t id,
		      const struct kernel_place *place, uint32_t part, struct err *err) MUST_CHECK;
/** A channel for tests, which is off, or counts (LTT_KMOD_COUNTS in @flags). Return: a
 *  descriptor to close(); negative errno. */
int kernel_trial(const struct kmod *kmod, uint32_t flags) MUST_CHECK;
/** Check that the module accepts it. Return: as above. */
int kernel_check_probe(struct kernel_domain *kernel, const struct rule_spec *spec,
		       struct err *err) MUST_CHECK;
/** The reason if it did not: half a sentence. */
const char *kernel_probe_why(int error);
/** For each rule of the channel that is about a place, and has none yet. */
void kernel_probes_add(struct kernel_channel *kc, enum slot_state state);
void kernel_probes_free(struct kernel_domain *kernel, struct kernel_channel *kc);
/** Return: the shape of a part, borrowed; NULL: it can't be described. */
struct shape *kernel_probe_shape(struct kernel_domain *kernel, struct kernel_probe *probe,
				 uint32_t part);
/** Whether another rule in force has the same event in the trace as a part. */
bool kernel_probe_shared(struct kernel_domain *kernel, const struct kernel_channel *kc,
			 struct kernel_probe *probe, uint32_t part);

/* user.c */
/** As kernel_probe_send(), of places in a program. -ESTALE: the file was replaced. */
int kernel_user_send(const struct kmod *kmod, int module, uint32_t id,
		     const struct kernel_place *place, struct err *err) MUST_CHECK;
/** Whether it is the return of a function. */
bool kernel_user_returns(const struct kernel_place *place);
/** The values that are recorded at the first place, and so at all places. Return: their number,
 *  at most LTT_KMOD_ARGS_MAX; or negative, with @err set. */
int kernel_user_fetches(const struct kernel_place *place, struct kernel_fetch *ret,
			struct err *err) MUST_CHECK;

/* stats.c */
/** Whether a rule counts this event. */
bool kernel_stat_matches(struct kernel_domain *kernel, const struct rule *rule,
			 struct kernel_event *event);
/** Check that the named event has the field. Return: 0 or the code set in @err. */
int kernel_check_field(struct kernel_domain *kernel, const struct rule_spec *spec,
		       struct err *err) MUST_CHECK;
/** For each rule of the channel that counts, and has none yet. */
void kernel_tallies_add(struct kernel_channel *kc);
void kernel_tallies_free(struct kernel_channel *kc);
/** Count an event, or stop counting it. */
void kernel_stat_step(struct kernel_session *ks, struct kernel_channel *kc,
		      struct kernel_tally *tally, uint32_t event);

/* context.c */
/** The contexts of the channel's events, as declared by its stream class; allocated, or NULL. */
struct layout *kernel_contexts_of(struct kernel_domain *kernel, const struct channel *channel);
/** Send them to the module, for a new channel. Return: 0 or negative errno. */
int kernel_contexts_send(const struct kmod *kmod, int module,
			 const struct channel *channel) MUST_CHECK;

/* perf.c */
/** The parameters for the module that a counter's name stands for. Return: false: there is no
 *  such name. */
bool kernel_perf_find(const char *name, struct ltt_kmod_context *ret);
struct layout_field kernel_perf_field(const char *name);
/** Check that this machine has the counter. Return: 0, or the code set in @err. */
int kernel_check_perf(const struct kmod *kmod, const char *name, struct err *err) MUST_CHECK;
/** All counters of the machine, by names. */
void kernel_each_perf(const struct kmod *kmod,
		      void (*fn)(const struct layout_field *context, void *data), void *data);

/* tracker.c */
/** Send all ids to the module, for a new channel. Return: 0 or negative errno. */
int kernel_tracker_send_all(const struct kmod *kmod, int module,
			    const struct session *session) MUST_CHECK;
/** Send ids that an earlier daemon may not have sent. */
void kernel_tracker_restore(struct kernel_session *ks);

/* ring.c */
/** The channel's trace channel and ring set, made if need be; NULL: not now. */
struct ring *kernel_ring_get(struct kernel_session *ks, struct channel *channel);
struct ring *kernel_ring_find(struct kernel_session *ks, const struct channel *channel);
void kernel_describe(struct trace *trace);

/* walk.c */
/** Walk through all events; if a walk is in progress, after it. */
void kernel_touch(struct kernel_session *ks);
void kernel_walk(struct loop_timer *timer);
void kernel_channels_free(struct kernel_session *ks);
/** Number of sessions that record it. */
uint32_t kernel_count_active(const struct kernel_domain *kernel, uint32_t event);

/* wait.c */
/** @done is called from the loop, after the next walk, or after a second without progress. */
void kernel_wait_new(struct kernel_session *ks, domain_done done, void *data);
/** There is progress: restart the timeout. */
void kernel_waits_extend(struct kernel_session *ks);
/** Nothing is in flight any more, or the session ends. */
void kernel_waits_finish(struct kernel_session *ks);

#endif
