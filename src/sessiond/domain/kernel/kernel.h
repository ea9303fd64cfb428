/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the kernel domain: events of the running kernel, recorded by the kernel
 * module into rings that it makes itself. Owns the list of its events, and the traces and
 * buffers of sessions that record them. Runs on the daemon's loop.
 */
#ifndef DOMAIN_KERNEL_KERNEL_H
#define DOMAIN_KERNEL_KERNEL_H

#include "sessiond/domain/domain.h"
#include "kmod.h"
#include "sessiond/domain/rec/recorder.h"

/** @kmod: the daemon's; it outlives the domain, and may be opened later. */
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

/** @channel, @rule: of these; NULL: of all. */
void kernel_each_refusal(struct domain_tracer *domain, const struct session *session,
			 const struct channel *channel, const struct rule *rule,
			 void (*fn)(const struct domain_refusal *refusal, void *data), void *data);

/** The channels that modules have registered for their events. */
void kernel_each_preset(struct domain_tracer *domain,
		       void (*fn)(const struct ltt_kmod_preset *preset, void *data), void *data);
/** The one with a name; the one whose events include all that @pattern can match. Return:
 *  whether there is one. */
bool kernel_preset_named(struct domain_tracer *domain, const char *name,
			struct ltt_kmod_preset *ret) MUST_CHECK;
bool kernel_preset_for(struct domain_tracer *domain, const char *pattern,
		      struct ltt_kmod_preset *ret) MUST_CHECK;

void kernel_each_counted(struct domain_tracer *domain, const struct session *session,
			 void (*fn)(const struct domain_counted *counted, void *data), void *data);

/** Have the state of the system recorded, again. Return: by how many channels; 0: none has
 *  such events, or the session does not record. */
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

/** Whose events are recorded. */
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

#endif
