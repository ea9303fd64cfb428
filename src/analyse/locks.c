/* SPDX-License-Identifier: GPL-2.0-only */
#include "locks.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "callsites.h"
#include "overview.h"
#include "read/event.h"

struct locks *locks_new(struct callsites *sites, uint32_t most_waits)
{
	struct locks *locks = xalloc(sizeof(*locks));

	locks->sites = sites;
	locks->most_waits = most_waits;
	locks->waits = xalloc(most_waits * sizeof(*locks->waits));
	idmap_init(&locks->map);
	idmap_init(&locks->sites_map);
	return locks;
}

void locks_free(struct locks *locks)
{
	struct locks_mutex *mutex;
	struct locks_site *site;

	if (!locks)
		return;
	idmap_fini(&locks->map);
	idmap_fini(&locks->sites_map);
	while ((site = locks->by_site)) {
		locks->by_site = site->next;
		free(site);
	}
	while ((mutex = locks->mutexes)) {
		locks->mutexes = mutex->next;
		free(mutex->now);
		free(mutex);
	}
	free(locks->waits);
	free(locks);
}

/* The names of the field with the address, too. */
static const char *const locks_kinds[] = { "mutex", "spin", "rwlock" };

const char *locks_kind_name(enum locks_kind kind)
{
	return locks_kinds[kind];
}

/* The action of the part of a name behind PREFIX_, of an operation on a lock. */
static enum locks_action locks_operation(const char *name)
{
	static const struct {
		const char *name;
		enum locks_action action;
	} actions[] = {
		{ "lock_req", LOCKS_REQUEST },
		{ "lock_acq", LOCKS_ACQUIRE },
		{ "trylock", LOCKS_TRY },
		{ "unlock", LOCKS_RELEASE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (strcmp(name, actions[i].name) == 0)
			return actions[i].action;
	return LOCKS_NONE;
}

enum locks_action locks_action_of(const char *name)
{
	const char *call = strstr(name, "_pthread:pthread_");

	if (!call)
		return LOCKS_NONE;
	call += strlen("_pthread:pthread_");
	for (size_t i = 0; i < ARRAY_SIZE(locks_kinds); i++) {
		size_t len = strlen(locks_kinds[i]);

		if (strncmp(call, locks_kinds[i], len) == 0 && call[len] == '_')
			return locks_operation(call + len + 1);
	}
	return strcmp(call, "cond_wait_begin") == 0 ? LOCKS_WAIT :
	       strcmp(call, "cond_wait_end") == 0   ? LOCKS_AGAIN :
						      LOCKS_NONE;
}

/* --- mutexes -------------------------------------------------------------------------- */

static struct locks_mutex *locks_mutex_of(struct locks *locks,
					  const struct overview_process *process,
					  const struct event *event, uint64_t address,
					  enum locks_kind kind)
{
	uint64_t hash = ((uintptr_t)process ^ address * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	struct idmap_node *node = idmap_find(&locks->map, hash);
	struct locks_mutex *mutex;

	for (; node; node = idmap_next(&locks->map, node)) {
		mutex = container_of(node, struct locks_mutex, node);
		if (mutex->process == process && mutex->address == address)
			return mutex;
	}
	if (locks->nr_mutexes == LOCKS_MUTEXES_MOST) {
		locks->left_out++;
		return NULL;
	}
	locks->nr_mutexes++;
	mutex = xalloc(sizeof(*mutex));
	mutex->locks = locks;
	mutex->process = process;
	mutex->address = address;
	mutex->kind = kind;
	mutex->place = callsites_find(locks->sites, process, event, address, false);
	mutex->released_ns = event->ns;
	list_init(&mutex->waiters);
	mutex->next = locks->mutexes;
	locks->mutexes = mutex;
	idmap_add(&locks->map, &mutex->node, hash);
	return mutex;
}

/* --- holds --------------------------------------------------------------------------------- */

static bool locks_is_lossy(const struct overview_process *process, int64_t from_ns)
{
	return from_ns < process->source->lossy_until_ns;
}

/* The hold explains a part of a wait of another thread, but readers don't exclude each other. */
static void locks_explain(struct locks_request *request, const struct locks_hold *hold, int64_t ns)
{
	uint64_t part_ns = event_ns_between(MAX(request->from_ns, hold->from_ns), ns);

	if (request->thread == hold->thread || !part_ns || (request->shared && hold->shared))
		return;
	request->holds++;
	request->held_ns += part_ns;
	if (part_ns <= request->most_ns)
		return;
	request->most = *hold;
	request->most_ns = part_ns;
}

/* @hold: one of mutex->now, which is removed. */
static void locks_end_hold(struct locks_mutex *mutex, struct locks_hold *hold, int64_t ns,
			   bool uncertain)
{
	struct locks_request *request;
	uint32_t nr = 0;

	hold->ns = event_ns_between(hold->from_ns, ns);
	hold->uncertain |= uncertain || locks_is_lossy(mutex->process, hold->from_ns);
	list_for_each(request, &mutex->waiters, node) {
		if (nr++ == LOCKS_WAITERS_MOST)
			break;
		locks_explain(request, hold, ns);
	}
	if (hold->ns > mutex->longest.ns)
		mutex->longest = *hold;
	if (mutex->locks->watch)
		mutex->locks->watch->hold(mutex->locks->watch->priv, mutex, hold);
	*hold = mutex->now[--mutex->nr_now];
	mutex->released_ns = ns;
}

static struct locks_hold *locks_hold_of(struct locks_mutex *mutex,
					const struct overview_thread *thread)
{
	for (uint32_t i = 0; i < mutex->nr_now; i++)
		if (mutex->now[i].thread == thread)
			return &mutex->now[i];
	return NULL;
}

static struct locks_hold *locks_add_hold(struct locks_mutex *mutex, const struct locks_hold *hold)
{
	if (mutex->nr_now == LOCKS_READERS_MOST)
		locks_end_hold(mutex, mutex->now, hold->from_ns, true);
	if (mutex->nr_now == mutex->size_now) {
		mutex->size_now = mutex->size_now ? 2 * mutex->size_now : 1;
		mutex->now = xrealloc(mutex->now, mutex->size_now * sizeof(*mutex->now));
	}
	mutex->now[mutex->nr_now] = *hold;
	return &mutex->now[mutex->nr_now++];
}

/* A thread that locks once more has a recursive mutex, unless its unlock was lost. */
static void locks_begin_hold(struct locks_mutex *mutex, const struct locks_hold *hold)
{
	struct locks_hold *known = locks_hold_of(mutex, hold->thread);

	if (known && !locks_is_lossy(mutex->process, known->from_ns)) {
		known->depth++;
		return;
	}
	if (known)
		locks_end_hold(mutex, known, hold->from_ns, true);
	locks_add_hold(mutex, hold);
}

/* A mutex that its owner unlocks and that had no owner: pthread_cond_wait() has returned without an
 * event, or the event is lost. Waits for it are that owner's. */
static void locks_release(struct locks_mutex *mutex, const struct overview_thread *thread,
			  int64_t ns)
{
	const struct locks_hold since = { .thread = thread, .from_ns = mutex->released_ns };
	struct locks_hold *hold = locks_hold_of(mutex, thread);

	if (!mutex->nr_now && !list_empty(&mutex->waiters))
		locks_end_hold(mutex, locks_add_hold(mutex, &since), ns, true);
	else if (hold && --hold->depth == 0)
		locks_end_hold(mutex, hold, ns, false);
}

/* --- waits --------------------------------------------------------------------------------- */

static void locks_keep(struct locks *locks, const struct locks_wait *wait)
{
	struct locks_wait *least = locks->waits;

	if (locks->nr_waits < locks->most_waits) {
		locks->waits[locks->nr_waits++] = *wait;
		return;
	}
	for (uint32_t i = 1; i < locks->nr_waits; i++)
		if (locks->waits[i].ns < least->ns)
			least = &locks->waits[i];
	if (locks->nr_waits && wait->ns > least->ns)
		*least = *wait;
}

/* The number of chains is limited. */
static struct locks_site *locks_site_of(struct locks *locks, enum locks_kind kind,
					const struct callchain *chain)
{
	uint64_t hash = ((uintptr_t)chain + (uint64_t)kind) * 0xff51afd7ed558ccdu;
	struct idmap_node *node = idmap_find(&locks->sites_map, hash);
	struct locks_site *site;

	for (; node; node = idmap_next(&locks->sites_map, node)) {
		site = container_of(node, struct locks_site, node);
		if (site->kind == kind && site->chain == chain)
			return site;
	}
	site = xalloc(sizeof(*site));
	site->kind = kind;
	site->chain = chain;
	site->next = locks->by_site;
	locks->by_site = site;
	idmap_add(&locks->sites_map, &site->node, hash);
	return site;
}

static void locks_forget_request(struct locks_request *request)
{
	if (!request->mutex)
		return;
	list_remove(&request->node);
	*request = (struct locks_request){ 0 };
}

static void locks_end_wait(struct locks *locks, struct locks_request *request, int64_t ns,
			   bool open)
{
	struct locks_mutex *mutex = request->mutex;
	bool chosen = request->chosen;
	struct locks_site *site;
	struct locks_wait wait = {
		.mutex = mutex,
		.thread = request->thread,
		.chain = request->chain,
		.from_ns = request->from_ns,
		.ns = event_ns_between(request->from_ns, ns),
		.held_ns = MIN(request->held_ns, event_ns_between(request->from_ns, ns)),
		.holds = request->holds,
		.holder = request->most,
		.lossy = locks_is_lossy(mutex->process, request->from_ns),
		.open = open,
	};

	locks_forget_request(request);
	if (!chosen)
		return;
	if (!wait.holder.thread && !wait.lossy && !open) {
		locks->unexplained += wait.ns >= LOCKS_UNEXPLAINED_NS;
		return;
	}
	mutex->waited++;
	mutex->wait_ns += wait.ns;
	mutex->lossy |= wait.lossy;
	site = locks_site_of(locks, mutex->kind, wait.chain);
	site->waited++;
	site->wait_ns += wait.ns;
	locks->waited++;
	locks->wait_ns += wait.ns;
	if (locks->watch)
		locks->watch->wait(locks->watch->priv, &wait);
	locks_keep(locks, &wait);
}

static void locks_request_it(struct locks_mutex *mutex, struct overview_thread *thread,
			     const struct callchain *chain, bool shared, int64_t ns)
{
	struct locks_request *request = &thread->request;

	locks_forget_request(request);
	*request = (struct locks_request){
		.thread = thread,
		.mutex = mutex,
		.chosen = thread->chosen,
		.shared = shared,
		.chain = chain,
		.from_ns = ns,
	};
	list_append(&mutex->waiters, &request->node);
}

/* The hold is another thread's, whose unlock is not recorded, or not yet. Where the call had to
 * wait, it has just ended. Else that may have been at any time since, in a wait for a condition
 * without an event, and explains no wait. */
static void locks_supersede(struct locks_mutex *mutex, struct locks_hold *hold,
			    struct locks_request *request, int64_t ns)
{
	bool has_waited = request->mutex == mutex &&
			  event_ns_between(request->from_ns, ns) >= LOCKS_UNEXPLAINED_NS;

	if (!has_waited)
		locks_forget_request(request);
	locks_end_hold(mutex, hold, ns, !has_waited);
}

static void locks_hold_it(struct locks_mutex *mutex, struct overview_thread *thread,
			  struct locks_hold hold)
{
	for (uint32_t i = mutex->nr_now; i-- > 0;)
		if (mutex->now[i].thread != thread && !(mutex->now[i].shared && hold.shared))
			locks_supersede(mutex, &mutex->now[i], &thread->request, hold.from_ns);
	hold.thread = thread;
	hold.depth = 1;
	locks_begin_hold(mutex, &hold);
}

static void locks_acquire(struct locks *locks, struct locks_mutex *mutex,
			  struct overview_thread *thread, struct locks_hold hold)
{
	struct locks_request *request = &thread->request;
	const struct callchain *requested_in = request->mutex == mutex ? request->chain : NULL;

	locks->acquired += thread->chosen;
	mutex->acquired += thread->chosen;
	if (requested_in)
		hold.chain = requested_in;
	locks_hold_it(mutex, thread, hold);
	if (request->mutex == mutex)
		locks_end_wait(locks, request, hold.from_ns, false);
	else
		locks_forget_request(request);
}

static void locks_wait(struct locks_mutex *mutex, struct overview_thread *thread,
		       const struct callchain *chain, int64_t ns)
{
	struct locks_hold *hold = locks_hold_of(mutex, thread);

	if (hold)
		locks_end_hold(mutex, hold, ns, false);
	thread->waits_in = chain;
}

/* --- events --------------------------------------------------------------------------------- */

static uint64_t locks_number(const struct event *event, const char *name)
{
	const struct value *value = value_member(event->fields, name);

	return value && value->type->kind == TYPE_INT ? value->u : 0;
}

static bool locks_has_succeeded(const struct event *event)
{
	uint64_t status = locks_number(event, "status");

	return status == 0 || status == EOWNERDEAD;
}

/* Return: the address of the lock; 0: the event has none. */
static uint64_t locks_address(const struct event *event, enum locks_kind *ret)
{
	uint64_t address = 0;

	for (int kind = 0; kind < LOCKS_NR_KINDS && !address; kind++) {
		address = locks_number(event, locks_kinds[kind]);
		*ret = (enum locks_kind)kind;
	}
	return address;
}

void locks_take(struct locks *locks, struct overview_thread *thread, enum locks_action action,
		const struct event *event)
{
	enum locks_kind kind;
	uint64_t address = locks_address(event, &kind);
	struct locks_mutex *mutex = locks_mutex_of(locks, thread->process, event, address, kind);
	struct locks_hold hold = { .from_ns = event->ns };

	if (!mutex)
		return;
	hold.shared = kind == LOCKS_RWLOCK && !locks_number(event, "write");
	if (action == LOCKS_REQUEST || action == LOCKS_TRY || action == LOCKS_WAIT)
		hold.chain = callsites_chain(locks->sites, thread->process, event);
	if (action == LOCKS_REQUEST) {
		locks_request_it(mutex, thread, hold.chain, hold.shared, event->ns);
	} else if (action == LOCKS_WAIT) {
		locks_wait(mutex, thread, hold.chain, event->ns);
	} else if (action == LOCKS_AGAIN) { /* also where the time is over */
		hold.chain = thread->waits_in;
		locks_hold_it(mutex, thread, hold);
	} else if (!locks_has_succeeded(event)) {
		locks_forget_request(&thread->request);
	} else if (action == LOCKS_RELEASE) {
		locks_release(mutex, thread, event->ns);
	} else {
		locks_acquire(locks, mutex, thread, hold);
	}
}

void locks_pass(struct overview_thread *thread)
{
	if (thread->request.mutex && locks_is_lossy(thread->process, thread->request.from_ns))
		locks_forget_request(&thread->request);
}

/* --- results ----------------------------------------------------------------------------- */

static int locks_compare_waits(const void *a, const void *b)
{
	const struct locks_wait *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->from_ns > y->from_ns ? 1 : -(x->from_ns < y->from_ns);
}

void locks_end(struct locks *locks, int64_t ns)
{
	for (struct locks_mutex *mutex = locks->mutexes; mutex; mutex = mutex->next) {
		struct locks_request *request, *next;

		while (mutex->nr_now)
			locks_end_hold(mutex, mutex->now, ns, true);
		list_for_each_safe(request, next, &mutex->waiters, node)
			locks_end_wait(locks, request, ns, true);
	}
	qsort(locks->waits, locks->nr_waits, sizeof(*locks->waits), locks_compare_waits);
}

static int locks_compare_mutexes(const void *a, const void *b)
{
	const struct locks_mutex *x = *(const struct locks_mutex *const *)a;
	const struct locks_mutex *y = *(const struct locks_mutex *const *)b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns > y->wait_ns ? -1 : 1;
	return x->address > y->address ? 1 : -(x->address < y->address);
}

const struct locks_mutex **locks_busiest(const struct locks *locks, size_t *ret_nr)
{
	const struct locks_mutex **all = xalloc((locks->nr_mutexes + 1) * sizeof(*all));
	size_t nr = 0;

	for (const struct locks_mutex *mutex = locks->mutexes; mutex; mutex = mutex->next)
		if (mutex->waited)
			all[nr++] = mutex;
	qsort(all, nr, sizeof(*all), locks_compare_mutexes);
	*ret_nr = nr;
	return all;
}
