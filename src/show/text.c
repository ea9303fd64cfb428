/* SPDX-License-Identifier: GPL-2.0-only */
/* Events as lines of text, in the form that babeltrace2 made familiar. */
#include <inttypes.h>

#include "analyse/symbol/demangle.h"
#include "analyse/symbol/names.h"
#include "base/str.h"
#include "print.h"

static const struct value *view_text_put_value(struct pen *pen, const struct value *value);

/* --- values: each function returns the value behind the written one ------- */

/* The bits of a number in digits of @bits each: those of a negative one fill the first, too. */
static void put_digits(struct pen *pen, const struct ctf_type *type, uint64_t v, unsigned bits)
{
	unsigned all = (type->size_bits + bits - 1) / bits * bits;

	pen_power2(pen, all < 64 ? v & ((1ull << all) - 1) : v, bits);
}

void print_integer(struct pen *pen, const struct ctf_type *type, uint64_t v)
{
	switch (type->base) {
	case 16:
		pen_bytes(pen, "0x", 2);
		put_digits(pen, type, v, 4);
		break;
	case 8:
		pen_char(pen, '0');
		put_digits(pen, type, v, 3);
		break;
	case 2:
		pen_bytes(pen, "0b", 2);
		for (unsigned bit = type->size_bits; bit-- > 0;)
			pen_char(pen, '0' + (v >> bit & 1));
		break;
	default:
		if (type->is_signed)
			pen_i64(pen, (int64_t)v);
		else
			pen_u64(pen, v);
	}
}

void print_hex(struct pen *pen, const struct value *blob, const char *between)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < blob->count; i++) {
		pen_text(pen, i ? between : "");
		pen_char(pen, digits[blob->bytes[i] >> 4]);
		pen_char(pen, digits[blob->bytes[i] & 15]);
	}
}

static void put_label(struct pen *pen, const char *label)
{
	pen_quoted(pen, (const uint8_t *)label, strlen(label));
}

/* "A" or "A", "B"; of a set "A" | "B" | 4, with the bits that have no label. */
static void put_labels(struct pen *pen, const struct ctf_type *type, uint64_t v)
{
	struct enum_labels labels;
	const char *label;
	bool any = false;

	for (enum_begin(type, v, &labels); (label = enum_next(&labels)); any = true) {
		pen_text(pen, !any ? "" : type->is_set ? " | " : ", ");
		put_label(pen, label);
	}
	if (!any) {
		pen_text(pen, "<unknown>");
	} else if (type->is_set && labels.value) {
		pen_text(pen, " | ");
		print_integer(pen, type, labels.value);
	}
}

/* 0x5 { "A", "B" } */
static void view_text_put_flags(struct pen *pen, const struct ctf_type *type, uint64_t v)
{
	struct enum_labels labels;
	const char *label;
	bool any = false;

	print_integer(pen, type, v);
	for (enum_begin(type, v, &labels); (label = enum_next(&labels)); any = true) {
		pen_text(pen, any ? ", " : " { ");
		put_label(pen, label);
	}
	pen_text(pen, any ? " }" : "");
}

/* ( "A" : container = 0 ). As in babeltrace2, a value of a set may have a label of its own. */
static void view_text_put_enum(struct pen *pen, const struct ctf_type *type, uint64_t v)
{
	uint32_t own;

	if (type->look == LOOK_FLAGS) {
		view_text_put_flags(pen, type, v);
		return;
	}
	own = type->is_set ? enum_find(type, v, 0) : type->nr_mappings;

	pen_text(pen, "( ");
	if (own < type->nr_mappings)
		put_label(pen, type->mappings[own].label);
	else
		put_labels(pen, type, v);
	pen_text(pen, " : container = ");
	print_integer(pen, type, v);
	pen_text(pen, " )");
}

static void view_text_put_scalar(struct pen *pen, const struct value *value)
{
	if (value->type->kind == TYPE_FLOAT)
		pen_double(pen, value->d, value->type->size_bits);
	else if (value->type->kind == TYPE_ENUM)
		view_text_put_enum(pen, value->type, value->u);
	else if (value->type->look == LOOK_BOOL)
		pen_text(pen, value->u ? "true" : "false");
	else
		print_integer(pen, value->type, value->u);
}

static void put_index(struct pen *pen, uint64_t i)
{
	pen_bytes(pen, i ? ", [" : " [", i ? 3 : 2);
	pen_u64(pen, i);
	pen_bytes(pen, "] = ", 4);
}

/* { 00 ff } */
static void put_blob(struct pen *pen, const struct value *value)
{
	pen_bytes(pen, "{ ", 2);
	print_hex(pen, value, " ");
	pen_bytes(pen, value->count ? " }" : "}", value->count ? 2 : 1);
}

static const struct value *view_text_put_array(struct pen *pen, const struct value *value)
{
	const struct value *next = value + 1;

	if (value->type->look == LOOK_BLOB) {
		put_blob(pen, value);
		return next;
	}
	if (value_is_text(value)) {
		pen_quoted(pen, value->bytes, text_length(value));
		return next;
	}
	pen_char(pen, '[');
	for (uint32_t i = 0; i < value->count; i++) {
		put_index(pen, i);
		if (value_is_packed(value)) {
			struct value elem = value_element(value, i);

			view_text_put_scalar(pen, &elem);
		} else {
			next = view_text_put_value(pen, next);
		}
	}
	pen_bytes(pen, " ]", 2);
	return next;
}

/* { 77 }: the tag selects the option. */
static const struct value *put_option(struct pen *pen, const struct value *value)
{
	if (!value->count) {
		pen_text(pen, "<none>");
		return value + 1;
	}
	pen_bytes(pen, "{ ", 2);
	value = view_text_put_value(pen, value + 1);
	pen_bytes(pen, " }", 2);
	return value;
}

static const struct value *view_text_put_members(struct pen *pen, const struct value *value)
{
	const struct value *next = value + 1;

	pen_char(pen, '{');
	for (uint32_t i = 0; i < value->count; i++) {
		pen_bytes(pen, i ? ", " : " ", i ? 2 : 1);
		pen_bytes(pen, next->field->shown, next->field->shown_len);
		pen_bytes(pen, " = ", 3);
		next = view_text_put_value(pen, next);
	}
	pen_bytes(pen, " }", 2);
	return next;
}

static const struct value *view_text_put_value(struct pen *pen, const struct value *value)
{
	if (pen->mold && value->type->kind != TYPE_STRUCT) {
		mold_takes_way(pen, value, mold_way_of(value, false));
		return value_behind(value);
	}
	switch (value->type->kind) {
	case TYPE_STRING:
		pen_quoted(pen, value->bytes, value->count);
		return value + 1;
	case TYPE_STRUCT:
		return view_text_put_members(pen, value);
	case TYPE_VARIANT:
		return put_option(pen, value);
	case TYPE_ARRAY:
	case TYPE_SEQUENCE:
		return view_text_put_array(pen, value);
	default:
		view_text_put_scalar(pen, value);
		return value + 1;
	}
}

/* --- the line ------------------------------------------------------------- */

static bool has_colors(const struct printer *p)
{
	return p->style.color && !p->style.table;
}

void print_color(struct printer *p, const char *code)
{
	if (has_colors(p))
		pen_text(&p->pen, code);
}

#define DELTA_ROOM (PEN_DIGITS_MOST + 16)

/* A time of day. Return: its end; the memory has PRINT_TIME_ROOM. */
static inline char *put_clock(struct printer *p, char *to, int64_t ns)
{
	const char *format = p->style.clock_date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S";

	return print_clock(p, to, ns, format, p->style.clock_gmt);
}

void print_time(struct printer *p, struct pen *pen, int64_t ns)
{
	if (p->style.clock_seconds) {
		pen_i64(pen, seconds_of(ns));
		pen_char(pen, '.');
		pen_digits(pen, nanos_of(ns), 9);
		return;
	}
	pen->used = (size_t)(put_clock(p, pen_room(pen, PRINT_TIME_ROOM), ns) - pen->buf);
}

static char *put_delta(const struct printer *p, char *to, int64_t ns)
{
	int64_t delta = ns - p->last_ns;
	uint64_t size = delta < 0 ? -(uint64_t)delta : (uint64_t)delta;

	if (!p->any) {
		memcpy(to,
		       " (+?."
		       "?????"
		       "????"
		       ") ",
		       16);
		return to + 16;
	}
	memcpy(to, delta < 0 ? " (-0.0000" : " (+0.0000", 9);
	if (size < 100000) {
		pen_put_five(to + 9, (uint32_t)size);
		memcpy(to + 14, ") ", 2);
		return to + 16;
	}
	to += 5;
	if (size >= 1000000000) {
		to = pen_put_u64(to - 2, size / 1000000000);
		*to++ = '.';
		size %= 1000000000;
	}
	pen_put_nanos(to, (uint32_t)size);
	memcpy(to + 9, ") ", 2);
	return to + 11;
}

/* The time of the event, and that since the one before it. */
static void put_times(struct printer *p, int64_t ns)
{
	struct pen *pen = &p->pen;
	char *to;

	print_color(p, PRINT_MAGENTA);
	if (p->style.color || p->style.clock_seconds) {
		pen_char(pen, '[');
		print_time(p, pen, ns);
		pen_char(pen, ']');
		print_color(p, PRINT_RESET);
		to = pen_room(pen, DELTA_ROOM);
	} else {
		to = pen_room(pen, PRINT_TIME_ROOM + DELTA_ROOM + 2);
		*to = '[';
		to = put_clock(p, to + 1, ns);
		*to++ = ']';
	}
	pen->used = (size_t)(put_delta(p, to, ns) - pen->buf);
}

uint32_t print_width(const char *s, size_t len)
{
	uint32_t columns = 0;

	for (size_t i = 0; i < len; i++)
		columns += (s[i] & 0xc0) != 0x80;
	return columns;
}

/* name[pid:tid], or the parts of it that the event has. */
static void put_task_text(struct pen *pen, const struct task *task)
{
	if (task->procname)
		pen_name_bytes(pen, task->procname->bytes, value_text_length(task->procname));
	if (!task->pid && !task->tid)
		return;
	pen_char(pen, '[');
	if (task->pid)
		print_integer(pen, task->pid->type, task->pid->u);
	if (task->tid) {
		pen_char(pen, ':');
		print_integer(pen, task->tid->type, task->tid->u);
	}
	pen_char(pen, ']');
}

void print_task(struct printer *p)
{
	struct pen *pen = &p->pen;
	size_t len = p->task.used;

	if (len) {
		print_color(p, PRINT_GREEN);
		pen_bytes(pen, p->task.buf, len);
		print_color(p, PRINT_RESET);
	}
	pen->used = (size_t)(print_pad_task(p, pen_room(pen, PRINT_TASK_WIDTH_MAX + 1),
				      print_width(p->task.buf, len)) -
			     pen->buf);
}

static void put_kept_task(struct printer *p, const struct print_task *kept)
{
	struct pen *pen = &p->pen;
	char *to;

	print_color(p, PRINT_GREEN);
	to = pen_room(pen, PRINT_TASK_TEXT + PRINT_TASK_WIDTH_MAX + 1);
	memcpy(to, kept->text, 32);
	if (kept->text_len > 32)
		memcpy(to + 32, kept->text + 32, PRINT_TASK_TEXT - 32);
	pen->used += kept->text_len;
	if (has_colors(p)) {
		print_color(p, PRINT_RESET);
		to = pen_room(pen, PRINT_TASK_WIDTH_MAX + 1);
	} else {
		to += kept->text_len;
	}
	pen->used = (size_t)(print_pad_task(p, to, kept->columns) - pen->buf);
}

uint32_t print_integer_form(const struct ctf_type *type)
{
	return (uint32_t)type->base << 16 | (uint32_t)type->size_bits << 8 | type->is_signed;
}

static struct print_task *task_slot(struct printer *p, uint64_t tid)
{
	return &p->tasks[tid % PRINT_TASKS];
}

/* A kept name has no NUL. */
static inline bool has_kept_name(const struct print_task *kept, const struct print_task_key *key)
{
	size_t len = kept->name_len;

	if (key->name_size == kept->whole_size &&
	    memcmp(kept->name, key->name, PRINT_TASK_NAME) == 0)
		return true;

	return key->name_size >= len && memcmp(kept->name, key->name, len) == 0 &&
	       (key->name_size == len || !key->name[len]);
}

bool print_kept_task(struct printer *p, const struct print_task_key *key)
{
	const struct print_task *kept = task_slot(p, key->tid);

	if (!kept->text_len || kept->tid != key->tid || kept->pid != key->pid ||
	    kept->tid_form != key->tid_form || kept->pid_form != key->pid_form ||
	    !has_kept_name(kept, key))
		return false;
	put_kept_task(p, kept);
	return true;
}

static void keep_task(struct print_task *kept, const struct print_task_key *key,
		      const struct pen *text)
{
	size_t len = strnlen((const char *)key->name, key->name_size);

	kept->text_len = 0;
	if (len > sizeof(kept->name) || text->used > sizeof(kept->text))
		return;
	*kept = (struct print_task){
		.pid_form = key->pid_form,
		.tid_form = key->tid_form,
		.pid = key->pid,
		.tid = key->tid,
		.name_len = (uint8_t)len,
		.text_len = (uint8_t)text->used,
		.columns = (uint8_t)print_width(text->buf, text->used),
	};
	memcpy(kept->name, key->name, MIN(key->name_size, sizeof(kept->name)));
	if (key->name_size >= sizeof(kept->name) &&
	    (len < sizeof(kept->name) || key->name_size == len))
		kept->whole_size = (uint32_t)key->name_size;
	memcpy(kept->text, text->buf, text->used);
}

void print_new_task(struct printer *p, const struct task *task)
{
	p->task.used = 0;
	if (p->style.table)
		print_task_cells(p, &p->task, task);
	else
		put_task_text(&p->task, task);
	print_task(p);
}

void print_whole_task(struct printer *p, const struct task *task)
{
	bool is_whole = task->procname && task->pid && task->tid;
	struct print_task_key key;

	if (is_whole) {
		key = (struct print_task_key){
			.pid = task->pid->u,
			.tid = task->tid->u,
			.pid_form = print_integer_form(task->pid->type),
			.tid_form = print_integer_form(task->tid->type),
			.name = task->procname->bytes,
			.name_size = task->procname->count,
		};
		if (print_kept_task(p, &key))
			return;
	}
	print_new_task(p, task);
	if (is_whole)
		keep_task(task_slot(p, key.tid), &key, &p->task);
}

static void view_text_put_event_name(struct printer *p, const struct event *event)
{
	if (p->style.tasks && !mold_takes_part(&p->pen, MOLD_TASK))
		print_whole_task(p, &event->task);
	if (p->style.loglevel && event->ec->loglevel >= 0) {
		pen_text(&p->pen, loglevel_name(event->ec->loglevel));
		pen_text(&p->pen, " (");
		pen_u64(&p->pen, event->ec->loglevel);
		pen_text(&p->pen, ") ");
	}
	print_color(p, PRINT_NAME);
	if (event->ec->name_is_plain)
		pen_bytes(&p->pen, event->ec->name, event->ec->name_len);
	else
		pen_name(&p->pen, event->ec->name);
	print_color(p, PRINT_RESET);
	pen_bytes(&p->pen, ": ", 2);
}

/* The members that the reader does not keep for itself; cpu_id mostly. */
static void put_packet_context(struct pen *pen, const struct packet *packet)
{
	const struct value *value = packet->context.at, *end = value + packet->context.nr;
	uint32_t nr = 0;

	if (!packet->context.nr)
		return;
	pen_char(pen, '{');
	for (value = next_shown(value + 1, end); value < end; value = next_shown(value, end)) {
		pen_text(pen, nr++ ? ", " : " ");
		pen_text(pen, value->field->shown);
		pen_text(pen, " = ");
		value = view_text_put_value(pen, value);
	}
	pen_text(pen, " }");
}

/* web:request_id = "r-17" */
static const struct value *view_text_put_provided(struct pen *pen, const struct value *value)
{
	const struct value *provided = value_provided(value);

	print_provided_name(pen, value);
	pen_bytes(pen, " = ", 3);
	if (provided)
		view_text_put_value(pen, provided);
	else
		pen_text(pen, "none");
	return value_behind(value);
}

/* A context without the members that view_text_put_task() prints. Return: whether any is left. */
static bool put_other_contexts(struct pen *pen, const struct value *scope, const struct task *task,
			       bool comma)
{
	const struct value *value = scope + 1;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < scope->count; i++) {
		if (task_has(task, value)) {
			value++;
			continue;
		}
		pen_text(pen, nr++ ? ", " : comma ? ", { " : "{ ");
		if (value_is_provided(value)) {
			mold_give_up(pen);
			value = view_text_put_provided(pen, value);
			continue;
		}
		pen_bytes(pen, value->field->shown, value->field->shown_len);
		pen_bytes(pen, " = ", 3);
		value = view_text_put_value(pen, value);
	}
	pen_text(pen, nr ? " }" : "");
	return nr;
}

static void put_took(struct pen *pen, const struct took *took)
{
	pen_text(pen, " (took ");
	pen_i64(pen, seconds_of(took->ns));
	pen_char(pen, '.');
	pen_digits(pen, nanos_of(took->ns), 9);
	pen_text(pen, took->lossy ? " s; events were lost meanwhile)" : " s)");
}

static const char *view_text_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* call_site: main+0x1f main.c:12 */
static void view_text_put_name(struct pen *pen, const struct name *name, bool brief)
{
	const struct symbol *symbol = &name->symbol;
	char buf[256];

	pen_name(pen, name->value->field->shown);
	if (name->element >= 0) {
		pen_char(pen, '[');
		pen_i64(pen, name->element);
		pen_char(pen, ']');
	}
	pen_text(pen, ": ");
	if (symbol->function && brief)
		demangle_brief(symbol->function, buf, sizeof(buf));
	pen_name(pen, symbol->function && brief ? buf :
		      symbol->function	       ? symbol->function :
						 view_text_last_part(name->object->path));
	if (!symbol->function || symbol->offset) {
		snprintf(buf, sizeof(buf), "+0x%" PRIx64, symbol->offset);
		pen_text(pen, buf);
	}
	if (symbol->module) {
		pen_text(pen, " [");
		pen_name(pen, symbol->module);
		pen_char(pen, ']');
	}
	if (symbol->file) {
		pen_char(pen, ' ');
		pen_name(pen, view_text_last_part(symbol->file));
		pen_char(pen, ':');
		pen_u64(pen, symbol->line);
	}
}

void print_names(struct printer *printer, const struct event *event)
{
	struct pen *pen = &printer->pen;
	struct name all[NAMES_MOST];
	uint32_t nr = names_find(printer->style.names, event, all);

	for (uint32_t i = 0; i < nr; i++) {
		pen_text(pen, i ? ", " : " (");
		view_text_put_name(pen, &all[i], printer->style.tasks);
	}
	pen_text(pen, nr ? ")" : "");
}

/* All that follows from the event but its time. */
static void put_event(struct printer *printer, const struct event *event)
{
	const struct value *scopes[] = { event->stream_context, event->context, event->fields };
	struct pen *pen = &printer->pen;
	bool comma = event->packet->context.nr > 0;

	view_text_put_event_name(printer, event);
	if (comma && !mold_takes_part(pen, MOLD_PACKET))
		print_packet_context(pen, event->packet);
	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++) {
		if (!scopes[i])
			continue;
		if (printer->style.tasks && scopes[i] != event->fields) {
			comma |= put_other_contexts(pen, scopes[i], &event->task, comma);
			continue;
		}
		pen_bytes(pen, ", ", comma ? 2 : 0);
		view_text_put_value(pen, scopes[i]);
		comma = true;
	}
}

static void view_text_put_source(struct pen *pen, const struct source *source)
{
	if (source->host[0]) {
		pen_name(pen, source->host);
		pen_char(pen, ' ');
	}
}

void print_text_packet(struct packet *packet, const struct source *source)
{
	print_packet_once(packet, source, view_text_put_source, put_packet_context);
}

void print_text(struct printer *printer, const struct event *event)
{
	struct pen *pen = &printer->pen;
	const struct mold *mold;

	put_times(printer, event->ns);
	print_text_packet(event->packet, event->source);
	print_packet_source(pen, event->packet);
	mold = mold_of(printer, event, put_event, view_text_put_value);
	if (mold)
		mold_write(printer, mold, event, view_text_put_value);
	else
		put_event(printer, event);
	if (printer->style.names)
		print_names(printer, event);
	if (event->took)
		put_took(pen, event->took);
	pen_char(pen, '\n');
	printer->last_ns = event->ns;
	printer->any = true;
}
