/* SPDX-License-Identifier: GPL-2.0-only */
#include "overview.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "read/event.h"

#define PACKETS_KNOWN 64u /* whose CPU is not searched again */
#define RECENT 64u	  /* threads that are found at once; a power of two */
#define CLASSES_BITS 9u	  /* of a number of classes that are found at once */
#define KNOWN_BITS 10u	  /* of a number of threads that are found by the bytes of their events */
#define OVERVIEW_MIX 0x9e3779b97f4a7c15u

/** Meaning of an event class, by its name. */
struct overview_class {
	struct idmap_node node;
	struct overview_class *next;
	const struct ctf_event_class *ec;
	uint64_t events;
	bool is_state_dump, is_name, is_counted_only;
	enum locks_action lock;
	struct waits_action wait;
	enum wakes_action wake;
	enum allocations_action allocation;
};

/** A packet whose CPU is counted. */
struct overview_packet {
	const struct packet *packet;
	uint64_t offset;
};

/** By parts of their address and number. */
struct overview_recent {
	struct overview_class *classes[1u << CLASSES_BITS];
	struct overview_thread *threads[RECENT];
	struct overview_thread *known[1u << KNOWN_BITS];
};

struct overview *overview_new(struct objects *objects, const struct view_host *host,
			      const char *threads, uint32_t most_waits)
{
	struct overview *overview = xalloc(sizeof(*overview));

	overview->chosen_threads = threads;
	idmap_init(&overview->processes_map);
	idmap_init(&overview->threads_map);
	idmap_init(&overview->classes_map);
	overview->recent = xalloc(sizeof(*overview->recent));
	overview->packets = xalloc(PACKETS_KNOWN * sizeof(*overview->packets));
	overview->callsites = callsites_new(objects, host);
	overview->locks = locks_new(overview->callsites, most_waits);
	overview->waits = waits_new(overview->callsites);
	overview->allocations = allocations_new(overview->callsites);
	return overview;
}

void overview_free(struct overview *overview)
{
	struct overview_process *process;
	struct overview_thread *thread;
	struct overview_class *class;

	if (!overview)
		return;
	idmap_fini(&overview->processes_map);
	idmap_fini(&overview->threads_map);
	idmap_fini(&overview->classes_map);
	locks_free(overview->locks);
	waits_free(overview->waits);
	wakes_free(overview->wakes);
	allocations_free(overview->allocations);
	callsites_free(overview->callsites);
	while ((thread = overview->threads)) {
		overview->threads = thread->next;
		free(thread->waits_for);
		free(thread->name);
		free(thread);
	}
	while ((process = overview->processes)) {
		overview->processes = process->next;
		free(process->name);
		free(process);
	}
	while ((class = overview->classes)) {
		overview->classes = class->next;
		free(class);
	}
	task_names_fini(&overview->names);
	free(overview->recent);
	free(overview->packets);
	free(overview);
}

/* --- classes and packets --------------------------------------------------------------- */

static bool overview_is_name(const char *name)
{
	return strstr(name, ":procname") && glob_match_list(VIEW_STATEDUMP, name);
}

static bool overview_has_address(const char *name)
{
	return locks_action_of(name) != LOCKS_NONE || waits_action_of(name).side != WAITS_NONE ||
	       allocations_action_of(name) != ALLOCATIONS_NONE;
}

bool overview_needs_fields(const char *name)
{
	return overview_is_name(name) || overview_has_address(name);
}

static void overview_note_address(void *priv, const struct ctf_event_class *ec)
{
	bool *any = priv;

	*any = *any || overview_has_address(ec->name);
}

bool overview_needs_objects(const struct view *view)
{
	bool any = false;

	view_each_class(view, overview_note_address, &any);
	return any;
}

static struct overview_class *overview_new_class(struct overview *overview,
						 const struct ctf_event_class *ec)
{
	struct overview_class *class = xalloc(sizeof(*class));

	class->ec = ec;
	class->is_state_dump = glob_match_list(VIEW_STATEDUMP, ec->name);
	class->is_name = overview_is_name(ec->name);
	class->lock = locks_action_of(ec->name);
	class->wait = waits_action_of(ec->name);
	class->wake = wakes_action_of(ec->name);
	class->allocation = allocations_action_of(ec->name);
	class->is_counted_only = !class->is_state_dump && !overview_has_address(ec->name) &&
				 (class->wake == WAKES_NONE || !overview->wakes);
	class->next = overview->classes;
	overview->classes = class;
	idmap_add(&overview->classes_map, &class->node, (uintptr_t)ec);
	return class;
}

static inline struct overview_class *overview_class_of(struct overview *overview,
						       const struct ctf_event_class *ec)
{
	struct overview_class **recent =
		&overview->recent->classes[(uintptr_t)ec * OVERVIEW_MIX >> (64 - CLASSES_BITS)];

	if (*recent && (*recent)->ec == ec)
		return *recent;
	*recent = idmap_get(&overview->classes_map, (uintptr_t)ec, struct overview_class, node);
	if (!*recent)
		*recent = overview_new_class(overview, ec);
	return *recent;
}

static void overview_count_packet(struct overview *overview, const struct packet *packet)
{
	for (uint32_t i = 0; i < packet->context.nr; i++) {
		const struct value *value = &packet->context.at[i];
		uint64_t bit;

		if (!value->field || strcmp(value->field->shown, "cpu_id") != 0 ||
		    value->type->kind != TYPE_INT || value->u >= OVERVIEW_CPUS_MOST)
			continue;
		bit = UINT64_C(1) << value->u % 64;
		overview->nr_cpus += !(overview->cpus[value->u / 64] & bit);
		overview->cpus[value->u / 64] |= bit;
	}
}

static inline void overview_count_cpu(struct overview *overview, const struct packet *packet)
{
	struct overview_packet *known =
		&overview->packets[((uintptr_t)packet >> 6) % PACKETS_KNOWN];

	if (known->packet == packet && known->offset == packet->offset)
		return;
	*known = (struct overview_packet){ packet, packet->offset };
	overview_count_packet(overview, packet);
}

/* --- processes and threads ------------------------------------------------------------- */

static uint64_t overview_hash(const void *pointer, uint64_t number)
{
	return ((uintptr_t)pointer ^ number * OVERVIEW_MIX) * 0xff51afd7ed558ccdu;
}

static void overview_set_name(char **name, const struct value *value)
{
	size_t len = value ? value_text_length(value) : 0;

	if (!len || (*name && strlen(*name) == len && memcmp(*name, value->bytes, len) == 0))
		return;
	free(*name);
	*name = xasprintf("%.*s", (int)MIN(len, (size_t)256), (const char *)value->bytes);
}

/* Of a trace of one process, the number is in its environment. */
static bool overview_pid_of(const struct event *event, uint64_t *ret)
{
	const struct ctf_env *env;

	if (event->task.pid) {
		*ret = event->task.pid->u;
		return true;
	}
	env = trace_class_env_find(event->source->tc, "vpid");
	*ret = env && !env->text ? (uint64_t)env->number : 0;
	return env && !env->text;
}

static struct overview_process *overview_new_process(struct overview *overview,
						     const struct event *event, uint64_t pid,
						     bool has_pid)
{
	const char *name = trace_class_env(event->source->tc, "procname");
	struct overview_process *process = xalloc(sizeof(*process));

	process->source = event->source;
	process->pid = pid;
	process->has_pid = has_pid;
	process->name = xstrdup(name ? name : "");
	process->next = overview->processes;
	overview->processes = process;
	overview->nr_processes++;
	idmap_add(&overview->processes_map, &process->node, overview_hash(event->source, pid));
	return process;
}

/* Of an event without a thread: of thread 0. */
static struct overview_thread **overview_recent_thread(struct overview *overview,
						       const struct event *event)
{
	uint64_t tid = event->task.tid ? event->task.tid->u : 0;

	return &overview->recent->threads[tid % RECENT];
}

/* Return: NULL: there is none, or too many. */
static struct overview_process *overview_process_of(struct overview *overview,
						    const struct event *event)
{
	uint64_t pid;
	bool has_pid = overview_pid_of(event, &pid);
	struct overview_thread *recent = *overview_recent_thread(overview, event);
	struct idmap_node *node;

	if (recent && recent->process->source == event->source && recent->process->pid == pid &&
	    recent->process->has_pid == has_pid)
		return recent->process;
	node = idmap_find(&overview->processes_map, overview_hash(event->source, pid));
	for (; node; node = idmap_next(&overview->processes_map, node)) {
		struct overview_process *process =
			container_of(node, struct overview_process, node);

		if (process->source == event->source && process->pid == pid &&
		    process->has_pid == has_pid)
			return process;
	}
	if ((!has_pid && !event->task.tid) || overview->nr_processes == OVERVIEW_TASKS_MOST)
		return NULL;
	return overview_new_process(overview, event, pid, has_pid);
}

static struct overview_thread *overview_new_thread(struct overview *overview,
						   struct overview_process *process, uint64_t tid)
{
	struct overview_thread *thread = xalloc(sizeof(*thread));

	thread->process = process;
	thread->tid = tid;
	thread->name = xstrdup("");
	thread->next = overview->threads;
	overview->threads = thread;
	overview->nr_threads++;
	idmap_add(&overview->threads_map, &thread->node, overview_hash(process, tid));
	return thread;
}

static struct overview_thread *overview_find_thread(struct overview *overview,
						    struct overview_process *process,
						    const struct event *event)
{
	uint64_t tid = event->task.tid->u;
	struct idmap_node *node = idmap_find(&overview->threads_map, overview_hash(process, tid));

	for (; node; node = idmap_next(&overview->threads_map, node)) {
		struct overview_thread *thread = container_of(node, struct overview_thread, node);

		if (thread->process == process && thread->tid == tid)
			return thread;
	}
	if (overview->nr_threads == OVERVIEW_TASKS_MOST)
		return NULL;
	return overview_new_thread(overview, process, tid);
}

static struct overview_thread *overview_thread_of(struct overview *overview,
						  struct overview_process *process,
						  const struct event *event)
{
	struct overview_thread **recent = overview_recent_thread(overview, event);
	struct overview_thread *thread = *recent;

	if (thread && thread->process == process && thread->tid == event->task.tid->u)
		return thread;
	thread = overview_find_thread(overview, process, event);
	if (thread)
		*recent = thread;
	return thread;
}

/* The name in the state dump, or of the main thread, stays. */
static void overview_name(struct overview_process *process, struct overview_thread *thread,
			  const struct event *event)
{
	const struct value *name = event->task.procname;
	bool is_main = process->has_pid && thread->tid == process->pid;

	if (name && name->count == thread->nr_latest && (!is_main || process->namer == thread) &&
	    memcmp(name->bytes, thread->latest, thread->nr_latest) == 0)
		return;
	overview_set_name(&thread->name, name);
	if (is_main || (!*process->name && !process->has_own_name)) {
		overview_set_name(&process->name, name);
		process->namer = thread;
	}
	process->has_own_name |= is_main && name;
	thread->nr_latest = name && name->count <= OVERVIEW_LATEST ? name->count : 0;
	if (thread->nr_latest)
		memcpy(thread->latest, name->bytes, thread->nr_latest);
}

static void overview_take_name(struct overview_process *process, const struct event *event)
{
	const struct value *name = event->fields ? event->fields + 1 : NULL;

	if (name && event->fields->count == 1 && value_has_text(name)) {
		overview_set_name(&process->name, name);
		process->has_own_name = true;
		process->namer = NULL;
	}
}

/* --- tasks by their bytes ---------------------------------------------------------------- */

/* Numbers are at the beginning or at the end. */
static struct overview_thread **overview_known_by(struct overview *overview, const uint8_t *task,
						  size_t len)
{
	uint64_t first, last;

	memcpy(&first, task, sizeof(first));
	memcpy(&last, task + len - sizeof(last), sizeof(last));
	first = (first ^ last << 1) * OVERVIEW_MIX;
	return &overview->recent->known[first >> (64 - KNOWN_BITS)];
}

/* The thread whose latest event has these bytes, if that event changed nothing that a further one
 * changes again. */
static struct overview_thread *overview_same_thread(struct overview *overview,
						    const struct event *event, const uint8_t *task,
						    size_t len)
{
	struct overview_thread *thread = *overview_known_by(overview, task, len);

	if (!thread || thread->nr_task != len || thread->layout != event->ec->task_layout ||
	    thread->process->source != event->source || memcmp(thread->task, task, len) != 0)
		return NULL;
	return thread->tid != thread->process->pid || thread->process->namer == thread ? thread :
											 NULL;
}

static void overview_know(struct overview *overview, struct overview_thread *thread,
			  const struct event *event, uint32_t len)
{
	thread->nr_task = len;
	if (!len)
		return;
	memcpy(thread->task, overview->task, len);
	thread->layout = event->ec->task_layout;
	*overview_known_by(overview, thread->task, len) = thread;
}

/* --- events ------------------------------------------------------------------------------ */

static void overview_count(struct overview *overview, const struct event *event,
			   const struct overview_thread *thread)
{
	struct overview_end here = { event->ec, thread };

	if (!overview->events++) {
		overview->first_ns = event->ns;
	} else if (event_ns_between(overview->last_ns, event->ns) > overview->gap_ns) {
		overview->gap_ns = event_ns_between(overview->last_ns, event->ns);
		overview->gap_from_ns = overview->last_ns;
		overview->gap_before = overview->last;
		overview->gap_behind = here;
	}
	overview->last_ns = event->ns;
	overview->last = here;
}

/* The thread of most events is that of a recent one. Return: NULL: it is not. */
static struct overview_thread *overview_known_thread(struct overview *overview,
						     const struct event *event)
{
	struct overview_thread *thread = *overview_recent_thread(overview, event);
	const struct overview_process *process = thread ? thread->process : NULL;

	return process && event->task.tid && event->task.pid && event->task.tid->u == thread->tid &&
			       event->task.pid->u == process->pid && process->has_pid &&
			       process->source == event->source ?
		       thread :
		       NULL;
}

/* @thread: NULL: it is searched. */
static struct overview_thread *overview_count_task(struct overview *overview,
						   struct overview_process *process,
						   struct overview_thread *thread,
						   const struct event *event, bool chosen)
{
	if (process)
		process->events += chosen;
	if (!thread && process && event->task.tid)
		thread = overview_thread_of(overview, process, event);
	if (thread) {
		thread->chosen = chosen;
		process->nr_threads += chosen && !thread->events;
		thread->events += chosen;
		overview_name(process, thread, event);
	} else if (event->task.tid) {
		overview->left_out++;
	} else {
		overview->no_thread++;
	}
	return thread;
}

static bool overview_chooses(struct overview *overview, const struct event *event)
{
	return !overview->chosen_threads ||
	       task_is_selected(&overview->names, event, NULL, overview->chosen_threads);
}

bool overview_take_known(struct overview *overview, const struct event *event, const uint8_t *task,
			 size_t len)
{
	struct overview_class *class = overview_class_of(overview, event->ec);
	struct overview_thread *thread;

	if (!task || len < sizeof(uint64_t) || len > OVERVIEW_TASK_BYTES)
		return false;
	thread = class->is_counted_only && !overview->chosen_threads ?
			 overview_same_thread(overview, event, task, len) :
			 NULL;
	if (!thread) {
		memcpy(overview->task, task, len);
		overview->nr_task = (uint32_t)len;
		return false;
	}
	overview_count_cpu(overview, event->packet);
	thread->process->events++;
	thread->process->nr_threads += !thread->events++;
	class->events++;
	overview_count(overview, event, thread);
	locks_pass(thread);
	thread->last_ns = event->ns;
	return true;
}

void overview_take(struct overview *overview, const struct event *event)
{
	struct overview_class *class = overview_class_of(overview, event->ec);
	struct overview_thread *thread = overview_known_thread(overview, event);
	struct overview_process *process =
		thread ? thread->process : overview_process_of(overview, event);
	bool chosen = overview_chooses(overview, event);
	uint32_t nr_task = overview->nr_task;

	overview->nr_task = 0;
	overview_count_cpu(overview, event->packet);
	if (class->is_state_dump) {
		overview->state_dump += chosen;
		if (class->is_name && process)
			overview_take_name(process, event);
		return;
	}
	thread = overview_count_task(overview, process, thread, event, chosen);
	class->events += chosen;
	if (chosen)
		overview_count(overview, event, thread);
	if (thread)
		overview_know(overview, thread, event, nr_task);
	if (class->lock != LOCKS_NONE && thread)
		locks_take(overview->locks, thread, class->lock, event);
	else if (thread)
		locks_pass(thread);
	if (class->wait.side != WAITS_NONE && thread)
		waits_take(overview->waits, thread, class->wait, event);
	if (class->wake != WAKES_NONE && thread && overview->wakes)
		wakes_take(overview->wakes, thread, class->wake, event, thread->last_ns);
	if (thread)
		thread->last_ns = event->ns;
	if (class->allocation != ALLOCATIONS_NONE && process)
		allocations_take(overview->allocations, process, class->allocation, event, chosen);
}

void overview_finish(struct overview *overview)
{
	locks_end(overview->locks, overview->last_ns);
	for (struct overview_thread *thread = overview->threads; thread; thread = thread->next)
		waits_end(overview->waits, thread, overview->last_ns);
	allocations_end(overview->allocations, overview->last_ns);
}

/* --- results ----------------------------------------------------------------------------- */

static int overview_compare(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int overview_compare_processes(const void *a, const void *b)
{
	const struct overview_process *x = *(const struct overview_process *const *)a;
	const struct overview_process *y = *(const struct overview_process *const *)b;
	int order = overview_compare(x->events, y->events);

	return order ? order : -overview_compare(x->pid, y->pid);
}

static int overview_compare_by_text(const void *a, const void *b)
{
	return strcmp(((const struct overview_name *)a)->name,
		      ((const struct overview_name *)b)->name);
}

static int overview_compare_names(const void *a, const void *b)
{
	const struct overview_name *x = a, *y = b;
	int order = overview_compare(x->events, y->events);

	return order ? order : strcmp(x->name, y->name);
}

/* Traces of several processes, and the classes of one event in the course of time, have the same
 * names. */
struct overview_name *overview_names(const struct overview *overview, size_t *ret_nr)
{
	struct overview_name *all;
	size_t nr = 0, out = 0;

	for (const struct overview_class *class = overview->classes; class; class = class->next)
		nr += class->events > 0;
	all = xalloc((nr + 1) * sizeof(*all));
	nr = 0;
	for (const struct overview_class *class = overview->classes; class; class = class->next)
		if (class->events)
			all[nr++] = (struct overview_name){ class->ec->name, class->events };
	qsort(all, nr, sizeof(*all), overview_compare_by_text);
	for (size_t i = 0; i < nr; i++) {
		if (out && strcmp(all[out - 1].name, all[i].name) == 0)
			all[out - 1].events += all[i].events;
		else
			all[out++] = all[i];
	}
	qsort(all, out, sizeof(*all), overview_compare_names);
	*ret_nr = out;
	return all;
}

const struct overview_process **overview_busiest_processes(const struct overview *overview,
							   size_t *ret_nr)
{
	const struct overview_process **all = xalloc((overview->nr_processes + 1) * sizeof(*all));
	size_t nr = 0;

	for (const struct overview_process *p = overview->processes; p; p = p->next)
		if (p->events)
			all[nr++] = p;
	qsort(all, nr, sizeof(*all), overview_compare_processes);
	*ret_nr = nr;
	return all;
}

static int overview_compare_threads(const void *a, const void *b)
{
	const struct overview_thread *x = *(const struct overview_thread *const *)a;
	const struct overview_thread *y = *(const struct overview_thread *const *)b;
	int order = overview_compare(x->events, y->events);

	return order ? order : -overview_compare(x->tid, y->tid);
}

const struct overview_thread **overview_busiest_threads(const struct overview *overview,
							size_t *ret_nr)
{
	const struct overview_thread **all = xalloc((overview->nr_threads + 1) * sizeof(*all));
	size_t nr = 0;

	for (const struct overview_thread *t = overview->threads; t; t = t->next)
		if (t->events)
			all[nr++] = t;
	qsort(all, nr, sizeof(*all), overview_compare_threads);
	*ret_nr = nr;
	return all;
}
