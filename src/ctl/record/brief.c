/* SPDX-License-Identifier: GPL-2.0-only */
#include "brief.h"

#include <string.h>

#include "analyse/calls.h"
#include "analyse/symbol/demangle.h"
#include "analyse/symbol/objects.h"
#include "base/mem.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "ctl/symbol/symbols.h"
#include "read/event.h"
#include "read/view.h"
#include "show/show.h"

#define BRIEF_EVENTS 1000000u	/* that are examined: half a second */
#define BRIEF_BYTES (1u << 30) /* of the trace: its libraries may be anywhere in it */

/** By the address in a process. */
struct brief_function {
	struct idmap_node node;
	struct brief_function *next;
	const struct object *object; /* NULL: unknown */
	uint64_t in_file, brief_calls;
};

/** @function: of the latest event, an entry; NULL: it was another one. */
struct brief_thread {
	struct idmap_node node;
	struct brief_thread *next;
	struct brief_function *function;
	uint64_t address;
	int64_t entry_ns;
};

/** @least_ns: the time that recording takes: that of the briefest call. */
struct brief {
	struct objects *objects;
	struct idmap functions_map, threads_map;
	struct brief_function *functions;
	struct brief_thread *threads;
	uint64_t calls, brief_calls, least_ns;
};

static uint64_t brief_hash(const struct event *event, const struct value *number, uint64_t address)
{
	return ((uintptr_t)event->source ^ (number ? number->u << 32 : 0) ^
		address * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
}

static struct brief_function *brief_function_of(struct brief *brief, const struct event *event,
						uint64_t address)
{
	uint64_t hash = brief_hash(event, event->task.pid, address);
	struct brief_function *function =
		idmap_get(&brief->functions_map, hash, struct brief_function, node);
	bool known;

	if (function)
		return function;
	function = xalloc(sizeof(*function));
	function->object = objects_find(brief->objects, event, address, &known);
	function->in_file = address;
	if (function->object && function->object->is_pic)
		function->in_file -= function->object->base;
	function->next = brief->functions;
	brief->functions = function;
	idmap_add(&brief->functions_map, &function->node, hash);
	return function;
}

static struct brief_thread *brief_thread_of(struct brief *brief, const struct event *event)
{
	uint64_t hash = brief_hash(event, event->task.tid, 0);
	struct brief_thread *thread =
		idmap_get(&brief->threads_map, hash, struct brief_thread, node);

	if (thread)
		return thread;
	thread = xalloc(sizeof(*thread));
	thread->next = brief->threads;
	brief->threads = thread;
	idmap_add(&brief->threads_map, &thread->node, hash);
	return thread;
}

/* An exit right behind the entry of its function: in so short a time, nothing is lost between. */
static void brief_leave(struct brief *brief, struct brief_thread *thread, const struct event *event,
			uint64_t address)
{
	uint64_t ns = event_ns_between(thread->entry_ns, event->ns);

	if (!thread->function || (address && address != thread->address))
		return;
	if (ns < brief->least_ns)
		brief->least_ns = ns;
	if (ns - brief->least_ns >= BRIEF_NS)
		return;
	thread->function->brief_calls++;
	brief->brief_calls++;
}

static void brief_take(struct brief *brief, const struct event *event)
{
	const struct value *value = value_member(event->fields, "addr");
	uint64_t address = value && value->type->kind == TYPE_INT ? value->u : 0;
	struct brief_thread *thread = brief_thread_of(brief, event);

	if (strstr(event->ec->name, ":func_exit")) {
		brief_leave(brief, thread, event, address);
		thread->function = NULL;
		return;
	}
	if (!strstr(event->ec->name, ":func_entry"))
		return;
	brief->calls++;
	thread->function = brief_function_of(brief, event, address);
	thread->address = address;
	thread->entry_ns = event->ns;
}

static struct json_object *brief_judge(const struct brief *brief, const char *trace)
{
	const struct show_options none = { 0 };
	const struct brief_function *most = brief->functions;
	struct symbols *symbols;
	struct symbol symbol = { 0 };
	struct json_object *o;

	for (const struct brief_function *f = most; f; f = f->next)
		if (f->brief_calls > most->brief_calls)
			most = f;
	if (!most || brief->brief_calls < brief->calls / 3)
		return NULL;
	symbols = symbols_new(&none, trace);
	if (most->object)
		symbols_name(symbols, most->object, most->in_file, &symbol);
	o = json_object_new_object();
	json_set_num(o, "count", brief->calls);
	json_set_num(o, "brief_count", brief->brief_calls);
	json_set_str(o, "function", symbol.function ? symbol.function : "");
	json_set_str(o, "file", symbol.file ? symbol.file : "");
	symbols_free(symbols);
	return o;
}

static void brief_fini(struct brief *brief)
{
	struct brief_function *function;
	struct brief_thread *thread;

	idmap_fini(&brief->functions_map);
	idmap_fini(&brief->threads_map);
	while ((function = brief->functions)) {
		brief->functions = function->next;
		free(function);
	}
	while ((thread = brief->threads)) {
		brief->threads = thread->next;
		free(thread);
	}
	objects_free(brief->objects);
}

struct json_object *brief_find(const char *trace, uint64_t bytes)
{
	const struct view_select select = { .names = CALLS_EVENTS, .limit = BRIEF_EVENTS };
	struct brief brief CLEANUP(brief_fini) = { .least_ns = UINT64_MAX };
	struct json_object *found = NULL;
	struct view *view = NULL;
	struct event event;
	struct err err = { 0 };

	idmap_init(&brief.functions_map);
	idmap_init(&brief.threads_map);
	if (bytes < BRIEF_BYTES && show_objects(trace, false, &brief.objects, &err) == 0 &&
	    view_open(trace, NULL, NULL, &view) == 0) {
		for (uint32_t i = 0; i < BRIEF_EVENTS && event_next(view, &select, &event) > 0; i++)
			brief_take(&brief, &event);
		found = brief_judge(&brief, trace);
	}
	view_free(view);
	return found;
}

void brief_explain(FILE *out, struct json_object *brief)
{
	uint64_t share = 100 * json_num(brief, "brief_count") / json_num(brief, "count");
	const char *file = json_str(brief, "file");
	char name[128];

	demangle_brief(json_str(brief, "function"), name, sizeof(name));
	fprintf(out,
		"%u %% of the calls are of functions that last less than %u ns%s%s: omit them by\n"
		"--min-size=BYTES or --functions='!PATTERN', or compile the program with\n"
		"-finstrument-functions-exclude-file-list=%s\n",
		(unsigned int)share, BRIEF_NS, *name ? ", such as " : "", name,
		strstr(file, "/include/") ? "/usr/include" : "/usr/include and files of your own");
}
