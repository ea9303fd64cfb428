/* SPDX-License-Identifier: GPL-2.0-only */
#include "mold.h"

#include "base/mem.h"
#include "base/text.h"
#include "print.h"

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
			(struct mold_part){ .end = (uint32_t)pen->used,
					    .part = (uint16_t)part,
					    .way = (uint8_t)way };
	return true;
}

enum mold_way mold_way_of(const struct value *value, bool any_base)
{
	const struct ctf_type *type = value->type;

	if (type->kind == TYPE_INT)
		return any_base || (type->base != 16 && type->base != 8 && type->base != 2) ?
			       MOLD_NUMBER :
			       MOLD_GENERAL;
	return type->kind == TYPE_STRING || value_is_text(value) ? MOLD_QUOTED : MOLD_GENERAL;
}

bool mold_takes_way(struct pen *pen, const struct value *value, enum mold_way way)
{
	return pen->mold && mold_note(pen, (uint32_t)(value - pen->mold->base), way);
}

bool mold_takes_part(struct pen *pen, uint16_t part)
{
	return mold_note(pen, part, MOLD_GENERAL);
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

static struct mold *mold_make(struct printer *printer, const struct event *event,
			      mold_write_fn *write)
{
	struct mold *mold = xalloc(sizeof(*mold));
	struct pen out = printer->pen;

	mold->next = printer->molds;
	printer->molds = event->ec->mold = mold;
	if (!mold_can_be(event))
		return mold;
	mold->base = mold_base(event);
	mold_find_tasks(mold->base, &event->task, mold->tasks);
	pen_init(&printer->pen, NULL);
	printer->pen.mold = mold;
	write(printer, event);
	mold_note(&printer->pen, MOLD_END, MOLD_GENERAL);
	if (!mold->given_up) {
		mold->text = xalloc(printer->pen.used + MOLD_COPIED);
		memcpy(mold->text, printer->pen.buf, printer->pen.used);
		mold->room = printer->pen.used + MOLD_COPIED + mold->nr * PEN_DIGITS_MOST;
	}
	pen_fini(&printer->pen);
	printer->pen = out;
	return mold;
}

static bool mold_fits(const struct mold *mold, const struct event *event)
{
	int32_t tasks[3];

	if (event->ec->task_is_known)
		return mold->text;
	mold_find_tasks(mold_base(event), &event->task, tasks);
	return mold->text && memcmp(tasks, mold->tasks, sizeof(tasks)) == 0;
}

const struct mold *mold_of(struct printer *printer, const struct event *event,
			   mold_write_fn *write)
{
	const struct mold *mold = event->ec->mold ?: mold_make(printer, event, write);

	return mold_fits(mold, event) ? mold : NULL;
}

/* The part of the value that does not need the general way. Return: its end; NULL: it does. */
static char *mold_put_value(char *to, const char *end, const struct value *value, uint8_t way)
{
	size_t len, quotes = way == MOLD_BARE ? 0 : way == MOLD_DOUBLED ? 2 : 1;

	if (way == MOLD_NUMBER)
		return value->u <= TEXT_JSON_MOST ? pen_put_u64(to, value->u) : NULL;
	len = value_text_length(value);
	if (end - to < (ptrdiff_t)(len + 2 * quotes))
		return NULL;
	to[0] = to[quotes > 1] = '"';
	to += quotes;
	if (pen_put_plain(to, value->bytes, len) < len ||
	    (way == MOLD_BARE && memchr(value->bytes, ',', len)))
		return NULL;
	to += len;
	to[0] = to[quotes > 1] = '"';
	return to + quotes;
}

static void mold_put_part(struct printer *printer, const struct event *event, uint16_t part)
{
	if (part == MOLD_TASK)
		print_whole_task(printer, &event->task);
	else if (part == MOLD_PACKET)
		pen_bytes(&printer->pen, event->packet->shown, event->packet->shown_len);
	else
		print_cell(printer, event, part - MOLD_CELLS);
}

void mold_write(struct printer *printer, const struct mold *mold, const struct event *event,
		mold_value_fn *value)
{
	const struct value *base = mold_base(event);
	struct pen *pen = &printer->pen;
	char *to = pen_room(pen, mold->room), *behind;
	const char *text = mold->text, *end;

	for (const struct mold_part *part = mold->parts;; part++) {
		size_t len = (size_t)(mold->text + part->end - text);

		memcpy(to, text, MOLD_COPIED);
		if (len > MOLD_COPIED)
			memcpy(to + MOLD_COPIED, text + MOLD_COPIED, len - MOLD_COPIED);
		to += len;
		text += len;
		if (part->way != MOLD_GENERAL) {
			end = pen->buf + pen->size - mold->room;
			behind = mold_put_value(to, end, base + part->part, part->way);
			if (behind) {
				to = behind;
				continue;
			}
		}
		pen->used = (size_t)(to - pen->buf);
		if (part->part == MOLD_END)
			return;
		if (part->part >= MOLD_CELLS)
			mold_put_part(printer, event, part->part);
		else if (!value)
			print_value_cell(printer, base + part->part, part->way != MOLD_BARE);
		else
			value(pen, base + part->part);
		to = pen_room(pen, mold->room);
	}
}

void mold_free(struct mold *molds)
{
	struct mold *mold;

	while ((mold = molds)) {
		molds = mold->next;
		free(mold->text);
		free(mold);
	}
}
