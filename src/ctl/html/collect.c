/* SPDX-License-Identifier: GPL-2.0-only */
#include "collect.h"

#include <string.h>

#include "analyse/overview.h"
#include "analyse/sched.h"
#include "base/mem.h"
#include "base/str.h"
#include "ctl/export/counters.h"
#include "read/event.h"
#include "series.h"

#define CELLS (1u << 20) /* of the table; at most half of them are used */
#define FRESH (1u << 10) /* of those of the present bucket */
#define BUCKETS_MOST (1u << 16)
#define BUCKETS_LEAST 64u
#define KEPT_MOST (1u << 16)
#define KEPT_OF_SPAN 64u
#define KNOWN 256u
#define KEPT_SEARCH 4096u

struct collect_class {
	struct idmap_node node, by_name;
	struct collect_class *next;
	const struct ctf_event_class *ec;
	uint16_t class;
	bool is_sched, is_call;
};

/** Rows of threads that are not searched again. */
struct collect_known {
	const struct overview_thread *thread;
	uint16_t row;
};

/** Groups of names that are not searched again. */
struct collect_group {
	const char *name;
	struct latency_group *group;
};

/** A thread runs on a CPU from this time on. */
struct collect_running {
	int64_t from_ns;
	bool known;
};

static void collect_state(void *priv, const struct states_row *state);

struct collect *collect_new(struct series_set *series)
{
	struct collect *collect = xalloc(sizeof(*collect));

	idmap_init(&collect->rows_map);
	idmap_init(&collect->numbers_map);
	idmap_init(&collect->classes_map);
	idmap_init(&collect->names_map);
	collect->rows = xalloc(COLLECT_ROWS_MOST * sizeof(*collect->rows));
	collect->events = xalloc(COLLECT_EVENTS_MOST * sizeof(*collect->events));
	collect->spans = xalloc(COLLECT_SPANS_MOST * sizeof(*collect->spans));
	collect->running = xalloc(COLLECT_ROWS_MOST * sizeof(*collect->running));
	collect->known = xalloc(KNOWN * sizeof(*collect->known));
	collect->groups = xalloc(KNOWN * sizeof(*collect->groups));
	collect->recent = xalloc(KNOWN * sizeof(*collect->recent));
	collect->calls[collect->nr_calls++] = "";
	collect->latency = latency_new(COLLECT_SLOWEST);
	collect->series = series;
	collect->has_lines = counters_count(series->counters) > 0;
	collect->states = states_new(collect_state, collect);
	return collect;
}

void collect_free(struct collect *collect)
{
	struct collect_class *class;

	if (!collect)
		return;
	idmap_fini(&collect->rows_map);
	idmap_fini(&collect->numbers_map);
	idmap_fini(&collect->classes_map);
	idmap_fini(&collect->names_map);
	while ((class = collect->all_classes)) {
		collect->all_classes = class->next;
		free(class);
	}
	latency_free(collect->latency);
	series_free(collect->series);
	states_free(collect->states);
	free(collect->rows);
	free(collect->events);
	free(collect->spans);
	free(collect->running);
	free(collect->known);
	free(collect->recent);
	free(collect->groups);
	free(collect->lossy_until);
	free(collect->cells);
	free(collect->fresh);
	free(collect->kept);
	free(collect);
}

/* --- rows and classes ----------------------------------------------------------------------- */

static struct collect_row *collect_row_at(struct collect *collect, const void *key, uint64_t number)
{
	struct idmap_node *node = idmap_find(&collect->rows_map, (uintptr_t)key ^ number);

	for (; node; node = idmap_next(&collect->rows_map, node)) {
		struct collect_row *row = container_of(node, struct collect_row, node);

		if (row->key == key && row->number == number)
			return row;
	}
	return NULL;
}

/* Beyond the limit: @instead. */
static uint16_t collect_row_of(struct collect *collect, enum collect_kind kind, const void *key,
			       uint64_t number, uint16_t parent, uint16_t instead)
{
	struct collect_row *row = collect_row_at(collect, key, number);

	if (row)
		return (uint16_t)(row - collect->rows);
	if (collect->nr_rows == COLLECT_ROWS_MOST) {
		collect->rows[instead].more = true;
		return instead;
	}
	row = &collect->rows[collect->nr_rows++];
	row->key = key;
	row->kind = kind;
	row->number = number;
	idmap_add(&collect->rows_map, &row->node, (uintptr_t)key ^ number);
	if (kind == COLLECT_THREAD)
		idmap_add(&collect->numbers_map, &row->by_number, number);
	row->parent = parent;
	return (uint16_t)(row - collect->rows);
}

static bool collect_has_cpu(const struct packet *packet)
{
	for (uint32_t i = 0; i < packet->context.nr; i++)
		if (packet->context.at[i].field &&
		    strcmp(packet->context.at[i].field->shown, "cpu_id") == 0)
			return true;
	return false;
}

static bool collect_same_host(const struct source *a, const struct source *b)
{
	const char *x = trace_class_env(a->tc, "hostname"), *y = trace_class_env(b->tc, "hostname");

	return x && y ? strcmp(x, y) == 0 : x == y;
}

/* CPUs of traces of one host have a row in common. */
static uint16_t collect_cpu_of(struct collect *collect, const struct event *event)
{
	const struct packet *packet = event->packet;
	uint16_t at = COLLECT_ROWS_MOST;

	if (collect->cpu_packet == packet && collect->cpu_offset == packet->offset)
		return collect->cpu_row;
	collect->cpu_packet = packet;
	collect->cpu_offset = packet->offset;
	if (!collect_has_cpu(packet))
		return collect->cpu_row = at;
	for (uint32_t i = 0; i < collect->nr_rows && at == COLLECT_ROWS_MOST; i++) {
		const struct collect_row *row = &collect->rows[i];

		if (row->kind == COLLECT_CPU && row->number == packet->cpu &&
		    collect_same_host(event->source, row->key))
			at = (uint16_t)i;
	}
	if (at == COLLECT_ROWS_MOST)
		at = collect_row_of(collect, COLLECT_CPU, event->source, packet->cpu, 0, 0);
	return collect->cpu_row = at;
}

/* Events without a thread are those of the CPU. */
static uint16_t collect_task_of(struct collect *collect, const struct overview_thread *thread,
				uint16_t cpu)
{
	struct collect_known *known = &collect->known[((uintptr_t)thread >> 6) % KNOWN];
	uint16_t process;

	if (thread && known->thread == thread)
		return known->row;
	if (!thread && cpu < COLLECT_ROWS_MOST)
		return cpu;
	if (!thread)
		return collect_row_of(collect, COLLECT_PROCESS, collect, 0, 0, 0);
	process = collect_row_of(collect, COLLECT_PROCESS, thread->process, thread->process->pid, 0,
				 0);
	known->thread = thread;
	return known->row = collect_row_of(collect, COLLECT_THREAD, thread, thread->tid, process,
					   process);
}

static uint16_t collect_class_named(struct collect *collect, struct collect_class *new,
				    const char *name)
{
	uint64_t hash = idmap_hash_text(name);
	struct idmap_node *node = idmap_find(&collect->names_map, hash);

	for (; node; node = idmap_next(&collect->names_map, node)) {
		const struct collect_class *class =
			container_of(node, struct collect_class, by_name);

		if (strcmp(collect->classes[class->class], name) == 0)
			return class->class;
	}
	if (collect->nr_classes == COLLECT_CLASSES_MOST)
		return COLLECT_CLASSES_MOST - 1;
	collect->classes[collect->nr_classes] = name;
	idmap_add(&collect->names_map, &new->by_name, hash);
	new->class = (uint16_t)collect->nr_classes;
	if (++collect->nr_classes == COLLECT_CLASSES_MOST)
		collect->classes[COLLECT_CLASSES_MOST - 1] = "(other events)";
	return new->class;
}

static struct collect_class *collect_new_class(struct collect *collect,
					       const struct ctf_event_class *ec)
{
	struct collect_class *class = xalloc(sizeof(*class));

	class->ec = ec;
	class->next = collect->all_classes;
	collect->all_classes = class;
	idmap_add(&collect->classes_map, &class->node, (uintptr_t)ec);
	class->class = collect_class_named(collect, class, ec->name);
	class->is_sched = glob_match_list(SCHED_EVENTS, ec->name);
	class->is_call = glob_match_list(SCHED_CALLS, ec->name);
	return class;
}

/* Classes of the same name, of several traces, are one. */
static struct collect_class *collect_class_of(struct collect *collect,
					      const struct ctf_event_class *ec)
{
	struct collect_class **recent = &collect->recent[((uintptr_t)ec >> 6) % KNOWN];

	if (*recent && (*recent)->ec == ec)
		return *recent;
	*recent = idmap_get(&collect->classes_map, (uintptr_t)ec, struct collect_class, node);
	if (!*recent)
		*recent = collect_new_class(collect, ec);
	return *recent;
}

/* --- events in buckets ------------------------------------------------------------------------ */

static uint64_t collect_mix(uint64_t key)
{
	key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
	return key ^ key >> 29;
}

static void collect_add_cell(struct collect *collect, uint64_t key, uint64_t count)
{
	uint32_t at = collect_mix(key) % CELLS;

	while (collect->cells[at].count && collect->cells[at].key != key)
		at = (at + 1) % CELLS;
	collect->nr_cells += !collect->cells[at].count;
	collect->cells[at].key = key;
	collect->cells[at].count += count;
}

/* The cells of the present bucket are counted apart, in little memory: each look into the table
 * would wait for other memory. */
static void collect_add_fresh(struct collect *collect, uint64_t key)
{
	struct collect_cell *cell = &collect->fresh[collect_mix(key >> 32) % FRESH];

	if (cell->key != key) {
		if (cell->count)
			collect_add_cell(collect, cell->key, cell->count);
		*cell = (struct collect_cell){ .key = key };
	}
	cell->count++;
}

static void collect_add_all_fresh(struct collect *collect)
{
	for (uint32_t i = 0; i < FRESH; i++)
		if (collect->fresh[i].count)
			collect_add_cell(collect, collect->fresh[i].key, collect->fresh[i].count);
	memset(collect->fresh, 0, FRESH * sizeof(*collect->fresh));
}

static uint64_t collect_bucket(const struct collect *collect, int64_t ns)
{
	return event_ns_between(collect->first_ns, ns) >> collect->bucket_bits;
}

bool collect_coarsen(struct collect *collect)
{
	struct collect_cell *old = collect->cells;

	if (collect_bucket(collect, collect->last_ns) < BUCKETS_LEAST)
		return false;
	collect_add_all_fresh(collect);
	collect->bucket_bits++;
	collect->cells = xalloc(CELLS * sizeof(*collect->cells));
	collect->nr_cells = 0;
	for (uint32_t i = 0; i < CELLS; i++) {
		uint64_t high = old[i].key & ~(uint64_t)UINT32_MAX;

		if (old[i].count)
			collect_add_cell(collect, high | (uint32_t)old[i].key >> 1, old[i].count);
	}
	free(old);
	return true;
}

/* Classes are forgotten where those of the rows are too many for the table. */
static void collect_count(struct collect *collect, const struct collect_event *event)
{
	uint16_t class = event->class;

	while ((collect_bucket(collect, event->ns) >= BUCKETS_MOST ||
		collect->nr_cells >= CELLS / 2) &&
	       collect_coarsen(collect))
		;
	if (collect->nr_cells >= CELLS / 2)
		class = COLLECT_CLASSES_MOST - 1;
	collect_add_fresh(collect,
			  COLLECT_CELL(collect_bucket(collect, event->ns), event->row, class));
}

/* The events of one of the slowest spans: the latest ones of its row before event @end. */
static void collect_keep(struct collect *collect, uint16_t row, int64_t from_ns, uint64_t end)
{
	uint32_t kept = 0;

	for (uint64_t i = 1; i <= KEPT_SEARCH && i <= end; i++) {
		const struct collect_event *event =
			&collect->events[(end - i) % COLLECT_EVENTS_MOST];

		if (event->ns < from_ns || kept == KEPT_OF_SPAN || collect->nr_kept == KEPT_MOST)
			return;
		if (event->row == row) {
			collect->kept[collect->nr_kept++] = *event;
			kept++;
		}
	}
}

static void collect_keep_slowest(struct collect *collect, uint64_t nr)
{
	for (uint32_t i = 0; i < collect->latency->nr_slowest; i++) {
		const struct span *span = &collect->latency->slowest[i].span;
		uint64_t low = 0, high = nr;

		while (low < high) {
			uint64_t middle = (low + high) / 2;

			if (event_ns_between(span->from_ns, collect->events[middle].ns) > span->ns)
				high = middle;
			else
				low = middle + 1;
		}
		collect_keep(collect, (uint16_t)span->mark, span->from_ns, low);
	}
}

void collect_fold(struct collect *collect)
{
	uint64_t nr = MIN(collect->nr_events, COLLECT_EVENTS_MOST);

	if (collect->cells)
		return;
	collect->cells = xalloc(CELLS * sizeof(*collect->cells));
	collect->fresh = xalloc(FRESH * sizeof(*collect->fresh));
	collect->kept = xalloc(KEPT_MOST * sizeof(*collect->kept));
	while (collect_bucket(collect, collect->last_ns) >= BUCKETS_MOST / 2)
		collect->bucket_bits++;
	for (uint64_t i = 0; i < nr; i++)
		collect_count(collect, &collect->events[i]);
	collect_keep_slowest(collect, nr);
}

static void collect_add_event(struct collect *collect, const struct collect_event *event)
{
	if (!collect->nr_events)
		collect->first_ns = event->ns;
	collect->last_ns = event->ns;
	if (collect->nr_events == COLLECT_EVENTS_MOST)
		collect_fold(collect);
	if (collect->cells)
		collect_count(collect, event);
	collect->events[collect->next_event] = *event;
	collect->next_event =
		collect->next_event + 1 < COLLECT_EVENTS_MOST ? collect->next_event + 1 : 0;
	collect->nr_events++;
	collect->rows[event->row].events++;
}

/* --- sorting -------------------------------------------------------------------------------- */

#define DIGITS 8u /* bytes of a key */
#define SIGN (UINT64_C(1) << 63)
#define DOWNWARDS UINT64_MAX

/* The place behind the items of lower digits, for each value of one digit. */
static bool collect_places(const uint32_t counts[256], uint32_t nr, uint32_t places[256])
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < 256; i++) {
		if (counts[i] == nr)
			return false;
		places[i] = at;
		at += counts[i];
	}
	return true;
}

/* Sort items of @size bytes by a key of 8 bytes at @at, by its digits, the lowest first. Of equal
 * keys the order stays. Several times as fast as qsort(). @turned: bits of the key, SIGN or
 * DOWNWARDS. */
static inline __attribute__((always_inline)) void
collect_sort_by_key(void *items, uint32_t nr, size_t size, size_t at, uint64_t turned)
{
	uint32_t(*counts)[256] = xalloc(DIGITS * sizeof(*counts));
	uint8_t *from = items, *spare = xalloc(nr * size + 1), *to = spare;
	uint32_t places[256];
	uint64_t key;

	for (uint32_t i = 0; i < nr; i++) {
		memcpy(&key, from + i * size + at, sizeof(key));
		key ^= turned;
		for (uint32_t digit = 0; digit < DIGITS; digit++)
			counts[digit][key >> 8 * digit & 255]++;
	}
	for (uint32_t digit = 0; digit < DIGITS && nr; digit++) {
		if (!collect_places(counts[digit], nr, places))
			continue;
		for (uint32_t i = 0; i < nr; i++) {
			memcpy(&key, from + i * size + at, sizeof(key));
			key ^= turned;
			memcpy(to + places[key >> 8 * digit & 255]++ * size, from + i * size, size);
		}
		to = from;
		from = from == spare ? items : spare;
	}
	if (from == spare)
		memcpy(items, spare, nr * size);
	free(spare);
	free(counts);
}

/* --- spans ------------------------------------------------------------------------------------ */

static int collect_compare_longer(const void *a, const void *b)
{
	const struct collect_span *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

void collect_drop_spans(struct collect *collect)
{
	collect_sort_by_key(collect->spans, collect->nr_spans, sizeof(*collect->spans),
			    offsetof(struct collect_span, ns), DOWNWARDS);
	collect->left_out_spans += collect->nr_spans - collect->nr_spans / 2;
	collect->nr_spans /= 2;
	collect->least_span_ns = collect->spans[collect->nr_spans].ns;
}

static void collect_add_span(struct collect *collect, const struct collect_span *span)
{
	if (collect->nr_spans == COLLECT_SPANS_MOST)
		collect_drop_spans(collect);
	if (span->ns < collect->least_span_ns) {
		collect->left_out_spans++;
		return;
	}
	collect->spans[collect->nr_spans++] = *span;
}

/* Names of pairs stay where they are. */
static struct latency_group *collect_group_of(struct collect *collect, const struct span *span)
{
	struct collect_group *recent = &collect->groups[((uintptr_t)span->name >> 4) % KNOWN];
	char label[SPAN_LABEL_BYTES];

	if (recent->group && recent->name == span->name)
		return recent->group;
	span_label(label, span, SPAN_BY_NAME);
	*recent = (struct collect_group){ span->name, latency_group_of(collect->latency, label) };
	return recent->group;
}

static void collect_pair(struct collect *collect, const struct event *event, uint16_t row)
{
	struct latency *latency = collect->latency;
	struct latency_group *group;
	struct span span;
	bool is_slow;

	if (!event->took)
		return;
	span_of_pair(&span, event);
	span.mark = row;
	group = collect_group_of(collect, &span);
	is_slow = latency->nr_slowest < latency->most_slowest ||
		  span.ns > latency->slowest[latency->nr_slowest - 1].span.ns;
	latency_take(latency, group, &span);
	if (!group) {
		collect->left_out_spans++;
		return;
	}
	collect_add_span(collect,
			 &(struct collect_span){ span.from_ns, span.ns, row,
						 MIN(group->number, COLLECT_NAMES_MOST - 1),
						 COLLECT_PAIR, span.lossy, span.failed });
	if (is_slow && collect->cells)
		collect_keep(collect, row, span.from_ns, collect->nr_events);
}

static uint16_t collect_call_of(struct collect *collect, const char *call)
{
	uint32_t i = 1;

	while (call && i < collect->nr_calls && strcmp(collect->calls[i], call) != 0)
		i++;
	if (!call || i == COLLECT_CALLS_MOST)
		return 0;
	if (i == collect->nr_calls)
		collect->calls[collect->nr_calls++] = call;
	return (uint16_t)i;
}

/* The scheduler's events are of a trace of the kernel; the thread's are of any of its host. */
static struct collect_row *collect_thread_row(const struct collect *collect,
					      const struct span *span)
{
	struct idmap_node *node = idmap_find(&collect->numbers_map, span->tid);
	struct collect_row *found = NULL;

	for (; node; node = idmap_next(&collect->numbers_map, node)) {
		struct collect_row *row = container_of(node, struct collect_row, by_number);
		const struct overview_thread *thread = row->key;

		if (row->number != span->tid)
			continue;
		if (thread->process->source == span->source)
			return row;
		if (!found && collect_same_host(thread->process->source, span->source))
			found = row;
	}
	return found;
}

static void collect_state(void *priv, const struct states_row *state)
{
	const struct span *span = &state->span;
	struct collect *collect = priv;
	struct collect_row *row = collect_thread_row(collect, span);

	if (row && (state->state == STATES_RUNNABLE || state->state == STATES_BLOCKED))
		collect_add_span(collect,
				 &(struct collect_span){
					 span->from_ns, span->ns, (uint16_t)(row - collect->rows),
					 collect_call_of(collect, state->call),
					 state->state == STATES_RUNNABLE ? COLLECT_RUNNABLE :
									   COLLECT_ASLEEP,
					 span->lossy, false });
}

/* The thread before is that of the event. */
static void collect_sched(struct collect *collect, const struct event *event, uint16_t row,
			  uint16_t cpu)
{
	struct sched_action action = sched_action_of(event);
	struct collect_running *running;

	if (action.kind == SCHED_NONE)
		return;
	states_take(collect->states, event);
	if (action.kind != SCHED_SWITCH || cpu == COLLECT_ROWS_MOST)
		return;
	running = &collect->running[cpu];
	if (running->known && action.prev && row != cpu)
		collect_add_span(collect, &(struct collect_span){
						  running->from_ns,
						  event_ns_between(running->from_ns, event->ns),
						  cpu, row, COLLECT_RUNNING, false, false });
	running->from_ns = event->ns;
	running->known = true;
}

/* --- losses ----------------------------------------------------------------------------------- */

static void collect_add_loss(struct collect *collect, int64_t from_ns, int64_t to_ns)
{
	struct collect_loss *last =
		collect->nr_losses ? &collect->losses[collect->nr_losses - 1] : NULL;

	if (last && (from_ns <= last->to_ns || collect->nr_losses == COLLECT_LOSSES_MOST)) {
		last->to_ns = MAX(last->to_ns, to_ns);
		return;
	}
	collect->losses[collect->nr_losses++] = (struct collect_loss){ from_ns, to_ns };
}

/* They lie between the last event of the packet before, at about this time, and the end of the
 * packet that counts them. */
static void collect_loss_of(struct collect *collect, const struct event *event)
{
	const struct source *source = event->source;
	int64_t *until;

	if (source->number >= collect->nr_sources) {
		uint32_t nr = source->number + 1;

		collect->lossy_until =
			xrealloc(collect->lossy_until, nr * sizeof(*collect->lossy_until));
		while (collect->nr_sources < nr)
			collect->lossy_until[collect->nr_sources++] = INT64_MIN;
	}
	until = &collect->lossy_until[source->number];
	if (source->lossy_until_ns > *until && source->lossy_until_ns > event->ns)
		collect_add_loss(collect, collect->nr_events ? collect->last_ns : event->ns,
				 source->lossy_until_ns);
	*until = MAX(*until, source->lossy_until_ns);
}

/* --- all -------------------------------------------------------------------------------------- */

void collect_take(struct collect *collect, const struct event *event,
		  const struct overview_thread *thread)
{
	const struct collect_class *class = collect_class_of(collect, event->ec);
	uint16_t cpu, row;

	collect_loss_of(collect, event);
	cpu = collect_cpu_of(collect, event);
	row = collect_task_of(collect, thread, cpu);
	collect_add_event(collect, &(struct collect_event){ event->ns, collect->nr_events, row, cpu,
							    class->class });
	if (collect->has_lines)
		series_take(collect->series, event);
	collect_pair(collect, event, row);
	if (class->is_sched)
		collect_sched(collect, event, row, cpu);
	else if (class->is_call)
		states_take(collect->states, event);
}

static int collect_compare_spans(const void *a, const void *b)
{
	const struct collect_span *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return collect_compare_longer(a, b);
}

static int collect_compare_events(const void *a, const void *b)
{
	const struct collect_event *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Of those that begin at the same time, the longest is the first. */
static void collect_sort_spans(struct collect *collect)
{
	struct collect_span *all = collect->spans;
	uint32_t nr = collect->nr_spans, end;

	collect_sort_by_key(all, nr, sizeof(*all), offsetof(struct collect_span, from_ns), SIGN);
	for (uint32_t i = 0; i < nr; i = end) {
		for (end = i + 1; end < nr && all[end].from_ns == all[i].from_ns;)
			end++;
		if (end - i > 1)
			qsort(&all[i], end - i, sizeof(*all), collect_compare_longer);
	}
}

/* As they are the second time, and those of one thread. */
static bool collect_is_sorted(const struct collect *collect)
{
	for (uint32_t i = 1; i < collect->nr_spans; i++)
		if (collect_compare_spans(&collect->spans[i - 1], &collect->spans[i]) > 0)
			return false;
	return true;
}

void collect_sort(struct collect *collect)
{
	uint32_t out = 0;

	if (!collect_is_sorted(collect))
		collect_sort_spans(collect);
	if (!collect->cells)
		return;
	collect_add_all_fresh(collect);
	qsort(collect->kept, collect->nr_kept, sizeof(*collect->kept), collect_compare_events);
	for (uint32_t i = 0; i < collect->nr_kept; i++)
		if (!out || collect->kept[out - 1].number != collect->kept[i].number)
			collect->kept[out++] = collect->kept[i];
	collect->nr_kept = out;
}

struct collect_cell *collect_cells(const struct collect *collect, uint32_t *ret_nr)
{
	struct collect_cell *all = xalloc((collect->nr_cells + 1) * sizeof(*all));
	uint32_t nr = 0;

	for (uint32_t i = 0; i < CELLS; i++)
		if (collect->cells[i].count)
			all[nr++] = collect->cells[i];
	collect_sort_by_key(all, nr, sizeof(*all), offsetof(struct collect_cell, key), 0);
	*ret_nr = nr;
	return all;
}
