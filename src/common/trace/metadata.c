/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "metadata.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fragment.h"

/* One growing text; errors show at text_end(). */
struct text {
	FILE *file;
	char *data;
	size_t len;
};

static bool text_begin(struct text *text)
{
	text->data = NULL;
	text->file = open_memstream(&text->data, &text->len);
	return text->file != NULL;
}

static char *text_end(struct text *text)
{
	bool failed = ferror(text->file);

	if (fclose(text->file) != 0 || failed) {
		free(text->data);
		return NULL;
	}
	return text->data;
}

/* A string literal. Bytes of UTF-8 pass; control bytes become octal escapes. */
static void metadata_put_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(f, "\\%03o", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

void metadata_identifier(const char *name, char *buf, size_t len)
{
	size_t n = 0;

	if (len < 2)
		return;
	buf[n++] = '_';
	for (; *name && n < len - 1; name++)
		buf[n++] = isalnum((unsigned char)*name) && !((unsigned char)*name & 0x80) ? *name :
											     '_';
	buf[n] = '\0';
}

void metadata_datetime(uint64_t real_ns, char *buf, size_t len)
{
	time_t s = (time_t)(real_ns / 1000000000);
	struct tm tm;

	if (!localtime_r(&s, &tm) || strftime(buf, len, "%Y%m%dT%H%M%S%z", &tm) == 0)
		buf[0] = '\0';
}

void metadata_uuid_text(const uint8_t uuid[16], char ret[METADATA_UUID_TEXT + 1])
{
	for (int i = 0; i < 16; i++)
		ret += sprintf(ret, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			       uuid[i]);
}

void metadata_uuid_numbers(const uint8_t uuid[16], char ret[METADATA_UUID_NUMBERS + 1])
{
	for (int i = 0; i < 16; i++)
		ret += sprintf(ret, "%s%3u", i ? "," : "", uuid[i]);
}

/* Facts about a trace, for both forms. */
struct env {
	FILE *file;
	enum metadata_form form;
	unsigned int nr;
};

/* --- the head ------------------------------------------------------------- */

static void put_scalars(FILE *f)
{
	for (unsigned int bits = 8; bits <= 64; bits *= 2)
		fprintf(f,
			"typealias integer { size = %u; align = 8; signed = false; } := uint%u_t;\n",
			bits, bits);
	/* align = 1: in an event header it follows 5 + 27 bits; its struct must
	 * not begin at a byte of its own */
	fprintf(f, "typealias integer { size = 16; align = 1; signed = false; } := uint16_bits_t;\n"
		   "typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n\n");
}

/* As struct packet_header. */
#define METADATA_BEGIN "/* CTF 1.8 */\n\n/* packets: form 2 */\n\n"

#define PACKET_HEADER                                                          \
	"\t\tuint32_t magic;\n"                                                \
	"\t\tuint32_t stream_instance_id;\n"                                   \
	"\t\tinteger { size = 32; align = 512; signed = false; } stream_id;\n" \
	"\t\tuint8_t uuid[16];\n"

#define PACKET_CONTEXT                                                                            \
	"\tuint32_t cpu_id;\n"                                                                    \
	"\t/* In the gap in front of stream_id, behind stream_instance_id: uint32_t 2, crc32c;\n" \
	"\t * uint64_t stream_pos (bytes of this stream before the packet), events_recorded\n"    \
	"\t * (in this stream up to the packet's end), lost_full (the buffer was full),\n"        \
	"\t * lost_size (larger than the buffer takes), lost_busy (no buffer could be\n"          \
	"\t * written), lost_output (was not written to the output).\n"                           \
	"\t * All of these are little-endian. */\n"

static void put_trace(FILE *f, const struct metadata_trace *t)
{
	char uuid[METADATA_UUID_TEXT + 1];

	metadata_uuid_text(t->uuid, uuid);
	fprintf(f,
		"trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n"
		"\tbyte_order = le;\n"
		"\tpacket.header := struct {\n" PACKET_HEADER "\t};\n};\n\n",
		uuid);
}

static void env_name(struct env *env, const char *name)
{
	if (env->form == METADATA_CTF_2)
		fprintf(env->file, "%s\"%s\":", env->nr++ ? "," : "", name);
	else
		fprintf(env->file, "\t%s = ", name);
}

static void env_text(struct env *env, const char *name, const char *value)
{
	env_name(env, name);
	if (env->form == METADATA_CTF_2) {
		fragment_text(env->file, value);
		return;
	}
	metadata_put_string(env->file, value);
	fputs(";\n", env->file);
}

static void env_number(struct env *env, const char *name, unsigned int value)
{
	env_name(env, name);
	fprintf(env->file, env->form == METADATA_CTF_2 ? "%u" : "%u;\n", value);
}

static void env_instant(struct env *env, const char *name, uint64_t real_ns)
{
	char when[32];

	metadata_datetime(real_ns, when, sizeof(when));
	env_text(env, name, when);
}

static void env_owner(struct env *env, const struct metadata_trace *t)
{
	env_text(env, "tracer_buffering_scheme", t->process ? "pid" : "uid");
	env_number(env, "tracer_buffering_id", t->process ? t->process->pid : t->uid);
	env_number(env, "architecture_bit_width", 64);
}

static void env_kernel(struct env *env, const struct metadata_kernel *k)
{
	env_text(env, "sysname", "Linux");
	env_text(env, "kernel_release", k->release);
	env_text(env, "kernel_version", k->version);
}

void metadata_put_env(FILE *f, const struct metadata_trace *t)
{
	unsigned int major = 0, minor = 0, patch = 0;
	const struct metadata_process *p = t->process;
	struct env env = { f, t->form, 0 };

	sscanf(LTT_VERSION, "%u.%u.%u", &major, &minor, &patch);
	env_text(&env, "domain", t->kernel ? "kernel" : "ust");
	env_text(&env, "tracer_name", "ltt");
	env_number(&env, "tracer_major", major);
	env_number(&env, "tracer_minor", minor);
	env_number(&env, "tracer_patchlevel", patch);
	if (t->kernel)
		env_kernel(&env, t->kernel);
	else
		env_owner(&env, t);
	env_text(&env, "trace_name", t->session);
	env_instant(&env, "trace_creation_datetime", t->created_ns);
	env_text(&env, "hostname", t->hostname);
	if (p) {
		env_number(&env, "vpid", p->pid);
		env_text(&env, "procname", p->name);
		env_instant(&env, "vpid_datetime", p->start_ns);
	}
}

const char *metadata_clock_name(const struct clock_facts *c)
{
	if (c->kind == LTT_CLOCK_MONOTONIC)
		return "monotonic";
#if defined(__aarch64__)
	return "cntvct";
#else
	return "tsc";
#endif
}

static void metadata_put_clock(FILE *f, const struct clock_facts *c)
{
	const char *name = metadata_clock_name(c);

	fprintf(f, "clock {\n\tname = \"%s\";\n", name);
	if (c->uuid[0])
		fprintf(f, "\tuuid = \"%s\";\n", c->uuid);
	fputs("\tdescription = ", f);
	metadata_put_string(f, c->source);
	fputs(";\n", f);
	fprintf(f,
		"\tfreq = %" PRIu64 ";\n\tprecision = %" PRIu64 ";\n"
		"\toffset_s = %" PRIu64 ";\n\toffset = %" PRIu64 ";\n};\n\n",
		c->freq_hz, c->precision, c->offset_s, c->offset);
	for (unsigned int bits = 27; bits <= 64; bits += 37)
		fprintf(f,
			"typealias integer { size = %u; align = %u; signed = false; "
			"map = clock.%s.value; } := uint%u_clock_t;\n",
			bits, bits == 64 ? 8 : 1, name, bits);
}

/* And the record headers (abi/ltt_ring.h). */
static void put_contexts(FILE *f)
{
	fprintf(f, "\nstruct packet_context {\n"
		   "\tuint64_clock_t timestamp_begin;\n"
		   "\tuint64_clock_t timestamp_end;\n"
		   "\tuint64_t content_size;\n"
		   "\tuint64_t packet_size;\n"
		   "\tuint64_t packet_seq_num;\n"
		   "\tuint64_t events_discarded;\n" PACKET_CONTEXT "};\n\n");
	fprintf(f, "struct event_header {\n"
		   "\tenum : uint5_t { compact = 0 ... 29, wide = 30, extended = 31 } id;\n"
		   "\tvariant <id> {\n"
		   "\t\tstruct { uint27_clock_t timestamp; } compact;\n"
		   "\t\tstruct { uint27_clock_t timestamp; uint16_bits_t id; } wide;\n"
		   "\t\tstruct { uint32_t id; uint64_clock_t timestamp; } extended;\n"
		   "\t} v;\n"
		   "} align(8);\n\n");
}

bool metadata_hides(const char *text, size_t len)
{
	const size_t want = strlen(METADATA_BEGIN);
	size_t pad = 0;

	while (pad < len && text[pad] == '\n')
		pad++;
	return len - pad >= want && memcmp(text + pad, METADATA_BEGIN, want) == 0;
}

static void put_clock_segment(FILE *f, const struct clock_segment *s)
{
	fprintf(f,
		METADATA_CLOCK "%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRIu64 " %" PRIu64
			       " %" PRId64 " %" PRIu64 " %d */\n",
		s->from, s->freq_hz, s->base_ns, s->first, s->last, s->jump_ns, s->old_hz,
		(int)s->cause);
}

static void put_clock_pair(FILE *f, const struct clock_pair *pair)
{
	fprintf(f, METADATA_CLOCK_PAIR "%" PRIu64 " %" PRIu64 " %" PRIu64 " */\n", pair->value,
		pair->counter, pair->width);
}

char *metadata_clock_set(int64_t ns)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	fprintf(text.file, METADATA_CLOCK_SET "%" PRId64 " */\n", ns);
	return text_end(&text);
}

char *metadata_clock_pair(const struct clock_pair *pair)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	put_clock_pair(text.file, pair);
	return text_end(&text);
}

char *metadata_clock(const struct clock_segment *segment)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	put_clock_segment(text.file, segment);
	return text_end(&text);
}

/* Viewers of live sessions parse each text that is appended, and babeltrace2 refuses one without a
 * declaration. In CTF 2 the names of types differ: the time makes them so. */
static void metadata_put_remark(FILE *f, enum metadata_form form, char *remark)
{
	if (remark && form == METADATA_CTF_2)
		fragment_remark(f, remark, clock_monotonic_ns());
	else if (remark)
		fprintf(f, "env {};\n%s", remark);
	free(remark);
}

char *metadata_remark(enum metadata_form form, char *remark)
{
	struct text text;

	if (!remark || !text_begin(&text)) {
		free(remark);
		return NULL;
	}
	metadata_put_remark(text.file, form, remark);
	return text_end(&text);
}

static void metadata_put_head(FILE *f, const struct metadata_trace *trace)
{
	fputs(METADATA_BEGIN, f);
	put_scalars(f);
	put_trace(f, trace);
	fputs("env {\n", f);
	metadata_put_env(f, trace);
	fputs("};\n\n", f);
	metadata_put_clock(f, trace->clock);
	put_contexts(f);
}

char *metadata_head(const struct metadata_trace *trace)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	if (trace->form == METADATA_CTF_2)
		fragment_head(text.file, trace);
	else
		metadata_put_head(text.file, trace);
	if (trace->clock->nr_changes)
		metadata_put_remark(text.file, trace->form, metadata_clock(&trace->clock->changed));
	if (trace->clock->set_ns)
		metadata_put_remark(text.file, trace->form,
				    metadata_clock_set(trace->clock->set_ns));
	if (trace->clock->pair.width)
		metadata_put_remark(text.file, trace->form,
				    metadata_clock_pair(&trace->clock->pair));
	return text_end(&text);
}

/* --- streams and events ------------------------------------------------------ */

static void metadata_put_integer(FILE *f, const struct layout_field *field)
{
	fprintf(f, "integer { size = %u; align = 8; signed = %s; encoding = %s; base = %u;%s }",
		field->size_bits, field->flags & LTT_FIELD_SIGNED ? "true" : "false",
		field->flags & LTT_FIELD_TEXT ? "UTF8" : "none", field->base ? field->base : 10,
		field->flags & LTT_FIELD_BIG_ENDIAN ? " byte_order = be;" : "");
}

/* IEEE 754: exponent and mantissa (its hidden bit counted) */
static void put_float(FILE *f, const struct layout_field *field)
{
	fprintf(f, "floating_point { exp_dig = %d; mant_dig = %d; align = 8;%s }",
		field->size_bits == 32 ? 8 : 11, field->size_bits == 32 ? 24 : 53,
		field->flags & LTT_FIELD_BIG_ENDIAN ? " byte_order = be;" : "");
}

static void metadata_put_value(FILE *f, const struct layout_field *field, int64_t v)
{
	if (field->flags & LTT_FIELD_SIGNED)
		fprintf(f, "%" PRId64, v);
	else
		fprintf(f, "%" PRIu64, (uint64_t)v);
}

static void put_labels(FILE *f, const struct layout_field *field)
{
	metadata_put_integer(f, field);
	fprintf(f, " {");
	for (uint32_t i = 0; i < field->nr_labels; i++) {
		const struct layout_label *l = &field->labels[i];

		fprintf(f, "%s ", i ? "," : "");
		metadata_put_string(f, l->text);
		fprintf(f, " = ");
		metadata_put_value(f, field, l->first);
		if (l->last != l->first) {
			fprintf(f, " ... ");
			metadata_put_value(f, field, l->last);
		}
	}
	fprintf(f, " }");
}

/* Of a set, the enumeration's name has the mask: METADATA_SET. */
static void metadata_put_enum(FILE *f, const struct layout_field *field, const char *name)
{
	if (field->nr_labels == 0) {
		metadata_put_integer(f, field);
		return;
	}
	fprintf(f, "enum ");
	if (field->is_set)
		fprintf(f, METADATA_SET "%" PRIx64 "_%s ", field->mask, name);
	fprintf(f, ": ");
	put_labels(f, field);
}

static void put_element(FILE *f, const struct layout_field *field, const char *name)
{
	if (field->flags & LTT_FIELD_FLOAT_ELEM)
		put_float(f, field);
	else
		metadata_put_enum(f, field, name);
}

static void put_sequence(FILE *f, const struct layout_field *field, const char *name)
{
	fprintf(f,
		"integer { size = %u; align = 8; signed = false; encoding = none; base = 10; } "
		"_%s_length;\n\t\t",
		field->length_bits, name);
	put_element(f, field, name);
	fprintf(f, " %s[ _%s_length ]", name, name);
}

/* LTTng has a variant here; babeltrace2 2.0.4 can't read one in the context of an event class. So
 * all members are there, and the first one is the number of the valid one. Its last label, of a
 * number that it never has, is the context's name, as a field's name can't have a colon. */
static void put_dynamic(FILE *f, const char *name)
{
	fprintf(f, "struct {\n"
		   "\t\t\tenum : integer { size = 8; align = 8; signed = false; } "
		   "{ \"none\" = 0, \"integer\" = 1, \"float\" = 2, \"string\" = 3, ");
	metadata_put_string(f, name + strlen(METADATA_PROVIDED));
	fprintf(f,
		" = %u } _kind;\n"
		"\t\t\tinteger { size = 64; align = 8; signed = true; } _integer;\n"
		"\t\t\tfloating_point { exp_dig = 11; mant_dig = 53; align = 8; } _float;\n"
		"\t\t\tstring _string;\n"
		"\t\t}",
		METADATA_PROVIDED_NAME);
}

static void put_field(FILE *f, const struct layout_field *field)
{
	char name[256];

	metadata_identifier(field->name, name, sizeof(name));
	fprintf(f, "\t\t");
	if (layout_has_length(field)) {
		put_sequence(f, field, name);
	} else {
		if (field->kind == LTT_KIND_INT)
			metadata_put_integer(f, field);
		else if (field->kind == LTT_KIND_FLOAT)
			put_float(f, field);
		else if (field->kind == LTT_KIND_STRING)
			fprintf(f, "string");
		else if (field->kind == LTT_KIND_ENUM)
			metadata_put_enum(f, field, name);
		else if (field->kind == LAYOUT_KIND_DYNAMIC)
			put_dynamic(f, field->name);
		else
			put_element(f, field, name);
		fprintf(f, " %s", name);
		if (field->kind == LTT_KIND_ARRAY)
			fprintf(f, "[%u]", field->count);
	}
	fprintf(f, ";\n");
}

static void put_context(FILE *f, const char *attribute, const struct layout *contexts)
{
	if (!contexts || !contexts->nr_fields)
		return;
	fprintf(f, "\t%s := struct {\n", attribute);
	for (uint32_t i = 0; i < contexts->nr_fields; i++)
		put_field(f, &contexts->fields[i]);
	fprintf(f, "\t};\n");
}

static void put_stream(FILE *f, uint32_t stream_class, const struct layout *contexts)
{
	fprintf(f,
		"stream {\n\tid = %u;\n"
		"\tevent.header := struct event_header;\n"
		"\tpacket.context := struct packet_context;\n",
		stream_class);
	put_context(f, "event.context", contexts);
	fprintf(f, "};\n\n");
}

char *metadata_stream(enum metadata_form form, uint32_t stream_class, const struct layout *contexts)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	(form == METADATA_CTF_2 ? fragment_stream : put_stream)(text.file, stream_class, contexts);
	return text_end(&text);
}

/* A URI is the one place that CTF has for such a thing. */
void metadata_put_format(FILE *f, const char *format)
{
	fputs("ltt:marker?format=", f);
	for (; *format; format++)
		fprintf(f, isalnum((unsigned char)*format) ? "%c" : "%%%02x",
			(unsigned char)*format);
}

static void put_event_body(FILE *f, const struct metadata_event *event)
{
	fprintf(f, "\tname = ");
	metadata_put_string(f, event->name);
	fprintf(f, ";\n");
	if (event->loglevel >= 0)
		fprintf(f, "\tloglevel = %d;\n", event->loglevel);
	if (event->format && event->format[0]) {
		fputs("\tmodel.emf.uri = \"", f);
		metadata_put_format(f, event->format);
		fputs("\";\n", f);
	}
	fprintf(f, "\tfields := struct {\n");
	for (uint32_t i = 0; i < event->layout->nr_fields; i++)
		if (!(event->layout->fields[i].flags & LTT_FIELD_NOWRITE))
			put_field(f, &event->layout->fields[i]);
	fprintf(f, "\t};\n");
}

char *metadata_event_body(enum metadata_form form, const struct metadata_event *event)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	(form == METADATA_CTF_2 ? fragment_event_body : put_event_body)(text.file, event);
	return text_end(&text);
}

char *metadata_event_context(enum metadata_form form, const struct layout *contexts)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	if (form == METADATA_CTF_2)
		fragment_event_context(text.file, contexts);
	else
		put_context(text.file, "context", contexts);
	return text_end(&text);
}

char *metadata_event_note(enum metadata_form form, const char *recorded)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	if (form == METADATA_CTF_2)
		fragment_event_note(text.file, recorded);
	else
		fprintf(text.file, "\t/* recorded: %s */\n", recorded);
	return text_end(&text);
}

char *metadata_results(enum metadata_form form, const struct layout_field *field)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	if (form == METADATA_CTF_2) {
		fragment_type(text.file, METADATA_RESULTS, field);
	} else {
		fputs("enum " METADATA_RESULTS " : ", text.file);
		put_labels(text.file, field);
		fputs(";\n\n", text.file);
	}
	return text_end(&text);
}

char *metadata_buffer(const char *what, uint64_t id, const char *name)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	fprintf(text.file, "%s%" PRIu64 " ", what, id);
	for (; *name; name++) /* a text that could end the comment is not copied into it */
		fputc(isalnum((unsigned char)*name) || strchr("_-.", *name) ? *name : '_',
		      text.file);
	fprintf(text.file, " */\n");
	return text_end(&text);
}

/* In quotes, without anything that ends a text, a line or a remark. */
static void text_in_remark(FILE *file, const char *s)
{
	fputc('"', file);
	for (; *s; s++)
		if (isalnum((unsigned char)*s) || strchr(" %_-+.,:;=()[]{}<>!?#&|", *s))
			fputc(*s, file);
		else
			fprintf(file, "\\x%02x", (unsigned char)*s);
	fputs("\" ", file);
}

char *metadata_marker(const char *name, const char *refused, const char *armed, uint32_t pid)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	fprintf(text.file, METADATA_MARKER_REFUSED "%" PRIu32 " ", pid);
	text_in_remark(text.file, name);
	text_in_remark(text.file, refused);
	text_in_remark(text.file, armed);
	fprintf(text.file, "*/\n");
	return text_end(&text);
}

char *metadata_sampled(uint32_t stream_class, uint32_t id, const char *how)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	fprintf(text.file, METADATA_SAMPLED "%" PRIu32 " %" PRIu32 " %s */\n", stream_class, id,
		how);
	return text_end(&text);
}

char *metadata_not_sampled(uint64_t id, uint64_t nr)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	fprintf(text.file, METADATA_NOT_SAMPLED "%" PRIu64 " %" PRIu64 " */\n", id, nr);
	return text_end(&text);
}

char *metadata_event(enum metadata_form form, uint32_t stream_class, uint32_t id, const char *body)
{
	struct text text;

	if (!text_begin(&text))
		return NULL;
	if (form == METADATA_CTF_2)
		fragment_event(text.file, stream_class, id, body);
	else
		fprintf(text.file, "event {\n\tid = %u;\n\tstream_id = %u;\n%s};\n\n", id,
			stream_class, body);
	return text_end(&text);
}
