// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Providers and call sites come and go: called by the constructors and destructors that a program's
 * or library's tracepoints have.
 */
#include "provider.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "old/provider.h"
#include "readers.h"

#define NEWEST_MAJOR 4u

/** struct refusal - a site that the session daemon refuses, so that 'lttctl doctor' names it: its
 *  field is of no kind. */
struct refusal {
	struct ltt_site site;
	struct ltt_event event;
	struct ltt_field field;
	char name[2 * MAX_NAME];
};

/** struct provider - @sites: of the events and refusals, @nr_sites of them. */
struct provider {
	struct source *sources;
	struct event **events;
	struct refusal **refusals;
	struct ltt_site **sites;
	uint32_t nr_events, nr_refusals, nr_sites;
	char file[];
};

/*
 * exit() runs destructors while other threads fire: it is not to be delayed by a thread that left a
 * call site by longjmp(). Handlers run in the reverse order of registration; those of the first
 * objects run before the destructors of the program.
 */
static void watch_exit(void)
{
	static unsigned int watching;

	if (__atomic_fetch_add(&watching, 1, __ATOMIC_RELAXED) < 16)
		atexit(readers_hurry);
}

static void report(const char *file, const char *provider, const char *event, const char *reason)
{
	const char *debug = secure_getenv("LTT_DEBUG");

	if (debug && *debug && strcmp(debug, "0") != 0)
		fprintf(stderr, "liblttng-ust of ltt: %s: %s%s%s can't be recorded: %s\n", file,
			provider, event ? ":" : "", event ? event : "", reason);
}

/* --- providers ---------------------------------------------------------------------------- */

void event_changed(struct ltt_site *site, int listened)
{
	struct event *event = (struct event *)((char *)site - offsetof(struct event, site));

	__atomic_store_n(&event->common.enabled, listened, __ATOMIC_SEQ_CST);
	if (event->old)
		__atomic_store_n(&event->old->event.enabled, listened, __ATOMIC_SEQ_CST);
	join_update(&event->targets);
}

static const char *check_provider(const struct lttng_ust_probe_desc *desc)
{
	if (!desc || desc->size < sizeof(*desc) || !event_is_name(desc->name))
		return "the provider has no name";
	if (desc->major < PROVIDER_OLDEST_MAJOR || desc->major > NEWEST_MAJOR)
		return "the provider's version is not one of LTTng-UST 2.7 to 2.16";
	if (desc->nr_events > PROVIDER_MAX_EVENTS || (desc->nr_events && !desc->events))
		return "the provider's number of events is invalid";
	return NULL;
}

static const char *file_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

static void provider_free(struct provider *provider)
{
	for (uint32_t i = 0; i < provider->nr_events; i++)
		event_free(provider->events[i]);
	for (uint32_t i = 0; i < provider->nr_refusals; i++)
		free(provider->refusals[i]);
	free(provider->sources);
	free(provider->events);
	free(provider->refusals);
	free(provider->sites);
	free(provider);
}

static struct provider *provider_new(uint32_t nr_events, const char *file)
{
	struct provider *provider = calloc(1, sizeof(*provider) + strlen(file) + 1);

	if (!provider)
		return NULL;
	memcpy(provider->file, file, strlen(file) + 1);
	provider->sources = calloc(nr_events + 1, sizeof(*provider->sources));
	provider->events = calloc(nr_events + 1, sizeof(*provider->events));
	provider->refusals = calloc(nr_events + 1, sizeof(*provider->refusals));
	provider->sites = calloc(nr_events + 1, sizeof(*provider->sites));
	if (provider->sources && provider->events && provider->refusals && provider->sites)
		return provider;
	provider_free(provider);
	return NULL;
}

/* The same name with other fields would be another event of that name. */
static bool has_another(const struct provider *provider, const struct tp_event *from)
{
	for (uint32_t i = 0; i < provider->nr_events; i++)
		if (provider->events[i]->from->class != from->class &&
		    strcmp(provider->events[i]->from->name, from->name) == 0)
			return true;
	return false;
}

static void refuse_event(struct provider *provider, const char *name, const char *event,
			 const char *reason)
{
	struct refusal *refusal = calloc(1, sizeof(*refusal));

	report(provider->file, name, event, reason);
	if (!refusal)
		return;
	snprintf(refusal->name, sizeof(refusal->name), "%s:%s", name, event);
	refusal->field.name = "refused";
	refusal->event = (struct ltt_event){
		.size = sizeof(refusal->event),
		.field_size = sizeof(refusal->field),
		.nr_fields = 1,
		.name = refusal->name,
		.fields = &refusal->field,
		.file = provider->file,
		.function = "",
		.kind = LTT_EVENT_TRACEPOINT,
		.loglevel = LTT_DEBUG_LINE,
	};
	refusal->site.size = sizeof(refusal->site);
	refusal->site.event = &refusal->event;
	provider->refusals[provider->nr_refusals++] = refusal;
	provider->sites[provider->nr_sites++] = &refusal->site;
}

static void add_event(struct provider *provider, const char *name, const struct tp_event *from,
		      bool is_old)
{
	const char *reason = NULL;
	struct event *event = event_new(name, from, provider->file, &reason);
	const uint32_t at = provider->nr_events;

	if (event && has_another(provider, from)) {
		event_free(event);
		event = NULL;
		reason = "the provider has another event of this name";
	}
	if (event && is_old && old_prepare(event) < 0) {
		event_free(event);
		event = NULL;
		reason = "there is no memory";
	}
	if (!event) {
		refuse_event(provider, name,
			     from && event_is_name(from->name) ? from->name : "unnamed", reason);
		return;
	}
	provider->sources[at] = (struct source){
		.provider = name,
		.event = from->name,
		.signature = from->class->signature,
		.probe = { from->class->probe,
			   event->old ? (void *)&event->old->event : &event->common },
		.enabled = &event->common.enabled,
		.targets = &event->targets,
	};
	provider->sites[provider->nr_sites++] = &event->site;
	provider->events[at] = event;
	provider->nr_events++;
}

static void provider_join(struct provider *provider)
{
	join_lock();
	for (uint32_t i = 0; i < provider->nr_events; i++)
		if (join_add_source(&provider->sources[i]) < 0)
			report(provider->file, provider->events[i]->name, NULL,
			       "there is no memory");
	join_unlock();
}

/* A program ends itself if it gets NULL: a provider that is refused has no events. */
struct provider *provider_register(const struct lttng_ust_probe_desc *desc,
				   const struct old_provider_desc *old)
{
	static struct provider none;
	const char *reason = check_provider(desc);
	const char *name = desc && event_is_name(desc->name) ? desc->name : "unnamed";
	const void *there = old ? (const void *)old : desc;
	struct provider *provider = provider_new(reason ? 0 : desc->nr_events, file_of(there));

	watch_exit();
	if (!provider)
		return &none;
	if (reason)
		refuse_event(provider, name, "all", reason);
	for (uint32_t i = 0; !reason && i < desc->nr_events; i++)
		add_event(provider, name, desc->events[i], old != NULL);
	provider_join(provider);
	ltt_sites_register(provider->sites, provider->sites + provider->nr_sites, LTT_SITE_ABI);
	return provider;
}

EXPORT struct provider *lttng_ust_probe_register(const struct lttng_ust_probe_desc *desc)
{
	return provider_register(desc, NULL);
}

/* While the program exits, libltt goes on to use the sites: their memory stays. */
static bool provider_is_used(const struct provider *provider)
{
	for (uint32_t i = 0; i < provider->nr_sites; i++)
		if (provider->sites[i]->owner)
			return true;
	return false;
}

static bool provider_remove(struct provider *provider)
{
	bool used;

	join_lock();
	for (uint32_t i = 0; i < provider->nr_events; i++)
		join_remove_source(&provider->sources[i]);
	join_unlock();
	join_drain();
	ltt_sites_unregister(provider->sites, provider->sites + provider->nr_sites);
	used = provider_is_used(provider);
	if (!used)
		provider_free(provider);
	return !used;
}

bool provider_unregister(struct provider *provider)
{
	return !provider || !provider->sources || provider_remove(provider);
}

EXPORT void lttng_ust_probe_unregister(struct provider *provider)
{
	(void)provider_unregister(provider);
}

/* --- call sites ------------------------------------------------------------------------------ */

struct module {
	struct module *next;
	const void *const *sites;
	int nr_sites;
	place_of_fn place_of;
};

static struct module *modules; /* with the lock of join.h */

static bool place_of_site(const void *address, struct place *ret_place, char *names)
{
	struct lttng_ust_tracepoint *site = (struct lttng_ust_tracepoint *)address;

	(void)names;
	if (!site || site->size < sizeof(*site) || !event_is_name(site->provider) ||
	    !event_is_name(site->event) || !site->signature)
		return false;
	*ret_place = (struct place){ site->provider, site->event, site->signature, &site->state,
				     &site->probes };
	return true;
}

/* Repeats are those of several files of one object. */
static void module_add_all(const struct module *module)
{
	char names[MAX_NAME];
	struct place place;

	for (int i = 0; i < module->nr_sites; i++)
		if (module->place_of(module->sites[i], &place, names) && join_add_site(&place) < 0)
			report(file_of(module->sites[i]), place.provider, place.event,
			       "there is no memory");
}

int module_register(const void *const *sites, int nr_sites, place_of_fn place_of)
{
	struct module *module = sites && nr_sites > 0 ? calloc(1, sizeof(*module)) : NULL;

	watch_exit();
	if (!module)
		return -1;
	*module = (struct module){ NULL, sites, nr_sites, place_of };
	join_lock();
	module->next = modules;
	modules = module;
	module_add_all(module);
	join_unlock();
	return 0;
}

EXPORT int lttng_ust_tracepoint_module_register(struct lttng_ust_tracepoint *const *sites,
						int nr_sites)
{
	return module_register((const void *const *)sites, nr_sites, place_of_site);
}

/* Its sites leave; those that another module has, too, stay. */
static void module_remove(struct module *module)
{
	char names[MAX_NAME];
	struct place place;

	for (int i = 0; i < module->nr_sites; i++)
		if (module->place_of(module->sites[i], &place, names))
			join_remove_site(&place);
	free(module);
}

int module_unregister(const void *const *sites)
{
	struct module **at = &modules, *module;

	join_lock();
	while (*at && (*at)->sites != sites)
		at = &(*at)->next;
	module = *at;
	if (module) {
		*at = module->next;
		module_remove(module);
	}
	join_unlock();
	join_drain();
	return 0;
}

EXPORT int lttng_ust_tracepoint_module_unregister(struct lttng_ust_tracepoint *const *sites)
{
	return module_unregister((const void *const *)sites);
}

/* --- functions that a program connects itself ----------------------------------------------- */

struct connected {
	struct source source;
	struct target *targets;
	struct connected *next;
};

static struct connected *all_connected; /* with the lock of join.h */

EXPORT int lttng_ust_tracepoint_provider_register(const char *provider, const char *event,
						  void (*function)(void), void *data,
						  const char *signature)
{
	struct connected *new = calloc(1, sizeof(*new));
	int res;

	if (!new || !event_is_name(provider) || !event_is_name(event) || !function || !signature) {
		free(new);
		return -1;
	}
	new->source = (struct source){ .provider = provider,
				       .event = event,
				       .signature = signature,
				       .probe = { function, data },
				       .targets = &new->targets };
	join_lock();
	res = join_add_source(&new->source);
	if (res == 0) {
		new->next = all_connected;
		all_connected = new;
	}
	join_unlock();
	if (res < 0)
		free(new);
	return res;
}

static bool is_connected_as(const struct connected *one, const char *provider, const char *event,
			    void (*function)(void), const void *data)
{
	return one->source.probe.function == function && one->source.probe.data == data &&
	       strcmp(one->source.provider, provider) == 0 && strcmp(one->source.event, event) == 0;
}

EXPORT int lttng_ust_tracepoint_provider_unregister(const char *provider, const char *event,
						    void (*function)(void), void *data)
{
	struct connected **at = &all_connected, *one;

	join_lock();
	while (*at && !is_connected_as(*at, provider, event, function, data))
		at = &(*at)->next;
	one = *at;
	if (one) {
		*at = one->next;
		join_remove_source(&one->source);
	}
	join_unlock();
	join_drain();
	free(one);
	return one ? 0 : -1;
}

EXPORT int lttng_ust_tp_probe_register_queue_release(const char *provider, const char *event,
						     void (*function)(void), void *data,
						     const char *signature)
{
	return lttng_ust_tracepoint_provider_register(provider, event, function, data, signature);
}

EXPORT int lttng_ust_tp_probe_unregister_queue_release(const char *provider, const char *event,
						       void (*function)(void), void *data)
{
	return lttng_ust_tracepoint_provider_unregister(provider, event, function, data);
}

EXPORT void lttng_ust_tp_probe_prune_release_queue(void)
{
}
