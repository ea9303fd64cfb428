// SPDX-License-Identifier: GPL-2.0-only
#include "registry.h"

#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/stringhash.h>
#include <linux/string.h>
#include <linux/xarray.h>

static DEFINE_MUTEX(registry_lock);
static DEFINE_XARRAY(events); /* by index */
static DEFINE_HASHTABLE(by_name, 11);
static u32 nr_events;

static u32 hash(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

int registry_add(struct event *event, const struct event_kind *kind)
{
	int ret;

	INIT_LIST_HEAD(&event->hooks);
	event->kind = kind;
	mutex_lock(&registry_lock);
	ret = xa_err(xa_store(&events, nr_events, event, GFP_KERNEL));
	if (!ret) {
		hash_add_rcu(by_name, &event->same_hash, hash(event->name));
		WRITE_ONCE(nr_events, nr_events + 1);
	}
	mutex_unlock(&registry_lock);
	return ret;
}

void registry_fini(void)
{
	xa_destroy(&events);
}

u32 registry_nr_events(void)
{
	return READ_ONCE(nr_events);
}

struct event *registry_event(u32 index)
{
	return xa_load(&events, index);
}

static bool kmod_registry_is_of(const struct event *event, const char *system, size_t len)
{
	if (!event->system)
		return !len;
	return strlen(event->system) == len && !memcmp(event->system, system, len);
}

struct event *registry_find(const char *name)
{
	const char *colon = strchr(name, ':');
	const char *bare = colon ? colon + 1 : name;
	struct event *event;

	hash_for_each_possible(by_name, event, same_hash,
			       hash(bare)) if (!strcmp(event->name, bare) &&
					       kmod_registry_is_of(event, name,
								   colon ? colon - name :
									   0)) return event;
	return NULL;
}

struct event *registry_find_tracepoint(const char *name)
{
	struct event *event;

	hash_for_each_possible(by_name, event, same_hash, hash(name))
		if (event->probe && !strcmp(event->name, name))
			return event;
	return NULL;
}

bool registry_is_live(const struct event *event)
{
	return READ_ONCE(event->live);
}

u32 registry_nr_hooks(const struct event *event)
{
	const struct list_head *at;
	u32 nr = 0;

	mutex_lock(&registry_lock);
	list_for_each(at, &event->hooks)
		nr++;
	mutex_unlock(&registry_lock);
	return nr;
}

/* --- hooks ---------------------------------------------------------------- */

static int kmod_registry_attach(struct hook *hook)
{
	int ret = hook->event->live ? hook->event->kind->attach(hook) : 0;

	hook->connected = hook->event->live && !ret;
	return ret;
}

static void kmod_registry_detach(struct hook *hook)
{
	if (hook->connected)
		hook->event->kind->detach(hook);
	hook->connected = false;
}

void registry_comes(struct event *event)
{
	struct hook *hook;

	mutex_lock(&registry_lock);
	WRITE_ONCE(event->live, true);
	list_for_each_entry(hook, &event->hooks, of_event) if (kmod_registry_attach(hook))
		pr_warn("ltt: %s could not be connected\n", event->name);
	mutex_unlock(&registry_lock);
}

void registry_goes(struct event *event)
{
	struct hook *hook;

	mutex_lock(&registry_lock);
	list_for_each_entry(hook, &event->hooks, of_event) kmod_registry_detach(hook);
	WRITE_ONCE(event->live, false);
	mutex_unlock(&registry_lock);
}

int registry_connect(struct hook *hook)
{
	int ret;

	mutex_lock(&registry_lock);
	ret = kmod_registry_attach(hook);
	if (!ret)
		list_add_tail_rcu(&hook->of_event, &hook->event->hooks);
	mutex_unlock(&registry_lock);
	return ret;
}

void registry_disconnect(struct hook *hook)
{
	mutex_lock(&registry_lock);
	kmod_registry_detach(hook);
	list_del_rcu(&hook->of_event);
	mutex_unlock(&registry_lock);
}
