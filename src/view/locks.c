/* SPDX-License-Identifier: GPL-2.0-only */
#include "locks.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "callsites.h"
#include "event.h"
#include "overview.h"

struct locks *locks_new(struct callsites *sites, uint32_t most_waits)
{
	struct locks *locks = xalloc(sizeof(*locks));

	locks->sites = sites;
	locks->most_waits = most_waits;
	locks->waits = xalloc(most_waits * sizeof(*locks->waits));
	idmap_init(&locks->map);
	return locks;
}

void locks_free(struct locks *locks)
{
	struct locks_mutex *mutex;

	if (!locks)
		return;
	idmap_fini(&locks->map);
	while ((mutex = locks->mutexes)) {
		locks->mutexes = mutex->next;
		free(mutex);
	}
	free(locks->waits);
	free(locks);
}

enum locks_action locks_action_of(const char *name)
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
	const char *call = strstr(name, "_pthread:pthread_mutex_");

	for (size_t i = 0; call && i < ARRAY_SIZE(actions); i++)
		if (strcmp(call + strlen("_pthread:pthread_mutex_"), actions[i].name) == 0)
			return actions[i].action;
	return LOCKS_NONE;
}

/* --- mutexes -------------------------------------------------------------------------- */

static struct locks_mutex *locks_mutex_of(struct locks *locks,
					  const struct overview_process *process,
					  const struct event *event, uint64_t address)
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
	mutex->process = process;
	mutex->address = address;
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

/* The hold explains a part of each wait of others. */
static void locks_end_hold(struct locks_mutex *mutex, int64_t ns, bool uncertain)
{
	struct locks_hold *hold = &mutex->now;
	struct locks_request *request;
	uint32_t nr = 0;

	hold->ns = event_ns_between(hold->from_ns, ns);
	hold->uncertain |= uncertain || locks_is_lossy(mutex->process, hold->from_ns);
	list_for_each(request, &mutex->waiters, node) {
		uint64_t part_ns = event_ns_between(MAX(request->from_ns, hold->from_ns), ns);

		if (nr++ == LOCKS_WAITERS_MOST)
			break;
		if (request->thread == hold->thread || !part_ns)
			continue;
		request->holds++;
		request->held_ns += part_ns;
		if (part_ns <= request->most_ns)
			continue;
		request->most = *hold;
		request->most_ns = part_ns;
	}
	if (hold->ns > mutex->longest.ns)
		mutex->longest = *hold;
	*hold = (struct locks_hold){ 0 };
	mutex->depth = 0;
	mutex->released_ns = ns;
}

static void locks_begin_hold(struct locks_mutex *mutex, const struct overview_thread *thread,
			     struct callsite *site, int64_t ns)
{
	bool again = mutex->now.thread == thread;

	/* A thread that locks once more has a recursive mutex, unless its unlock was lost. */
	if (again && !locks_is_lossy(mutex->process, mutex->now.from_ns)) {
		mutex->depth++;
		return;
	}
	if (mutex->now.thread)
		locks_end_hold(mutex, ns, true);
	mutex->now = (struct locks_hold){ .thread = thread, .site = site, .from_ns = ns };
	mutex->depth = 1;
}

/* A mutex that its owner unlocks and that had no owner: pthread_cond_wait() has returned, or the
 * event is lost. Waits for it are that owner's. */
static void locks_release(struct locks_mutex *mutex, const struct overview_thread *thread,
			  int64_t ns)
{
	if (!mutex->now.thread && !list_empty(&mutex->waiters)) {
		mutex->now.thread = thread;
		mutex->now.from_ns = mutex->released_ns;
		locks_end_hold(mutex, ns, true);
	} else if (mutex->now.thread == thread && --mutex->depth == 0) {
		locks_end_hold(mutex, ns, false);
	}
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
	struct locks_wait wait = {
		.mutex = mutex,
		.thread = request->thread,
		.site = request->site,
		.from_ns = request->from_ns,
		.ns = event_ns_between(request->from_ns, ns),
		.held_ns = request->held_ns,
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
	locks->waited++;
	locks->wait_ns += wait.ns;
	locks_keep(locks, &wait);
}

static void locks_request_it(struct locks_mutex *mutex, struct overview_thread *thread,
			     struct callsite *site, int64_t ns)
{
	struct locks_request *request = &thread->request;

	locks_forget_request(request);
	*request = (struct locks_request){
		.thread = thread,
		.mutex = mutex,
		.chosen = thread->chosen,
		.site = site,
		.from_ns = ns,
	};
	list_append(&mutex->waiters, &request->node);
}

/* The mutex is another thread's, whose unlock is not recorded, or not yet. Where the call had to
 * wait, the hold has just ended. Else that may have been at any time since, in pthread_cond_wait(),
 * and explains no wait. */
static void locks_supersede(struct locks_mutex *mutex, struct locks_request *request, int64_t ns)
{
	bool has_waited = request->mutex == mutex &&
			  event_ns_between(request->from_ns, ns) >= LOCKS_UNEXPLAINED_NS;

	if (!has_waited)
		locks_forget_request(request);
	locks_end_hold(mutex, ns, !has_waited);
}

static void locks_acquire(struct locks *locks, struct locks_mutex *mutex,
			  struct overview_thread *thread, struct callsite *site, int64_t ns)
{
	struct locks_request *request = &thread->request;

	locks->acquired += thread->chosen;
	mutex->acquired += thread->chosen;
	if (request->mutex == mutex)
		site = request->site;
	if (mutex->now.thread && mutex->now.thread != thread)
		locks_supersede(mutex, request, ns);
	if (request->mutex == mutex)
		locks_end_wait(locks, request, ns, false);
	else
		locks_forget_request(request);
	locks_begin_hold(mutex, thread, site, ns);
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

void locks_take(struct locks *locks, struct overview_thread *thread, enum locks_action action,
		const struct event *event)
{
	uint64_t address = locks_number(event, "mutex");
	struct locks_mutex *mutex = locks_mutex_of(locks, thread->process, event, address);
	struct callsite *site = NULL;

	if (!mutex)
		return;
	if (action == LOCKS_REQUEST || action == LOCKS_TRY)
		site = callsites_find(locks->sites, thread->process, event,
				      callsites_address(event), true);
	if (action == LOCKS_REQUEST)
		locks_request_it(mutex, thread, site, event->ns);
	else if (!locks_has_succeeded(event))
		locks_forget_request(&thread->request);
	else if (action == LOCKS_RELEASE)
		locks_release(mutex, thread, event->ns);
	else
		locks_acquire(locks, mutex, thread, site, event->ns);
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

		if (mutex->now.thread)
			locks_end_hold(mutex, ns, true);
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
