/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the kernel domain: events of the running kernel, recorded by the kernel
 * module into rings that it makes itself. Owns the list of its events, and the traces and
 * buffers of sessions that record them. Runs on the daemon's loop.
 */
#ifndef DOMAIN_KERNEL_KERNEL_H
#define DOMAIN_KERNEL_KERNEL_H

#include "sessiond/domain/domain.h"
#include "sessiond/domain/rec/filter.h"
#include "kmod.h"
#include "sessiond/domain/rec/recorder.h"

/** @kmod: owned by the daemon; it outlives the domain, and may be opened later. */
struct domain_tracer *kernel_domain_new(struct recorder *recorder, struct kmod *kmod);
struct domain_tracer *kernel_domain_free(struct domain_tracer *domain);

/** Check that the kernel can be traced. Return: 0, or the code set in @err, with the remedy. */
int kernel_available(const struct domain_tracer *domain, struct err *err) MUST_CHECK;
/** Check that a rule can match. Return: 0 or the code set in @err: no event has such a name. */
int kernel_check_rule(struct domain_tracer *domain, const struct rule_spec *spec,
		      struct err *err) MUST_CHECK;

/** Check that no other probe of the channel has the name. Return: as above. */
int kernel_check_name(const struct channel *channel, const struct rule_spec *spec,
		      struct err *err) MUST_CHECK;

/** Call @fn for each event that can't be recorded or counted. @channel, @rule: only of these; NULL:
 *  of all. */
void kernel_each_refusal(struct domain_tracer *domain, const struct session *session,
			 const struct channel *channel, const struct rule *rule,
			 void (*fn)(const struct domain_refusal *refusal, void *data), void *data);

/** The channels that modules have registered for their events. */
void kernel_each_preset(struct domain_tracer *domain,
			void (*fn)(const struct ltt_kmod_preset *preset, void *data), void *data);
/** Find the preset @name; the preset whose events include all that @pattern can match. Return:
 *  whether there is one. */
bool kernel_preset_named(struct domain_tracer *domain, const char *name,
			 struct ltt_kmod_preset *ret) MUST_CHECK;
bool kernel_preset_for(struct domain_tracer *domain, const char *pattern,
		       struct ltt_kmod_preset *ret) MUST_CHECK;

void kernel_each_counted(struct domain_tracer *domain, const struct session *session,
			 const struct domain_counted_ops *ops, void *data);

/** Request another state dump of the kernel. Return: number of channels that record it; 0: none has
 *  events of state dumps, or the session does not record. */
uint32_t kernel_dump(struct domain_tracer *domain, const struct session *session);

/** The contexts that can be recorded with each event. Return: 0 or negative errno. */
int kernel_each_context(struct domain_tracer *domain,
			void (*fn)(const struct layout_field *context, void *data),
			void *data) MUST_CHECK;
/** Check that there is such a context. Return: 0 or the code set in @err. */
int kernel_check_context(struct domain_tracer *domain, const char *type,
			 struct err *err) MUST_CHECK;
/** Whether the channel has recorded events, so that no context can be added any more. */
bool kernel_contexts_frozen(struct domain_tracer *domain, const struct session *session,
			    const struct channel *channel);

/** A change of the tracked ids. */
struct kernel_track {
	enum track_kind kind;
	enum track_op op;
	uint32_t id;
};
/** Send the change to the module, before it is stored in the session. Repeating a change is
 *  allowed.
 *  Return: 0 or negative errno. */
int kernel_track(struct domain_tracer *domain, const struct session *session,
		 const struct kernel_track *track) MUST_CHECK;

/** The contexts that filters of the kernel's events may compare. */
const struct filter_tracer *kernel_filters(struct domain_tracer *domain);

#endif
