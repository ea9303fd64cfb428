// SPDX-License-Identifier: GPL-2.0-only
#include "coming.h"

#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "instr/symbols.h"
#include "registry.h"

/* Above the registry's lock; taken where modules come and go, too. */
static DEFINE_MUTEX(coming_mutex);
static LIST_HEAD(coming_events);

void coming_lock(void)
{
	mutex_lock(&coming_mutex);
}

void coming_unlock(void)
{
	mutex_unlock(&coming_mutex);
}

/* The kernel's text of an address in a module is NAME+0xOFFSET/0xBYTES [MODULE]. Return: the length
 * of its name, or 0. */
static size_t coming_module_of(const void *at, char *ret, size_t size)
{
	char text[KSYM_SYMBOL_LEN], *name, *end;

	sprint_symbol(text, (unsigned long)at);
	name = strrchr(text, '[');
	end = name ? strchr(name, ']') : NULL;
	if (!end || end - name > size)
		return 0;
	*end = '\0';
	strscpy(ret, name + 1, size);
	return strlen(ret);
}

void coming_resolve(struct ltt_kmod_probe *request)
{
	const void *at = request->symbol[0] ? ltt_symbol_find(request->symbol) : NULL;
	size_t bytes = strlen(request->symbol) + 1, len;
	char module[MODULE_NAME_LEN];

	if (strchr(request->symbol, ':')) {
		if (!at)
			request->flags |= LTT_KMOD_PROBE_WAITS;
		return;
	}
	len = at ? coming_module_of(at, module, sizeof(module)) : 0;
	if (!len || len + 1 + bytes > sizeof(request->symbol))
		return;
	memmove(request->symbol + len + 1, request->symbol, bytes);
	memcpy(request->symbol, module, len);
	request->symbol[len] = ':';
}

void coming_add(struct coming *coming, struct event *event, const struct ltt_kmod_probe *request)
{
	const char *colon = strchr(request->symbol, ':');

	event->live = !(request->flags & LTT_KMOD_PROBE_WAITS);
	if (!colon || colon - request->symbol >= sizeof(coming->module))
		return;
	memcpy(coming->module, request->symbol, colon - request->symbol);
	coming->event = event;
	list_add_tail(&coming->of_coming, &coming_events);
}

void coming_remove(struct coming *coming)
{
	if (!coming->event)
		return;
	mutex_lock(&coming_mutex);
	list_del(&coming->of_coming);
	mutex_unlock(&coming_mutex);
}

/* Functions of a module that comes can be probed before its own first one runs. */
static int coming_module_changes(struct notifier_block *nb, unsigned long what, void *data)
{
	const struct module *module = data;
	struct coming *coming;

	if (what != MODULE_STATE_COMING && what != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&coming_mutex);
	list_for_each_entry(coming, &coming_events, of_coming) {
		if (strcmp(coming->module, module->name))
			continue;
		if (what == MODULE_STATE_COMING)
			registry_comes(coming->event);
		else
			registry_goes(coming->event);
	}
	mutex_unlock(&coming_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block coming_notifier = { .notifier_call = coming_module_changes };

int coming_init(void)
{
	return register_module_notifier(&coming_notifier);
}

void coming_fini(void)
{
	unregister_module_notifier(&coming_notifier);
}
