/* SPDX-License-Identifier: GPL-2.0-only */
#include "mold.h"

#include "base/mem.h"
#include "print.h"

/* The first value of the event: those of its scopes follow each other. */
static const struct value *mold_base(const struct event *event)
{
	return event->stream_context ?: event->context ?: event->fields;
}

static bool mold_note(struct pen *pen, uint32_t part)
{
	struct mold *mold = pen->mold;

	if (!mold)
		return false;
	mold->given_up = mold->given_up || mold->nr == MOLD_PARTS || part > UINT16_MAX;
	if (!mold->given_up)
		mold->parts[mold->nr++] =
			(struct mold_part){ .end = (uint32_t)pen->used, .part = (uint16_t)part };
	return true;
}

bool mold_takes(struct pen *pen, const struct value *value)
{
	return pen->mold && mold_note(pen, (uint32_t)(value - pen->mold->base));
}

bool mold_takes_part(struct pen *pen, uint16_t part)
{
	return mold_note(pen, part);
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
	mold_note(&printer->pen, MOLD_END);
	if (!mold->given_up) {
		mold->text = xalloc(printer->pen.used + 1);
		memcpy(mold->text, printer->pen.buf, printer->pen.used);
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

void mold_write(struct printer *printer, const struct mold *mold, const struct event *event,
		mold_value_fn *value)
{
	const struct value *base = mold_base(event);
	struct pen *pen = &printer->pen;
	uint32_t at = 0;

	for (const struct mold_part *part = mold->parts;; part++) {
		pen_bytes(pen, mold->text + at, part->end - at);
		at = part->end;
		if (part->part == MOLD_END)
			return;
		if (part->part == MOLD_TASK)
			print_whole_task(printer, &event->task);
		else if (part->part == MOLD_PACKET)
			pen_bytes(pen, event->packet->shown, event->packet->shown_len);
		else
			value(pen, base + part->part);
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
