/* SPDX-License-Identifier: GPL-2.0-only */
#include "callsites.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "analyse/symbol/objects.h"
#include "read/event.h"
#include "servants.h"

/** An address of a process, while @object is there. */
struct callsites_alias {
	struct idmap_node node;
	struct callsites_alias *next;
	const struct overview_process *process;
	uint64_t address;
	const struct object *object; /* or NULL */
	struct callsite *site;
};

struct callsites {
	struct idmap aliases_map, sites_map, chains_map;
	struct callsites_alias *aliases;
	struct callsite *sites;
	struct callchain *chains;
	uint32_t nr, nr_chains;
	struct objects *objects;
	const struct view_host *host;
};

struct callsites *callsites_new(struct objects *objects, const struct view_host *host)
{
	struct callsites *sites = xalloc(sizeof(*sites));

	sites->objects = objects;
	sites->host = host;
	idmap_init(&sites->aliases_map);
	idmap_init(&sites->sites_map);
	idmap_init(&sites->chains_map);
	return sites;
}

void callsites_free(struct callsites *sites)
{
	struct callsites_alias *alias;
	struct callchain *chain;
	struct callsite *site;

	if (!sites)
		return;
	idmap_fini(&sites->aliases_map);
	idmap_fini(&sites->sites_map);
	idmap_fini(&sites->chains_map);
	while ((chain = sites->chains)) {
		sites->chains = chain->next;
		free(chain);
	}
	while ((alias = sites->aliases)) {
		sites->aliases = alias->next;
		free(alias);
	}
	while ((site = sites->sites)) {
		sites->sites = site->next;
		free(site->label);
		free(site);
	}
	free(sites);
}

static uint64_t callsites_hash(const void *process, uint64_t address)
{
	return ((uintptr_t)process ^ address * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
}

static struct callsite *callsites_at(struct callsites *sites,
				     const struct overview_process *process,
				     const struct object *object, uint64_t address)
{
	uint64_t hash =
		object ? idmap_hash_text(object->path) ^ address : callsites_hash(process, address);
	struct idmap_node *node = idmap_find(&sites->sites_map, hash);
	struct callsite *site;

	for (; node; node = idmap_next(&sites->sites_map, node)) {
		site = container_of(node, struct callsite, node);
		if (site->address == address && site->process == (object ? NULL : process) &&
		    !site->object == !object && (!object || object_same_file(site->object, object)))
			return site;
	}
	site = xalloc(sizeof(*site));
	site->process = object ? NULL : process;
	site->object = object;
	site->address = address;
	site->next = sites->sites;
	sites->sites = site;
	idmap_add(&sites->sites_map, &site->node, hash);
	return site;
}

/* The byte before the address behind a call is in the function and the line of the call. */
static void callsites_resolve(struct callsites *sites, const struct event *event,
			      struct callsites_alias *alias, bool is_return)
{
	uint64_t address = alias->address - is_return;
	bool known;

	alias->object = objects_find(sites->objects, event, address, &known);
	if (alias->object && alias->object->is_pic)
		address -= alias->object->base;
	alias->site = callsites_at(sites, alias->process, alias->object, address);
}

struct callsite *callsites_find(struct callsites *sites, const struct overview_process *process,
				const struct event *event, uint64_t address, bool is_return)
{
	uint64_t hash = callsites_hash(process, address);
	struct idmap_node *node = idmap_find(&sites->aliases_map, hash);
	struct callsites_alias *alias;

	for (; node; node = idmap_next(&sites->aliases_map, node)) {
		alias = container_of(node, struct callsites_alias, node);
		if (alias->process != process || alias->address != address)
			continue;
		if (alias->object && alias->object->until_ns && event->ns > alias->object->until_ns)
			callsites_resolve(sites, event, alias, is_return);
		return alias->site;
	}
	if (!address || sites->nr == CALLSITES_MOST)
		return NULL;
	sites->nr++;
	alias = xalloc(sizeof(*alias));
	alias->process = process;
	alias->address = address;
	callsites_resolve(sites, event, alias, is_return);
	alias->next = sites->aliases;
	sites->aliases = alias;
	idmap_add(&sites->aliases_map, &alias->node, hash);
	return alias->site;
}

/* The address behind the call that the event records: its field call_site, as our wrappers have, or
 * its context ip; 0: neither. */
static uint64_t callsites_address(const struct event *event)
{
	const struct value *value = value_member(event->fields, "call_site");

	if (!value)
		value = value_member(event->stream_context, "ip");
	if (!value)
		value = value_member(event->context, "ip");
	return value && value->type->kind == TYPE_INT ? value->u : 0;
}

/* Return: number in @ret. */
static uint32_t callsites_callers(struct callsites *sites, const struct overview_process *process,
				  const struct event *event,
				  struct callsite *ret[CALLSITES_CALLERS])
{
	const struct value *value = value_member(event->fields, "callers");
	uint32_t nr = 0;

	if (!value || !value_is_packed(value) || value->type->elem->kind != TYPE_INT)
		return 0;
	while (nr < value->count && nr < CALLSITES_CALLERS) {
		ret[nr] = callsites_find(sites, process, event, value_element(value, nr).u, true);
		if (!ret[nr] || !ret[nr]->object)
			return nr;
		nr++;
	}
	return nr;
}

const struct callchain *callsites_chain(struct callsites *sites,
					const struct overview_process *process,
					const struct event *event)
{
	struct callsite *place =
		callsites_find(sites, process, event, callsites_address(event), true);
	struct callsite *callers[CALLSITES_CALLERS];
	uint64_t hash = callsites_hash(place, 0);
	struct idmap_node *node;
	struct callchain *chain;
	uint32_t nr = 0;

	if (!place)
		return NULL;
	if (sites->nr_chains < CALLSITES_CHAINS_MOST)
		nr = callsites_callers(sites, process, event, callers);
	for (uint32_t i = 0; i < nr; i++)
		hash = callsites_hash(callers[i], hash);
	node = idmap_find(&sites->chains_map, hash);
	for (; node; node = idmap_next(&sites->chains_map, node)) {
		chain = container_of(node, struct callchain, node);
		if (chain->place == place && chain->nr_callers == nr &&
		    memcmp(chain->callers, callers, nr * sizeof(*callers)) == 0)
			return chain;
	}
	chain = xalloc(sizeof(*chain) + nr * sizeof(*callers));
	chain->place = place;
	chain->nr_callers = nr;
	memcpy(chain->callers, callers, nr * sizeof(*callers));
	chain->next = sites->chains;
	sites->chains = chain;
	sites->nr_chains += nr > 0;
	idmap_add(&sites->chains_map, &chain->node, hash);
	return chain;
}

bool callsites_frame(const struct callsite *site, uint32_t nr, struct symbol_inline *ret)
{
	const struct symbol *symbol = &site->symbol;

	if (!symbol->function || nr > symbol->nr_inlined - site->shown)
		return false;
	nr += site->shown;
	*ret = nr < symbol->nr_inlined ?
		       symbol->inlined[nr] :
		       (struct symbol_inline){ symbol->function, symbol->file, symbol->line };
	return true;
}

static void callsites_skip_servants(struct callsite *site)
{
	struct symbol_inline frame;

	while (callsites_frame(site, 0, &frame) && is_servant(frame.function, frame.file)) {
		if (site->shown == site->symbol.nr_inlined) {
			site->shown = 0; /* all are */
			return;
		}
		site->shown++;
	}
}

bool callsites_serves(const struct callsite *site)
{
	struct symbol_inline frame;

	return callsites_frame(site, 0, &frame) && is_servant(frame.function, frame.file);
}

static char *callsites_make_label(const struct callsite *site, bool is_code)
{
	struct symbol_inline frame;
	const char *slash = site->object ? strrchr(site->object->path, '/') : NULL;

	if (is_code && callsites_frame(site, 0, &frame))
		return xstrdup(frame.function);
	if (site->symbol.function && !site->symbol.offset)
		return xstrdup(site->symbol.function);
	if (site->symbol.function)
		return xasprintf("%s+0x%" PRIx64, site->symbol.function, site->symbol.offset);
	if (site->object && !site->object->is_kernel)
		return xasprintf("%s+0x%" PRIx64, slash ? slash + 1 : site->object->path,
				 site->address);
	return xasprintf("0x%" PRIx64, site->address + is_code);
}

const char *callsites_label(struct callsites *sites, struct callsite *site, bool is_code)
{
	if (site->label)
		return site->label;
	if (site->object)
		sites->host->name(sites->host->names_priv, site->object, site->address,
				  &site->symbol);
	if (is_code)
		callsites_skip_servants(site);
	site->label = callsites_make_label(site, is_code);
	return site->label;
}
