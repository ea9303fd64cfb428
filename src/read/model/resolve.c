/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From types as they are written to types as they are read: each use of a type is
 * bound (bind.h), members get their roles, and events their places in a table.
 */
#include <errno.h>
#include <string.h>

#include "read/clock/clock.h"
#include "read/decode/plan.h"
#include "bind.h"

#define DIRECT_IDS 8192u

/* --- skippable types -------------------------------------------------------- */

static bool is_passable(const struct ctf_field *field)
{
	return field->slot == NO_SLOT && !field->role && field->type->align <= 8 &&
	       field->type->fixed_bits != SIZE_VARIES;
}

/* Backwards, as each run is its first member and the run behind that. */
static void find_runs(struct ctf_type *type)
{
	for (uint32_t i = type->nr_fields; i-- > 0;) {
		struct ctf_field *field = &type->fields[i];
		uint64_t bits = field->type->fixed_bits;

		if (!is_passable(field) || bits % 8)
			continue;
		field->run = 1;
		field->run_bits = bits;
		if (i + 1 < type->nr_fields && field[1].run &&
		    field[1].run_bits < (1ull << 60) - MIN(bits, 1ull << 59)) {
			field->run += field[1].run;
			field->run_bits += field[1].run_bits;
		}
	}
}

/* A struct that sets a slot must be walked even where its size is known. */
static bool mark_walked(struct ctf_type *type)
{
	bool walked = false;

	if (type->kind == TYPE_ARRAY || type->kind == TYPE_SEQUENCE)
		walked = mark_walked((struct ctf_type *)type->elem);
	for (uint32_t i = 0; i < type->nr_fields; i++)
		walked |= mark_walked((struct ctf_type *)type->fields[i].type) ||
			  type->fields[i].slot != NO_SLOT || type->fields[i].role;
	if (walked)
		type->fixed_bits = SIZE_VARIES;
	if (type->kind == TYPE_STRUCT)
		find_runs(type);
	return walked;
}

/* A struct that is read by itself. */
static void finish_type(struct model *m, const struct ctf_type *root)
{
	struct ctf_type *type = (struct ctf_type *)root;

	if (!type)
		return;
	mark_walked(type);
	plan_make_struct(m->arena, type);
}

/* --- roles ---------------------------------------------------------------- */

static const struct {
	const char *name;
	enum field_role role;
} packet_roles[] = {
	{ "magic", ROLE_MAGIC },
	{ "uuid", ROLE_UUID },
	{ "stream_id", ROLE_STREAM_ID },
	{ "stream_instance_id", ROLE_STREAM_INSTANCE },
	{ "timestamp_begin", ROLE_BEGIN },
	{ "timestamp_end", ROLE_END },
	{ "content_size", ROLE_CONTENT_SIZE },
	{ "packet_size", ROLE_PACKET_SIZE },
	{ "packet_seq_num", ROLE_SEQ_NUM },
	{ "events_discarded", ROLE_DISCARDED },
	{ "stream_pos", ROLE_STREAM_POS },
	{ "events_recorded", ROLE_RECORDED },
	{ "lost_full", ROLE_LOST_FULL },
	{ "lost_size", ROLE_LOST_SIZE },
	{ "lost_busy", ROLE_LOST_BUSY },
	{ "lost_output", ROLE_LOST_OUTPUT },
	{ "crc32c", ROLE_CRC32C },
};

/* The field of a packet or an event that has a declared role. A time is that of its scope. */
static void set_declared_roles(const struct ctf_type *type, enum field_role time_role,
			       uint32_t allowed)
{
	for (uint32_t i = 0; type && i < type->nr_fields; i++) {
		struct ctf_field *field = &type->fields[i];
		uint32_t roles = field->type->roles & allowed;

		if (roles)
			field->role = (uint8_t)__builtin_ctz(roles);
		if (field->role == ROLE_CLOCK)
			field->role = time_role;
		set_declared_roles(field->type, time_role, allowed);
	}
}

/* Fields that no role of CTF 2 stands for. */
static bool is_own_role(enum field_role role)
{
	return role >= ROLE_STREAM_POS && role <= ROLE_CRC32C;
}

static void set_packet_roles(const struct model *m, const struct ctf_type *type)
{
	if (m->has_roles)
		set_declared_roles(type, ROLE_BEGIN, ~(1u << ROLE_EVENT_ID));
	for (uint32_t i = 0; type && i < type->nr_fields; i++)
		for (size_t k = 0; k < ARRAY_SIZE(packet_roles); k++)
			if ((!m->has_roles || is_own_role(packet_roles[k].role)) &&
			    !strcmp(type->fields[i].name, packet_roles[k].name))
				type->fields[i].role = packet_roles[k].role;
}

static const struct {
	const char *name;
	enum field_role role;
} task_roles[] = {
	{ "procname", ROLE_PROCNAME }, { "pid", ROLE_PID },   { "vpid", ROLE_VPID },
	{ "tid", ROLE_TID },	       { "vtid", ROLE_VTID },
};

/* After mark_walked(): the reader need not decode these members to skip them. */
static void set_task_roles(const struct ctf_type *type)
{
	for (uint32_t i = 0; type && i < type->nr_fields; i++) {
		struct ctf_field *field = &type->fields[i];

		for (size_t k = 0; k < ARRAY_SIZE(task_roles); k++)
			if (!field->role && !strcmp(field->shown, task_roles[k].name))
				field->role = task_roles[k].role;
	}
}

/* The id may be repeated by an option of a variant: the last one counts. */
static void set_header_roles(const struct ctf_type *type, const struct ctf_clock **clock)
{
	for (uint32_t i = 0; type && i < type->nr_fields; i++) {
		struct ctf_field *field = &type->fields[i];
		bool integer = field->type->kind == TYPE_INT || field->type->kind == TYPE_ENUM;

		if (integer && !strcmp(field->name, "id"))
			field->role = ROLE_EVENT_ID;
		if (integer && field->type->clock) {
			field->role = ROLE_CLOCK;
			*clock = field->type->clock;
		}
		set_header_roles(field->type, clock);
	}
}

static const struct ctf_clock *context_clock(const struct ctf_type *type)
{
	for (uint32_t i = 0; type && i < type->nr_fields; i++)
		if (type->fields[i].role == ROLE_BEGIN)
			return type->fields[i].type->clock;
	return NULL;
}

/* --- the trace ------------------------------------------------------------ */

static const struct ctf_clock *find_clock(struct model *m, const char *map)
{
	size_t len = strcspn(map + 6, ".");

	for (struct ctf_clock *c = m->tc->clocks; c; c = c->next)
		if (!strncmp(c->name, map + 6, len) && !c->name[len])
			return c;
	return NULL;
}

static void finish_scalars(struct model *m)
{
	for (struct model_pending *s = m->pending; s; s = s->next) {
		struct ctf_type *type = s->type;

		type->big_endian =
			type->order == ORDER_NATIVE ? m->tc->big_endian : type->order == ORDER_BIG;
		if (type->ref && !strncmp(type->ref, "clock.", 6))
			type->clock = find_clock(m, type->ref);
	}
}

/* Results of system calls are integers, of which the negative ones have names. */
static void name_results(struct model *m, struct ctf_event_class *ec)
{
	const char *name = ec->name;

	if (strncmp(name, "compat_", strlen("compat_")) == 0)
		name += strlen("compat_");
	if (!m->tc->results || !ec->fields ||
	    strncmp(name, "syscall_exit_", strlen("syscall_exit_")) != 0)
		return;
	for (uint32_t i = 0; i < ec->fields->nr_fields; i++) {
		struct ctf_field *field = &ec->fields->fields[i];
		struct ctf_type *named;

		if (field->type->kind != TYPE_INT || strcmp(field->shown, "ret") != 0)
			continue;
		named = arena_alloc(m->arena, sizeof(*named));
		*named = *field->type;
		named->mappings = m->tc->results->mappings;
		named->nr_mappings = m->tc->results->nr_mappings;
		field->type = named;
		ec->result = field;
	}
}

static int resolve_event(const struct binder *stream, struct ctf_event_class *ec)
{
	struct binder b = *stream;
	int r = model_bind_root(&b, ROOT_EVENT_CONTEXT, &ec->context);

	r = r ? r : model_bind_root(&b, ROOT_FIELDS, &ec->fields);
	if (r < 0)
		return r;
	name_results(b.m, ec);
	finish_type(b.m, ec->context);
	finish_type(b.m, ec->fields);
	set_task_roles(ec->context);
	stream->m->tc->nr_slots = MAX(stream->m->tc->nr_slots, b.next_inner);
	return 0;
}

static void report_event(struct model *m, const struct ctf_event_class *ec)
{
	report(m->reporter, "%s: event '%s': %s; packets that hold it can't be read", m->where,
	       ec->name, m->error);
	m->error[0] = 0;
}

static void resolve_events(const struct binder *stream, struct ctf_stream_class *sc)
{
	struct model *m = stream->m;

	for (struct ctf_event_class *ec = sc->events; ec; ec = ec->next_in_stream) {
		if (!resolve_event(stream, ec))
			continue;
		ec->broken = true;
		report_event(m, ec);
	}
}

static void walk_contexts(struct model *m, struct ctf_stream_class *sc)
{
	finish_type(m, sc->header);
	finish_type(m, sc->packet_context);
	finish_type(m, sc->event_context);
	plan_make_header(m->arena, sc);
	for (struct ctf_event_class *ec = sc->events; ec; ec = ec->next_in_stream)
		plan_make_event(m->arena, sc, ec);
}

static int resolve_stream(struct binder *trace, struct ctf_stream_class *sc)
{
	uint32_t next_outer = *trace->next_outer;
	struct binder b = *trace;
	int r;

	b.next_outer = &next_outer;
	b.sc = sc;
	r = model_bind_root(&b, ROOT_PACKET_CONTEXT, &sc->packet_context);

	r = r ? r : model_bind_root(&b, ROOT_EVENT_HEADER, &sc->header);
	r = r ? r : model_bind_root(&b, ROOT_STREAM_EVENT_CONTEXT, &sc->event_context);
	if (r < 0)
		return r;
	set_packet_roles(b.m, sc->packet_context);
	if (b.m->has_roles)
		set_declared_roles(sc->header, ROLE_CLOCK,
				   1u << ROLE_EVENT_ID | (sc->clock ? 1u << ROLE_CLOCK : 0));
	else
		set_header_roles(sc->header, &sc->clock);
	if (!sc->clock && !b.m->has_roles)
		sc->clock = context_clock(sc->packet_context);
	resolve_events(&b, sc);
	walk_contexts(b.m, sc);
	set_task_roles(sc->event_context);
	return 0;
}

static int resolve_by_id(const void *a, const void *b)
{
	const struct ctf_event_class *x = *(struct ctf_event_class *const *)a;
	const struct ctf_event_class *y = *(struct ctf_event_class *const *)b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Number of classes in @ec, sorted by id, that have the id of the first. */
static uint32_t same_id(struct ctf_event_class *const *ec, uint32_t nr)
{
	uint32_t same = 1;

	while (same < nr && ec[same]->id == ec[0]->id)
		same++;
	return same;
}

/* An id may be declared again, but not as another event: which one a packet holds is unknown. */
static bool is_ambiguous(struct model *m, struct ctf_event_class *const *ec, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		if (ec[i]->text_len == ec[0]->text_len &&
		    memcmp(ec[i]->text, ec[0]->text, ec[0]->text_len) == 0)
			continue;
		report(m->reporter,
		       "%s: the id %llu is that of both event '%s' and event '%s'; packets that "
		       "hold it can't be read",
		       m->where, (unsigned long long)ec[0]->id, ec[0]->name, ec[i]->name);
		return true;
	}
	return false;
}

/* The table from id to event, sorted; that of small ids is read directly. */
static void index_events(struct model *m, struct ctf_stream_class *sc)
{
	uint32_t nr = 0, same;

	for (struct ctf_event_class *ec = sc->events; ec; ec = ec->next_in_stream)
		nr++;
	sc->sorted = arena_alloc(m->arena, (nr + 1) * sizeof(*sc->sorted));
	nr = 0;
	for (struct ctf_event_class *ec = sc->events; ec; ec = ec->next_in_stream)
		sc->sorted[nr++] = ec;
	qsort(sc->sorted, nr, sizeof(*sc->sorted), resolve_by_id);
	for (uint32_t i = 0; i < nr; i += same) {
		same = same_id(&sc->sorted[i], nr - i);
		if (is_ambiguous(m, &sc->sorted[i], same) || sc->sorted[i]->broken)
			continue;
		sc->sorted[i]->number = sc->nr_sorted;
		sc->sorted[sc->nr_sorted++] = sc->sorted[i];
	}
	while (sc->nr_by_id < sc->nr_sorted && sc->sorted[sc->nr_by_id]->id < DIRECT_IDS)
		sc->nr_by_id++;
	if (sc->nr_by_id)
		sc->nr_by_id = (uint32_t)sc->sorted[sc->nr_by_id - 1]->id + 1;
	sc->by_id = arena_alloc(m->arena, (sc->nr_by_id + 1) * sizeof(*sc->by_id));
	for (uint32_t i = 0; i < sc->nr_sorted && sc->sorted[i]->id < DIRECT_IDS; i++)
		sc->by_id[sc->sorted[i]->id] = sc->sorted[i];
}

/* If there is only one stream, an event need not name its stream. */
static int assign_events(struct binder *b)
{
	struct ctf_trace_class *tc = b->m->tc;
	struct ctf_event_class **tails[MODEL_MAX_STREAMS], *ec;
	struct ctf_stream_class *sc;
	uint32_t i;

	for (sc = tc->streams, i = 0; sc; sc = sc->next)
		tails[i++] = &sc->events;
	for (ec = tc->events; ec; ec = ec->next) {
		if (model_spend(b->m, tc->nr_streams) < 0)
			return -EPROTO;
		for (sc = tc->streams, i = 0; sc; sc = sc->next, i++)
			if (!ec->has_stream_id || ec->stream_id == sc->id)
				break;
		if (!sc)
			continue;
		*tails[i] = ec;
		tails[i] = &ec->next_in_stream;
	}
	return 0;
}

/* The packet header belongs to all streams, so its slots are given beforehand. */
static int resolve_packet_header(struct binder *b)
{
	const struct ctf_type **type = &b->m->tc->packet_header;
	int r = model_bind_root(b, ROOT_PACKET_HEADER, type);

	if (r < 0 || !*type)
		return r;
	set_packet_roles(b->m, *type);
	for (uint32_t i = 0; i < (*type)->nr_fields && !r; i++)
		if ((*type)->fields[i].slot == NO_SLOT)
			r = model_give_slot(b, ROOT_PACKET_HEADER, &(*type)->fields[i]);
	return r;
}

int model_resolve(struct model *m)
{
	uint32_t good = 0, next_outer = 0;
	struct binder b = { .m = m, .next_outer = &next_outer, .next_inner = OUTER_SLOTS };

	m->error[0] = 0;
	m->tc->nr_slots = OUTER_SLOTS;
	for (struct ctf_clock *c = m->tc->clocks; c; c = c->next)
		clock_finish(c);
	finish_scalars(m);
	if (assign_events(&b) < 0 || resolve_packet_header(&b) < 0) {
		report(m->reporter, "%s: %s", m->where, m->error);
		return -EPROTO;
	}
	for (struct ctf_stream_class *sc = m->tc->streams; sc; sc = sc->next) {
		sc->broken = resolve_stream(&b, sc) < 0;
		if (sc->broken)
			report(m->reporter, "%s: stream %llu: %s", m->where,
			       (unsigned long long)sc->id, m->error);
		m->error[0] = 0;
		good += !sc->broken;
		index_events(m, sc);
	}
	if (m->tc->packet_header)
		mark_walked((struct ctf_type *)m->tc->packet_header);
	/* before its first packet a trace has none; files of a trace without one can't be read */
	if (!good && m->tc->streams)
		report(m->reporter, "%s: it declares no stream that can be read", m->where);
	return good || !m->tc->streams ? 0 : -EPROTO;
}
