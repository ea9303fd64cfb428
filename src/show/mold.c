/* SPDX-License-Identifier: GPL-2.0-only */
#include "mold.h"

#include <endian.h>

#include "base/mem.h"
#include "base/text.h"
#include "print.h"

#define MOLD_RUN_MORE 2u /* parts: it is between them */

/* The first value of the event: those of its scopes follow each other. */
static const struct value *mold_base(const struct event *event)
{
	return event->stream_context ?: event->context ?: event->fields;
}

static bool mold_note(struct pen *pen, uint32_t part, enum mold_way way)
{
	struct mold *mold = pen->mold;

	if (!mold)
		return false;
	mold->given_up = mold->given_up || mold->nr == MOLD_PARTS || part > UINT16_MAX;
	if (!mold->given_up)
		mold->parts[mold->nr++] =
			(struct mold_part){ .len = (uint32_t)pen->used - mold->noted,
					    .part = (uint16_t)part,
					    .way = (uint8_t)way };
	mold->noted = (uint32_t)pen->used;
	return true;
}

enum mold_way mold_way_of(const struct value *value, bool any_base)
{
	const struct ctf_type *type = value->type;

	if (type->look != LOOK_PLAIN)
		return MOLD_GENERAL;
	if (type->kind == TYPE_INT)
		return any_base || (type->base != 16 && type->base != 8 && type->base != 2) ?
			       MOLD_NUMBER :
			       MOLD_GENERAL;
	return value_has_text(value) ? MOLD_QUOTED : MOLD_GENERAL;
}

bool mold_takes_way(struct pen *pen, const struct value *value, enum mold_way way)
{
	return pen->mold && mold_note(pen, (uint32_t)(value - pen->mold->base), way);
}

bool mold_takes_part(struct pen *pen, uint16_t part)
{
	return mold_note(pen, part,
			 part == MOLD_TASK   ? MOLD_TASKS :
			 part == MOLD_PACKET ? MOLD_PACKETS :
			 part == MOLD_CLOCK  ? MOLD_TIME :
			 part == MOLD_END    ? MOLD_LAST :
					       MOLD_GENERAL);
}

void mold_give_up(struct pen *pen)
{
	if (pen->mold)
		pen->mold->given_up = true;
}

static void mold_find_tasks(const struct value *base, const struct task *task, int32_t ret[3])
{
	ret[0] = task->procname ? (int32_t)(task->procname - base) : -1;
	ret[1] = task->pid ? (int32_t)(task->pid - base) : -1;
	ret[2] = task->tid ? (int32_t)(task->tid - base) : -1;
}

static bool mold_is_planned(const struct value *scope)
{
	return !scope || scope->type->plan;
}

/* How exactly a guest's times are known changes while its trace is read. */
static bool mold_can_be(const struct event *event)
{
	return !event->source->guest && mold_is_planned(event->stream_context) &&
	       mold_is_planned(event->context) && mold_is_planned(event->fields);
}

/* Numbers that are integers of common sizes have ways of their own. */
static void mold_find_way(struct mold_part *part)
{
	static const uint8_t ways[] = {
		[PLAN_U32] = MOLD_U32, [PLAN_64] = MOLD_U64, [PLAN_S32] = MOLD_S32
	};

	if (part->way == MOLD_NUMBER && part->place.kind >= PLAN_ARRAY)
		part->way = MOLD_GENERAL;
	else if (part->way == MOLD_NUMBER && part->place.kind < ARRAY_SIZE(ways) &&
		 ways[part->place.kind])
		part->way = ways[part->place.kind];
}

/* The name of an error is found by the value of a field, in JSON. */
static bool mold_find_places(struct printer *printer, struct mold *mold, const struct event *event)
{
	const struct ctf_stream_class *sc = event->packet->sc;
	const struct ctf_event_class *ec = event->ec;
	struct plan_place first;

	if (!plan_place(sc, ec, 0, &first) || !ec->task_is_known || sc->header_is_referred ||
	    (ec->result && printer->style.format == VIEW_JSON))
		return false;
	for (struct mold_part *part = mold->parts; part < mold->parts + mold->nr; part++) {
		if (part->part < MOLD_CELLS ? !plan_place(sc, ec, part->part, &part->place) :
					      part->way == MOLD_GENERAL) /* it needs values */
			return false;
		mold_find_way(part);
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(mold->tasks); i++)
		if (mold->tasks[i] >= 0 &&
		    !plan_place(sc, ec, (uint32_t)mold->tasks[i], &mold->task_places[i]))
			return false;
	return true;
}

static void mold_put_one(struct printer *printer, const struct value *value,
			 const struct mold_part *part, mold_value_fn *write)
{
	if (write)
		write(&printer->pen, value);
	else
		print_value_cell(printer, value, part->way != MOLD_BARE);
}

/* The texts of the first values of an enumeration. @value: one of it. */
static void mold_find_labels(struct printer *printer, struct mold_part *part,
			     const struct value *value, mold_value_fn *write)
{
	const struct ctf_type *type = value->type;
	struct pen *pen = &printer->pen;
	struct value one = *value;

	if (part->way != MOLD_GENERAL || part->place.kind >= PLAN_ARRAY || type->kind != TYPE_ENUM)
		return;
	part->labels = xalloc(MOLD_LABELS * sizeof(*part->labels));
	for (uint32_t i = 0; i < type->nr_mappings && part->nr_labels < MOLD_LABELS; i++) {
		struct mold_label *label = &part->labels[part->nr_labels];

		pen->used = 0;
		one.u = label->value = type->mappings[i].first;
		mold_put_one(printer, &one, part, write);
		if (pen->used > sizeof(label->text))
			continue;
		memcpy(label->text, pen->buf, pen->used);
		label->len = (uint32_t)pen->used;
		part->nr_labels++;
	}
	part->way = MOLD_LABELED;
}

/* Of a value in text that is written by print_integer() alone. */
static void mold_find_hex(struct printer *printer, struct mold_part *part,
			  const struct value *value)
{
	const struct ctf_type *type = value->type;

	if (part->way == MOLD_GENERAL && part->place.kind < PLAN_ARRAY && type->kind == TYPE_INT &&
	    type->base == 16 && !type->is_signed && !type->nr_mappings &&
	    printer->style.format == VIEW_TEXT)
		part->way = MOLD_HEX;
}

/* A description of the texts of a run. @from, @to: bytes of its values, behind an address of number
 * @base; @size: of all of them. */
struct mold_run {
	uint8_t bytes[MEMO_FORM_MOST];
	uint32_t len, from, to, size;
	int32_t base;
	bool is_none;
};

static void run_add(struct mold_run *run, const void *bytes, size_t len)
{
	run->is_none = run->is_none || len > sizeof(run->bytes) - run->len;
	if (run->is_none)
		return;
	memcpy(&run->bytes[run->len], bytes, len);
	run->len += (uint32_t)len;
}

/* A value of a constant size. @form: how it is written. */
static void run_add_value(struct mold_run *run, const struct plan_place *place,
			  const struct ctf_type *type, uint32_t form)
{
	uint32_t size = place->kind == PLAN_ARRAY ? place->size : type->size_bits / 8u;
	const uint32_t parts[] = { place->at, size, place->kind, form };

	run->is_none = run->is_none || place->kind > PLAN_ARRAY ||
		       (place->kind == PLAN_ARRAY && type->elem->size_bits != 8) ||
		       (run->base >= 0 && run->base != place->base);
	run->base = place->base;
	run->from = MIN(run->from, place->at);
	run->to = MAX(run->to, place->at + size);
	run->size += size;
	run_add(run, parts, sizeof(parts));
}

/* Return: whether texts of it can be kept. No other value is between those of the run. */
static bool run_end(struct mold_run *run, struct printer *printer, struct mold *mold)
{
	if (run->is_none || run->to - run->from != run->size || run->size < MEMO_KEY_LEAST ||
	    run->size > MEMO_KEY_MOST)
		return false;
	mold->key = (struct plan_place){ .at = run->from, .base = (uint8_t)run->base };
	run_add(run, &run->from, sizeof(run->from));
	if (!run->is_none)
		mold->form = memo_form(&printer->memo, run->size, run->bytes, run->len);
	return mold->form;
}

static void mold_keep_tasks(struct printer *printer, struct mold *mold, struct mold_part *part)
{
	struct mold_run run = { .from = UINT32_MAX, .base = -1 };

	if (printer->style.color && !printer->style.table)
		return;
	for (uint32_t i = 0; i < ARRAY_SIZE(mold->tasks); i++) {
		if (mold->tasks[i] < 0)
			return;
		run_add_value(&run, &mold->task_places[i], mold->base[mold->tasks[i]].type,
			      mold->task_forms[i]);
	}
	if (run_end(&run, printer, mold))
		part->way = MOLD_KEPT_TASKS;
}

/* A value of struct task that is written in a way that depends on its bytes alone. */
static bool mold_is_of_run(const struct mold *mold, const struct mold_part *part)
{
	bool is_task = false;

	for (uint32_t i = 0; i < ARRAY_SIZE(mold->tasks); i++)
		is_task = is_task || mold->tasks[i] == part->part;
	return is_task && part->place.kind <= PLAN_ARRAY && part->way != MOLD_GENERAL &&
	       part->way != MOLD_LABELED && part->way != MOLD_HEX;
}

/* @first: of @nr parts that follow each other. @text: behind that before the first one. */
static void mold_keep_run(struct printer *printer, struct mold *mold, uint32_t first, uint32_t nr,
			  const char *text)
{
	struct mold_run run = { .from = UINT32_MAX, .base = -1 };
	struct mold_part *parts = &mold->parts[first];
	uint32_t len = 0;

	for (uint32_t i = 0; i < nr; i++) {
		len += i ? parts[i].len : 0;
		run_add_value(&run, &parts[i].place, mold->base[parts[i].part].type,
			      parts[i].way << 16 | (i ? parts[i].len : 0));
	}
	run_add(&run, text, len);
	if (!run_end(&run, printer, mold))
		return;
	memmove(parts + nr + 2, parts + nr, (mold->nr - first - nr) * sizeof(*parts));
	memmove(parts + 1, parts, nr * sizeof(*parts));
	parts[nr + 1] = (struct mold_part){ .part = MOLD_RUNS, .way = MOLD_RUN_END };
	parts[0] = (struct mold_part){ .len = parts[1].len, .part = MOLD_RUNS, .way = MOLD_RUN };
	parts[1].len = 0;
	mold->nr += 2;
	mold->nr_run = nr;
	mold->run_len = len;
}

static void mold_find_run(struct printer *printer, struct mold *mold)
{
	const char *text = mold->text;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < mold->nr; i++)
		if (mold->parts[i].way == MOLD_TASKS) {
			mold_keep_tasks(printer, mold, &mold->parts[i]);
			return;
		}
	for (uint32_t i = 0; i < mold->nr && nr < 2; i++) {
		text += mold->parts[i].len;
		for (nr = 0; mold_is_of_run(mold, &mold->parts[i + nr]);)
			nr++;
		if (nr >= 2)
			mold_keep_run(printer, mold, i, nr, text);
	}
}

static void mold_place(struct printer *printer, struct mold *mold, const struct event *event,
		       mold_value_fn *write)
{
	mold->is_placed = mold_find_places(printer, mold, event);
	printer->pen.mold = NULL;
	for (uint32_t i = 0; mold->is_placed && i < mold->nr; i++) {
		struct mold_part *part = &mold->parts[i];

		if (part->part >= MOLD_CELLS)
			continue;
		mold_find_labels(printer, part, &mold->base[part->part], write);
		mold_find_hex(printer, part, &mold->base[part->part]);
	}
	if (mold->is_placed)
		mold_find_run(printer, mold);
}

static bool mold_parts_are_alike(const struct mold *mold, const struct mold *other)
{
	size_t len = 0;

	if (mold->nr != other->nr || memcmp(mold->tasks, other->tasks, sizeof(mold->tasks)) != 0)
		return false;
	for (uint32_t i = 0; i < mold->nr; i++) {
		const struct mold_part *part = &mold->parts[i], *of = &other->parts[i];

		if (part->len != of->len || part->part != of->part || part->way != of->way)
			return false;
		len += part->len;
	}
	return memcmp(mold->text, other->text, len) == 0;
}

/* Whether one of them writes the events of both. */
static bool mold_is_alike(const struct mold *mold, const struct mold *other)
{
	if (!mold->is_placed || !other->is_placed || !mold_parts_are_alike(mold, other))
		return false;
	for (uint32_t i = 0; i < PLAN_SCOPES; i++)
		if (!plan_is_alike(mold->scopes[i], other->scopes[i]))
			return false;
	return true;
}

/* The same mold, made for another class before, in place of the last one. Classes of a live
 * session do not stay. */
static struct mold *mold_share(struct printer *printer)
{
	struct mold *last = printer->molds, *mold = last->next;

	while (mold && !mold_is_alike(mold, last))
		mold = mold->next;
	if (!mold || printer->is_live)
		return last;
	printer->molds = TAKE(last->next);
	mold_free(last);
	return mold;
}

static struct mold *mold_make(struct printer *printer, const struct event *event,
			      mold_write_fn *write, mold_value_fn *value)
{
	struct mold *mold = xalloc(sizeof(*mold));
	struct mold_part parts[MOLD_PARTS];
	struct pen out = printer->pen;

	mold->next = printer->molds;
	printer->molds = event->ec->mold = mold;
	mold->skipped = event->ec->skipped;
	mold->scopes[0] = event->packet->sc->event_context;
	mold->scopes[1] = event->ec->context;
	mold->scopes[2] = event->ec->fields;
	if (!mold_can_be(event))
		return mold;
	mold->base = mold_base(event);
	mold->parts = parts;
	mold_find_tasks(mold->base, &event->task, mold->tasks);
	for (uint32_t i = 1; i < ARRAY_SIZE(mold->tasks); i++)
		if (mold->tasks[i] >= 0)
			mold->task_forms[i] = print_integer_form(mold->base[mold->tasks[i]].type);
	pen_init(&printer->pen, NULL);
	printer->pen.mold = mold;
	write(printer, event);
	mold_takes_part(&printer->pen, MOLD_END);
	mold->parts = xalloc((mold->nr + 1 + MOLD_RUN_MORE) * sizeof(*parts));
	memcpy(mold->parts, parts, mold->nr * sizeof(*parts));
	if (!mold->given_up) {
		mold->text = xalloc(printer->pen.used + MOLD_COPIED);
		memcpy(mold->text, printer->pen.buf, printer->pen.used);
		mold->room = printer->pen.used + MOLD_COPIED +
			     (mold->nr + MOLD_RUN_MORE) * MAX(PEN_DIGITS_MOST, MOLD_LABEL) +
			     MEMO_TEXT + PRINT_TASK_WIDTH_MAX + 1 + PACKET_SHOWN_MORE;
		mold_place(printer, mold, event, value);
	}
	pen_fini(&printer->pen);
	printer->pen = out;
	return event->ec->mold = mold_share(printer);
}

static bool mold_fits(const struct mold *mold, const struct event *event)
{
	int32_t tasks[3];

	if (event->ec->task_is_known)
		return mold->text;
	mold_find_tasks(mold_base(event), &event->task, tasks);
	return mold->text && memcmp(tasks, mold->tasks, sizeof(tasks)) == 0;
}

const struct mold *mold_find(struct printer *printer, const struct event *event,
			     mold_write_fn *write, mold_value_fn *value)
{
	const struct mold *mold = event->ec->mold ?: mold_make(printer, event, write, value);

	return mold_fits(mold, event) ? mold : NULL;
}

static char *mold_put_text(char *to, const char *end, const uint8_t *text, size_t len, uint8_t way)
{
	size_t quotes = way == MOLD_BARE ? 0 : way == MOLD_DOUBLED ? 2 : 1;

	if (end - to < (ptrdiff_t)(len + 2 * quotes))
		return NULL;
	to[0] = to[quotes > 1] = '"';
	to += quotes;
	if (pen_put_plain(to, text, len) < len || (way == MOLD_BARE && memchr(text, ',', len)))
		return NULL;
	to += len;
	to[0] = to[quotes > 1] = '"';
	return to + quotes;
}

static char *mold_put_label(char *to, const struct mold_part *part, const uint8_t *const *bases)
{
	uint64_t value = plan_placed_number(&part->place, bases);

	for (const struct mold_label *label = part->labels; label < part->labels + part->nr_labels;
	     label++)
		if (label->value == value) {
			memcpy(to, label->text, sizeof(label->text));
			return to + label->len;
		}
	return NULL;
}

static char *mold_put_hex(char *to, uint64_t v)
{
	unsigned width = (64 - (unsigned)__builtin_clzll(v | 1) + 3) / 4;

	to[0] = '0';
	to[1] = 'x';
	to += 2 + width;
	for (unsigned i = 1; i <= width; i++, v >>= 4)
		to[-(int)i] = "0123456789ABCDEF"[v & 15];
	return to;
}

/* Of a number with a sign, too, if it is not negative; others need the general way. */
static inline char *mold_put_number(char *to, uint64_t u)
{
	return u <= TEXT_JSON_MOST ? pen_put_u64(to, u) : NULL;
}

static inline uint64_t mold_load32(const struct mold_part *part, const uint8_t *const *bases)
{
	uint32_t v;

	memcpy(&v, plan_placed(&part->place, bases), sizeof(v));
	return le32toh(v);
}

static inline uint64_t mold_load64(const struct mold_part *part, const uint8_t *const *bases)
{
	uint64_t v;

	memcpy(&v, plan_placed(&part->place, bases), sizeof(v));
	return le64toh(v);
}

static char *mold_put_decoded(char *to, const char *end, const struct value *value, uint8_t way)
{
	if (way == MOLD_NUMBER)
		return mold_put_number(to, value->u);
	return way <= MOLD_BARE ?
		       mold_put_text(to, end, value->bytes, value_text_length(value), way) :
		       NULL;
}

/* The part of a value that does not need the general way. Return: its end; NULL: it does. @base:
 * the event's first value. */
static inline char *mold_put_value(char *to, const char *end, const struct event *event,
				   const struct value *base, const struct mold_part *part)
{
	const uint8_t *const *bases = event->bases;

	if (!bases)
		return mold_put_decoded(to, end, &base[part->part],
					part->way >= MOLD_U32 ? MOLD_NUMBER : part->way);
	switch (part->way) {
	case MOLD_U32:
		return pen_put_u64(to, mold_load32(part, bases));
	case MOLD_U64:
		return mold_put_number(to, mold_load64(part, bases));
	case MOLD_S32:
		return mold_put_number(to, (uint64_t)(int64_t)(int32_t)mold_load32(part, bases));
	case MOLD_NUMBER:
		return mold_put_number(to, plan_placed_number(&part->place, bases));
	case MOLD_HEX:
		return mold_put_hex(to, plan_placed_number(&part->place, bases));
	case MOLD_LABELED:
		return mold_put_label(to, part, bases);
	default:
		return mold_put_text(to, end, plan_placed(&part->place, bases),
				     plan_placed_text(&part->place, bases), part->way);
	}
}

/* Of an event whose values were only found. */
static void mold_put_placed_task(struct printer *printer, const struct mold *mold,
				 const uint8_t *const *bases)
{
	const struct plan_place *places = mold->task_places;
	bool has[3] = { mold->tasks[0] >= 0, mold->tasks[1] >= 0, mold->tasks[2] >= 0 };
	struct value values[3];
	struct task task;

	if (has[0] && has[1] && has[2] && places[1].kind < PLAN_ARRAY &&
	    places[2].kind < PLAN_ARRAY &&
	    print_kept_task(printer, &(struct print_task_key){
					     .pid = plan_placed_number(&places[1], bases),
					     .tid = plan_placed_number(&places[2], bases),
					     .pid_form = mold->task_forms[1],
					     .tid_form = mold->task_forms[2],
					     .name = plan_placed(&places[0], bases),
					     .name_size = plan_placed_size(&places[0], bases) }))
		return;
	for (uint32_t i = 0; i < ARRAY_SIZE(values); i++)
		if (has[i])
			plan_placed_value(&places[i], bases, &values[i]);
	task = (struct task){ has[0] ? &values[0] : NULL, has[1] ? &values[1] : NULL,
			      has[2] ? &values[2] : NULL };
	print_whole_task(printer, &task);
}

static void mold_put_new_task(struct printer *printer, const struct mold *mold,
			      const uint8_t *const *bases)
{
	struct value values[3];
	const struct task task = { &values[0], &values[1], &values[2] };

	for (uint32_t i = 0; i < ARRAY_SIZE(values); i++)
		plan_placed_value(&mold->task_places[i], bases, &values[i]);
	print_new_task(printer, &task);
	memo_add(&printer->memo, mold->form, plan_placed(&mold->key, bases), printer->task.buf,
		 printer->task.used, print_width(printer->task.buf, printer->task.used));
}

/* A part that is no value. */
static void mold_put_part(struct printer *printer, const struct mold *mold,
			  const struct event *event, const struct mold_part *part)
{
	if (part->way == MOLD_KEPT_TASKS && event->bases)
		mold_put_new_task(printer, mold, event->bases);
	else if (part->way == MOLD_TASKS && event->bases)
		mold_put_placed_task(printer, mold, event->bases);
	else if (part->way == MOLD_TASKS || part->way == MOLD_KEPT_TASKS)
		print_whole_task(printer, &event->task);
	else if (part->way == MOLD_PACKETS)
		print_packet_context(&printer->pen, event->packet);
	else if (part->way == MOLD_TIME)
		print_time(printer, &printer->pen, event->ns);
	else
		print_cell(printer, event, part->part - MOLD_CELLS);
}

/* @write: NULL: as in CSV. */
static void mold_put_general(struct printer *printer, const struct event *event,
			     const struct mold_part *part, mold_value_fn *write)
{
	const struct value *value = event->bases ? NULL : mold_base(event) + part->part;
	struct value placed;

	if (!value) {
		plan_placed_value(&part->place, event->bases, &placed);
		value = &placed;
	}
	mold_put_one(printer, value, part, write);
}

/* The text of an event's process and thread, or of all parts of a run. Return: NULL: none is
 * kept. */
static inline char *mold_put_kept(struct printer *printer, const struct mold *mold,
				  const uint8_t *const *bases, char *to, uint8_t way)
{
	const struct memo_text *kept =
		memo_find(&printer->memo, mold->form, plan_placed(&mold->key, bases));

	if (!kept)
		return NULL;
	to = memo_put(to, kept);
	return way == MOLD_RUN ? to : print_pad_task(printer, to, kept->columns);
}

/* @run: its begin; NULL: it is not together. */
static void mold_keep(struct printer *printer, const struct mold *mold, const uint8_t *const *bases,
		      const char *run, const char *end)
{
	if (run)
		memo_add(&printer->memo, mold->form, plan_placed(&mold->key, bases), run,
			 (size_t)(end - run), 0);
}

void mold_write(struct printer *printer, const struct mold *mold, const struct event *event,
		mold_value_fn *value)
{
	const uint8_t *const *bases = event->bases;
	const struct value *base = mold_base(event);
	struct pen *pen = &printer->pen;
	char *to = pen_room(pen, mold->room), *behind, *run = NULL;
	const char *text = mold->text, *end;

	for (const struct mold_part *part = mold->parts;; part++) {
		memcpy(to, text, MOLD_COPIED);
		if (part->len > MOLD_COPIED)
			memcpy(to + MOLD_COPIED, text + MOLD_COPIED, part->len - MOLD_COPIED);
		to += part->len;
		text += part->len;
		if (part->part < MOLD_CELLS && part->way != MOLD_GENERAL) {
			end = pen->buf + pen->size - mold->room;
			behind = mold_put_value(to, end, event, base, part);
			if (behind) {
				to = behind;
				continue;
			}
		} else if (bases && (part->way == MOLD_RUN || part->way == MOLD_KEPT_TASKS)) {
			behind = mold_put_kept(printer, mold, bases, to, part->way);
			if (behind && part->way == MOLD_RUN) {
				text += mold->run_len;
				part += mold->nr_run + 1;
			}
			run = to;
			to = behind ? behind : to;
			if (behind || part->way == MOLD_RUN)
				continue;
		} else if (part->part == MOLD_RUNS) {
			if (bases && part->way == MOLD_RUN_END)
				mold_keep(printer, mold, bases, run, to);
			continue;
		} else if (part->way == MOLD_PACKETS && print_has_short_packet(event->packet)) {
			to = print_put_short_packet(to, event->packet);
			continue;
		}
		run = NULL;
		pen->used = (size_t)(to - pen->buf);
		if (part->way == MOLD_LAST)
			return;
		if (part->part >= MOLD_CELLS)
			mold_put_part(printer, mold, event, part);
		else
			mold_put_general(printer, event, part, value);
		to = pen_room(pen, mold->room);
	}
}

void mold_free(struct mold *molds)
{
	struct mold *mold;

	while ((mold = molds)) {
		molds = mold->next;
		for (uint32_t i = 0; mold->parts && i < mold->nr; i++)
			free(mold->parts[i].labels);
		free(mold->text);
		free(mold->parts);
		free(mold);
	}
}
