/* SPDX-License-Identifier: GPL-2.0-only */
#include "allocations.h"

#include <string.h>

#include "base/mem.h"
#include "callsites.h"
#include "overview.h"
#include "read/event.h"

/**
 * struct allocations_block - @again: another allocation got its address before its free() was seen:
 * realloc() records after the call, when another thread may have the memory already.
 */
struct allocations_block {
	struct idmap_node node;
	struct list_node all; /* of struct allocations */
	const struct overview_process *process;
	struct allocations_site *site;
	uint64_t address, bytes;
	bool again;
};

static const char *const allocations_names[ALLOCATIONS_NR] = {
	[ALLOCATIONS_MALLOC] = "malloc",
	[ALLOCATIONS_CALLOC] = "calloc",
	[ALLOCATIONS_REALLOC] = "realloc",
	[ALLOCATIONS_REALLOCARRAY] = "reallocarray",
	[ALLOCATIONS_MEMALIGN] = "memalign",
	[ALLOCATIONS_ALIGNED_ALLOC] = "aligned_alloc",
	[ALLOCATIONS_POSIX_MEMALIGN] = "posix_memalign",
	[ALLOCATIONS_VALLOC] = "valloc",
	[ALLOCATIONS_PVALLOC] = "pvalloc",
	[ALLOCATIONS_STRDUP] = "strdup",
	[ALLOCATIONS_NEW] = "operator_new",
	[ALLOCATIONS_NEW_ARRAY] = "operator_new_array",
	[ALLOCATIONS_FREE] = "free",
};

enum allocations_action allocations_action_of(const char *name)
{
	const char *call = strstr(name, "_libc:");

	for (int i = ALLOCATIONS_MALLOC; call && i < ALLOCATIONS_NR; i++)
		if (strcmp(call + strlen("_libc:"), allocations_names[i]) == 0)
			return (enum allocations_action)i;
	return ALLOCATIONS_NONE;
}

const char *allocations_name(enum allocations_action action)
{
	return action == ALLOCATIONS_NEW       ? "operator new" :
	       action == ALLOCATIONS_NEW_ARRAY ? "operator new[]" :
	       action != ALLOCATIONS_NONE      ? allocations_names[action] :
						 "?";
}

struct allocations *allocations_new(struct callsites *callsites)
{
	struct allocations *allocations = xalloc(sizeof(*allocations));

	allocations->callsites = callsites;
	idmap_init(&allocations->sites_map);
	idmap_init(&allocations->blocks_map);
	list_init(&allocations->blocks);
	return allocations;
}

void allocations_free(struct allocations *allocations)
{
	struct allocations_block *block, *next;
	struct allocations_site *site;

	if (!allocations)
		return;
	idmap_fini(&allocations->sites_map);
	idmap_fini(&allocations->blocks_map);
	list_for_each_safe(block, next, &allocations->blocks, all)
		free(block);
	while ((site = allocations->sites)) {
		allocations->sites = site->next;
		free(site);
	}
	free(allocations);
}

/* --- sites and blocks ---------------------------------------------------------------------- */

static uint64_t allocations_hash(const void *pointer, uint64_t number)
{
	return ((uintptr_t)pointer ^ number * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
}

static struct allocations_site *allocations_site_of(struct allocations *allocations,
						    const struct overview_process *process,
						    enum allocations_action action,
						    const struct event *event)
{
	const struct callchain *chain = callsites_chain(allocations->callsites, process, event);
	uint64_t hash = allocations_hash(chain, action);
	struct idmap_node *node = idmap_find(&allocations->sites_map, hash);
	struct allocations_site *site;

	for (; node; node = idmap_next(&allocations->sites_map, node)) {
		site = container_of(node, struct allocations_site, node);
		if (site->chain == chain && site->action == action)
			return site;
	}
	site = xalloc(sizeof(*site));
	site->chain = chain;
	site->action = action;
	site->from_ns = event->ns;
	site->next = allocations->sites;
	allocations->sites = site;
	allocations->nr_sites++;
	idmap_add(&allocations->sites_map, &site->node, hash);
	return site;
}

static struct allocations_block *allocations_block_at(const struct allocations *allocations,
						      const struct overview_process *process,
						      uint64_t address)
{
	struct idmap_node *node =
		idmap_find(&allocations->blocks_map, allocations_hash(process, address));

	for (; node; node = idmap_next(&allocations->blocks_map, node)) {
		struct allocations_block *block =
			container_of(node, struct allocations_block, node);

		if (block->process == process && block->address == address)
			return block;
	}
	return NULL;
}

/* Pairs become one: the rest of the time has room then. */
static void allocations_merge_samples(struct allocations *allocations)
{
	struct allocations_sample *samples = allocations->samples;
	uint32_t nr = allocations->nr_samples;

	for (uint32_t i = 0; i < nr; i += 2) {
		const struct allocations_sample *second = &samples[MIN(i + 1, nr - 1)];

		samples[i / 2] = (struct allocations_sample){
			.most_bytes = MAX(samples[i].most_bytes, second->most_bytes),
			.live_bytes = second->live_bytes,
		};
	}
	allocations->nr_samples = (nr + 1) / 2;
	allocations->sample_ns *= 2;
}

/* Samples up to this time. */
static void allocations_extend(struct allocations *allocations, int64_t ns)
{
	uint64_t since = event_ns_between(allocations->samples_from_ns, ns);
	uint64_t live = allocations->samples[allocations->nr_samples - 1].live_bytes;

	if (since < allocations->nr_samples * allocations->sample_ns)
		return;
	while (since / allocations->sample_ns >= ALLOCATIONS_SAMPLES)
		allocations_merge_samples(allocations);
	while (allocations->nr_samples <= since / allocations->sample_ns)
		allocations->samples[allocations->nr_samples++] =
			(struct allocations_sample){ live, live };
}

static void allocations_sample(struct allocations *allocations, int64_t ns)
{
	struct allocations_sample *last;

	if (!allocations->nr_samples) {
		allocations->samples_from_ns = ns;
		allocations->sample_ns = 1000;
		allocations->nr_samples = 1;
	}
	allocations_extend(allocations, ns);
	last = &allocations->samples[allocations->nr_samples - 1];
	last->live_bytes = allocations->live_bytes;
	last->most_bytes = MAX(last->most_bytes, last->live_bytes);
}

/* Before its first change since the latest peak, a site has the numbers of that time. */
static void allocations_keep_peak(const struct allocations *allocations,
				  struct allocations_site *site)
{
	if (site->peaks == allocations->peaks)
		return;
	site->peaks = allocations->peaks;
	site->peak = site->live;
	site->peak_bytes = site->live_bytes;
}

static void allocations_count_out(struct allocations *allocations,
				  const struct allocations_block *block, int64_t ns)
{
	allocations_keep_peak(allocations, block->site);
	block->site->live--;
	block->site->live_bytes -= block->bytes;
	allocations->live--;
	allocations->live_bytes -= block->bytes;
	allocations_sample(allocations, ns);
}

static void allocations_count_in(struct allocations *allocations,
				 const struct allocations_block *block, int64_t ns)
{
	allocations_keep_peak(allocations, block->site);
	block->site->live++;
	block->site->live_bytes += block->bytes;
	allocations->live++;
	allocations->live_bytes += block->bytes;
	if (allocations->live_bytes > allocations->most_bytes) {
		allocations->most_bytes = allocations->live_bytes;
		allocations->most_ns = ns;
		allocations->peaks++;
	}
	allocations_sample(allocations, ns);
}

static struct allocations_block *allocations_new_block(struct allocations *allocations,
						       const struct overview_process *process,
						       uint64_t address)
{
	struct allocations_block *block = xalloc(sizeof(*block));

	block->process = process;
	block->address = address;
	list_append(&allocations->blocks, &block->all);
	idmap_add(&allocations->blocks_map, &block->node, allocations_hash(process, address));
	return block;
}

static void allocations_begin(struct allocations *allocations,
			      const struct overview_process *process, struct allocations_site *site,
			      const struct event *event, uint64_t address, uint64_t bytes)
{
	struct allocations_block *block = allocations_block_at(allocations, process, address);

	site->calls++;
	site->bytes += bytes;
	site->process = process;
	allocations->calls++;
	allocations->bytes += bytes;
	if (!block && allocations->live >= ALLOCATIONS_BLOCKS_MOST) {
		allocations->left_out++;
		return;
	}
	if (block) {
		allocations_count_out(allocations, block, event->ns);
		block->again = true;
	} else {
		block = allocations_new_block(allocations, process, address);
	}
	block->site = site;
	block->bytes = bytes;
	allocations_count_in(allocations, block, event->ns);
}

/* @is_late: the event follows the call, and may follow the next owner's. */
static void allocations_remove(struct allocations *allocations, struct allocations_block *block,
			       bool is_late, int64_t ns)
{
	if (block->again && is_late) {
		block->again = false;
		return;
	}
	allocations_count_out(allocations, block, ns);
	idmap_remove(&block->node);
	list_remove(&block->all);
	free(block);
}

static void allocations_release(struct allocations *allocations,
				const struct overview_process *process, uint64_t address,
				int64_t ns, bool is_late, bool chosen)
{
	struct allocations_block *block = allocations_block_at(allocations, process, address);

	allocations->frees += chosen;
	if (block)
		allocations_remove(allocations, block, is_late, ns);
	else
		allocations->unknown_frees += chosen;
}

/* --- events ---------------------------------------------------------------------------------- */

static uint64_t allocations_number(const struct event *event, const char *name)
{
	const struct value *value = value_member(event->fields, name);

	return value && value->type->kind == TYPE_INT ? value->u : 0;
}

static uint64_t allocations_bytes(const struct event *event, enum allocations_action action)
{
	uint64_t size = allocations_number(event, "size");

	return action == ALLOCATIONS_CALLOC || action == ALLOCATIONS_REALLOCARRAY ?
		       size * allocations_number(event, "nmemb") :
		       size;
}

/* realloc() frees the old memory if it returns new one, or if its size is 0. */
static void allocations_take_old(struct allocations *allocations,
				 const struct overview_process *process, const struct event *event,
				 uint64_t address, uint64_t bytes, bool chosen)
{
	uint64_t old = allocations_number(event, "in_ptr");

	if (old && (address || !bytes))
		allocations_release(allocations, process, old, event->ns, old != address, chosen);
}

void allocations_take(struct allocations *allocations, const struct overview_process *process,
		      enum allocations_action action, const struct event *event, bool chosen)
{
	uint64_t bytes = allocations_bytes(event, action);
	uint64_t address =
		allocations_number(event, action == ALLOCATIONS_POSIX_MEMALIGN ? "out_ptr" : "ptr");

	if (action == ALLOCATIONS_FREE) {
		allocations_release(allocations, process, address, event->ns, false, chosen);
		return;
	}
	if (action == ALLOCATIONS_REALLOC || action == ALLOCATIONS_REALLOCARRAY)
		allocations_take_old(allocations, process, event, address, bytes, chosen);
	if (!chosen)
		return;
	if (address)
		allocations_begin(allocations, process,
				  allocations_site_of(allocations, process, action, event), event,
				  address, bytes);
	else
		allocations->failed += bytes > 0;
}

/* --- results ----------------------------------------------------------------------------- */

void allocations_end(struct allocations *allocations, int64_t ns)
{
	for (struct allocations_site *site = allocations->sites; site; site = site->next) {
		site->lossy =
			site->process && site->from_ns < site->process->source->lossy_until_ns;
		allocations_keep_peak(allocations, site);
	}
	if (allocations->nr_samples)
		allocations_extend(allocations, ns);
}

static int allocations_compare_calls(const void *a, const void *b)
{
	const struct allocations_site *x = *(const struct allocations_site *const *)a;
	const struct allocations_site *y = *(const struct allocations_site *const *)b;

	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->from_ns > y->from_ns ? 1 : -(x->from_ns < y->from_ns);
}

static int allocations_compare_bytes(const void *a, const void *b)
{
	const struct allocations_site *x = *(const struct allocations_site *const *)a;
	const struct allocations_site *y = *(const struct allocations_site *const *)b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return allocations_compare_calls(a, b);
}

static int allocations_compare_live(const void *a, const void *b)
{
	const struct allocations_site *x = *(const struct allocations_site *const *)a;
	const struct allocations_site *y = *(const struct allocations_site *const *)b;

	if (x->live_bytes != y->live_bytes)
		return x->live_bytes > y->live_bytes ? -1 : 1;
	return allocations_compare_calls(a, b);
}

static int allocations_compare_peak(const void *a, const void *b)
{
	const struct allocations_site *x = *(const struct allocations_site *const *)a;
	const struct allocations_site *y = *(const struct allocations_site *const *)b;

	if (x->peak_bytes != y->peak_bytes)
		return x->peak_bytes > y->peak_bytes ? -1 : 1;
	return allocations_compare_calls(a, b);
}

static bool allocations_is_listed(const struct allocations_site *site, enum allocations_order order)
{
	return order == ALLOCATIONS_BY_LIVE ? site->live :
	       order == ALLOCATIONS_BY_PEAK ? site->peak :
					      site->calls;
}

const struct allocations_site **allocations_sorted(const struct allocations *allocations,
						   enum allocations_order order, size_t *ret_nr)
{
	static int (*const compare[])(const void *, const void *) = {
		[ALLOCATIONS_BY_CALLS] = allocations_compare_calls,
		[ALLOCATIONS_BY_BYTES] = allocations_compare_bytes,
		[ALLOCATIONS_BY_LIVE] = allocations_compare_live,
		[ALLOCATIONS_BY_PEAK] = allocations_compare_peak,
	};
	const struct allocations_site **all = xalloc((allocations->nr_sites + 1) * sizeof(*all));
	const struct allocations_site *site = allocations->sites;
	size_t nr = 0;

	for (; site; site = site->next)
		if (allocations_is_listed(site, order))
			all[nr++] = site;
	qsort(all, nr, sizeof(*all), compare[order]);
	*ret_nr = nr;
	return all;
}
