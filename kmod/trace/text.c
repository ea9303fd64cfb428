// SPDX-License-Identifier: GPL-2.0-only
#include "text.h"

#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include <asm/timex.h>
#ifdef CONFIG_X86
#include <asm/tsc.h>
#endif

#include "fields.h"

#define TASK_WIDTH_MAX 48u /* a longer one is not waited for by the others */

/* --- time --------------------------------------------------------------------- */

static s64 text_ns(const struct text_clock *clock, u64 value)
{
	if (clock->hz == NSEC_PER_SEC)
		return clock->base_ns + value;
	return clock->base_ns + value / clock->hz * NSEC_PER_SEC +
	       mul_u64_u64_div_u64(value % clock->hz, NSEC_PER_SEC, clock->hz);
}

static u64 text_counter_hz(void)
{
#if defined(CONFIG_X86)
	return tsc_khz * 1000ull;
#elif defined(CONFIG_ARM64)
	return arch_timer_get_cntfrq();
#else
	return 0;
#endif
}

void text_clock_now(u32 kind, struct text_clock *ret)
{
	u64 hz = kind == LTT_CLOCK_CYCLES ? text_counter_hz() : NSEC_PER_SEC, value;

	preempt_disable();
	value = kind == LTT_CLOCK_CYCLES ? get_cycles() : ktime_get_mono_fast_ns();
	*ret = (struct text_clock){ hz ? hz : NSEC_PER_SEC, 0 };
	ret->base_ns = ktime_get_real_ns() - text_ns(ret, value);
	preempt_enable();
}

/* [17:04:05.123456789] (+0.000001234) */
static void text_put_time(struct line *line, const struct text_printer *printer, s64 ns)
{
	s32 nanos;
	s64 second = div_s64_rem(ns, NSEC_PER_SEC, &nanos), delta = ns - printer->last_ns;
	s32 of_day;

	if (nanos < 0) {
		nanos += NSEC_PER_SEC;
		second--;
	}
	div_s64_rem(second, 86400, &of_day);
	if (of_day < 0)
		of_day += 86400;
	line_char(line, '[');
	line_digits(line, of_day / 3600, 2);
	line_char(line, ':');
	line_digits(line, of_day / 60 % 60, 2);
	line_char(line, ':');
	line_digits(line, of_day % 60, 2);
	line_char(line, '.');
	line_digits(line, nanos, 9);
	if (!printer->any) {
		line_text(line, "] (+?.?????\?\?\?\?) ");
		return;
	}
	line_text(line, delta < 0 ? "] (-" : "] (+");
	delta = delta < 0 ? -delta : delta;
	line_u64(line, delta / NSEC_PER_SEC);
	line_char(line, '.');
	line_digits(line, delta % NSEC_PER_SEC, 9);
	line_text(line, ") ");
}

/* --- values --------------------------------------------------------------------- */

static u64 text_load(const struct field_shape *shape, const u8 *at)
{
	u32 above = 64 - 8 * shape->bytes;
	u64 value = 0;

	memcpy(&value, at, shape->bytes); /* little endian, as all that this module runs on */
	return shape->is_signed ? (u64)((s64)(value << above) >> above) : value;
}

static void text_put_number(struct line *line, const struct field_shape *shape, const u8 *at)
{
	u64 value = text_load(shape, at);

	if (shape->base == 16) {
		line_text(line, "0x");
		line_hex(line, value & (~0ull >> (64 - 8 * shape->bytes)));
	} else if (shape->is_signed) {
		line_s64(line, value);
	} else {
		line_u64(line, value);
	}
}

/* [ [0] = 1, [1] = 2 ] */
static void text_put_array(struct line *line, const struct field_shape *shape, const u8 *at,
			   u32 count)
{
	u32 i;

	if (shape->is_text) {
		line_char(line, '"');
		line_safe(line, at, strnlen(at, count), true);
		line_char(line, '"');
		return;
	}
	line_char(line, '[');
	for (i = 0; i < count; i++) {
		line_text(line, i ? ", [" : " [");
		line_u64(line, i);
		line_text(line, "] = ");
		text_put_number(line, shape, at + i * shape->bytes);
	}
	line_text(line, " ]");
}

/* @at: the whole value, of @bytes. */
static void text_put_value(struct line *line, const struct field_shape *shape, const u8 *at,
			   u32 bytes)
{
	switch (shape->kind) {
	case FIELD_INTEGER:
		text_put_number(line, shape, at);
		break;
	case FIELD_STRING:
		line_char(line, '"');
		line_safe(line, at, bytes - 1, true);
		line_char(line, '"');
		break;
	case FIELD_ARRAY:
		text_put_array(line, shape, at, shape->count);
		break;
	case FIELD_SEQUENCE:
		text_put_array(line, shape, at + sizeof(u16), (bytes - sizeof(u16)) / shape->bytes);
		break;
	}
}

/* Preceded by its length, which is a field of its own in traces. */
static void text_put_length(struct line *line, const char *name, const u8 *at)
{
	u16 count;

	memcpy(&count, at, sizeof(count));
	line_char(line, '_');
	line_identifier(line, name);
	line_text(line, "_length = ");
	line_u64(line, count);
	line_text(line, ", ");
}

static void text_put_field(struct line *line, const struct field *field, const char *name,
			   const u8 *at, u32 bytes)
{
	struct field_shape shape;

	field_get_shape(field, &shape);
	if (shape.kind == FIELD_SEQUENCE)
		text_put_length(line, name, at);
	line_identifier(line, name);
	line_text(line, " = ");
	text_put_value(line, &shape, at, bytes);
}

/* --- contexts ------------------------------------------------------------------- */

/**
 * struct text_task - contexts that name the thread of an event: their numbers among the
 * contexts, or -1; and their values.
 * @pid, @tid: the numbers of the initial namespace if the event has them, else those of the
 *             process's own.
 */
struct text_task {
	int procname, pid, tid;
	const u8 *procname_at, *pid_at, *tid_at;
};

/* @global: not of the process's own namespace. */
static void text_task_take(int *number, const u8 **at, int i, const u8 *value, bool global)
{
	if (*number >= 0 && !global)
		return;
	*number = i;
	*at = value;
}

static void text_task_find(const struct merged *merged, struct text_task *ret)
{
	const struct contexts *contexts = &merged->set->contexts;
	const u8 *at = merged->record.contexts, *end = merged->record.payload;
	int i;

	*ret = (struct text_task){ -1, -1, -1 };
	for (i = 0; i < merged->record.nr_contexts; i++) {
		const char *name = contexts_name(contexts, i);
		int bytes = record_field_bytes(contexts_field(contexts, i), at, end);

		if (bytes < 0)
			return;
		if (!strcmp(name, "procname"))
			text_task_take(&ret->procname, &ret->procname_at, i, at, true);
		else if (!strcmp(name, "pid") || !strcmp(name, "vpid"))
			text_task_take(&ret->pid, &ret->pid_at, i, at, *name == 'p');
		else if (!strcmp(name, "tid") || !strcmp(name, "vtid"))
			text_task_take(&ret->tid, &ret->tid_at, i, at, *name == 't');
		at += bytes;
	}
}

static void text_put_s32(struct line *line, const u8 *at)
{
	s32 value;

	memcpy(&value, at, sizeof(value));
	line_s64(line, value);
}

/* name[pid:tid], or the parts of it that the event has. */
static void text_put_task(struct line *line, const struct text_task *task)
{
	if (task->procname >= 0)
		line_safe(line, task->procname_at, strnlen(task->procname_at, TASK_COMM_LEN),
			  false);
	if (task->pid < 0 && task->tid < 0)
		return;
	line_char(line, '[');
	if (task->pid >= 0)
		text_put_s32(line, task->pid_at);
	if (task->tid >= 0) {
		line_char(line, ':');
		text_put_s32(line, task->tid_at);
	}
	line_char(line, ']');
}

static u32 text_columns(const char *s, size_t len)
{
	u32 columns = 0;
	size_t i;

	for (i = 0; i < len; i++)
		columns += (s[i] & 0xc0) != 0x80;
	return columns;
}

/* As wide as the widest of them. */
static void text_put_task_column(struct line *line, struct text_printer *printer,
				 const struct text_task *task)
{
	char text[TASK_COMM_LEN * 4 + 32];
	struct line own = { .buf = text, .size = sizeof(text) };
	u32 width;

	text_put_task(&own, task);
	line_bytes(line, text, own.used);
	width = text_columns(text, own.used);
	if (width > printer->task_width)
		printer->task_width = min(width, TASK_WIDTH_MAX);
	for (; width < printer->task_width; width++)
		line_char(line, ' ');
	if (printer->task_width)
		line_char(line, ' ');
}

/* Contexts that text_put_task() does not print. */
static void text_put_contexts(struct line *line, const struct merged *merged,
			      const struct text_task *task)
{
	const struct contexts *contexts = &merged->set->contexts;
	const u8 *at = merged->record.contexts, *end = merged->record.payload;
	int i, nr = 0;

	for (i = 0; i < merged->record.nr_contexts; i++) {
		const struct field *field = contexts_field(contexts, i);
		int bytes = record_field_bytes(field, at, end);

		if (bytes < 0)
			return;
		if (i != task->procname && i != task->pid && i != task->tid) {
			line_text(line, nr++ ? ", " : ", { ");
			text_put_field(line, field, contexts_name(contexts, i), at, bytes);
		}
		at += bytes;
	}
	line_text(line, nr ? " }" : "");
}

/* --- the line --------------------------------------------------------------------- */

static void text_put_payload(struct line *line, const struct record *record)
{
	const u8 *at = record->payload;
	const struct field *field;
	u32 i;

	line_text(line, ", {");
	for (i = 0; (field = field_nth(record->event, i)); i++) {
		int bytes = record_field_bytes(field, at, record->end);

		if (bytes < 0)
			break;
		line_text(line, i ? ", " : " ");
		text_put_field(line, field, field->name, at, bytes);
		at += bytes;
	}
	line_text(line, " }");
}

void text_print(struct text_printer *printer, const struct merged *merged, struct line *line)
{
	const struct record *record = &merged->record;
	struct text_task task;

	text_put_time(line, printer, text_ns(&printer->clock, record->time));
	if (printer->host[0]) {
		line_safe(line, printer->host, strlen(printer->host), false);
		line_char(line, ' ');
	}
	text_task_find(merged, &task);
	text_put_task_column(line, printer, &task);
	line_safe(line, record->event->name, strlen(record->event->name), false);
	line_text(line, ": { cpu_id = ");
	line_u64(line, merged->cpu);
	line_text(line, " }");
	text_put_contexts(line, merged, &task);
	text_put_payload(line, record);
	line_char(line, '\n');
}

void text_printed(struct text_printer *printer, const struct merged *merged)
{
	printer->last_ns = text_ns(&printer->clock, merged->record.time);
	printer->any = true;
}
