/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe.h - events at places that a rule names: functions, addresses, places in programs. Owned by
 * the channel.
 */
#ifndef DOMAIN_KERNEL_PROBE_H
#define DOMAIN_KERNEL_PROBE_H

#include "session.h"
#include "fetch.h"

/** Number of events ("parts") of a rule of the kind; 0: its kind does not name a place. */
uint32_t kernel_probe_parts(enum rule_kind kind);

/** The place, and the additional values to record. */
struct kernel_place {
	enum rule_kind kind;
	const char *location, *fetch;
	const char *file, *places;			/* of RULE_USER */
	const struct ltt_kmod_filter *filter;		/* NULL: none */
	const struct ltt_kmod_description *description; /* NULL: none */
	const struct ltt_kmod_fire *fire;		/* of a trigger; NULL: it is none's */
};

struct kernel_place kernel_place_of(const struct rule *rule);
/** The description of an event at a place, for the module. Return: to be freed. */
struct ltt_kmod_description *kernel_probe_describe(const struct shape *shape);
/** The module's answer. @module: of the place; empty: none. @waits: the module has no such function
 *  now, or is not there. */
struct kernel_probe_answer {
	char module[KERNEL_MODULE_MAX];
	bool waits;
};

/** Whether a module of this name is loaded. */
bool kernel_module_is_loaded(const char *name);
/** Send a part of the place to the module. Return: the module's result, 0 or negative errno;
 *  -EINVAL with @err set: nothing was sent, as the place is invalid; -ERANGE, with @err set: it is
 *  behind the end of its function. */
int kernel_probe_send(const struct kmod *kmod, int module, uint32_t id,
		      const struct kernel_place *place, uint32_t part,
		      struct kernel_probe_answer *ret, struct err *err) MUST_CHECK;
/** Make a channel of the module in which requests are tried, without recording. @flags: of struct
 *  ltt_kmod_channel. Return: a descriptor to close(); negative errno. */
int kernel_trial(const struct kmod *kmod, uint32_t flags) MUST_CHECK;
/** Check that the module accepts the place of a rule. Return: as kernel_probe_send(). */
int kernel_check_probe(struct kernel_domain *kernel, const struct rule_spec *spec,
		       struct err *err) MUST_CHECK;
/** The reason for an error of the module, a phrase without a subject. */
const char *kernel_probe_why(int error);
/** Add a struct kernel_probe for each rule of the channel that names a place and has none. */
void kernel_probes_add(struct kernel_channel *kc, enum slot_state state);
void kernel_probes_free(struct kernel_domain *kernel, struct kernel_channel *kc);
/** Return: the shape of a part, borrowed; NULL: it can't be described. */
struct shape *kernel_probe_shape(struct kernel_domain *kernel, struct kernel_probe *probe,
				 uint32_t part);
/** Whether another enabled rule has the same event in the trace as this part. */
bool kernel_probe_shared(struct kernel_domain *kernel, const struct kernel_channel *kc,
			 struct kernel_probe *probe, uint32_t part);

/* Places in programs, which the module reaches by uprobes. */

/** kernel_probe_send() for places in a program. -ESTALE: the file was replaced. */
int kernel_user_send(const struct kmod *kmod, int module, uint32_t id,
		     const struct kernel_place *place, struct err *err) MUST_CHECK;
/** Whether places of another file make the same records. They are untrusted. */
bool kernel_probe_fits(struct kernel_domain *kernel, struct kernel_probe *probe,
		       const char *places) MUST_CHECK;
/** Whether the place is the return of a function. */
bool kernel_user_returns(const struct kernel_place *place);
/** The values that are recorded at the first place, and so at all places. Return: their number,
 *  at most LTT_KMOD_ARGS_MAX; or negative, with @err set. */
int kernel_user_fetches(const struct kernel_place *place, struct kernel_fetch *ret,
			struct err *err) MUST_CHECK;

#endif
