/* SPDX-License-Identifier: GPL-2.0-only */
#include "write.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/print/json.h"
#include "xml/libxml.h"
#include "shape.h"

struct writer {
	const struct libxml *lib;
	xmlTextWriterPtr xml;
	struct err *err;
	const char *session; /* name, for errors */
	bool failed;	     /* no memory */
};

/* A failure is reported at the end. */
static void writer_note(struct writer *w, int result)
{
	if (result < 0)
		w->failed = true;
}

static void writer_begin(struct writer *w, const char *name)
{
	writer_note(w, w->lib->xmlTextWriterStartElement(w->xml, BAD_CAST name));
}

static void writer_end(struct writer *w)
{
	writer_note(w, w->lib->xmlTextWriterEndElement(w->xml));
}

static void writer_attribute(struct writer *w, const char *name, const char *value)
{
	writer_note(w, w->lib->xmlTextWriterWriteAttribute(w->xml, BAD_CAST name, BAD_CAST value));
}

static void writer_text(struct writer *w, const char *name, const char *text)
{
	writer_note(w, w->lib->xmlTextWriterWriteElement(w->xml, BAD_CAST name, BAD_CAST text));
}

/* XML has no form for most control characters, nor for bytes that are not UTF-8. */
static bool is_xml_text(const struct writer *w, const char *text)
{
	if (!w->lib->xmlCheckUTF8(BAD_CAST text))
		return false;
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at < ' ' && *at != '\t' && *at != '\n' && *at != '\r')
			return false;
		/* U+FFFE, U+FFFF */
		if (at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe)
			return false;
	}
	return true;
}

/* Items of an array, joined; a comma of an item gets a backslash. Allocated. */
static char *joined(struct json_object *array, char between)
{
	size_t nr = array ? json_object_array_length(array) : 0;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		const char *item = json_object_get_string(json_object_array_get_idx(array, i));

		if (i)
			fputc(between, out);
		for (; *item; item++)
			fprintf(out, *item == ',' ? "\\%c" : "%c", *item);
	}
	return fclose(out) == 0 ? text : NULL;
}

/* The value of an element; allocated. */
static char *field_text(const struct field *field, struct json_object *o)
{
	switch (field->kind) {
	case FIELD_NAMES:
		return joined(json_get(o, field->key), ',');
	case FIELD_IDS:
		return joined(json_get(o, field->key), ' ');
	case FIELD_FLAG:
		return xstrdup(json_flag(o, field->key) ? "true" : "false");
	case FIELD_NUMBER:
		return xasprintf("%" PRIu64, json_num(o, field->key));
	case FIELD_TEXT:
	case FIELD_WORD:
	case FIELD_LEVEL:
		break;
	}
	return xstrdup(json_str(o, field->key));
}

static bool is_default(const struct field *field, struct json_object *o)
{
	switch (field->kind) {
	case FIELD_FLAG:
		return json_flag(o, field->key) == (field->init != 0);
	case FIELD_NUMBER:
		return json_num(o, field->key) == field->init;
	case FIELD_WORD:
		return strcmp(json_str(o, field->key),
			      words_name(field->words, (unsigned int)field->init)) == 0;
	case FIELD_NAMES:
	case FIELD_IDS:
		return json_len(o, field->key) == 0;
	case FIELD_TEXT:
	case FIELD_LEVEL:
		break;
	}
	return !*json_str(o, field->key);
}

static void write_field(struct writer *w, const struct field *field, struct json_object *o)
{
	char *text AUTO_FREE = NULL;

	if (w->err->code || (!field->must && is_default(field, o)))
		return;
	text = field_text(field, o);
	if (!text)
		w->failed = true;
	else if (!is_xml_text(w, text))
		err_set(w->err, ERR_INVALID,
			"session '%s' can't be saved: XML can't contain a byte of its '%s'; it is a "
			"control character, or not UTF-8",
			w->session, field->key);
	else
		writer_text(w, field->key, text);
}

static void write_object(struct writer *w, const struct shape *shape, struct json_object *o)
{
	writer_begin(w, shape->name);
	for (size_t i = 0; i < shape->nr; i++)
		write_field(w, &shape->fields[i], o);
	for (size_t i = 0; i < ARRAY_SIZE(shape->lists) && shape->lists[i].key; i++) {
		const struct shape_list *list = &shape->lists[i];

		if (!json_len(o, list->key))
			continue;
		writer_begin(w, list->key);
		for (size_t k = 0; k < json_len(o, list->key); k++)
			write_object(w, list->item, json_at(o, list->key, k));
		writer_end(w);
	}
	writer_end(w);
}

/* A document that @fill writes; allocated. */
static char *write_document(struct writer *w, void (*fill)(struct writer *w, void *data),
			    void *data)
{
	xmlBufferPtr buffer;
	char *text = NULL;

	w->lib = libxml(w->err);
	if (!w->lib)
		return NULL;
	buffer = w->lib->xmlBufferCreate();
	w->xml = buffer ? w->lib->xmlNewTextWriterMemory(buffer, 0) : NULL;
	if (w->xml) {
		writer_note(w, w->lib->xmlTextWriterSetIndent(w->xml, 1));
		writer_note(w, w->lib->xmlTextWriterSetIndentString(w->xml, BAD_CAST "  "));
		writer_note(w, w->lib->xmlTextWriterStartDocument(w->xml, NULL, "UTF-8", NULL));
		fill(w, data);
		writer_note(w, w->lib->xmlTextWriterEndDocument(w->xml));
		w->lib->xmlFreeTextWriter(w->xml);
		if (!w->failed)
			text = xstrdup((const char *)w->lib->xmlBufferContent(buffer));
	}
	if (buffer)
		w->lib->xmlBufferFree(buffer);
	if (!text)
		err_set(w->err, ERR_NO_MEMORY, "out of memory");
	return text;
}

/* --- sessions ---------------------------------------------------------------------------- */

static void write_sessions(struct writer *w, void *data)
{
	struct json_object *sessions = data;
	char version[16];

	snprintf(version, sizeof(version), "%d", SHAPE_VERSION);
	writer_begin(w, SHAPE_ROOT);
	writer_attribute(w, "version", version);
	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);

		w->session = json_str(session, "name");
		write_object(w, &shape_session, session);
	}
	writer_end(w);
}

char *saved_write(struct json_object *sessions, struct err *err)
{
	struct writer w = { .err = err };
	char *text = write_document(&w, write_sessions, sessions);

	if (!err->code)
		return text;
	free(text);
	return NULL;
}

/* --- the schema ---------------------------------------------------------------------------- */

static void schema_doc(struct writer *w, const char *text)
{
	if (!*text)
		return;
	writer_begin(w, "xs:annotation");
	writer_text(w, "xs:documentation", text);
	writer_end(w);
}

static void schema_limit(struct writer *w, const char *name, const char *value)
{
	writer_begin(w, name);
	writer_attribute(w, "value", value);
	writer_end(w);
}

static void schema_restriction(struct writer *w, const char *base)
{
	writer_begin(w, "xs:simpleType");
	writer_begin(w, "xs:restriction");
	writer_attribute(w, "base", base);
}

static void schema_type(struct writer *w, const struct field *field)
{
	char limit[24];

	snprintf(limit, sizeof(limit), "%" PRIu64, field->max);
	if (field->kind == FIELD_NUMBER) {
		schema_restriction(w, "xs:nonNegativeInteger");
		schema_limit(w, "xs:maxInclusive", limit);
	} else {
		schema_restriction(w, "xs:token");
		for (unsigned int i = 0; i < field->words->nr; i++)
			if (words_has_own(field->words, i))
				schema_limit(w, "xs:enumeration", field->words->words[i]);
	}
	writer_end(w);
	writer_end(w);
}

static void schema_field(struct writer *w, const struct field *field)
{
	static const char *const types[] = {
		[FIELD_TEXT] = "xs:string",  [FIELD_NAMES] = "xs:string",
		[FIELD_FLAG] = "xs:boolean", [FIELD_NUMBER] = NULL,
		[FIELD_WORD] = NULL,	     [FIELD_LEVEL] = "xs:token",
		[FIELD_IDS] = "ids",
	};

	writer_begin(w, "xs:element");
	writer_attribute(w, "name", field->key);
	if (!field->must)
		writer_attribute(w, "minOccurs", "0");
	if (types[field->kind])
		writer_attribute(w, "type", types[field->kind]);
	schema_doc(w, field->doc);
	if (!types[field->kind])
		schema_type(w, field);
	writer_end(w);
}

/* An element with any number of others. */
static void schema_list(struct writer *w, const char *name, const char *item, bool some)
{
	writer_begin(w, "xs:element");
	writer_attribute(w, "name", name);
	if (!some)
		writer_attribute(w, "minOccurs", "0");
	writer_begin(w, "xs:complexType");
	writer_begin(w, "xs:sequence");
	writer_begin(w, "xs:element");
	writer_attribute(w, "name", item);
	writer_attribute(w, "type", item);
	writer_attribute(w, "minOccurs", some ? "1" : "0");
	writer_attribute(w, "maxOccurs", "unbounded");
	writer_end(w);
	writer_end(w);
	if (some) {
		writer_begin(w, "xs:attribute");
		writer_attribute(w, "name", "version");
		writer_attribute(w, "type", "xs:positiveInteger");
		writer_attribute(w, "use", "required");
		writer_end(w);
	}
	writer_end(w);
	writer_end(w);
}

static void schema_shape(struct writer *w, const struct shape *shape)
{
	writer_begin(w, "xs:complexType");
	writer_attribute(w, "name", shape->name);
	schema_doc(w, shape->doc);
	writer_begin(w, "xs:all");
	for (size_t i = 0; i < shape->nr; i++)
		schema_field(w, &shape->fields[i]);
	for (size_t i = 0; i < ARRAY_SIZE(shape->lists) && shape->lists[i].key; i++)
		schema_list(w, shape->lists[i].key, shape->lists[i].item->name, false);
	writer_end(w);
	writer_end(w);
	for (size_t i = 0; i < ARRAY_SIZE(shape->lists) && shape->lists[i].key; i++)
		schema_shape(w, shape->lists[i].item);
}

static void write_schema(struct writer *w, void *data)
{
	(void)data;
	writer_note(w, w->lib->xmlTextWriterWriteComment(
			       w->xml, BAD_CAST " SPDX-License-Identifier: GPL-2.0-only "));
	writer_begin(w, "xs:schema");
	writer_attribute(w, "xmlns:xs", "http://www.w3.org/2001/XMLSchema");
	schema_doc(
		w,
		"Saved sessions of ltt-control: lttctl-save(1). Printed by lttctl save --schema.");
	schema_list(w, SHAPE_ROOT, shape_session.name, true);
	writer_begin(w, "xs:simpleType");
	writer_attribute(w, "name", "ids");
	writer_begin(w, "xs:list");
	writer_attribute(w, "itemType", "xs:unsignedInt");
	writer_end(w);
	writer_end(w);
	schema_shape(w, &shape_session);
	writer_end(w);
}

char *saved_schema(struct err *err)
{
	struct writer w = { .err = err };

	return write_document(&w, write_schema, NULL);
}
