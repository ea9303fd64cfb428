/* SPDX-License-Identifier: GPL-2.0-only */
#include "waits.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "callsites.h"
#include "overview.h"
#include "read/event.h"

/* Events are NAME_begin and NAME_end. */
static const char *const waits_names[] = {
	[WAITS_CONDITION] = "pthread_cond_wait",
	[WAITS_SEMAPHORE] = "sem_wait",
	[WAITS_BARRIER] = "pthread_barrier_wait",
	[WAITS_JOIN] = "pthread_join",
	[WAITS_ONCE] = "pthread_once",
};

struct waits *waits_new(struct callsites *callsites)
{
	struct waits *waits = xalloc(sizeof(*waits));

	waits->callsites = callsites;
	idmap_init(&waits->map);
	return waits;
}

void waits_free(struct waits *waits)
{
	struct waits_site *site;

	if (!waits)
		return;
	idmap_fini(&waits->map);
	while ((site = waits->sites)) {
		waits->sites = site->next;
		free(site);
	}
	free(waits);
}

const char *waits_name(enum waits_kind kind)
{
	return waits_names[kind];
}

struct waits_action waits_action_of(const char *name)
{
	struct waits_action action = { .side = WAITS_NONE };
	const char *call = strstr(name, "_pthread:");

	if (!call)
		return action;
	call += strlen("_pthread:");
	for (int kind = 0; kind < WAITS_NR_KINDS; kind++) {
		size_t len = strlen(waits_names[kind]);

		if (strncmp(call, waits_names[kind], len) != 0)
			continue;
		action.kind = (enum waits_kind)kind;
		action.side = strcmp(call + len, "_begin") == 0 ? WAITS_BEGIN :
			      strcmp(call + len, "_end") == 0	? WAITS_END :
								  WAITS_NONE;
	}
	return action;
}

/* Return: NULL: there are too many. */
static struct waits_site *waits_site_of(struct waits *waits, enum waits_kind kind,
					const struct callchain *chain)
{
	uint64_t hash = ((uintptr_t)chain + (uint64_t)kind) * 0xff51afd7ed558ccdu;
	struct idmap_node *node = idmap_find(&waits->map, hash);
	struct waits_site *site;

	for (; node; node = idmap_next(&waits->map, node)) {
		site = container_of(node, struct waits_site, node);
		if (site->kind == kind && site->chain == chain)
			return site;
	}
	if (waits->nr_sites == WAITS_SITES_MOST) {
		waits->left_out++;
		return NULL;
	}
	waits->nr_sites++;
	site = xalloc(sizeof(*site));
	site->kind = kind;
	site->chain = chain;
	site->next = waits->sites;
	waits->sites = site;
	idmap_add(&waits->map, &site->node, hash);
	return site;
}

static void waits_add(struct waits *waits, const struct overview_thread *thread,
		      struct waits_begun *begun, int64_t ns)
{
	struct waits_site *site = begun->site;
	uint64_t wait_ns = event_ns_between(begun->from_ns, ns);

	site->calls++;
	site->wait_ns += wait_ns;
	site->lossy |= begun->from_ns < thread->process->source->lossy_until_ns;
	waits->calls++;
	waits->wait_ns += wait_ns;
	if (wait_ns >= site->longest_ns) {
		site->longest_ns = wait_ns;
		site->thread = thread;
		site->from_ns = begun->from_ns;
	}
	begun->site = NULL;
}

void waits_take(struct waits *waits, struct overview_thread *thread, struct waits_action action,
		const struct event *event)
{
	struct waits_begun *begun = &thread->waits[action.kind];
	const struct value *status = value_member(event->fields, "status");
	const struct callchain *chain;

	if (action.side == WAITS_BEGIN) {
		chain = callsites_chain(waits->callsites, thread->process, event);
		begun->site = thread->chosen ? waits_site_of(waits, action.kind, chain) : NULL;
		begun->from_ns = event->ns;
	} else if (begun->site) {
		begun->site->timed_out += status && status->u == ETIMEDOUT;
		waits_add(waits, thread, begun, event->ns);
	}
}

void waits_end(struct waits *waits, struct overview_thread *thread, int64_t ns)
{
	for (int kind = 0; kind < WAITS_NR_KINDS; kind++) {
		struct waits_begun *begun = &thread->waits[kind];

		if (!begun->site)
			continue;
		begun->site->open++;
		waits_add(waits, thread, begun, ns);
	}
}

static int waits_compare(const void *a, const void *b)
{
	const struct waits_site *x = *(const struct waits_site *const *)a;
	const struct waits_site *y = *(const struct waits_site *const *)b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns > y->wait_ns ? -1 : 1;
	return x->from_ns > y->from_ns ? 1 : -(x->from_ns < y->from_ns);
}

const struct waits_site **waits_longest(const struct waits *waits, size_t *ret_nr)
{
	const struct waits_site **all = xalloc((waits->nr_sites + 1) * sizeof(*all));
	size_t nr = 0;

	for (const struct waits_site *site = waits->sites; site; site = site->next)
		if (site->calls)
			all[nr++] = site;
	qsort(all, nr, sizeof(*all), waits_compare);
	*ret_nr = nr;
	return all;
}
