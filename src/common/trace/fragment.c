/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fragment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "ltt_ring.h"
#include "packet.h"

#define NAME_BYTES 272
#define STRUCTURE "{\"type\":\"structure\",\"member-classes\":["

void fragment_text(FILE *f, const char *s)
{
	uint32_t c;

	fputc('"', f);
	while (*s) {
		size_t len = escape_decode((const unsigned char *)s, strlen(s), &c);

		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < ' ' || *s == 0x7f)
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else if ((unsigned char)*s < 0x80 || len)
			fwrite(s, 1, len ? len : 1, f);
		else
			fprintf(f, "\\\\x%02x", (unsigned char)*s);
		s += len ? len : 1;
	}
	fputc('"', f);
}

static void fragment_member(FILE *f, const char *key, const char *value)
{
	fprintf(f, ",\"%s\":", key);
	fragment_text(f, value);
}

static void fragment_begin(FILE *f, const char *type)
{
	fprintf(f, "%c{\"type\":\"%s\"", METAPACKET_SEPARATOR, type);
}

static void fragment_end(FILE *f)
{
	fputs("}\n", f);
}

/* --- field classes -------------------------------------------------------------------------- */

/** struct fragment_integer - @role: NULL: none. */
struct fragment_integer {
	unsigned int bits, align, base;
	bool is_signed, big;
	const char *role;
};

/* Without its end: mappings and attributes can follow. */
static void fragment_put_integer(FILE *f, const struct fragment_integer *i)
{
	fprintf(f,
		"{\"type\":\"fixed-length-%ssigned-integer\",\"length\":%u,"
		"\"byte-order\":\"%s-endian\",\"alignment\":%u",
		i->is_signed ? "" : "un", i->bits, i->big ? "big" : "little", i->align);
	if (i->base && i->base != 10)
		fprintf(f, ",\"preferred-display-base\":%u", i->base);
	if (i->role)
		fprintf(f, ",\"roles\":[\"%s\"]", i->role);
}

static void fragment_put_float(FILE *f, unsigned int bits, bool big)
{
	fprintf(f,
		"{\"type\":\"fixed-length-floating-point-number\",\"length\":%u,"
		"\"byte-order\":\"%s-endian\",\"alignment\":8}",
		bits, big ? "big" : "little");
}

static struct fragment_integer integer_of(const struct layout_field *field)
{
	return (struct fragment_integer){
		.bits = field->size_bits,
		.align = 8,
		.base = field->base,
		.is_signed = field->flags & LTT_FIELD_SIGNED,
		.big = field->flags & LTT_FIELD_BIG_ENDIAN,
	};
}

/* Most fields are integers of few kinds, whose classes have names: u32, i64 and so on, x32 for
 * hexadecimal ones. */
static void fragment_put_aliases(FILE *f)
{
	static const char kinds[] = "uix";

	for (unsigned int k = 0; kinds[k]; k++)
		for (unsigned int bits = 8; bits <= 64; bits *= 2) {
			fragment_begin(f, "field-class-alias");
			fprintf(f, ",\"name\":\"%c%u\",\"field-class\":", kinds[k], bits);
			fragment_put_integer(f, &(struct fragment_integer){
							.bits = bits,
							.align = 8,
							.base = kinds[k] == 'x' ? 16 : 10,
							.is_signed = kinds[k] == 'i' });
			fputs("}", f);
			fragment_end(f);
		}
	for (unsigned int bits = 32; bits <= 64; bits *= 2) {
		fragment_begin(f, "field-class-alias");
		fprintf(f, ",\"name\":\"f%u\",\"field-class\":", bits);
		fragment_put_float(f, bits, false);
		fragment_end(f);
	}
	fragment_begin(f, "field-class-alias");
	fputs(",\"name\":\"string\",\"field-class\":{\"type\":\"null-terminated-string\"}", f);
	fragment_end(f);
}

static void fragment_integer_class(FILE *f, const struct layout_field *field)
{
	const struct fragment_integer i = integer_of(field);
	bool decimal = !i.base || i.base == 10;

	if (!i.big && (decimal || (i.base == 16 && !i.is_signed))) {
		fprintf(f, "\"%c%u\"", decimal ? i.is_signed ? 'i' : 'u' : 'x', i.bits);
		return;
	}
	fragment_put_integer(f, &i);
	fputc('}', f);
}

static void fragment_float_class(FILE *f, const struct layout_field *field)
{
	if (field->flags & LTT_FIELD_BIG_ENDIAN)
		fragment_put_float(f, field->size_bits, true);
	else
		fprintf(f, "\"f%u\"", field->size_bits);
}

/* --- enumerations --------------------------------------------------------------------------- */

/** struct mapping - a label. @next: the next range of the same name; NULL: none. */
struct mapping {
	const struct layout_label *label;
	struct mapping *next;
	bool is_first;
};

static int compare_mappings(const void *a, const void *b)
{
	const struct mapping *x = *(struct mapping *const *)a, *y = *(struct mapping *const *)b;
	int order = strcmp(x->label->text, y->label->text);

	return order ? order : x < y ? -1 : x > y;
}

static void put_range(FILE *f, const struct layout_field *field, const struct layout_label *l)
{
	if (field->flags & LTT_FIELD_SIGNED)
		fprintf(f, "[%" PRId64 ",%" PRId64 "]", l->first, l->last);
	else
		fprintf(f, "[%" PRIu64 ",%" PRIu64 "]", (uint64_t)l->first, (uint64_t)l->last);
}

/* A name has all of its ranges at the place of its first one. */
static void put_mappings(FILE *f, const struct layout_field *field)
{
	AUTO_FREE struct mapping *all = xalloc(field->nr_labels * sizeof(*all));
	AUTO_FREE struct mapping **sorted = xalloc(field->nr_labels * sizeof(struct mapping *));
	const char *comma = "";

	for (uint32_t i = 0; i < field->nr_labels; i++) {
		all[i] = (struct mapping){ .label = &field->labels[i], .is_first = true };
		sorted[i] = &all[i];
	}
	qsort(sorted, field->nr_labels, sizeof(*sorted), compare_mappings);
	for (uint32_t i = 1; i < field->nr_labels; i++)
		if (strcmp(sorted[i - 1]->label->text, sorted[i]->label->text) == 0) {
			sorted[i - 1]->next = sorted[i];
			sorted[i]->is_first = false;
		}
	fputs(",\"mappings\":{", f);
	for (uint32_t i = 0; i < field->nr_labels; i++) {
		if (!all[i].is_first)
			continue;
		fputs(comma, f);
		fragment_text(f, all[i].label->text);
		fputs(":[", f);
		for (const struct mapping *m = &all[i]; m; m = m->next) {
			fputs(m == &all[i] ? "" : ",", f);
			put_range(f, field, m->label);
		}
		fputc(']', f);
		comma = ",";
	}
	fputc('}', f);
}

/* Of an integer with labels, or without. */
static void fragment_enum_class(FILE *f, const struct layout_field *field)
{
	const struct fragment_integer i = integer_of(field);

	if (!field->nr_labels) {
		fragment_integer_class(f, field);
		return;
	}
	fragment_put_integer(f, &i);
	put_mappings(f, field);
	if (field->is_set)
		fprintf(f, ",\"attributes\":{\"" FRAGMENT_ATTRIBUTES "\":{\"set\":%" PRIu64 "}}",
			field->mask);
	fputc('}', f);
}

void fragment_type(FILE *f, const char *name, const struct layout_field *field)
{
	fragment_begin(f, "field-class-alias");
	fragment_member(f, "name", name);
	fputs(",\"field-class\":", f);
	fragment_enum_class(f, field);
	fragment_end(f);
}

/* --- fields of events ----------------------------------------------------------------------- */

static void fragment_member_begin(FILE *f, bool *first, const char *name)
{
	fputs(*first ? "{\"name\":" : ",{\"name\":", f);
	fragment_text(f, name);
	fputs(",\"field-class\":", f);
	*first = false;
}

static void fragment_element(FILE *f, const struct layout_field *field)
{
	fputs(",\"element-field-class\":", f);
	if (field->flags & LTT_FIELD_FLOAT_ELEM)
		fragment_float_class(f, field);
	else
		fragment_enum_class(f, field);
}

/* Strings and arrays. @length: where the length is; NULL: it is constant. */
static void fragment_array(FILE *f, const struct layout_field *field, const char *origin,
			   const char *length)
{
	bool is_text = field->flags & LTT_FIELD_TEXT;

	fprintf(f, "{\"type\":\"%s-length-%s\"", length ? "dynamic" : "static",
		is_text ? "string" : "array");
	if (!is_text)
		fragment_element(f, field);
	if (length)
		fprintf(f,
			",\"length-field-location\":{\"origin\":\"%s\",\"path\":[\"%s\"]}}",
			origin, length);
	else
		fprintf(f, ",\"length\":%u}", field->count);
}

/* As the structure of the TSDL: see put_dynamic() there. */
static void fragment_dynamic(FILE *f, const char *name)
{
	const struct fragment_integer kind = { .bits = 8, .align = 8 };

	fputs(STRUCTURE "{\"name\":\"kind\",\"field-class\":", f);
	fragment_put_integer(f, &kind);
	fputs(",\"mappings\":{\"none\":[[0,0]],\"integer\":[[1,1]],\"float\":[[2,2]],"
	      "\"string\":[[3,3]],",
	      f);
	fragment_text(f, name + strlen(METADATA_PROVIDED));
	fprintf(f,
		":[[%u,%u]]}}},{\"name\":\"integer\",\"field-class\":\"i64\"},"
		"{\"name\":\"float\",\"field-class\":\"f64\"},"
		"{\"name\":\"string\",\"field-class\":\"string\"}]}",
		METADATA_PROVIDED_NAME, METADATA_PROVIDED_NAME);
}

static void fragment_field(FILE *f, const struct layout_field *field, const char *origin,
			   bool *first)
{
	char name[NAME_BYTES - 16], length[NAME_BYTES];

	metadata_identifier(field->name, name, sizeof(name));
	if (layout_has_length(field)) {
		snprintf(length, sizeof(length), "%s_length", name);
		fragment_member_begin(f, first, length);
		fprintf(f, "\"u%u\"}", field->length_bits);
	}
	fragment_member_begin(f, first, name + 1);
	if (field->kind == LTT_KIND_FLOAT)
		fragment_float_class(f, field);
	else if (field->kind == LTT_KIND_STRING)
		fputs("\"string\"", f);
	else if (field->kind == LAYOUT_KIND_DYNAMIC)
		fragment_dynamic(f, field->name);
	else if (layout_has_length(field))
		fragment_array(f, field, origin, length);
	else if (field->kind == LTT_KIND_ARRAY)
		fragment_array(f, field, origin, NULL);
	else
		fragment_enum_class(f, field);
	fputc('}', f);
}

/* The structure is open at the end. */
static void fragment_fields(FILE *f, const char *key, const char *origin,
			    const struct layout *layout)
{
	bool first = true;

	fprintf(f, ",\"%s-field-class\":" STRUCTURE, key);
	for (uint32_t i = 0; i < layout->nr_fields; i++)
		if (!(layout->fields[i].flags & LTT_FIELD_NOWRITE))
			fragment_field(f, &layout->fields[i], origin, &first);
	fputc(']', f);
}

/* --- event classes -------------------------------------------------------------------------- */

/* babeltrace2 has these attributes of an event class: its level, and a URI, which is the format of
 * a marker here. */
static void put_attributes(FILE *f, const struct metadata_event *event)
{
	static const char *const levels[] = {
		"emergency",	 "alert",	  "critical",	   "error",	   "warning",
		"notice",	 "info",	  "debug:system",  "debug:program", "debug:process",
		"debug:module",	 "debug:unit",	  "debug:function", "debug:line",   "debug",
	};
	bool has_level = event->loglevel >= 0 && event->loglevel < (int)ARRAY_SIZE(levels);
	bool has_format = event->format && event->format[0];

	if (!has_level && !has_format)
		return;
	fputs(",\"attributes\":{\"babeltrace.org,2020\":{", f);
	if (has_level)
		fprintf(f, "\"log-level\":\"%s\"%s", levels[event->loglevel],
			has_format ? "," : "");
	if (has_format) {
		fputs("\"emf-uri\":\"", f);
		metadata_put_format(f, event->format);
		fputc('"', f);
	}
	fputs("}}", f);
}

void fragment_event_body(FILE *f, const struct metadata_event *event)
{
	fragment_member(f, "name", event->name);
	put_attributes(f, event);
	fragment_fields(f, "payload", "event-record-payload", event->layout);
}

void fragment_event_context(FILE *f, const struct layout *contexts)
{
	if (!contexts->nr_fields)
		return;
	fputc('}', f);
	fragment_fields(f, "specific-context", "event-record-specific-context", contexts);
}

void fragment_event_note(FILE *f, const char *recorded)
{
	fputs(",\"attributes\":{\"" FRAGMENT_ATTRIBUTES "\":{\"recorded\":", f);
	fragment_text(f, recorded);
	fputs("}}", f);
}

void fragment_event(FILE *f, uint32_t stream_class, uint32_t id, const char *body)
{
	fragment_begin(f, "event-record-class");
	fprintf(f, ",\"id\":%u,\"data-stream-class-id\":%u%s}", id, stream_class, body);
	fragment_end(f);
}

void fragment_remark(FILE *f, const char *remark, uint64_t nr)
{
	fragment_begin(f, "field-class-alias");
	fprintf(f,
		",\"name\":\"remark %" PRIu64 "\",\"field-class\":\"string\","
		"\"attributes\":{\"" FRAGMENT_ATTRIBUTES "\":{\"remark\":",
		nr);
	fragment_text(f, remark);
	fputs("}}", f);
	fragment_end(f);
}

/* --- the head ------------------------------------------------------------------------------- */

static void fragment_role(FILE *f, bool *first, const char *name, unsigned int bits,
			  unsigned int align, const char *role)
{
	fragment_member_begin(f, first, name);
	fragment_put_integer(f, &(struct fragment_integer){
					.bits = bits, .align = align, .role = role });
	fputs("}}", f);
}

/* Numbers of one width: a copy of the trace has another UUID at the same place. */
static void fragment_preamble(FILE *f, const uint8_t *uuid)
{
	char text[METADATA_UUID_NUMBERS + 1];

	metadata_uuid_numbers(uuid, text);
	fprintf(f,
		"%c" METAPACKET_PREAMBLE "%s],\"attributes\":{\"" FRAGMENT_ATTRIBUTES
		"\":{\"packets\":%u}}",
		METAPACKET_SEPARATOR, text, PACKET_FORM);
	fragment_end(f);
}

static void fragment_packet_header(FILE *f)
{
	bool first = true;

	fputs(",\"packet-header-field-class\":" STRUCTURE, f);
	fragment_role(f, &first, "magic", 32, 8, "packet-magic-number");
	fragment_role(f, &first, "stream_instance_id", 32, 8, "data-stream-id");
	fragment_role(f, &first, "stream_id", 32, 512, "data-stream-class-id");
	fragment_member_begin(f, &first, "uuid");
	fputs("{\"type\":\"static-length-blob\",\"length\":16,"
	      "\"roles\":[\"metadata-stream-uuid\"]}}]}",
	      f);
}

static void fragment_trace(FILE *f, const struct metadata_trace *t)
{
	char uuid[METADATA_UUID_TEXT + 1];

	metadata_uuid_text(t->uuid, uuid);
	fragment_begin(f, "trace-class");
	fragment_member(f, "name", t->session);
	fragment_member(f, "uid", uuid);
	fputs(",\"environment\":{", f);
	metadata_put_env(f, t);
	fputc('}', f);
	fragment_packet_header(f);
	fragment_end(f);
}

static void fragment_clock(FILE *f, const struct clock_facts *c)
{
	fragment_begin(f, "clock-class");
	fragment_member(f, "id", "default");
	fragment_member(f, "name", metadata_clock_name(c));
	if (c->uuid[0])
		fragment_member(f, "uid", c->uuid);
	fragment_member(f, "description", c->source);
	fprintf(f,
		",\"frequency\":%" PRIu64 ",\"precision\":%" PRIu64 ",\"origin\":\"unix-epoch\","
		"\"offset-from-origin\":{\"seconds\":%" PRIu64 ",\"cycles\":%" PRIu64 "}",
		c->freq_hz, c->precision, c->offset_s, c->offset);
	fragment_end(f);
}

void fragment_head(FILE *f, const struct metadata_trace *trace)
{
	fragment_preamble(f, trace->uuid);
	fragment_put_aliases(f);
	fragment_trace(f, trace);
	fragment_clock(f, trace->clock);
}

/* --- streams -------------------------------------------------------------------------------- */

static void fragment_packet_context(FILE *f)
{
	bool first = true;

	fputs(",\"packet-context-field-class\":" STRUCTURE, f);
	fragment_role(f, &first, "timestamp_begin", 64, 8, "default-clock-timestamp");
	fragment_role(f, &first, "timestamp_end", 64, 8, "packet-end-default-clock-timestamp");
	fragment_role(f, &first, "content_size", 64, 8, "packet-content-length");
	fragment_role(f, &first, "packet_size", 64, 8, "packet-total-length");
	fragment_role(f, &first, "packet_seq_num", 64, 8, "packet-sequence-number");
	fragment_role(f, &first, "events_discarded", 64, 8,
		      "discarded-event-record-counter-snapshot");
	fragment_member_begin(f, &first, "cpu_id");
	fputs("\"u32\"}]}", f);
}

static void fragment_option(FILE *f, const char *name, unsigned int from, unsigned int to)
{
	fprintf(f, "%s{\"name\":\"%s\",\"selector-field-ranges\":[[%u,%u]],\"field-class\":"
		STRUCTURE, from ? "," : "", name, from, to);
}

/* The record headers: abi/ltt_ring.h. */
static void fragment_event_header(FILE *f)
{
	static const char id[] = "event-record-class-id", time[] = "default-clock-timestamp";
	bool first = true;

	fputs(",\"event-record-header-field-class\":{\"type\":\"structure\","
	      "\"minimum-alignment\":8,\"member-classes\":[",
	      f);
	fragment_role(f, &first, "id", 5, 1, id);
	fragment_member_begin(f, &first, "v");
	fputs("{\"type\":\"variant\",\"selector-field-location\":{\"origin\":"
	      "\"event-record-header\",\"path\":[\"id\"]},\"options\":[",
	      f);
	fragment_option(f, "compact", 0, LTT_ID_COMPACT_MAX);
	first = true;
	fragment_role(f, &first, "timestamp", LTT_TS_BITS, 1, time);
	fputs("]}}", f);
	fragment_option(f, "wide", LTT_ID_WIDE, LTT_ID_WIDE);
	first = true;
	fragment_role(f, &first, "timestamp", LTT_TS_BITS, 1, time);
	fragment_role(f, &first, "id", 16, 1, id);
	fputs("]}}", f);
	fragment_option(f, "extended", LTT_ID_EXTENDED, LTT_ID_EXTENDED);
	first = true;
	fragment_role(f, &first, "id", 32, 8, id);
	fragment_role(f, &first, "timestamp", 64, 8, time);
	fputs("]}}]}}]}", f);
}

void fragment_stream(FILE *f, uint32_t stream_class, const struct layout *contexts)
{
	fragment_begin(f, "data-stream-class");
	fprintf(f, ",\"id\":%u,\"default-clock-class-id\":\"default\"", stream_class);
	fragment_packet_context(f);
	fragment_event_header(f);
	if (contexts && contexts->nr_fields) {
		fragment_fields(f, "event-record-common-context", "event-record-common-context",
				contexts);
		fputc('}', f);
	}
	fragment_end(f);
}
