/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * domains.h - all domains: each operation on a session is run in each of them, and completes when
 * all have completed. Owned by the daemon; runs on its loop.
 */
#ifndef DOMAIN_DOMAINS_H
#define DOMAIN_DOMAINS_H

#include "domain.h"

#define DOMAINS_NR (DOMAIN_USER + 1)

struct domains {
	struct domain_tracer *of[DOMAINS_NR]; /* by enum domain_id; NULL: there is none */
};

/** The domain of a number from a request; NULL: unknown. */
struct domain_tracer *domains_find(const struct domains *domains, unsigned int id);
/** The next domain after @domain, NULL: the first one; NULL: there is no other. */
struct domain_tracer *domains_next(const struct domains *domains,
				   const struct domain_tracer *domain);
#define domains_each(domain, domains)                          \
	for ((domain) = domains_next(domains, NULL); (domain); \
	     (domain) = domains_next(domains, domain))

/* As the members of struct domain_ops. */
void domains_start(const struct domains *domains, struct session *session,
		   const struct clock_facts *clock, domain_done done, void *data);
void domains_stop(const struct domains *domains, struct session *session, domain_done done,
		  void *data);
void domains_forget(const struct domains *domains, struct session *session);
void domains_retry(const struct domains *domains, struct session *session);
void domains_dump(const struct domains *domains, const struct session *session,
		  struct domain_dumps *ret, domain_done done, void *data);
uint32_t domains_count_apps(const struct domains *domains, const struct session *session);
void domains_each_refusal(const struct domains *domains, const struct session *session,
			  const struct channel *channel, const struct rule *rule,
			  void (*fn)(const struct domain_refusal *refusal, void *data), void *data);
void domains_each_counted(const struct domains *domains, const struct session *session,
			  const struct domain_counted_ops *ops, void *data);
void domains_programs(const struct domains *domains, const struct session *session,
		      struct domain_programs *ret, void (*fn)(const char *name, void *data),
		      void *data);
bool domains_find_ring(const struct domains *domains, const struct session *session, uint64_t ring,
		       struct domain_ring *ret);
void domains_each_final(const struct domains *domains, const struct session *session,
			void (*fn)(const struct msg_con_stream *sum, void *data), void *data);
void domains_write_not_sampled(const struct domains *domains, struct session *session,
			       const struct msg_con_stream *streams, size_t nr, domain_done done,
			       void *data);
void domains_clock_remark(const struct domains *domains, struct session *session,
			  const char *remark);
void domains_save(const struct domains *domains, const struct session *session,
		  struct state_space *space);
void domains_restore(const struct domains *domains, struct session *session,
		     const struct clock_facts *clock, struct msg_state_session *msg);
void domains_await_offers(const struct domains *domains, domain_done done, void *data);
void domains_adopt(const struct domains *domains, struct session *session,
		   const struct consumer *consumer);
void domains_damaged(const struct domains *domains, struct session *session, uint64_t ring);
void domains_keep(const struct domains *domains, struct session *session);

#endif
