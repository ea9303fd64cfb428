/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events as JSON, one object a line. Integers that a double can't hold are written as strings,
 * and so are NaN and infinities, which JSON lacks; see lttctl(1).
 */
#include <math.h>

#include "analyse/symbol/names.h"
#include "base/str.h"
#include "print.h"

static const struct value *view_json_put_value(struct pen *pen, const struct value *value);

static void view_json_put_string(struct pen *pen, const char *s)
{
	pen_json(pen, (const uint8_t *)s, strlen(s));
}

static void put_key(struct pen *pen, const char *key)
{
	view_json_put_string(pen, key);
	pen_char(pen, ':');
}

static void view_json_put_integer(struct pen *pen, const struct ctf_type *type, uint64_t v)
{
	if (type->is_signed)
		pen_json_i64(pen, (int64_t)v);
	else
		pen_json_u64(pen, v);
}

/* {"labels":["A"],"value":0} */
static void view_json_put_enum(struct pen *pen, const struct ctf_type *type, uint64_t v)
{
	struct enum_labels labels;
	const char *label;
	bool any = false;

	pen_text(pen, "{\"labels\":[");
	for (enum_begin(type, v, &labels); (label = enum_next(&labels)); any = true) {
		pen_bytes(pen, ",", any);
		view_json_put_string(pen, label);
	}
	pen_text(pen, "],\"value\":");
	view_json_put_integer(pen, type, v);
	pen_char(pen, '}');
}

static void put_double(struct pen *pen, const struct value *value)
{
	if (isfinite(value->d))
		pen_double(pen, value->d, value->type->size_bits);
	else
		pen_text(pen, isnan(value->d) ? "\"NaN\"" :
			      value->d > 0    ? "\"Infinity\"" :
						"\"-Infinity\"");
}

static void view_json_put_scalar(struct pen *pen, const struct value *value)
{
	if (value->type->kind == TYPE_FLOAT)
		put_double(pen, value);
	else if (value->type->kind == TYPE_ENUM)
		view_json_put_enum(pen, value->type, value->u);
	else if (value->type->look == LOOK_BOOL)
		pen_text(pen, value->u ? "true" : "false");
	else
		view_json_put_integer(pen, value->type, value->u);
}

static const struct value *view_json_put_array(struct pen *pen, const struct value *value)
{
	const struct value *next = value + 1;

	if (value->type->look == LOOK_BLOB) {
		pen_char(pen, '"');
		print_hex(pen, value, "");
		pen_char(pen, '"');
		return next;
	}
	if (value_is_text(value)) {
		pen_json(pen, value->bytes, text_length(value));
		return next;
	}
	pen_char(pen, '[');
	for (uint32_t i = 0; i < value->count; i++) {
		if (i)
			pen_char(pen, ',');
		if (value_is_packed(value)) {
			struct value elem = value_element(value, i);

			view_json_put_scalar(pen, &elem);
		} else {
			next = view_json_put_value(pen, next);
		}
	}
	pen_char(pen, ']');
	return next;
}

/* "web:request_id":"r-17" */
static const struct value *view_json_put_provided(struct pen *pen, const struct value *value)
{
	const struct value *provided = value_provided(value);

	pen_char(pen, '"');
	print_provided_name(pen, value);
	pen_text(pen, "\":");
	if (provided)
		view_json_put_value(pen, provided);
	else
		pen_text(pen, "null");
	return value_behind(value);
}

/* Without the braces. */
static const struct value *view_json_put_member_list(struct pen *pen, const struct value *value)
{
	const struct value *next = value + 1;

	for (uint32_t i = 0; i < value->count; i++) {
		if (i)
			pen_char(pen, ',');
		if (value_is_provided(next)) {
			mold_give_up(pen);
			next = view_json_put_provided(pen, next);
			continue;
		}
		put_key(pen, next->field->shown);
		next = view_json_put_value(pen, next);
	}
	return next;
}

static const struct value *view_json_put_members(struct pen *pen, const struct value *value)
{
	pen_char(pen, '{');
	value = view_json_put_member_list(pen, value);
	pen_char(pen, '}');
	return value;
}

/* An optional field that is not there is null. */
static const struct value *put_optional(struct pen *pen, const struct value *value)
{
	if (value->count)
		return view_json_put_value(pen, value + 1);
	pen_text(pen, "null");
	return value + 1;
}

static const struct value *view_json_put_value(struct pen *pen, const struct value *value)
{
	if (pen->mold && value->type->kind != TYPE_STRUCT) {
		mold_takes_way(pen, value, mold_way_of(value, true));
		return value_behind(value);
	}
	switch (value->type->kind) {
	case TYPE_STRING:
		pen_json(pen, value->bytes, value->count);
		return value + 1;
	case TYPE_VARIANT:
		if (value->type->is_optional)
			return put_optional(pen, value);
		return view_json_put_members(pen, value);
	case TYPE_STRUCT:
		return view_json_put_members(pen, value);
	case TYPE_ARRAY:
	case TYPE_SEQUENCE:
		return view_json_put_array(pen, value);
	default:
		view_json_put_scalar(pen, value);
		return value + 1;
	}
}

void print_json_value(struct pen *pen, const struct value *value)
{
	view_json_put_value(pen, value);
}

/* The last digits of "ns" are those of "time". */
static void view_json_put_time(struct printer *p, int64_t ns)
{
	struct pen *pen = &p->pen;
	char *to = pen_room(pen, PRINT_TIME_ROOM + sizeof(p->seconds) + 64);
	char five[8];

	memcpy(to, "{\"time\":\"", 9);
	to = print_clock(p, to + 9, ns, "%Y-%m-%dT%H:%M:%S", true);
	memcpy(five, to - 5, sizeof(five));
	memcpy(to, "Z\",\"ns\":", 8);
	to += 8;
	if (!p->seconds_len) {
		pen->used = (size_t)(to - pen->buf);
		pen_json_time(pen, ns);
		return;
	}
	*to++ = '"';
	memcpy(to, p->seconds, sizeof(p->seconds));
	to += p->seconds_len;
	memcpy(to, p->tick_text + p->tick_len - 4, 4);
	memcpy(to + 4, five, sizeof(five));
	to[9] = '"';
	pen->used = (size_t)(to + 10 - pen->buf);
}

static void view_json_put_env(struct pen *pen, const struct source *source)
{
	const char *host = trace_class_env(source->tc, "hostname");
	const char *program = trace_class_env(source->tc, "procname");
	const struct ctf_env *vpid = trace_class_env_find(source->tc, "vpid");

	pen_text(pen, ",\"host\":");
	view_json_put_string(pen, host ? host : "");
	if (source->guest) {
		pen_text(pen, ",\"guest\":");
		pen_json_u64(pen, guest_trace_pid(source->guest));
		pen_text(pen, ",\"uncertainty_ns\":");
		pen_json_u64(pen, guest_trace_uncertainty_ns(source->guest));
	}
	if (program) {
		pen_text(pen, ",\"procname\":");
		view_json_put_string(pen, program);
	}
	if (vpid && !vpid->text) {
		pen_text(pen, ",\"vpid\":");
		pen_json_i64(pen, vpid->number);
	}
}

/* ,"packet":{"cpu_id":0} */
static void put_packet(struct pen *pen, const struct packet *packet)
{
	const struct value *value = packet->context.at, *end = value + packet->context.nr;
	uint32_t nr = 0;

	pen_text(pen, ",\"packet\":{");
	value = next_shown(value + (packet->context.nr > 0), end);
	for (; value < end; value = next_shown(value, end)) {
		if (nr++)
			pen_char(pen, ',');
		put_key(pen, value->field->shown);
		value = view_json_put_value(pen, value);
	}
	pen_char(pen, '}');
}

static void view_json_put_event_name(struct pen *pen, const struct ctf_event_class *ec)
{
	pen_text(pen, ",\"event\":");
	view_json_put_string(pen, ec->name);
	if (ec->loglevel >= 0) {
		pen_text(pen, ",\"loglevel\":");
		view_json_put_string(pen, loglevel_name(ec->loglevel));
	}
}

static void put_scope(struct pen *pen, const char *key, const struct value *value)
{
	if (!value)
		return;
	pen_char(pen, ',');
	put_key(pen, key);
	view_json_put_value(pen, value);
}

/* The contexts of the stream and those of the event are one object. */
static void put_contexts(struct pen *pen, const struct value *stream, const struct value *event)
{
	if (stream && event && stream->count && event->count) {
		pen_text(pen, ",\"context\":{");
		view_json_put_member_list(pen, stream);
		pen_char(pen, ',');
		view_json_put_member_list(pen, event);
		pen_char(pen, '}');
	} else {
		put_scope(pen, "context", event && event->count ? event : stream ? stream : event);
	}
}

static void view_json_put_inlined(struct pen *pen, const struct symbol_inline *inlined)
{
	pen_text(pen, "{\"function\":");
	view_json_put_string(pen, inlined->function);
	if (inlined->file) {
		pen_text(pen, ",\"file\":");
		view_json_put_string(pen, inlined->file);
		pen_text(pen, ",\"line\":");
		pen_json_u64(pen, inlined->line);
	}
	pen_char(pen, '}');
}

static void view_json_put_name(struct pen *pen, const struct name *name)
{
	pen_text(pen, "{\"field\":");
	view_json_put_string(pen, name->value->field->shown);
	if (name->element >= 0) {
		pen_text(pen, ",\"element\":");
		pen_json_i64(pen, name->element);
	}
	pen_text(pen, ",\"address\":");
	pen_json_u64(pen, name->address);
	pen_text(pen, ",\"object\":");
	view_json_put_string(pen, name->object->path);
	if (name->symbol.function) {
		pen_text(pen, ",\"function\":");
		view_json_put_string(pen, name->symbol.function);
	}
	pen_text(pen, ",\"offset\":");
	pen_json_u64(pen, name->symbol.offset);
	if (name->symbol.module) {
		pen_text(pen, ",\"module\":");
		view_json_put_string(pen, name->symbol.module);
	}
	if (name->symbol.file) {
		pen_text(pen, ",\"file\":");
		view_json_put_string(pen, name->symbol.file);
		pen_text(pen, ",\"line\":");
		pen_json_u64(pen, name->symbol.line);
	}
	for (uint32_t i = 0; i < name->symbol.nr_inlined; i++) {
		pen_text(pen, i ? "," : ",\"inlined\":[");
		view_json_put_inlined(pen, &name->symbol.inlined[i]);
	}
	pen_text(pen, name->symbol.nr_inlined ? "]}" : "}");
}

static void view_json_put_names(struct pen *pen, struct names *names, const struct event *event)
{
	struct name all[NAMES_MOST];
	uint32_t nr = names_find(names, event, all);

	for (uint32_t i = 0; i < nr; i++) {
		pen_text(pen, i ? "," : ",\"symbols\":[");
		view_json_put_name(pen, &all[i]);
	}
	pen_text(pen, nr ? "]" : "");
}

/* ,"error_name":"ENOENT" */
static void view_json_put_error(struct pen *pen, const struct event *event)
{
	const struct ctf_field *result = event->ec->result;
	const struct value *value = result ? value_member(event->fields, result->shown) : NULL;
	struct enum_labels labels;
	const char *name;

	if (!value)
		return;
	enum_begin(value->type, value->u, &labels);
	name = enum_next(&labels);
	pen_text(pen, name ? ",\"error_name\":" : "");
	if (name)
		view_json_put_string(pen, name);
}

static void put_object(struct printer *printer, const struct event *event)
{
	struct pen *pen = &printer->pen;

	view_json_put_event_name(pen, event->ec);
	if (!mold_takes_part(pen, MOLD_PACKET))
		print_packet_context(pen, event->packet);
	put_contexts(pen, event->stream_context, event->context);
	put_scope(pen, "fields", event->fields);
}

/* How exactly a guest's times are known changes while its trace is read. */
static void view_json_put_source(struct pen *pen, const struct source *source)
{
	if (!source->guest)
		view_json_put_env(pen, source);
}

void print_json_packet(struct packet *packet, const struct source *source)
{
	print_packet_once(packet, source, view_json_put_source, put_packet);
}

void print_json(struct printer *printer, const struct event *event)
{
	struct pen *pen = &printer->pen;
	const struct mold *mold;

	view_json_put_time(printer, event->ns);
	if (printer->style.delta && printer->any) {
		pen_text(pen, ",\"delta_ns\":");
		pen_json_i64(pen, event->ns - printer->last_ns);
	}
	print_json_packet(event->packet, event->source);
	if (event->source->guest)
		view_json_put_env(pen, event->source);
	print_packet_source(pen, event->packet);
	mold = mold_of(printer, event, put_object, view_json_put_value);
	if (mold)
		mold_write(printer, mold, event, view_json_put_value);
	else
		put_object(printer, event);
	view_json_put_error(pen, event);
	if (printer->style.names)
		view_json_put_names(pen, printer->style.names, event);
	if (event->took) {
		pen_text(pen, ",\"duration_ns\":");
		pen_json_i64(pen, event->took->ns);
		pen_text(pen, event->took->lossy ? ",\"lossy\":true" : "");
	}
	pen_bytes(pen, "}\n", 2);
	printer->last_ns = event->ns;
	printer->any = true;
}
