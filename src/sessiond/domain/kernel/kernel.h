/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the kernel domain: events of the running kernel, recorded by the kernel
 * module into rings that it makes itself. Owns what is known of its events, and the
 * traces and buffers of sessions that record them. Runs on the daemon's loop.
 */
#ifndef DOMAIN_KERNEL_KERNEL_H
#define DOMAIN_KERNEL_KERNEL_H

#include "sessiond/domain/domain.h"
#include "kmod.h"
#include "sessiond/domain/rec/recorder.h"

/** @kmod: the daemon's; it outlives the domain, and may be opened later. */
struct domain_tracer *kernel_domain_new(struct recorder *recorder, struct kmod *kmod);
struct domain_tracer *kernel_domain_free(struct domain_tracer *domain);

/** Can it record? Return: 0, or the code set in @err, with what to do. */
int kernel_available(const struct domain_tracer *domain, struct err *err) MUST_CHECK;
/** Could a rule be meant? Return: 0 or the code set in @err: no event has such a name. */
int kernel_check_rule(struct domain_tracer *domain, const struct rule_spec *spec,
		      struct err *err) MUST_CHECK;

/** Is a probe's name one that no other probe of the channel has? Return: as above. */
int kernel_check_name(const struct channel *channel, const struct rule_spec *spec,
		      struct err *err) MUST_CHECK;

/** @channel, @rule: of these; NULL: of all. */
void kernel_each_refusal(struct domain_tracer *domain, const struct session *session,
			 const struct channel *channel, const struct rule *rule,
			 void (*fn)(const struct domain_refusal *refusal, void *data), void *data);

/** The channels that modules have registered for their events. */
void kernel_each_preset(struct domain_tracer *domain,
		       void (*fn)(const struct ltt_kmod_preset *preset, void *data), void *data);
/** The one of a name; the one that has all events that @pattern can mean. Return: is there one? */
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
/** Is there such a context? Return: 0 or the code set in @err. */
int kernel_check_context(struct domain_tracer *domain, const char *type,
			 struct err *err) MUST_CHECK;
/** Was the channel recorded into, so that no context can be added any more? */
bool kernel_contexts_frozen(struct domain_tracer *domain, const struct session *session,
			    const struct channel *channel);

/** Whose events are recorded. */
struct kernel_track {
	enum track_kind kind;
	enum track_op op;
	uint32_t id;
};
/** Tell the module, before it is noted in the session. A state that it has already is fine.
 *  Return: 0 or negative errno. */
int kernel_track(struct domain_tracer *domain, const struct session *session,
		 const struct kernel_track *track) MUST_CHECK;

#endif
