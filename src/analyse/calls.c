/* SPDX-License-Identifier: GPL-2.0-only */
#include "calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "analyse/symbol/objects.h"
#include "read/event.h"

/** A call that has not returned. @node: NULL: below CALLS_TREE_DEPTH.
 *  @outermost: of its function. */
struct calls_frame {
	struct calls_function *function;
	struct calls_node *node;
	struct calls_active *active;
	int64_t entry_ns;
	uint64_t inner_ns; /* in the functions that it called, on this stack */
	uint64_t away_ns;  /* of the stack, at the entry */
	uint64_t self_ns;  /* after the end */
	bool outermost;
};

/**
 * struct calls_stack - of a thread, or of a coroutine that a thread runs: a tree of its own.
 * @first: the address at which it began; 0: unknown. @left_at: the last one, when the thread left
 * it, at @left_ns. @away_ns: time that it did not run.
 */
struct calls_stack {
	struct calls_stack *next;
	struct calls_frame *frames;
	uint32_t nr_frames, size, number;
	uint64_t beyond, first, left_at, away_ns;
	int64_t left_ns;
};

/** A function's address in one thread: it stays that of the first object that was there. */
struct calls_address {
	struct idmap_node node;
	struct calls_address *next;
	struct calls_function *function;
};

/** Calls of a function on a stack. */
struct calls_active {
	struct idmap_node node;
	struct calls_active *next;
	uint32_t depth;
};

struct calls *calls_new(struct objects *objects, const struct view_host *host)
{
	struct calls *calls = xalloc(sizeof(*calls));

	calls->objects = objects;
	calls->host = host;
	idmap_init(&calls->threads_map);
	idmap_init(&calls->functions_map);
	idmap_init(&calls->nodes_map);
	return calls;
}

static void calls_free_stacks(struct calls_stack *stack)
{
	while (stack) {
		struct calls_stack *next = stack->next;

		free(stack->frames);
		free(stack);
		stack = next;
	}
}

static void calls_free_thread(struct calls_thread *thread)
{
	struct calls_address *address;
	struct calls_active *active;

	idmap_fini(&thread->addresses);
	idmap_fini(&thread->active);
	while ((address = thread->all_addresses)) {
		thread->all_addresses = address->next;
		free(address);
	}
	while ((active = thread->all_active)) {
		thread->all_active = active->next;
		free(active);
	}
	calls_free_stacks(thread->stack);
	calls_free_stacks(thread->left);
	calls_free_stacks(thread->spare);
	free(thread->procname);
	free(thread);
}

void calls_free(struct calls *calls)
{
	struct calls_function *function;
	struct calls_thread *thread;
	struct calls_node *node;

	if (!calls)
		return;
	idmap_fini(&calls->threads_map);
	idmap_fini(&calls->functions_map);
	idmap_fini(&calls->nodes_map);
	while ((thread = calls->threads)) {
		calls->threads = thread->next;
		calls_free_thread(thread);
	}
	while ((node = calls->nodes)) {
		calls->nodes = node->next_all;
		free(node);
	}
	while ((function = calls->functions)) {
		calls->functions = function->next;
		free(function->key);
		free(function->label);
		free(function);
	}
	free(calls);
}

void calls_on_return(struct calls *calls, calls_fn fn, void *priv)
{
	calls->fn = fn;
	calls->priv = priv;
}

/* --- threads ----------------------------------------------------------------------------- */

static uint64_t calls_hash(const void *a, uint64_t b)
{
	return ((uintptr_t)a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
}

static struct calls_thread *calls_new_thread(struct calls *calls, const struct event *event,
					     uint64_t hash)
{
	struct calls_thread *thread = xalloc(sizeof(*thread));
	const struct task *task = &event->task;

	thread->source = event->source->number;
	thread->tid = task->tid->u;
	thread->has_pid = task->pid;
	thread->pid = task->pid ? task->pid->u : 0;
	thread->procname = task->procname ?
				   xasprintf("%.*s", (int)value_text_length(task->procname),
					     (const char *)task->procname->bytes) :
				   xstrdup("");
	idmap_init(&thread->addresses);
	idmap_init(&thread->active);
	thread->stack = xalloc(sizeof(*thread->stack));
	thread->next = calls->threads;
	calls->threads = thread;
	idmap_add(&calls->threads_map, &thread->node, hash);
	return thread;
}

static struct calls_thread *calls_thread_of(struct calls *calls, const struct event *event)
{
	const struct task *task = &event->task;
	uint64_t pid = task->pid ? task->pid->u : 0, hash;
	struct idmap_node *node;

	if (!task->tid)
		return NULL;
	hash = calls_hash(event->source, pid << 32 ^ task->tid->u);
	for (node = idmap_find(&calls->threads_map, hash); node;
	     node = idmap_next(&calls->threads_map, node)) {
		struct calls_thread *thread = container_of(node, struct calls_thread, node);

		if (thread->source == event->source->number && thread->pid == pid &&
		    thread->tid == task->tid->u)
			return thread;
	}
	return calls_new_thread(calls, event, hash);
}

/* --- functions ------------------------------------------------------------------------------ */

static char *calls_label(const struct calls_function *function, uint64_t address)
{
	const char *slash = function->object ? strrchr(function->object, '/') : NULL;

	if (function->symbol.function && !function->symbol.offset)
		return xstrdup(function->symbol.function);
	if (function->symbol.function)
		return xasprintf("%s+0x%" PRIx64, function->symbol.function,
				 function->symbol.offset);
	if (function->object)
		return xasprintf("%s+0x%" PRIx64, slash ? slash + 1 : function->object, address);
	return xasprintf("0x%" PRIx64, address);
}

static struct calls_function *calls_function_at(struct calls *calls, const struct event *event,
						uint64_t address)
{
	bool known;
	const struct object *object = objects_find(calls->objects, event, address, &known);
	uint64_t in_file = address - (object && object->is_pic ? object->base : 0);
	char *key AUTO_FREE = object ? xasprintf("%s+%" PRIx64, object->path, in_file) :
				       xasprintf("%s %" PRIu64 " %" PRIx64, event->source->label,
						 event->task.pid ? event->task.pid->u : 0, address);
	struct calls_function *function;
	struct idmap_node *node;

	for (node = idmap_find(&calls->functions_map, idmap_hash_text(key)); node;
	     node = idmap_next(&calls->functions_map, node)) {
		function = container_of(node, struct calls_function, node);
		if (strcmp(function->key, key) == 0)
			return function;
	}
	function = xalloc(sizeof(*function));
	if (object) {
		function->object = object->is_kernel ? NULL : object->path;
		calls->host->name(calls->host->names_priv, object, in_file, &function->symbol);
	}
	function->label = calls_label(function, in_file);
	function->next = calls->functions;
	calls->functions = function;
	idmap_add(&calls->functions_map, &function->node, idmap_hash_text(key));
	function->key = TAKE(key);
	return function;
}

static struct calls_function *calls_function_of(struct calls *calls, struct calls_thread *thread,
						const struct event *event, uint64_t value)
{
	struct calls_address *address =
		idmap_get(&thread->addresses, value, struct calls_address, node);

	if (!address) {
		address = xalloc(sizeof(*address));
		address->function = calls_function_at(calls, event, value);
		address->next = thread->all_addresses;
		thread->all_addresses = address;
		idmap_add(&thread->addresses, &address->node, value);
	}
	return address->function;
}

static struct calls_active *calls_active_of(struct calls_thread *thread,
					    const struct calls_function *function)
{
	uint64_t hash = calls_hash(function, thread->stack->number);
	struct calls_active *active = idmap_get(&thread->active, hash, struct calls_active, node);

	if (!active) {
		active = xalloc(sizeof(*active));
		active->next = thread->all_active;
		thread->all_active = active;
		idmap_add(&thread->active, &active->node, hash);
	}
	return active;
}

/* --- trees --------------------------------------------------------------------------------- */

static struct calls_node *calls_child(struct calls *calls, struct calls_node *parent,
				      struct calls_function *function)
{
	uint64_t hash = calls_hash(parent, (uintptr_t)function);
	struct idmap_node *found = idmap_find(&calls->nodes_map, hash);
	struct calls_node *node;

	for (; found; found = idmap_next(&calls->nodes_map, found)) {
		node = container_of(found, struct calls_node, node);
		if (node->parent == parent && node->function == function)
			return node;
	}
	node = xalloc(sizeof(*node));
	node->parent = parent;
	node->function = function;
	node->depth = parent->depth + 1;
	node->next = parent->first;
	parent->first = node;
	node->next_all = calls->nodes;
	calls->nodes = node;
	idmap_add(&calls->nodes_map, &node->node, hash);
	return node;
}

static void calls_enter(struct calls *calls, struct calls_thread *thread,
			struct calls_function *function, int64_t ns)
{
	struct calls_stack *stack = thread->stack;
	struct calls_node *above =
		stack->nr_frames ? stack->frames[stack->nr_frames - 1].node : &thread->root;
	struct calls_frame frame = {
		.function = function,
		.entry_ns = ns,
		.away_ns = stack->away_ns,
	};

	function->sum.calls++;
	if (stack->nr_frames == CALLS_STACK_DEPTH) {
		calls->deep++;
		stack->beyond++;
		return;
	}
	if (above && above->depth < CALLS_TREE_DEPTH) {
		frame.node = calls_child(calls, above, function);
		frame.node->sum.calls++;
	} else {
		calls->deep++;
	}
	frame.active = calls_active_of(thread, function);
	frame.outermost = frame.active->depth++ == 0;
	if (stack->nr_frames == stack->size) {
		stack->size = stack->size ? 2 * stack->size : 16;
		stack->frames = xrealloc(stack->frames, stack->size * sizeof(*stack->frames));
	}
	stack->frames[stack->nr_frames++] = frame;
}

/* The innermost call of a stack ends. Return: it is valid until the next call begins. */
static const struct calls_frame *calls_leave(struct calls_thread *thread, struct calls_stack *stack,
					     int64_t ns)
{
	struct calls_frame *frame = &stack->frames[--stack->nr_frames];
	uint64_t took = ns > frame->entry_ns ? (uint64_t)(ns - frame->entry_ns) : 0;
	uint64_t ran = took - MIN(stack->away_ns - frame->away_ns, took);
	uint64_t self = ran > frame->inner_ns ? ran - frame->inner_ns : 0;
	bool lossy = frame->entry_ns < thread->lossy_until_ns;

	frame->active->depth--;
	frame->function->sum.self_ns += self;
	frame->function->sum.total_ns += frame->outermost ? took : 0;
	frame->function->sum.lossy += lossy;
	if (frame->node) {
		frame->node->sum.self_ns += self;
		frame->node->sum.total_ns += took;
		frame->node->sum.lossy += lossy;
	}
	if (stack->nr_frames) {
		stack->frames[stack->nr_frames - 1].inner_ns += ran;
	} else {
		thread->root.sum.calls++;
		thread->root.sum.total_ns += ran;
		thread->root.sum.lossy += lossy;
	}
	frame->self_ns = self;
	return frame;
}

static void calls_report(const struct calls *calls, const struct calls_stack *stack,
			 const struct calls_frame *frame, const struct event *event)
{
	struct calls_call call = { .function = frame->function,
				   .self_ns = frame->self_ns,
				   .depth = stack->nr_frames };

	if (!calls->fn)
		return;
	span_of_event(&call.span, event, frame->function->label, frame->entry_ns);
	calls->fn(calls->priv, &call);
}

/* Frames above the first @nr have been left without exits. */
static void calls_leave_above(struct calls *calls, struct calls_thread *thread, uint32_t nr,
			      int64_t ns)
{
	struct calls_stack *stack = thread->stack;

	calls->left += stack->nr_frames - nr;
	while (stack->nr_frames > nr)
		calls_leave(thread, stack, ns);
}

/* Calls above the one that returns were left by longjmp() or an exception. */
static void calls_return(struct calls *calls, struct calls_thread *thread,
			 const struct calls_function *function, const struct event *event)
{
	struct calls_stack *stack = thread->stack;
	uint32_t at = stack->nr_frames;

	if (stack->beyond) {
		stack->beyond--;
		return;
	}
	while (at && function && stack->frames[at - 1].function != function)
		at--;
	if (!at) {
		calls->alone++;
		return;
	}
	calls_leave_above(calls, thread, at, event->ns);
	calls_report(calls, stack, calls_leave(thread, stack, event->ns), event);
}

/* --- stacks ---------------------------------------------------------------------------- */

static uint64_t calls_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool calls_is_on(const struct calls_stack *stack, const struct calls_function *function)
{
	uint32_t at = stack->nr_frames;

	while (at && stack->frames[at - 1].function != function)
		at--;
	return at > 0;
}

/* Return: the number of frames up to that of the function in which a call is; 0: it has none. */
static uint32_t calls_has_site(const struct calls_stack *stack, const struct calls_function *site)
{
	for (uint32_t at = stack->nr_frames; at > 0; at--) {
		const struct calls_function *function = stack->frames[at - 1].function;

		if (function->symbol.function && site->object && function->object &&
		    strcmp(function->object, site->object) == 0 &&
		    strcmp(function->symbol.function, site->symbol.function) == 0)
			return at;
	}
	return 0;
}

/* The stack that was left nearest to the place of the thread. @function: it returns, from that
 * stack; NULL: another one is called. */
static struct calls_stack *calls_nearest(struct calls_thread *thread,
					 const struct calls_function *function)
{
	struct calls_stack *nearest = NULL;
	uint64_t least = CALLS_STACKS_NEAR + 1;

	for (struct calls_stack *stack = thread->left; stack; stack = stack->next) {
		uint64_t distance = calls_distance(stack->left_at, thread->to);

		if (distance >= least ||
		    (function && stack->frames[stack->nr_frames - 1].function != function))
			continue;
		nearest = stack;
		least = distance;
	}
	return nearest;
}

static struct calls_stack *calls_new_stack(struct calls *calls, struct calls_thread *thread)
{
	struct calls_stack *stack = thread->spare;

	if (!stack && thread->nr_stacks == CALLS_STACKS_MOST)
		return NULL;
	calls->stacks++;
	if (stack) {
		thread->spare = stack->next;
	} else {
		stack = xalloc(sizeof(*stack));
		stack->number = ++thread->nr_stacks;
	}
	stack->beyond = stack->away_ns = 0;
	stack->first = thread->to;
	stack->next = NULL;
	return stack;
}

/* A stack without calls is one of a coroutine that has ended. */
static void calls_change_stack(struct calls_thread *thread, struct calls_stack *to, int64_t ns)
{
	struct calls_stack **at = &thread->left, *from = thread->stack;

	while (*at && *at != to)
		at = &(*at)->next;
	if (*at) {
		*at = to->next;
		to->away_ns += event_ns_between(to->left_ns, ns);
	}
	from->left_at = thread->from;
	from->left_ns = ns;
	at = from->nr_frames ? &thread->left : &thread->spare;
	from->next = *at;
	*at = from;
	to->next = NULL;
	thread->stack = to;
}

/* The stack on which a function is called after the change. */
static struct calls_stack *calls_stack_of_entry(struct calls *calls, struct calls_thread *thread,
						const struct event *event)
{
	struct calls_stack *stack = calls_nearest(thread, NULL);
	const struct calls_function *site;
	uint32_t nr;

	if (stack)
		return stack;
	site = calls_function_at(calls, event, thread->site - 1);
	if (site->symbol.function) {
		nr = calls_has_site(thread->stack, site);
		if (nr && thread->to > thread->from) /* by longjmp() */
			calls_leave_above(calls, thread, nr, event->ns);
		if (nr)
			return thread->stack;
		for (stack = thread->left; stack; stack = stack->next)
			if (calls_has_site(stack, site))
				return stack;
	}
	return calls_new_stack(calls, thread);
}

static struct calls_stack *calls_stack_of_exit(struct calls_thread *thread,
					       const struct calls_function *function)
{
	struct calls_stack *stack = calls_nearest(thread, function);

	if (stack || calls_is_on(thread->stack, function))
		return stack;
	for (stack = thread->left; stack; stack = stack->next)
		if (calls_is_on(stack, function))
			break;
	return stack;
}

/* The event is the first one after a change of the stack, or one that does not fit to the stack, as
 * the change was lost. */
static void calls_find_stack(struct calls *calls, struct calls_thread *thread,
			     const struct calls_function *function, bool is_exit,
			     const struct event *event)
{
	struct calls_stack *stack = is_exit ? calls_stack_of_exit(thread, function) :
					      calls_stack_of_entry(calls, thread, event);

	if (stack && stack != thread->stack)
		calls_change_stack(thread, stack, event->ns);
	stack = thread->stack;
	/* its memory is that of another coroutine now */
	if (!is_exit && stack->first && thread->to >= stack->first)
		calls_leave_above(calls, thread, 0, event->ns);
	thread->from = thread->to = 0;
}

static uint64_t calls_address_of(const struct event *event, const char *name)
{
	const struct value *value = value_member(event->fields, name);

	return value && value->type->kind == TYPE_INT ? value->u : 0;
}

void calls_take(struct calls *calls, const struct event *event)
{
	const struct value *address = value_member(event->fields, "addr");
	struct calls_thread *thread = calls_thread_of(calls, event);
	bool is_exit = strstr(event->ec->name, ":func_exit");
	struct calls_function *function = NULL;

	if (!thread) {
		calls->nowhere++;
		return;
	}
	if (strstr(event->ec->name, ":func_stack")) {
		thread->from = thread->from ? thread->from : calls_address_of(event, "from");
		thread->to = calls_address_of(event, "to");
		thread->site = calls_address_of(event, "call_site");
		thread->function = calls_function_of(calls, thread, event,
						     calls_address_of(event, "addr"));
		return;
	}
	thread->last_ns = event->ns;
	thread->lossy_until_ns = event->source->lossy_until_ns;
	if (address && address->type->kind == TYPE_INT)
		function = calls_function_of(calls, thread, event, address->u);
	if (thread->to || (is_exit && function && thread->left &&
			   !calls_is_on(thread->stack, function)))
		calls_find_stack(calls, thread, thread->to ? thread->function : function, is_exit,
				 event);
	if (is_exit)
		calls_return(calls, thread, function, event);
	else if (function)
		calls_enter(calls, thread, function, event->ns);
}

/* --- results ----------------------------------------------------------------------------- */

static int calls_compare_sums(const struct calls_sum *a, const struct calls_sum *b)
{
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->calls != b->calls ? (a->calls > b->calls ? -1 : 1) : 0;
}

static int calls_compare_nodes(const void *a, const void *b)
{
	const struct calls_node *x = *(struct calls_node *const *)a;
	const struct calls_node *y = *(struct calls_node *const *)b;
	int order = calls_compare_sums(&x->sum, &y->sum);

	return order ? order : strcmp(x->function->key, y->function->key);
}

/* By time; recursion is bounded by CALLS_TREE_DEPTH. */
static void calls_sort(struct calls_node *parent)
{
	struct calls_node **all, *node;
	size_t nr = 0, i = 0;

	for (node = parent->first; node; node = node->next)
		nr++;
	if (!nr)
		return;
	all = xalloc(nr * sizeof(*all));
	for (node = parent->first; node; node = node->next)
		all[i++] = node;
	qsort(all, nr, sizeof(*all), calls_compare_nodes);
	parent->first = all[0];
	for (i = 0; i < nr; i++) {
		all[i]->next = i + 1 < nr ? all[i + 1] : NULL;
		calls_sort(all[i]);
	}
	free(all);
}

static int calls_compare_threads(const void *a, const void *b)
{
	const struct calls_thread *x = *(struct calls_thread *const *)a;
	const struct calls_thread *y = *(struct calls_thread *const *)b;
	int order = calls_compare_sums(&x->root.sum, &y->root.sum);

	if (order || x->source != y->source)
		return order ? order : (x->source > y->source) - (x->source < y->source);
	return x->pid != y->pid ? (x->pid > y->pid ? 1 : -1) :
				  (x->tid > y->tid) - (x->tid < y->tid);
}

static void calls_sort_threads(struct calls *calls)
{
	struct calls_thread **all, *thread;
	size_t nr = 0, i = 0;

	for (thread = calls->threads; thread; thread = thread->next)
		nr++;
	if (!nr)
		return;
	all = xalloc(nr * sizeof(*all));
	for (thread = calls->threads; thread; thread = thread->next)
		all[i++] = thread;
	qsort(all, nr, sizeof(*all), calls_compare_threads);
	calls->threads = all[0];
	for (i = 0; i < nr; i++)
		all[i]->next = i + 1 < nr ? all[i + 1] : NULL;
	free(all);
}

static void calls_end_stack(struct calls *calls, struct calls_thread *thread,
			    struct calls_stack *stack)
{
	calls->open += stack->nr_frames + stack->beyond;
	while (stack->nr_frames)
		calls_leave(thread, stack, thread->last_ns);
}

void calls_end(struct calls *calls)
{
	for (struct calls_thread *thread = calls->threads; thread; thread = thread->next) {
		calls_end_stack(calls, thread, thread->stack);
		for (struct calls_stack *stack = thread->left; stack; stack = stack->next) {
			stack->away_ns += event_ns_between(stack->left_ns, thread->last_ns);
			calls_end_stack(calls, thread, stack);
		}
		calls_sort(&thread->root);
	}
	calls_sort_threads(calls);
}

static void calls_add_sum(struct calls_sum *to, const struct calls_sum *from)
{
	to->calls += from->calls;
	to->total_ns += from->total_ns;
	to->self_ns += from->self_ns;
	to->lossy += from->lossy;
}

static void calls_add_tree(struct calls *calls, struct calls_node *to,
			   const struct calls_node *from)
{
	for (const struct calls_node *node = from->first; node; node = node->next) {
		struct calls_node *into = calls_child(calls, to, node->function);

		calls_add_sum(&into->sum, &node->sum);
		calls_add_tree(calls, into, node);
	}
}

void calls_merge(struct calls *calls, struct calls_node *root)
{
	for (struct calls_thread *thread = calls->threads; thread; thread = thread->next) {
		calls_add_sum(&root->sum, &thread->root.sum);
		calls_add_tree(calls, root, &thread->root);
	}
	calls_sort(root);
}

uint64_t calls_count(const struct calls_node *parent)
{
	uint64_t nr = 0;

	for (const struct calls_node *node = parent->first; node; node = node->next)
		nr += 1 + calls_count(node);
	return nr;
}

static uint64_t *calls_collect_times(const struct calls_node *parent, uint64_t *to)
{
	for (const struct calls_node *node = parent->first; node; node = node->next) {
		*to++ = node->sum.total_ns;
		to = calls_collect_times(node, to);
	}
	return to;
}

static int calls_larger_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

uint64_t calls_least(const struct calls_node *root, uint64_t most)
{
	uint64_t nr = calls_count(root);
	uint64_t *all AUTO_FREE = NULL;

	if (!most || most >= nr)
		return 0;
	all = xalloc(nr * sizeof(*all));
	calls_collect_times(root, all);
	qsort(all, nr, sizeof(*all), calls_larger_first);
	return all[most - 1];
}

static int calls_compare_functions(const void *a, const void *b)
{
	const struct calls_function *x = *(struct calls_function *const *)a;
	const struct calls_function *y = *(struct calls_function *const *)b;
	int order = calls_compare_sums(&x->sum, &y->sum);

	return order ? order : strcmp(x->key, y->key);
}

struct calls_function **calls_flat(const struct calls *calls, size_t *ret_nr)
{
	struct calls_function **all, *function;
	size_t nr = 0;

	for (function = calls->functions; function; function = function->next)
		nr++;
	all = xalloc((nr + 1) * sizeof(*all));
	nr = 0;
	for (function = calls->functions; function; function = function->next)
		if (function->sum.calls)
			all[nr++] = function;
	qsort(all, nr, sizeof(*all), calls_compare_functions);
	*ret_nr = nr;
	return all;
}
