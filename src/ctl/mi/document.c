/* SPDX-License-Identifier: GPL-2.0-only */
#include "document.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "xml/libxml.h"

#define NAMESPACE "https://lttng.org/xml/ns/lttng-mi"
#define VERSION "4.3" /* of the schema: that of LTTng 2.16 */
#define SCHEMA "https://lttng.org/xml/schemas/lttng-mi/4/lttng-mi-" VERSION ".xsd"

struct mi_writer {
	const struct libxml *lib;
	xmlTextWriterPtr xml;
	bool failed; /* no memory */
};

static void mi_note(struct mi_writer *w, int result)
{
	if (result < 0)
		w->failed = true;
}

/* Lines stay: scripts of SQL have some. */
static bool mi_is_allowed(uint32_t c)
{
	return c == '\n' || c == '\t' || !escape_is_harmful(c);
}

static char *mi_escaped(const char *text)
{
	size_t left = strlen(text), len = 0;
	char *escaped = xalloc(left * ESCAPE_MAX + 1);

	while (left) {
		const uint8_t *at = (const uint8_t *)text;
		size_t bytes, written;
		uint32_t c = 0;

		bytes = escape_decode(at, left, &c);
		written = bytes;
		if (c == 0xfffe || c == 0xffff) /* harmless, but not of XML */
			written = (size_t)sprintf(escaped + len, "\\u%x", c);
		else if (bytes && mi_is_allowed(c))
			memcpy(escaped + len, text, bytes);
		else
			bytes = escape_char(at, left, false, escaped + len, &written);
		len += written;
		text += bytes;
		left -= bytes;
	}
	escaped[len] = '\0';
	return escaped;
}

static void mi_text(struct mi_writer *w, struct json_object *value)
{
	char *text AUTO_FREE = mi_escaped(value ? json_object_get_string(value) : "");

	mi_note(w, w->lib->xmlTextWriterWriteString(w->xml, BAD_CAST text));
}

static void mi_attribute(struct mi_writer *w, const char *name, const char *value)
{
	mi_note(w, w->lib->xmlTextWriterWriteAttribute(w->xml, BAD_CAST name, BAD_CAST value));
}

static void mi_content(struct mi_writer *w, struct json_object *value);

static void mi_element(struct mi_writer *w, const char *name, struct json_object *value)
{
	mi_note(w, w->lib->xmlTextWriterStartElement(w->xml, BAD_CAST name));
	mi_content(w, value);
	mi_note(w, w->lib->xmlTextWriterEndElement(w->xml));
}

static void mi_content(struct mi_writer *w, struct json_object *value)
{
	if (!json_object_is_type(value, json_type_object)) {
		mi_text(w, value);
		return;
	}
	json_object_object_foreach(value, key, member)
	{
		if (*key == '@')
			mi_attribute(w, key + 1, json_object_get_string(member));
		else if (!*key)
			mi_text(w, member);
		else if (!json_object_is_type(member, json_type_array))
			mi_element(w, key, member);
		else
			for (size_t i = 0; i < json_object_array_length(member); i++)
				mi_element(w, key, json_object_array_get_idx(member, i));
	}
}

static void mi_root(struct mi_writer *w, struct json_object *command)
{
	mi_note(w, w->lib->xmlTextWriterStartDocument(w->xml, NULL, "UTF-8", NULL));
	mi_note(w, w->lib->xmlTextWriterStartElement(w->xml, BAD_CAST "command"));
	mi_attribute(w, "xmlns", NAMESPACE);
	mi_attribute(w, "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance");
	mi_attribute(w, "xsi:schemaLocation", NAMESPACE " " SCHEMA);
	mi_attribute(w, "schemaVersion", VERSION);
	mi_content(w, command);
	mi_note(w, w->lib->xmlTextWriterEndDocument(w->xml));
}

char *mi_document(struct json_object *command, struct err *err)
{
	struct mi_writer w = { .lib = libxml(err) };
	xmlBufferPtr buffer;
	char *text = NULL;

	if (!w.lib)
		return NULL;
	buffer = w.lib->xmlBufferCreate();
	w.xml = buffer ? w.lib->xmlNewTextWriterMemory(buffer, 0) : NULL;
	if (w.xml) {
		mi_root(&w, command);
		w.lib->xmlFreeTextWriter(w.xml);
		if (!w.failed)
			text = xstrdup((const char *)w.lib->xmlBufferContent(buffer));
	}
	if (buffer)
		w.lib->xmlBufferFree(buffer);
	if (!text)
		err_set(err, ERR_NO_MEMORY, "no memory for the document");
	return text;
}
