/* SPDX-License-Identifier: GPL-2.0-only */
#include "flame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "analyse/symbol/objects.h"
#include "read/event.h"

#define UNKNOWN "[unknown]"

/** An address of a context, and the functions there: more than one if some are inlined. @pid: 0: it
 *  is in the kernel. */
struct flame_address {
	struct idmap_node node;
	struct flame_address *next;
	uint64_t pid, address;
	uint32_t source, nr;
	bool is_return;
	const struct stacks_frame *frames[]; /* the outermost one first */
};

static const struct {
	const char *name, *unit, *events, *context;
} flame_kinds[] = {
	[FLAME_FUNCTIONS] = { .name = "functions", .unit = "ns", .events = CALLS_EVENTS },
	[FLAME_SAMPLES] = { .name = "samples", .unit = "ns", .events = FLAME_SAMPLED },
	[FLAME_KERNEL_STACKS] = { .name = "kernel-stacks",
				  .unit = "events",
				  .context = "callstack_kernel" },
	[FLAME_USER_STACKS] = { .name = "user-stacks",
				.unit = "events",
				.context = "callstack_user" },
	[FLAME_WAITS] = { .name = "waits", .unit = "ns" },
	[FLAME_MEMORY] = { .name = "memory", .unit = "bytes", .events = "*_libc:*" },
	[FLAME_ANY] = { .name = NULL },
};

const char *flame_name(enum flame_kind kind)
{
	return flame_kinds[kind].name;
}

const char *flame_unit(enum flame_kind kind)
{
	return flame_kinds[kind].unit;
}

const char *flame_events(enum flame_kind kind)
{
	return flame_kinds[kind].events;
}

static bool flame_wants(const struct flame *flame, enum flame_kind kind)
{
	return flame->kind == kind || flame->kind == FLAME_ANY;
}

static struct flame *flame_make(enum flame_kind kind, struct objects *objects,
				const struct view_host *host)
{
	struct flame *flame = xalloc(sizeof(*flame));

	flame->kind = kind;
	flame->objects = objects;
	flame->host = host;
	idmap_init(&flame->addresses_map);
	return flame;
}

struct flame *flame_new(enum flame_kind kind, struct objects *objects, const struct view_host *host,
			const char *threads)
{
	struct flame *flame = flame_make(kind, objects, host);

	flame->threads = threads;
	for (int i = FLAME_SAMPLES; i <= FLAME_USER_STACKS; i++)
		if (flame_wants(flame, (enum flame_kind)i))
			flame->of_context[i] = stacks_new(STACKS_NODES_MOST);
	if (flame_wants(flame, FLAME_FUNCTIONS))
		flame->calls = calls_new(objects, host);
	if (flame_wants(flame, FLAME_WAITS) || flame_wants(flame, FLAME_MEMORY))
		flame->overview = overview_new(objects, host, threads, 0);
	return flame;
}

static bool flame_declares(const struct view *view, enum flame_kind kind)
{
	return flame_kinds[kind].context ? view_has_context(view, flame_kinds[kind].context) :
					   view_declares(view, flame_kinds[kind].events);
}

struct flame *flame_new_beside(struct overview *overview, const struct view *view,
			       struct objects *objects, const struct view_host *host)
{
	struct flame *flame = flame_make(FLAME_ANY, objects, host);

	flame->overview = overview;
	flame->is_beside = true;
	if (view_declares(view, CALLS_EVENTS))
		flame->calls = calls_new(objects, host);
	for (int i = FLAME_SAMPLES; i <= FLAME_USER_STACKS; i++)
		if (flame_declares(view, (enum flame_kind)i))
			flame->of_context[i] = stacks_new(STACKS_NODES_MOST);
	return flame;
}

bool flame_needs_objects(const struct view *view)
{
	bool needs = false;

	for (int i = FLAME_FUNCTIONS; i <= FLAME_USER_STACKS; i++)
		needs = needs || flame_declares(view, (enum flame_kind)i);
	return needs;
}

bool flame_has_contexts(const struct flame *flame)
{
	return flame->of_context[FLAME_SAMPLES] || flame->of_context[FLAME_KERNEL_STACKS] ||
	       flame->of_context[FLAME_USER_STACKS];
}

void flame_free(struct flame *flame)
{
	struct flame_address *address;

	if (!flame)
		return;
	idmap_fini(&flame->addresses_map);
	while ((address = flame->addresses)) {
		flame->addresses = address->next;
		free(address);
	}
	for (int i = 0; i < FLAME_NR; i++)
		stacks_free(flame->of_context[i]);
	calls_free(flame->calls);
	if (!flame->is_beside)
		overview_free(flame->overview);
	task_names_fini(&flame->names);
	free(flame->frames);
	free(flame);
}

static void flame_push(struct flame *flame, const struct stacks_frame *frame)
{
	if (flame->nr == flame->size) {
		flame->size = flame->size ? 2 * flame->size : 64;
		flame->frames = xrealloc(flame->frames, flame->size * sizeof(*flame->frames));
	}
	flame->frames[flame->nr++] = frame;
}

/* --- contexts ------------------------------------------------------------------------------ */

/* One without a name is shown as its object with an offset, or by itself. */
static char *flame_label(const struct object *object, uint64_t in_file, uint64_t address)
{
	const char *slash = object && !object->is_kernel ? strrchr(object->path, '/') : NULL;

	if (object && !object->is_kernel)
		return xasprintf("%s+0x%" PRIx64, slash ? slash + 1 : object->path, in_file);
	return xasprintf("0x%" PRIx64, address);
}

static const struct stacks_frame *flame_symbol_frame(struct stacks *stacks,
						     const struct symbol *symbol)
{
	char *name AUTO_FREE =
		symbol->module ? xasprintf("%s [%s]", symbol->function, symbol->module) : NULL;

	return stacks_frame(stacks, name ? name : symbol->function, symbol->file, symbol->line);
}

/* Of the address behind a call, the byte before it is in the line of the call. */
static struct flame_address *flame_new_address(struct flame *flame, struct stacks *stacks,
					       const struct event *event, uint64_t value,
					       bool is_return)
{
	struct symbol symbol = { 0 };
	bool known;
	const struct object *object =
		objects_find(flame->objects, event, value - is_return, &known);
	uint64_t in_file = value - is_return - (object && object->is_pic ? object->base : 0);
	struct flame_address *address;
	char *label AUTO_FREE = NULL;

	if (object)
		flame->host->name(flame->host->names_priv, object, in_file, &symbol);
	address = xalloc(sizeof(*address) + (symbol.nr_inlined + 1) * sizeof(*address->frames));
	if (symbol.function) {
		address->frames[address->nr++] = flame_symbol_frame(stacks, &symbol);
		for (uint32_t i = symbol.nr_inlined; i-- > 0;)
			address->frames[address->nr++] =
				stacks_frame(stacks, symbol.inlined[i].function,
					     symbol.inlined[i].file, symbol.inlined[i].line);
	} else {
		label = flame_label(object, in_file + is_return, value);
		address->frames[address->nr++] = stacks_frame(stacks, label, NULL, 0);
	}
	return address;
}

static void flame_push_address(struct flame *flame, struct stacks *stacks,
			       const struct event *event, uint64_t pid, uint64_t value,
			       bool is_return)
{
	uint32_t source = event->source->number;
	uint64_t hash = (value ^ (pid << 32 ^ source) * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	struct idmap_node *node = idmap_find(&flame->addresses_map, hash);
	struct flame_address *address = NULL;

	for (; node; node = idmap_next(&flame->addresses_map, node)) {
		address = container_of(node, struct flame_address, node);
		if (address->address == value && address->pid == pid &&
		    address->source == source && address->is_return == is_return)
			break;
	}
	if (!node && flame->nr_addresses == FLAME_ADDRESSES_MOST) {
		flame_push(flame, stacks_frame(stacks, UNKNOWN, NULL, 0));
		return;
	}
	if (!node) {
		address = flame_new_address(flame, stacks, event, value, is_return);
		address->pid = pid;
		address->address = value;
		address->source = source;
		address->is_return = is_return;
		address->next = flame->addresses;
		flame->addresses = address;
		flame->nr_addresses++;
		idmap_add(&flame->addresses_map, &address->node, hash);
	}
	for (uint32_t i = 0; i < address->nr; i++)
		flame_push(flame, address->frames[i]);
}

static void flame_push_process(struct flame *flame, struct stacks *stacks,
			       const struct event *event)
{
	const struct value *name = event->task.procname;
	size_t len = name ? value_text_length(name) : 0;
	char *text AUTO_FREE =
		len ? xasprintf("%.*s", (int)MIN(len, (size_t)256), (const char *)name->bytes) :
		      NULL;

	if (text)
		flame_push(flame, stacks_frame(stacks, text, NULL, 0));
}

/* Of kernels there is one for all processes. */
static uint64_t flame_pid(const struct event *event)
{
	return event->task.pid ? event->task.pid->u : UINT64_MAX;
}

/* The calls of a stack, the outermost one first. @is_exact: the innermost one is no call, but the
 * place itself. Return: false: it has none. */
static bool flame_push_calls(struct flame *flame, struct stacks *stacks, const struct event *event,
			     const struct value *calls, uint64_t pid, bool is_exact)
{
	if (!calls || !value_is_packed(calls) || calls->type->elem->kind != TYPE_INT ||
	    !calls->count)
		return false;
	stacks->nr_cut += calls->count > STACKS_DEPTH_MOST;
	for (uint32_t i = MIN(calls->count, STACKS_DEPTH_MOST); i-- > 0;)
		flame_push_address(flame, stacks, event, pid, value_element(calls, i).u,
				   !is_exact || i > 0);
	return true;
}

/* The process, its calls, and the event: there may be several events with the context. */
static void flame_take_context(struct flame *flame, enum flame_kind kind, const struct event *event)
{
	struct stacks *stacks = flame->of_context[kind];
	const char *name = flame_kinds[kind].context;
	const struct value *value = value_member(event->stream_context, name);

	if (!value)
		value = value_member(event->context, name);
	flame->nr = 0;
	flame_push_process(flame, stacks, event);
	if (!flame_push_calls(flame, stacks, event, value,
			      kind == FLAME_USER_STACKS ? flame_pid(event) : 0, false))
		return;
	flame_push(flame, stacks_frame(stacks, event->ec->name, NULL, 0));
	stacks_add(stacks, flame->frames, flame->nr, 1);
	flame->seen[kind] = true;
}

/* The process, the calls of its program, then those of the kernel that it made. */
static void flame_take_sample(struct flame *flame, const struct event *event, uint64_t ns)
{
	const struct value *user = value_member(event->fields, "stack_user");
	const struct value *kernel = value_member(event->fields, "stack_kernel");
	struct stacks *stacks = flame->of_context[FLAME_SAMPLES];
	bool in_kernel = kernel && kernel->count;
	bool any;

	flame->nr = 0;
	flame_push_process(flame, stacks, event);
	any = flame_push_calls(flame, stacks, event, user, flame_pid(event), !in_kernel);
	any |= flame_push_calls(flame, stacks, event, kernel, 0, true);
	if (!any)
		return;
	stacks_add(stacks, flame->frames, flame->nr, ns);
	flame->seen[FLAME_SAMPLES] = true;
}

/* The rate is in the name. */
static uint64_t flame_sample_ns(const char *name)
{
	unsigned int hz = 0;

	return sscanf(name, "cpu_sample_%uhz", &hz) == 1 && hz ? 1000000000u / hz : 0;
}

static const struct flame_class *flame_class_of(struct flame *flame,
						const struct ctf_event_class *ec)
{
	struct flame_class *class = &flame->classes[((uintptr_t)ec >> 4) % FLAME_CLASSES];

	if (class->ec != ec)
		*class = (struct flame_class){ ec, glob_match_list(CALLS_EVENTS, ec->name),
					       flame_sample_ns(ec->name) };
	return class;
}

void flame_take(struct flame *flame, const struct event *event)
{
	const struct flame_class *class = flame_class_of(flame, event->ec);
	bool chosen =
		!flame->threads || task_is_selected(&flame->names, event, NULL, flame->threads);

	if (flame->of_context[FLAME_SAMPLES] && class->sample_ns && chosen)
		flame_take_sample(flame, event, class->sample_ns);
	for (int i = FLAME_KERNEL_STACKS; i <= FLAME_USER_STACKS; i++)
		if (flame->of_context[i] && chosen)
			flame_take_context(flame, (enum flame_kind)i, event);
	if (flame->calls && class->is_function) {
		if (chosen)
			calls_take(flame->calls, event);
	} else if (flame->overview && !flame->is_beside) {
		overview_take(flame->overview, event);
	}
}

/* --- functions ----------------------------------------------------------------------------- */

/* Recursion is bounded by CALLS_TREE_DEPTH. */
static void flame_add_calls(struct flame *flame, struct stacks *stacks,
			    const struct calls_node *parent)
{
	for (const struct calls_node *node = parent->first; node; node = node->next) {
		const struct symbol *symbol = &node->function->symbol;

		flame_push(flame,
			   stacks_frame(stacks, node->function->label, symbol->file, symbol->line));
		stacks_add(stacks, flame->frames, flame->nr, node->sum.self_ns);
		flame_add_calls(flame, stacks, node);
		flame->nr--;
	}
}

static void flame_add_functions(struct flame *flame, struct stacks *stacks)
{
	const struct calls_thread *thread = flame->calls->threads;

	for (flame->nr = 0; thread; thread = thread->next)
		flame_add_calls(flame, stacks, &thread->root);
}

/* --- waits and allocations ----------------------------------------------------------------- */

static void flame_push_site(struct flame *flame, struct stacks *stacks, struct callsite *site)
{
	const char *label = callsites_label(flame->overview->callsites, site, true);
	struct symbol_inline frame;
	uint32_t nr = 0;

	while (callsites_frame(site, nr, &frame))
		nr++;
	if (!nr)
		flame_push(flame, stacks_frame(stacks, label, NULL, 0));
	while (nr-- > 0 && callsites_frame(site, nr, &frame))
		flame_push(flame, stacks_frame(stacks, frame.function, frame.file, frame.line));
}

static void flame_add_chain(struct flame *flame, struct stacks *stacks,
			    const struct callchain *chain, const char *function, uint64_t value)
{
	flame->nr = 0;
	for (uint32_t i = chain ? chain->nr_callers : 0; i-- > 0;)
		flame_push_site(flame, stacks, chain->callers[i]);
	if (chain)
		flame_push_site(flame, stacks, chain->place);
	else
		flame_push(flame, stacks_frame(stacks, UNKNOWN, NULL, 0));
	flame_push(flame, stacks_frame(stacks, function, NULL, 0));
	stacks_add(stacks, flame->frames, flame->nr, value);
}

static void flame_add_waits(struct flame *flame, struct stacks *stacks)
{
	static const char *const names[] = {
		[LOCKS_MUTEX] = "pthread_mutex_lock",
		[LOCKS_SPIN] = "pthread_spin_lock",
		[LOCKS_RWLOCK] = "pthread_rwlock_lock",
	};
	const struct locks_site *lock = flame->overview->locks->by_site;
	const struct waits_site *site = flame->overview->waits->sites;

	for (; lock; lock = lock->next)
		flame_add_chain(flame, stacks, lock->chain, names[lock->kind], lock->wait_ns);
	for (; site; site = site->next)
		flame_add_chain(flame, stacks, site->chain, waits_name(site->kind), site->wait_ns);
}

static void flame_add_memory(struct flame *flame, struct stacks *stacks)
{
	const struct allocations_site *site = flame->overview->allocations->sites;

	for (; site; site = site->next)
		flame_add_chain(flame, stacks, site->chain, allocations_name(site->action),
				site->bytes);
}

/* --- results ----------------------------------------------------------------------------- */

bool flame_has(const struct flame *flame, enum flame_kind kind)
{
	const struct overview *overview = flame->overview;

	switch (flame->kind == kind || flame->kind == FLAME_ANY ? kind : FLAME_NR) {
	case FLAME_FUNCTIONS:
		return flame->calls && flame->calls->threads;
	case FLAME_SAMPLES:
	case FLAME_KERNEL_STACKS:
	case FLAME_USER_STACKS:
		return flame->seen[kind];
	case FLAME_WAITS:
		return overview->locks->by_site || overview->waits->sites;
	case FLAME_MEMORY:
		return overview->allocations->sites;
	default:
		return false;
	}
}

const struct stacks *flame_samples(const struct flame *flame)
{
	return flame->seen[FLAME_SAMPLES] ? flame->of_context[FLAME_SAMPLES] : NULL;
}

struct stacks *flame_stacks(struct flame *flame, enum flame_kind kind)
{
	static void (*const add[])(struct flame *, struct stacks *) = {
		[FLAME_FUNCTIONS] = flame_add_functions,
		[FLAME_WAITS] = flame_add_waits,
		[FLAME_MEMORY] = flame_add_memory,
	};
	struct stacks *stacks = TAKE(flame->of_context[kind]);

	if (!stacks) {
		stacks = stacks_new(STACKS_NODES_MOST);
		add[kind](flame, stacks);
	}
	stacks_sort(stacks);
	return stacks;
}

void flame_end(struct flame *flame)
{
	if (flame->calls)
		calls_end(flame->calls);
	if (flame->overview && !flame->is_beside)
		overview_finish(flame->overview);
}

enum flame_kind flame_finish(struct flame *flame, struct stacks **ret)
{
	flame_end(flame);
	for (int i = 0; i < FLAME_NR; i++) {
		if (!flame_has(flame, (enum flame_kind)i))
			continue;
		*ret = flame_stacks(flame, (enum flame_kind)i);
		return (enum flame_kind)i;
	}
	return FLAME_NR;
}
