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

/** @kmod: owned by the daemon; it outlives the domain, and may be opened later. */
struct domain_tracer *kernel_domain_new(struct recorder *recorder, struct kmod *kmod);
struct domain_tracer *kernel_domain_free(struct domain_tracer *domain);

/* Members of the domain's table; see struct domain_ops. */
int kernel_check_rule(struct domain_tracer *domain, const struct session *session,
		      const struct rule_spec *spec, struct err *err) MUST_CHECK;
int kernel_check_rule_in(struct domain_tracer *domain, const struct channel *channel,
			 const struct rule_spec *spec, struct err *err) MUST_CHECK;
int kernel_check_context(struct domain_tracer *domain, const char *type,
			 struct err *err) MUST_CHECK;
int kernel_check_contexts_of(struct domain_tracer *domain, const struct session *session,
			     const struct channel *channel, const char *types,
			     struct err *err) MUST_CHECK;
int kernel_each_context(struct domain_tracer *domain,
			void (*fn)(const struct layout_field *context, void *data), void *data,
			struct err *err) MUST_CHECK;
void kernel_each_refusal(struct domain_tracer *domain, const struct session *session,
			 const struct channel *channel, const struct rule *rule,
			 void (*fn)(const struct domain_refusal *refusal, void *data), void *data);
void kernel_each_preset(struct domain_tracer *domain, uid_t uid,
			void (*fn)(const struct domain_preset *preset, void *data), void *data);
bool kernel_is_preset_for(struct domain_tracer *domain, const struct domain_preset *preset,
			  const char *pattern) MUST_CHECK;
void kernel_each_counted(struct domain_tracer *domain, const struct session *session,
			 const struct domain_counted_ops *ops, void *data);
void kernel_dump(struct domain_tracer *domain, const struct session *session,
		 struct domain_dumps *ret, domain_done done, void *data);
int kernel_track(struct domain_tracer *domain, const struct session *session,
		 const struct domain_track *track, struct err *err) MUST_CHECK;

#endif
