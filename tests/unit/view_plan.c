/* SPDX-License-Identifier: GPL-2.0-only */
/* The plans of headers and structs (read/decode/plan.h) beside the general reader, its oracle:
 * random types and random bytes, cut at random places. */
#include "lib/random_types.h"
#include "lib/view_make.h"
#include "read/decode/plan.h"
#include "read/tsdl/tsdl.h"

#define BYTES 600u

/* --- random metadata ------------------------------------------------------ */

static void say_header(struct text *t)
{
	static const char *const forms[] = {
		/* ours */
		"enum : bits5 { compact = 0 ... 29, wide = 30, extended = 31 } id;\n"
		"variant <id> { struct { clock27 t; } compact; struct { clock27 t; bits16 id; } wide;\n"
		"struct { bytes32 id; clock64 t; } extended; } v;",
		/* LTTng's, compact and large */
		"enum : bits5 { compact = 0 ... 30, extended = 31 } id;\n"
		"variant <id> { struct { clock27 t; } compact;\n"
		"struct { bytes32 id; clock64 t; } extended; } v;",
		"enum : bytes16 { compact = 0 ... 65534, extended = 65535 } id;\n"
		"variant <id> { struct { clock32 t; } compact;\n"
		"struct { bytes32 id; clock64 t; } extended; } v;",
		/* a gap between the ranges; mappings that overlap; no variant */
		"enum : bits5 { compact = 0 ... 9, wide = 20 ... 31 } id;\n"
		"variant <id> { struct { clock27 t; } compact; struct { clock32 t; } wide; } v;",
		"enum : bits5 { extended = 10 ... 20, compact = 0 ... 31 } id;\n"
		"variant <id> { struct { clock27 t; } compact; struct { clock64 t; } extended; } v;",
		"bits5 id; clock27 t;",
	};

	say(t, "struct { %s } align(8)", forms[rnd(ARRAY_SIZE(forms))]);
}

static void say_metadata(struct text *t)
{
	t->len = 0;
	say(t, "clock { name = c; freq = 1000; };\n");
	say(t, "typealias integer { size = 5; align = 1; } := bits5;\n"
	       "typealias integer { size = 16; align = 1; } := bits16;\n"
	       "typealias integer { size = 16; align = 8; } := bytes16;\n"
	       "typealias integer { size = 32; align = 8; } := bytes32;\n"
	       "typealias integer { size = 27; align = 1; map = clock.c.value; } := clock27;\n"
	       "typealias integer { size = 32; align = 8; map = clock.c.value; } := clock32;\n"
	       "typealias integer { size = 64; align = 8; map = clock.c.value; } := clock64;\n");
	say(t, "stream { event.header := ");
	say_header(t);
	if (rnd(2)) {
		say(t, "; event.context := ");
		say_struct(t, 0);
	}
	say(t, "; };\nevent { id = 0; name = \"e\"; ");
	if (rnd(2)) {
		say(t, "context := ");
		say_struct(t, 1);
		say(t, "; ");
	}
	say(t, "fields := ");
	say_struct(t, 2);
	say(t, "; };\n");
}

/* --- compared ------------------------------------------------------------- */

struct side {
	struct reader reader;
	struct values values;
	uint64_t slots[300];
	uint64_t begin;
	int result;
};

static void side_begin(struct side *s, const uint8_t *bytes, uint64_t begin, uint64_t end)
{
	s->values.nr = 0;
	s->begin = begin;
	memset(s->slots, 0, sizeof(s->slots));
	s->reader = (struct reader){
		.bytes = bytes,
		.pos = begin,
		.end = end,
		.slots = s->slots,
		.clock = 12345678901234,
		.values = &s->values,
	};
}

static void check_value(const struct value *a, const struct value *b, bool first)
{
	CHECK(first || (a->type == b->type && a->field == b->field));
	CHECK_IS(a->count, ==, b->count);
	CHECK_IS(a->bit, ==, b->bit);
	if (type_is_scalar(a->type) || a->type->kind == TYPE_STRING || value_is_packed(a))
		CHECK_IS(a->u, ==, b->u);
}

static void check_sides(const struct side *a, const struct side *b)
{
	CHECK_IS(a->result, ==, b->result);
	if (a->result)
		return;
	CHECK_IS(a->reader.pos, ==, b->reader.pos);
	CHECK_IS(a->reader.clock, ==, b->reader.clock);
	CHECK_IS(a->reader.event_id, ==, b->reader.event_id);
	CHECK(memcmp(a->slots, b->slots, sizeof(a->slots)) == 0);
	CHECK_IS(a->values.nr, ==, b->values.nr);
	for (uint32_t i = 0; i < a->values.nr; i++)
		check_value(&a->values.at[i], &b->values.at[i], i == 0);
}

static int read_scopes(struct side *side, const struct ctf_stream_class *sc,
		       const struct ctf_event_class *ec)
{
	int result = reader_struct(&side->reader, sc->event_context);

	result = result ? result : reader_struct(&side->reader, ec->context);
	return result ? result : reader_struct(&side->reader, ec->fields);
}

static uint64_t nr_planned, nr_picked, nr_fixed, nr_skipped, nr_words, nr_placed, nr_passed;

static bool is_member(const struct value *value)
{
	return value->type->kind != TYPE_STRUCT;
}

/* Some of the values of @whole, by a plan that passes the others. */
static void compare_pick(const struct ctf_type *type, const struct side *whole, uint64_t begin,
			 uint64_t end)
{
	static struct side side;
	static struct value values[300];
	bool wanted[300] = { false };
	/* in the place of any scope, between others of constant size */
	struct ctf_type nothing = { .kind = TYPE_STRUCT, .align = 8 };
	struct plan_scope scopes[PLAN_SCOPES] = { { NULL, NULL } };
	const struct value *at = values;
	struct arena arena = { NULL };
	struct plan_pick *pick;

	for (uint32_t i = 1; i < whole->values.nr; i++)
		wanted[i] = is_member(&whole->values.at[i]) && !rnd(3);
	plan_make_struct(&arena, &nothing);
	scopes[2 - rnd(3)].type = &nothing;
	scopes[rnd(3)] = (struct plan_scope){ type, wanted };
	pick = plan_pick_new(scopes);
	side_begin(&side, whole->reader.bytes, begin, end);
	CHECK_IS(plan_take(&side.reader, pick, values), ==, READ_OK);
	CHECK(side.reader.pos <= whole->reader.pos);
	for (uint32_t i = 1; i < whole->values.nr; i++)
		if (wanted[i])
			check_value(&whole->values.at[i], at++, false);
	nr_picked += at > values;
	at = values;
	memset(values, 0, sizeof(values));
	if (plan_take_fixed(&side.reader, pick, begin, values)) {
		nr_fixed++;
		for (uint32_t i = 1; i < whole->values.nr; i++)
			if (wanted[i])
				check_value(&whole->values.at[i], at++, false);
	}
	free(pick);
	arena_fini(&arena);
}

/* Each value of an event is where its place is. @whole: it, decoded. */
static void compare_places(const struct ctf_stream_class *sc, const struct ctf_event_class *ec,
			   const struct side *whole)
{
	static struct side side;
	const uint8_t *bases[PLAN_BASES];
	struct plan_place place;
	struct value value;

	if (!plan_place(sc, ec, 0, &place) || !plan_place(sc, ec, whole->values.nr - 1, &place))
		return;
	CHECK(whole->result || !plan_place(sc, ec, whole->values.nr, &place));
	side_begin(&side, whole->reader.bytes, whole->begin, whole->reader.end);
	CHECK_IS(plan_locate(&side.reader, ec->skipped, bases), ==, whole->result);
	for (uint32_t i = 0; i < whole->values.nr && !whole->result; i++) {
		const struct value *at = &whole->values.at[i];

		CHECK(plan_place(sc, ec, i, &place));
		if (at->type->kind == TYPE_STRUCT)
			continue;
		plan_placed_value(&place, bases, &value);
		check_value(at, &value, false);
		CHECK(place.kind >= PLAN_ARRAY || plan_placed_number(&place, bases) == at->u);
		CHECK(!(at->type->kind == TYPE_STRING || value_is_text(at)) ||
		      plan_placed_text(&place, bases) == value_text_length(at));
		nr_placed++;
	}
}

/* All of an event skipped as one, and scope by scope. */
static void compare_skip(const struct ctf_stream_class *sc, const struct ctf_event_class *ec,
			 const uint8_t *bytes)
{
	static struct side once, each;
	uint64_t begin = rnd(8) * 8 + (rnd(4) ? 0 : rnd(8));
	uint64_t end = begin + (rnd(4) ? 4000 : rnd(300));

	if (!ec->skipped)
		return;
	side_begin(&once, bytes, begin, end);
	side_begin(&each, bytes, begin, end);
	once.reader.values = each.reader.values = NULL;
	once.result = plan_take(&once.reader, ec->skipped, NULL);
	if (once.result == READ_UNPLANNED) {
		CHECK(begin & 7);
		return;
	}
	each.result = read_scopes(&each, sc, ec);
	check_sides(&each, &once);
	nr_skipped += !once.result;
	side_begin(&each, bytes, begin, end);
	each.result = read_scopes(&each, sc, ec);
	compare_places(sc, ec, &each);
}

static void compare_struct(const struct ctf_type *type, const uint8_t *bytes)
{
	static struct side planned, general;
	struct ctf_type without = *type;
	/* not always at a byte, as behind a header of bits */
	uint64_t begin = rnd(8) * 8 + (rnd(4) ? 0 : rnd(8));
	uint64_t end = begin + (rnd(4) ? 4000 : rnd(300));

	without.plan = NULL;
	side_begin(&planned, bytes, begin, end);
	side_begin(&general, bytes, begin, end);
	planned.result = reader_struct(&planned.reader, type);
	general.result = reader_struct(&general.reader, &without);
	check_sides(&general, &planned);
	nr_planned += type->plan && !planned.result && planned.values.nr > 1;
	if (!general.result && type->plan && (!(begin & 7) || type->align == 8))
		compare_pick(type, &general, begin, end);

	/* skipped, it ends where it ends when it is decoded */
	side_begin(&planned, bytes, begin, end);
	planned.reader.values = NULL;
	planned.result = reader_struct(&planned.reader, type);
	CHECK_IS(planned.result, ==, general.result);
	CHECK(general.result || planned.reader.pos == general.reader.pos);
	/* lengths and tags behind it may refer to these */
	CHECK(general.result ||
	      memcmp(planned.slots, general.slots, sizeof(general.slots)) == 0);
}

static void compare_header(const struct ctf_stream_class *sc, const uint8_t *bytes)
{
	static struct side planned, general;
	uint64_t begin = rnd(8) * 8, end = begin + (rnd(4) ? 4000 : rnd(200));

	side_begin(&planned, bytes, begin, end);
	side_begin(&general, bytes, begin, end);
	planned.reader.values = general.reader.values = NULL;
	general.result = reader_struct(&general.reader, sc->header);
	if (sc->header_plan && plan_read_header(&planned.reader, sc->header_plan)) {
		planned.result = READ_OK;
		nr_words++;
	} else { /* unchanged, so that the general reader can begin there */
		planned.result = reader_struct(&planned.reader, sc->header);
	}
	check_sides(&general, &planned);
}

/* An event with its header, passed by plans and by the general reader. */
static void compare_pass(const struct ctf_stream_class *sc, const uint8_t *bytes)
{
	static struct side planned, general;
	uint64_t begin = rnd(8) * 8, end = begin + (rnd(4) ? 4000 : rnd(300)), payload;
	struct ctf_event_class *ec;

	side_begin(&planned, bytes, begin, end);
	side_begin(&general, bytes, begin, end);
	planned.reader.values = general.reader.values = NULL;
	ec = plan_pass(&planned.reader, sc, &payload);
	if (!ec) {
		CHECK_IS(planned.reader.pos, ==, begin);
		CHECK_IS(planned.reader.clock, ==, general.reader.clock);
		return;
	}
	CHECK_IS(reader_struct(&general.reader, sc->header), ==, READ_OK);
	CHECK_IS(payload, ==, general.reader.pos);
	CHECK(ec == stream_class_event(sc, general.reader.event_id));
	general.result = read_scopes(&general, sc, ec);
	check_sides(&general, &planned);
	nr_passed++;
}

static void compare_types(void)
{
	static struct text text;
	struct arena arena = { NULL };
	struct seen seen = { 0 };
	struct reporter reporter = { .fn = note_problem, .priv = &seen };
	struct ctf_trace_class *tc;
	uint8_t bytes[BYTES];

	say_metadata(&text);
	if (tsdl_parse(text.at, text.len, "m", &arena, &reporter, &tc) != 0 || seen.problems) {
		fputs(text.at, stderr);
		CHECK(!"parsed");
	}
	CHECK_IS(tc->nr_slots, <, 300);
	for (uint32_t i = 0; i < 50; i++) {
		random_bytes(bytes, sizeof(bytes));
		compare_header(tc->streams, bytes);
		compare_struct(tc->streams->by_id[0]->fields, bytes);
		compare_skip(tc->streams, tc->streams->by_id[0], bytes);
		bytes[7] &= 0xe0; /* the only class's id, in some headers */
		for (uint32_t k = 0; k < 8; k++)
			bytes[k] = bytes[7];
		compare_pass(tc->streams, bytes);
	}
	arena_fini(&arena);
}

int main(void)
{
	uint32_t nr = check_repeat(15000);

	for (uint32_t i = 0; i < nr; i++)
		compare_types();
	/* most types have a plan, and most headers are words */
	CHECK_IS(nr_planned, >, nr * 15ull);
	CHECK_IS(nr_picked, >, nr * 10ull);
	CHECK_IS(nr_fixed, >, nr / 10ull);
	CHECK_IS(nr_skipped, >, nr * 5ull);
	CHECK_IS(nr_words, >, nr * 10ull);
	CHECK_IS(nr_placed, >, nr * 15ull);
	CHECK_IS(nr_passed, >, nr);
	return 0;
}
