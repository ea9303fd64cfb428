/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context.c - the contexts that the module can record with each event, and those of a channel. The
 * stream class declares those that the channel has when its first event is to be recorded, and
 * each event class those that came later: an event then has another class, and the records of the
 * earlier one stay as they are.
 */
#include "context.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "event.h"
#include "probe.h"
#include "session.h"
#include "trace/metadata.h"

#define MAX_CONTEXTS 256u
#define ANOTHER_CHANNEL                                                                 \
	"record to another channel, also while the session is active: `lttctl "         \
	"enable-channel -k -s %s NAME`, then `add-context` and `enable-event` with `-c NAME`"

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

/* Behind the first @nr elements. */
static const char *kernel_context_skip(const char *at, uint32_t nr)
{
	char name[LTT_KMOD_TEXT_MAX];

	while (nr-- && kernel_context_next_name(&at, name))
		;
	return at;
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

struct layout *kernel_contexts_of(struct kernel_domain *kernel, const char *names)
{
	const struct layout *all = kernel_context_load(kernel);
	struct layout *layout =
		all ? layout_new(MAX_CONTEXTS, 0, all->text_cap + strlen(names) + 1) : NULL;
	char name[LTT_KMOD_TEXT_MAX];

	while (layout && kernel_context_next_name(&names, name))
		append(layout, all, name);
	return layout;
}

char *kernel_contexts_added(struct kernel_domain *kernel,
			    const struct trace_channel *trace_channel)
{
	const char *names = kernel_context_skip(trace_channel->channel->contexts,
						trace_channel->nr_contexts);
	struct layout *layout = *names ? kernel_contexts_of(kernel, names) : NULL;
	enum metadata_form form = recording_form(trace_channel->trace->rec);
	char *text = layout ? metadata_event_context(form, layout) : xstrdup("");

	layout_free(layout);
	return text;
}

/* A module of an earlier release takes them before the first event alone. One that has them from an
 * earlier daemon has the same ones in front of them. */
int kernel_contexts_send(const struct kmod *kmod, struct ring *ring)
{
	const char *at = kernel_context_skip(ring->trace_channel->channel->contexts,
					     ring->nr_contexts);
	char name[LTT_KMOD_TEXT_MAX];

	while (kernel_context_next_name(&at, name)) {
		struct ltt_kmod_context request;
		int err;

		if (!kernel_perf_find(name, &request)) {
			request = (struct ltt_kmod_context){ .size = sizeof(request) };
			memcpy(request.name, name, sizeof(request.name));
		}
		err = kmod_call(kmod, ring->module, LTT_KMOD_CONTEXT, &request);
		if (err == -EBUSY && !kmod_has(kmod, LTT_KMOD_CONTEXTS))
			return 0;
		if (err < 0 && err != -EEXIST)
			return err;
		ring->nr_contexts++;
	}
	return 0;
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

int kernel_context_number(const struct kmod *kmod, const char *name)
{
	struct ltt_kmod_field field = { .size = sizeof(field) };
	int ret;

	for (; field.index < MAX_CONTEXTS; field.index++) {
		ret = kmod_call(kmod, kmod->fd, LTT_KMOD_CONTEXT_FIELD, &field);
		if (ret < 0)
			return ret;
		field.name[sizeof(field.name) - 1] = '\0';
		if (strcmp(field.name, name) == 0)
			return (int)field.index;
	}
	return -ENOENT;
}

int kernel_check_captured(struct kernel_domain *kernel, const char *name, struct err *err)
{
	const struct layout *all = kernel_context_load(kernel);
	const struct layout_field *context = all ? kernel_context_find(all, name) : NULL;

	if (!all)
		return err_set(err, ERR_INTERNAL, "the kernel's contexts can't be listed");
	if (strncmp(name, "perf:", 5) == 0 || (context && context->kind == LTT_KIND_SEQUENCE))
		return err_set(err, ERR_UNSUPPORTED,
			       "'$ctx.%.60s' can't be captured: of the kernel's contexts, those can "
			       "that are a number or a text, no counters and no stacks",
			       name);
	return context ? 0 : no_context(all, name, err);
}

/* The first context of the list that the channel lacks and whose values vary in length: babeltrace2
 * 2.0.4 can't read a sequence in the context of an event class. */
static bool kernel_context_lacks_list(struct kernel_domain *kernel, const struct channel *channel,
				      const char *types, char ret[LTT_KMOD_TEXT_MAX])
{
	const struct layout *all = kernel_context_load(kernel);
	const struct layout_field *field;

	while (kernel_context_next_name(&types, ret)) {
		field = all ? kernel_context_find(all, ret) : NULL;
		if (field && layout_has_length(field) && !channel_has_context(channel, ret))
			return true;
	}
	return false;
}

int kernel_check_contexts_of(struct domain_tracer *domain, const struct session *session,
			     const struct channel *channel, const char *types, struct err *err)
{
	const struct recording *rec = recording_find(domain, session);
	struct trace *trace = rec ? list_first(&rec->traces, struct trace, node) : NULL;
	struct kernel_domain *kernel = kernel_of(domain);
	char list[LTT_KMOD_TEXT_MAX];

	if (!trace || !trace_channel_find(trace, channel))
		return 0;
	if (!kmod_has(kernel->kmod, LTT_KMOD_CONTEXTS))
		return err_set(err, ERR_UNSUPPORTED,
			       "channel '%s' of session '%s' has recorded events already, and the "
			       "kernel module that is loaded is older than this daemon and adds "
			       "contexts before the first one only; " ANOTHER_CHANNEL,
			       channel->name, session->name, session->name);
	if (!kernel_context_lacks_list(kernel, channel, types, list))
		return 0;
	return err_set(err, ERR_INVALID,
		       "channel '%s' of session '%s' has recorded events already, and stacks "
		       "('%s') can be added before the first one only; " ANOTHER_CHANNEL,
		       channel->name, session->name, list, session->name);
}

/*
 * Counters of perf by their names: software counters of the kernel, generic hardware
 * counters (under the names that perf and LTTng have for them), and raw ones by number.
 */

#define PREFIX "perf:cpu:"
#define RAW "raw:r"

struct counter {
	const char *name;
	uint32_t type;
	uint64_t config;
};

#define HARDWARE(name, config)                                          \
	{                                                               \
		PREFIX name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config \
	}
#define SOFTWARE(name, config)                                          \
	{                                                               \
		PREFIX name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config \
	}
#define CACHE(name, cache, op, result)                                                   \
	{                                                                                \
		PREFIX name, PERF_TYPE_HW_CACHE,                                         \
			PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
				PERF_COUNT_HW_CACHE_RESULT_##result << 16                \
	}
#define ACCESSES(name, cache, op, word) CACHE(name "-" word, cache, op, ACCESS)
#define MISSES(name, cache, op, word) CACHE(name "-" word "-misses", cache, op, MISS)
#define CACHES(name, cache)                                                                  \
	ACCESSES(name, cache, READ, "loads"), MISSES(name, cache, READ, "load"),             \
		ACCESSES(name, cache, WRITE, "stores"), MISSES(name, cache, WRITE, "store"), \
		ACCESSES(name, cache, PREFETCH, "prefetches"),                               \
		MISSES(name, cache, PREFETCH, "prefetch")

static const struct counter counters[] = {
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("idle-cycles-backend", STALLED_CYCLES_BACKEND),
	CACHES("L1-dcache", L1D),
	CACHES("L1-icache", L1I),
	CACHES("LLC", LL),
	CACHES("dTLB", DTLB),
	ACCESSES("iTLB", ITLB, READ, "loads"),
	MISSES("iTLB", ITLB, READ, "load"),
	ACCESSES("branch", BPU, READ, "loads"),
	MISSES("branch", BPU, READ, "load"),
	SOFTWARE("cpu-clock", CPU_CLOCK),
	SOFTWARE("task-clock", TASK_CLOCK),
	SOFTWARE("page-fault", PAGE_FAULTS),
	SOFTWARE("page-faults", PAGE_FAULTS),
	SOFTWARE("faults", PAGE_FAULTS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", CONTEXT_SWITCHES),
	SOFTWARE("cs", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
	SOFTWARE("migrations", CPU_MIGRATIONS),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* raw:rN:NAME, N in base 16. */
static bool find_raw(const char *text, struct ltt_kmod_context *ret)
{
	char *end;

	errno = 0;
	ret->perf_type = PERF_TYPE_RAW;
	ret->perf_config = strtoull(text, &end, 16);
	return isxdigit((unsigned char)*text) && !errno && *end == ':' && end[1] &&
	       !strchr(end, ',');
}

/* Return: false: there is no such name. */
static bool perf_find(const char *name, struct ltt_kmod_context *ret)
{
	if (begins(name, PREFIX RAW))
		return find_raw(name + strlen(PREFIX RAW), ret);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		if (strcmp(counters[i].name, name) == 0) {
			ret->perf_type = counters[i].type;
			ret->perf_config = counters[i].config;
			return true;
		}
	return false;
}

bool kernel_perf_find(const char *name, struct ltt_kmod_context *ret)
{
	*ret = (struct ltt_kmod_context){ .size = sizeof(*ret), .flags = LTT_KMOD_CONTEXT_PERF };
	if (strlen(name) >= sizeof(ret->name) || !perf_find(name, ret))
		return false;
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return true;
}

struct layout_field kernel_perf_field(const char *name)
{
	return (struct layout_field){
		.name = name, .kind = LTT_KIND_INT, .size_bits = 64, .base = 10
	};
}

/* --- for commands ----------------------------------------------------------------- */

/* Return: NULL, or the counter that was nearly named. */
static const char *perf_nearest(const char *name)
{
	const char *words[ARRAY_SIZE(counters) + 1] = { NULL };

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		words[i] = counters[i].name;
	return nearest_word(name, words);
}

static int no_counter(const char *name, struct err *err)
{
	const char *near = perf_nearest(name);

	if (begins(name, "perf:thread:"))
		return err_set(err, ERR_INVALID,
			       "'%.100s': counters of a thread are for applications; those of the "
			       "kernel are of a CPU (" PREFIX "NAME)",
			       name);
	if (begins(name, PREFIX RAW))
		return err_set(err, ERR_INVALID,
			       "'%.100s' is not " PREFIX RAW "N:NAME, with N in base 16", name);
	return err_set(err, ERR_INVALID, "there is no counter '%.100s'; %s%s%s", name,
		       near ? "did you mean '" : "`lttctl add-context --list` lists them",
		       near ? near : "", near ? "'?" : "");
}

int kernel_perf_check(const struct kmod *kmod, const char *name, struct err *err)
{
	struct ltt_kmod_context request;
	int ret;

	if (!kernel_perf_find(name, &request))
		return no_counter(name, err);
	AUTO_FD int trial = kernel_trial(kmod, 0);

	ret = trial < 0 ? trial : kmod_call(kmod, trial, LTT_KMOD_CONTEXT, &request);
	if (ret == -ENOMEM)
		return err_errno(err, ERR_NO_MEMORY, -ret, "the kernel can't test the counter");
	return ret < 0 ? err_set(err, ERR_INVALID,
				 "this machine has no counter '%.100s' (%s); `lttctl add-context "
				 "--list` lists those it has",
				 name, strerror(-ret)) :
			 0;
}

/* Another channel where there is no room for more in this one. Return: as kmod_call(). */
static int perf_try(const struct kmod *kmod, int *trial, struct ltt_kmod_context *request)
{
	int ret = kmod_call(kmod, *trial, LTT_KMOD_CONTEXT, request);

	if (ret != -ENOSPC)
		return ret;
	close_fd(*trial);
	*trial = kernel_trial(kmod, 0);
	return *trial < 0 ? *trial : kmod_call(kmod, *trial, LTT_KMOD_CONTEXT, request);
}

void kernel_perf_each(const struct kmod *kmod,
		      void (*fn)(const struct layout_field *context, void *data), void *data)
{
	AUTO_FD int trial = kernel_trial(kmod, 0);

	for (size_t i = 0; i < ARRAY_SIZE(counters) && trial >= 0; i++) {
		const struct layout_field field = kernel_perf_field(counters[i].name);
		struct ltt_kmod_context request;

		if (kernel_perf_find(field.name, &request) && perf_try(kmod, &trial, &request) == 0)
			fn(&field, data);
	}
}
