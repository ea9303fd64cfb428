/* SPDX-License-Identifier: GPL-2.0-only */
#include "domains.h"

#include "base/mem.h"

/** The answers of several domains, which become one. */
struct join {
	domain_done done;
	void *data;
	unsigned int left;
	uint32_t apps, late;
	struct err err;
};

struct domain_tracer *domains_find(const struct domains *domains, unsigned int id)
{
	return id < DOMAINS_NR ? domains->of[id] : NULL;
}

struct domain_tracer *domains_next(const struct domains *domains,
				   const struct domain_tracer *domain)
{
	for (unsigned int id = domain ? domain->ops->id + 1u : 0; id < DOMAINS_NR; id++)
		if (domains->of[id])
			return domains->of[id];
	return NULL;
}

/* Its creator calls domains_joined(), too, after it has called all domains: some of them answer at
 * once. */
static struct join *domains_join(const struct domains *domains, domain_done done, void *data)
{
	struct join *join = xalloc(sizeof(*join));
	const struct domain_tracer *domain;

	*join = (struct join){ .done = done, .data = data, .left = 1 };
	domains_each(domain, domains) join->left++;
	return join;
}

/* The first problem is reported; the caller undoes the change in the other domains. */
static void domains_joined(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	struct join *join = data;

	join->apps += apps;
	join->late += late;
	if (problem && !join->err.code)
		join->err = *problem;
	if (--join->left)
		return;
	if (join->done)
		join->done(join->data, join->apps, join->late, join->err.code ? &join->err : NULL);
	free(join);
}

void domains_start(const struct domains *domains, struct session *session,
		   const struct clock_facts *clock, domain_done done, void *data)
{
	struct join *join = domains_join(domains, done, data);
	struct domain_tracer *domain;

	domains_each(domain, domains)
		domain->ops->start(domain, session, clock, domains_joined, join);
	domains_joined(join, 0, 0, NULL);
}

void domains_stop(const struct domains *domains, struct session *session, domain_done done,
		  void *data)
{
	struct join *join = done ? domains_join(domains, done, data) : NULL;
	struct domain_tracer *domain;

	domains_each(domain, domains)
		domain->ops->stop(domain, session, join ? domains_joined : NULL, join);
	if (join)
		domains_joined(join, 0, 0, NULL);
}

void domains_forget(const struct domains *domains, struct session *session)
{
	struct domain_tracer *domain;

	domains_each(domain, domains) domain->ops->forget(domain, session);
}

void domains_retry(const struct domains *domains, struct session *session)
{
	struct domain_tracer *domain;

	domains_each(domain, domains) domain->ops->retry(domain, session);
}

void domains_dump(const struct domains *domains, const struct session *session,
		  struct domain_dumps *ret, domain_done done, void *data)
{
	struct join *join = domains_join(domains, done, data);
	struct domain_tracer *domain;

	domains_each(domain, domains) domain->ops->dump(domain, session, ret, domains_joined, join);
	domains_joined(join, 0, 0, NULL);
}

uint32_t domains_count_apps(const struct domains *domains, const struct session *session)
{
	struct domain_tracer *domain;
	uint32_t nr = 0;

	domains_each(domain, domains) nr += domain->ops->count_apps(domain, session);
	return nr;
}

void domains_each_refusal(const struct domains *domains, const struct session *session,
			  const struct channel *channel, const struct rule *rule,
			  void (*fn)(const struct domain_refusal *refusal, void *data), void *data)
{
	struct domain_tracer *domain;

	domains_each(domain, domains)
		domain->ops->each_refusal(domain, session, channel, rule, fn, data);
}

void domains_each_counted(const struct domains *domains, const struct session *session,
			  const struct domain_counted_ops *ops, void *data)
{
	struct domain_tracer *domain;

	domains_each(domain, domains) domain->ops->each_counted(domain, session, ops, data);
}

void domains_programs(const struct domains *domains, const struct session *session,
		      struct domain_programs *ret, void (*fn)(const char *name, void *data),
		      void *data)
{
	struct domain_tracer *domain;

	*ret = (struct domain_programs){ 0 };
	domains_each(domain, domains) if (domain->ops->programs)
		domain->ops->programs(domain, session, ret, fn, data);
}

bool domains_find_ring(const struct domains *domains, const struct session *session, uint64_t ring,
		       struct domain_ring *ret)
{
	struct domain_tracer *domain;

	domains_each(domain,
		     domains) if (domain->ops->find_ring(domain, session, ring, ret)) return true;
	return false;
}

void domains_each_final(const struct domains *domains, const struct session *session,
			void (*fn)(const struct msg_con_stream *sum, void *data), void *data)
{
	struct domain_tracer *domain;

	domains_each(domain, domains) domain->ops->each_final(domain, session, fn, data);
}

void domains_write_not_sampled(const struct domains *domains, struct session *session,
			       const struct msg_con_stream *streams, size_t nr, domain_done done,
			       void *data)
{
	struct join *join = domains_join(domains, done, data);
	struct domain_tracer *domain;

	domains_each(domain, domains) if (domain->ops->write_not_sampled)
		domain->ops->write_not_sampled(domain, session, streams, nr, domains_joined, join);
	else domains_joined(join, 0, 0, NULL);
	domains_joined(join, 0, 0, NULL);
}

void domains_clock_remark(const struct domains *domains, struct session *session,
			  const char *remark)
{
	struct domain_tracer *domain;

	domains_each(domain, domains) domain->ops->clock_remark(domain, session, remark);
}

void domains_save(const struct domains *domains, const struct session *session,
		  struct state_space *space)
{
	struct domain_tracer *domain;

	domains_each(domain, domains) domain->ops->save(domain, session, space);
}

void domains_restore(const struct domains *domains, struct session *session,
		     const struct clock_facts *clock, struct msg_state_session *msg)
{
	struct domain_tracer *domain;

	domains_each(domain, domains) domain->ops->restore(domain, session, clock, msg);
}

void domains_await_offers(const struct domains *domains, domain_done done, void *data)
{
	struct join *join = domains_join(domains, done, data);
	struct domain_tracer *domain;

	domains_each(domain, domains) if (domain->ops->await_offers)
		domain->ops->await_offers(domain, domains_joined, join);
	else domains_joined(join, 0, 0, NULL);
	domains_joined(join, 0, 0, NULL);
}

void domains_adopt(const struct domains *domains, struct session *session,
		   const struct consumer *consumer)
{
	struct domain_tracer *domain;

	domains_each(domain, domains) domain->ops->adopt(domain, session, consumer);
}

void domains_damaged(const struct domains *domains, struct session *session, uint64_t ring)
{
	struct domain_tracer *domain;

	domains_each(domain, domains) if (domain->ops->damaged)
		domain->ops->damaged(domain, session, ring);
}

void domains_keep(const struct domains *domains, struct session *session)
{
	struct domain_tracer *domain;

	domains_each(domain, domains) domain->ops->keep(domain, session);
}
