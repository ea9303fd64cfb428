/* SPDX-License-Identifier: GPL-2.0-only */
/* preset.c - channels that modules of the kernel have registered for their events. */
#include <string.h>

#include "base/str.h"
#include "event.h"
#include "session.h"

/* An older module lacks this request, and so has no presets. */
static bool read_preset(const struct kernel_domain *kernel, uint32_t index,
			struct ltt_kmod_preset *ret)
{
	*ret = (struct ltt_kmod_preset){ .size = sizeof(*ret), .index = index };
	if (kernel->kmod->fd < 0 ||
	    kmod_call(kernel->kmod, kernel->kmod->fd, LTT_KMOD_PRESET, ret) < 0)
		return false;
	ret->name[sizeof(ret->name) - 1] = '\0';
	ret->events[sizeof(ret->events) - 1] = '\0';
	return true;
}

void kernel_each_preset(struct domain_tracer *domain,
			void (*fn)(const struct domain_preset *preset, void *data), void *data)
{
	struct ltt_kmod_preset preset;

	for (uint32_t i = 0; read_preset(kernel_of(domain), i, &preset); i++) {
		const struct domain_preset found = { preset.name, preset.events,
						     preset.subbuf_size, preset.num_subbuf };

		fn(&found, data);
	}
}

/* The pattern is matched as text: only a `*` matches its `*`, so a match means that @events covers
 * all events of the pattern. A name without its system may be that of several events. */
static bool covers(const struct kernel_domain *kernel, const char *events, const char *pattern)
{
	bool any = false;

	if (strchr(pattern, ':') || glob_is_pattern(pattern))
		return glob_match(events, pattern);
	for (uint32_t i = 0; i < kernel->nr_events; i++) {
		if (strcmp(kernel->events[i].bare, pattern) != 0)
			continue;
		if (!glob_match(events, kernel->events[i].name))
			return false;
		any = true;
	}
	return any;
}

bool kernel_is_preset_for(struct domain_tracer *domain, const struct domain_preset *preset,
			  const char *pattern)
{
	return covers(kernel_of(domain), preset->events, pattern);
}
