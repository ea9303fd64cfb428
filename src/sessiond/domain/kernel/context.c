/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context.c - the contexts that the module can record with each event, and those of a channel. All
 * records of a channel have the same contexts, so they can't be changed after the channel was
 * added to the trace, which happens when its first event is to be recorded.
 */
#include "context.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "event.h"
#include "perf.h"
#include "session.h"

#define MAX_CONTEXTS 256u

static const struct layout_field *kernel_context_find(const struct layout *layout, const char *name)
{
	for (uint32_t i = 0; i < layout->nr_fields; i++)
		if (strcmp(layout->fields[i].name, name) == 0)
			return &layout->fields[i];
	return NULL;
}

/* The next element of a comma-separated list. Return: false at its end. */
static bool kernel_context_next_name(const char **at, char ret[LTT_KMOD_TEXT_MAX])
{
	size_t len = strcspn(*at, ",");

	snprintf(ret, LTT_KMOD_TEXT_MAX, "%.*s", (int)len, *at);
	*at += len + ((*at)[len] == ',');
	return len > 0;
}

/* A context whose value has an unsupported form is treated as unknown. */
static void kernel_context_add(struct layout *all, const struct ltt_kmod_field *field)
{
	struct layout *alone = layout_new(1, 0, LTT_KMOD_TEXT_MAX);
	bool fine = alone && kernel_add_field(alone, field) && !layout_check(alone);

	if (fine && !strchr(field->name, ',') && !kernel_context_find(all, field->name))
		(void)!kernel_add_field(all, field);
	layout_free(alone);
}

/* Return: the context, borrowed; NULL: not available. */
static const struct layout *kernel_context_load(struct kernel_domain *kernel)
{
	const struct kmod *kmod = kernel->kmod;

	if (kernel->contexts || kmod->fd < 0)
		return kernel->contexts;
	kernel->contexts = layout_new(MAX_CONTEXTS, 0, MAX_CONTEXTS * LTT_KMOD_TEXT_MAX);
	for (uint32_t i = 0; kernel->contexts && i < MAX_CONTEXTS; i++) {
		struct ltt_kmod_field field = { .size = sizeof(field), .index = i };

		if (kmod_call(kmod, kmod->fd, LTT_KMOD_CONTEXT_FIELD, &field) < 0)
			break;
		field.name[sizeof(field.name) - 1] = '\0';
		kernel_context_add(kernel->contexts, &field);
	}
	return kernel->contexts;
}

/* One that is no field of the module's list is a counter. */
static void append(struct layout *layout, const struct layout *all, const char *name)
{
	const struct layout_field *field = kernel_context_find(all, name);
	const struct layout_field counter = kernel_perf_field(name);
	struct ltt_kmod_context unused;

	if (field || kernel_perf_find(name, &unused))
		(void)!layout_add_field(layout, field ? field : &counter);
}

struct layout *kernel_contexts_of(struct kernel_domain *kernel, const struct channel *channel)
{
	const struct layout *all = kernel_context_load(kernel);
	struct layout *layout =
		all ? layout_new(MAX_CONTEXTS, 0, all->text_cap + strlen(channel->contexts) + 1) :
		      NULL;
	char name[LTT_KMOD_TEXT_MAX];
	const char *at = channel->contexts;

	while (layout && kernel_context_next_name(&at, name))
		append(layout, all, name);
	return layout;
}

int kernel_contexts_send(const struct kmod *kmod, int module, const struct channel *channel)
{
	const char *at = channel->contexts;
	char name[LTT_KMOD_TEXT_MAX];
	int err = 0;

	while (err == 0 && kernel_context_next_name(&at, name)) {
		struct ltt_kmod_context request;

		if (!kernel_perf_find(name, &request)) {
			request = (struct ltt_kmod_context){ .size = sizeof(request) };
			memcpy(request.name, name, sizeof(request.name));
		}
		err = kmod_call(kmod, module, LTT_KMOD_CONTEXT, &request);
	}
	return err;
}

/* --- for commands ----------------------------------------------------------------- */

int kernel_each_context(struct domain_tracer *domain,
			void (*fn)(const struct layout_field *context, void *data), void *data,
			struct err *err)
{
	const struct layout *all = kernel_context_load(kernel_of(domain));

	kernel_each_own_context(kernel_of(domain), fn, data);
	if (!all)
		return err_set(err, ERR_INTERNAL, "the kernel's contexts can't be listed");
	kernel_perf_each(kernel_of(domain)->kmod, fn, data);
	return 0;
}

void kernel_each_own_context(struct kernel_domain *kernel,
			     void (*fn)(const struct layout_field *context, void *data), void *data)
{
	const struct layout *all = kernel_context_load(kernel);

	for (uint32_t i = 0; all && i < all->nr_fields; i++)
		fn(&all->fields[i], data);
}

static int no_context(const struct layout *all, const char *type, struct err *err)
{
	const char **words = xalloc((all->nr_fields + 1) * sizeof(*words));
	const char *near;

	for (uint32_t i = 0; i < all->nr_fields; i++)
		words[i] = all->fields[i].name;
	near = nearest_word(type, words);
	free(words);
	return err_set(
		err, ERR_INVALID,
		"the kernel has no context '%.60s'; %s%s%s`lttctl add-context -k --list` lists them",
		type, near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
}

int kernel_check_context(struct domain_tracer *domain, const char *type, struct err *err)
{
	const struct layout *all = kernel_context_load(kernel_of(domain));

	if (!all)
		return err_set(err, ERR_INTERNAL, "the kernel's contexts can't be listed");
	if (kernel_context_find(all, type))
		return 0;
	return strncmp(type, "perf:", 5) == 0 ?
		       kernel_perf_check(kernel_of(domain)->kmod, type, err) :
		       no_context(all, type, err);
}

int kernel_check_contexts_of(struct domain_tracer *domain, const struct session *session,
			     const struct channel *channel, struct err *err)
{
	const struct recording *rec = recording_find(domain, session);
	struct trace *trace = rec ? list_first(&rec->traces, struct trace, node) : NULL;

	if (!trace || !trace_channel_find(trace, channel))
		return 0;
	return err_set(err, ERR_INVALID,
		       "channel '%s' of session '%s' has recorded events already, and all events "
		       "of a channel have the same contexts; create another channel "
		       "(`lttctl enable-channel -k`), and add contexts before its first event",
		       channel->name, session->name);
}
