/* SPDX-License-Identifier: GPL-2.0-only */
#include "both.h"

#include "base/mem.h"

struct both {
	struct domain_tracer domain;
	struct domain_tracer *user, *kernel;
};

/** Two answers that become one. */
struct join {
	domain_done done;
	void *data;
	unsigned int left;
	uint32_t apps, late;
	struct err err;
};

static struct both *both_of(struct domain_tracer *domain)
{
	return container_of(domain, struct both, domain);
}

static struct join *join_new(domain_done done, void *data)
{
	struct join *join = done ? xalloc(sizeof(*join)) : NULL;

	if (join)
		*join = (struct join){ .done = done, .data = data, .left = 2 };
	return join;
}

/* The first problem is reported; the caller undoes the other domain's change. */
static void joined(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	struct join *join = data;

	join->apps += apps;
	join->late += late;
	if (problem && !join->err.code)
		join->err = *problem;
	if (--join->left)
		return;
	join->done(join->data, join->apps, join->late, join->err.code ? &join->err : NULL);
	free(join);
}

static void both_start(struct domain_tracer *domain, struct session *session,
		       const struct clock_facts *clock, domain_done done, void *data)
{
	struct both *both = both_of(domain);
	struct join *join = join_new(done, data);

	both->user->ops->start(both->user, session, clock, joined, join);
	both->kernel->ops->start(both->kernel, session, clock, joined, join);
}

static void both_stop(struct domain_tracer *domain, struct session *session, domain_done done,
		      void *data)
{
	struct both *both = both_of(domain);
	struct join *join = join_new(done, data);

	both->user->ops->stop(both->user, session, join ? joined : NULL, join);
	both->kernel->ops->stop(both->kernel, session, join ? joined : NULL, join);
}

static void both_refresh(struct domain_tracer *domain, struct session *session, domain_done done,
			 void *data)
{
	struct both *both = both_of(domain);
	struct join *join = join_new(done, data);

	both->user->ops->refresh(both->user, session, join ? joined : NULL, join);
	both->kernel->ops->refresh(both->kernel, session, join ? joined : NULL, join);
}

static void both_forget(struct domain_tracer *domain, struct session *session)
{
	struct both *both = both_of(domain);

	both->user->ops->forget(both->user, session);
	both->kernel->ops->forget(both->kernel, session);
}

static void both_retry(struct domain_tracer *domain, struct session *session)
{
	struct both *both = both_of(domain);

	both->user->ops->retry(both->user, session);
	both->kernel->ops->retry(both->kernel, session);
}

static uint32_t both_count_apps(struct domain_tracer *domain, const struct session *session)
{
	return both_of(domain)->user->ops->count_apps(both_of(domain)->user, session);
}

static struct domain_tracer *of_channel(struct both *both, const struct channel *channel)
{
	return channel->domain == DOMAIN_KERNEL ? both->kernel : both->user;
}

/* Whose the rule's channel is. */
static struct domain_tracer *of_rule(struct both *both, const struct session *session,
				     const struct rule *rule)
{
	const struct channel *channel;
	const struct rule *other;

	list_for_each(channel, &session->channels, node)
		list_for_each(other, &channel->rules, node)
			if (other == rule)
				return of_channel(both, channel);
	return both->user;
}

static uint32_t both_count_points(struct domain_tracer *domain, const struct session *session,
				  const struct rule *rule, uint32_t *ret_never)
{
	struct domain_tracer *its = of_rule(both_of(domain), session, rule);

	return its->ops->count_points(its, session, rule, ret_never);
}

static void both_each_point(struct domain_tracer *domain, const struct caller *caller,
			    void (*fn)(const struct domain_point *point, void *data), void *data)
{
	struct both *both = both_of(domain);

	both->user->ops->each_point(both->user, caller, fn, data);
	both->kernel->ops->each_point(both->kernel, caller, fn, data);
}

static void both_each_conflict(struct domain_tracer *domain, struct session *session,
			       struct channel *channel, const struct rule *rule,
			       void (*fn)(const struct domain_conflict *conflict, void *data),
			       void *data)
{
	struct domain_tracer *its = of_channel(both_of(domain), channel);

	its->ops->each_conflict(its, session, channel, rule, fn, data);
}

static bool both_find_ring(struct domain_tracer *domain, const struct session *session,
			   uint64_t ring, struct domain_ring *ret)
{
	struct both *both = both_of(domain);

	return both->user->ops->find_ring(both->user, session, ring, ret) ||
	       both->kernel->ops->find_ring(both->kernel, session, ring, ret);
}

static void both_each_final(struct domain_tracer *domain, const struct session *session,
			    void (*fn)(const struct msg_con_stream *sum, void *data), void *data)
{
	struct both *both = both_of(domain);

	both->user->ops->each_final(both->user, session, fn, data);
	both->kernel->ops->each_final(both->kernel, session, fn, data);
}

/* The kernel's events are not sampled. */
static void both_write_not_sampled(struct domain_tracer *domain, struct session *session,
				   const struct msg_con_stream *streams, size_t nr,
				   domain_done done, void *data)
{
	struct both *both = both_of(domain);

	both->user->ops->write_not_sampled(both->user, session, streams, nr, done, data);
}

static void both_clock_changed(struct domain_tracer *domain, struct session *session)
{
	struct both *both = both_of(domain);

	both->user->ops->clock_changed(both->user, session);
	both->kernel->ops->clock_changed(both->kernel, session);
}

static void both_save(struct domain_tracer *domain, const struct session *session,
		      struct state_space *space)
{
	struct both *both = both_of(domain);

	both->user->ops->save(both->user, session, space);
	both->kernel->ops->save(both->kernel, session, space);
}

static void both_restore(struct domain_tracer *domain, struct session *session,
			 const struct clock_facts *clock, struct msg_state_session *msg)
{
	struct both *both = both_of(domain);

	both->user->ops->restore(both->user, session, clock, msg);
	both->kernel->ops->restore(both->kernel, session, clock, msg);
}

static void both_adopt(struct domain_tracer *domain, struct session *session)
{
	struct both *both = both_of(domain);

	both->user->ops->adopt(both->user, session);
	both->kernel->ops->adopt(both->kernel, session);
}

static void both_keep(struct domain_tracer *domain, struct session *session)
{
	struct both *both = both_of(domain);

	both->user->ops->keep(both->user, session);
	both->kernel->ops->keep(both->kernel, session);
}

static const struct domain_ops both_ops = {
	.name = "both",
	.start = both_start,
	.stop = both_stop,
	.refresh = both_refresh,
	.forget = both_forget,
	.retry = both_retry,
	.count_apps = both_count_apps,
	.count_points = both_count_points,
	.each_point = both_each_point,
	.each_conflict = both_each_conflict,
	.find_ring = both_find_ring,
	.each_final = both_each_final,
	.write_not_sampled = both_write_not_sampled,
	.clock_changed = both_clock_changed,
	.save = both_save,
	.restore = both_restore,
	.adopt = both_adopt,
	.keep = both_keep,
};

struct domain_tracer *both_new(struct domain_tracer *user, struct domain_tracer *kernel)
{
	struct both *both = xalloc(sizeof(*both));

	both->domain.ops = &both_ops;
	list_init(&both->domain.recordings);
	both->user = user;
	both->kernel = kernel;
	return &both->domain;
}

struct domain_tracer *both_free(struct domain_tracer *domain)
{
	if (domain)
		free(both_of(domain));
	return NULL;
}
