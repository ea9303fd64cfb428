/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * await.c - delays figures that a client requests after all daemons were killed. They are complete
 * when the applications have returned the buffers that the daemons lost; until then only the
 * figures of the files are known. The wait ends when all buffers are back, when no application has
 * any of them, or one second after the daemon's start.
 */
#include "base/mem.h"
#include "offer.h"
#include "session.h"
#include "state.h"

struct offers_wait {
	struct list_node node;
	domain_done done;
	void *data;
};

static bool is_awaited(const struct user_domain *user)
{
	const struct recording *rec;

	list_for_each(rec, &user->domain.recordings, node)
		if (rec->enough.at_ns)
			return true;
	return false;
}

void user_await_offers(struct domain_tracer *domain, domain_done done, void *data)
{
	struct user_domain *user = user_of(domain);
	struct offers_wait *wait;

	absent_check(&user->look);
	if (!is_awaited(user)) {
		done(data, 0, 0, NULL);
		return;
	}
	wait = xalloc(sizeof(*wait));
	wait->done = done;
	wait->data = data;
	list_append(&user->awaits, &wait->node);
}

void offers_done(struct user_domain *user)
{
	if (!list_empty(&user->awaits) && !is_awaited(user))
		loop_defer(user->recorder->config.loop, &user->settled);
}

void awaits_finish(struct loop_work *work)
{
	struct user_domain *user = container_of(work, struct user_domain, settled);
	struct offers_wait *wait;

	while ((wait = list_first(&user->awaits, struct offers_wait, node))) {
		list_remove(&wait->node);
		wait->done(wait->data, 0, 0, NULL);
		free(wait);
	}
}
