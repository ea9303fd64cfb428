// SPDX-License-Identifier: GPL-2.0-only
#include "tracepoints.h"

#include <linux/module.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>

#include "registry.h"

/* Begin and end of the section that has all events; the order in Kbuild places them. */
extern struct event *events_begin[], *events_end[];

static int tracepoints_attach(struct hook *hook)
{
	return tracepoint_probe_register(hook->event->tp, hook->event->probe, hook);
}

static void tracepoints_detach(struct hook *hook)
{
	tracepoint_probe_unregister(hook->event->tp, hook->event->probe, hook);
}

static const struct event_kind tracepoint_kind = { .attach = tracepoints_attach,
						   .detach = tracepoints_detach };

static void found_in_kernel(struct tracepoint *tp, void *unused)
{
	struct event *event = registry_find_tracepoint(tp->name);

	if (!event)
		return;
	event->tp = tp;
	registry_comes(event);
}

#ifdef CONFIG_MODULES
/* A module may have a tracepoint of its own that just happens to have the name. */
static bool is_of_system(const struct module *module, const struct tracepoint *tp,
			 const char *system)
{
	unsigned int i;

	for (i = 0; i < module->num_trace_events; i++) {
		const struct trace_event_call *call = module->trace_events[i];

		if (call->tp == tp)
			return !strcmp(call->class->system, system);
	}
	return false;
}

static void came(const struct module *module, struct tracepoint *tp)
{
	struct event *event = registry_find_tracepoint(tp->name);

	if (!event || event->tp || !is_of_system(module, tp, event->system))
		return;
	event->tp = tp;
	registry_comes(event);
}

static void goes(struct tracepoint *tp)
{
	struct event *event = registry_find_tracepoint(tp->name);

	if (!event || event->tp != tp)
		return;
	registry_goes(event);
	event->tp = NULL;
}

/* The kernel calls this for one module at a time. */
static int tracepoints_module_changes(struct notifier_block *nb, unsigned long what, void *data)
{
	const struct module *module = ((struct tp_module *)data)->mod;
	unsigned int i;

	for (i = 0; i < module->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&module->tracepoints_ptrs[i]);

		if (what == MODULE_STATE_COMING)
			came(module, tp);
		else if (what == MODULE_STATE_GOING)
			goes(tp);
	}
	return 0;
}

static struct notifier_block tracepoint_notifier = { .notifier_call = tracepoints_module_changes };
#endif

int tracepoints_init(void)
{
	struct event **event = events_begin;
	int ret = 0;

	OPTIMIZER_HIDE_VAR(event); /* the compiler takes them for unrelated arrays */
	for (; event < events_end && !ret; event++)
		ret = registry_add(*event, &tracepoint_kind);
	if (ret)
		return ret;
	for_each_kernel_tracepoint(found_in_kernel, NULL);
#ifdef CONFIG_MODULES
	ret = register_tracepoint_module_notifier(&tracepoint_notifier);
#endif
	return ret;
}

void tracepoints_fini(void)
{
#ifdef CONFIG_MODULES
	unregister_tracepoint_module_notifier(&tracepoint_notifier);
#endif
}
