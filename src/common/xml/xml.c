/* SPDX-License-Identifier: GPL-2.0-only */
#include "xml.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "libxml.h"

#define BLOCK_BYTES 65536u
#define CHUNK_BYTES 16384u /* after a failure, the rest of a chunk is still parsed, but ignored */

struct xml_block {
	struct xml_block *next;
	size_t used, size;
	char bytes[];
};

struct open_element {
	struct element *element;
	struct element **end; /* where its next child is linked */
	size_t text;	      /* where its text begins, in that of all open elements */
};

struct builder {
	const struct libxml *lib;
	xmlParserCtxtPtr parser;
	struct xml *xml;
	struct problems *problems;
	bool failed;
	unsigned int depth, elements;
	struct open_element open[XML_MAX_DEPTH];
	char *text;
	size_t text_len, text_size;
};

/* --- memory of the tree ----------------------------------------------------------- */

static void *xml_alloc(struct xml *xml, size_t size)
{
	struct xml_block *block = xml->blocks;
	size_t need = (size + 7) & ~(size_t)7;

	if (!block || block->size - block->used < need) {
		size_t bytes = MAX(need, BLOCK_BYTES);

		block = xalloc(sizeof(*block) + bytes);
		block->size = bytes;
		block->next = xml->blocks;
		xml->blocks = block;
	}
	block->used += need;
	return block->bytes + block->used - need;
}

static const char *xml_keep(struct xml *xml, const void *text, size_t len)
{
	char *copy = xml_alloc(xml, len + 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

void xml_fini(struct xml *xml)
{
	while (xml->blocks) {
		struct xml_block *block = xml->blocks;

		xml->blocks = block->next;
		free(block);
	}
	xml->root = NULL;
}

/* --- callbacks of the parser ---------------------------------------------------------- */

static unsigned int xml_line(const struct builder *b)
{
	int line = b->lib->xmlSAX2GetLineNumber(b->parser);

	return line > 0 ? (unsigned int)line : 1;
}

static PRINTF(2, 3) void xml_fail(struct builder *b, const char *fmt, ...)
{
	char text[400];
	va_list args;

	if (b->failed)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	problems_add(b->problems, xml_line(b), NULL, "%s", text);
	b->failed = true;
}

static void xml_on_doctype(void *data, const xmlChar *name, const xmlChar *public,
			   const xmlChar *system)
{
	struct builder *b = data;

	(void)name, (void)public, (void)system;
	xml_fail(b,
		 "the file has a document type (<!DOCTYPE ...>), which may define entities; remove "
		 "it");
	/* Before it is read; only allowed where nothing else is parsed. */
	b->lib->xmlStopParser(b->parser);
}

static void take_attributes(struct builder *b, struct element *e, int nr,
			    const xmlChar **attributes)
{
	for (int i = 0; i < nr && !e->attribute; i++) {
		const xmlChar **at = attributes + i * 5; /* name, prefix, namespace, begin, end */

		if (at[2])
			continue;
		e->attribute = xml_keep(b->xml, at[0], strlen((const char *)at[0]));
		e->value = xml_keep(b->xml, at[3], (size_t)(at[4] - at[3]));
	}
}

/* Blanks between elements. */
static void take_blanks(struct builder *b, const struct open_element *parent)
{
	for (size_t i = parent->text; i < b->text_len; i++)
		if (!strchr(" \t\r\n", b->text[i]))
			xml_fail(b, "element '%.100s' has text beside other elements",
				 parent->element->name);
	b->text_len = parent->text;
}

static void xml_on_begin(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
			 int nr_namespaces, const xmlChar **namespaces, int nr, int nr_default,
			 const xmlChar **attributes)
{
	struct builder *b = data;
	struct open_element *parent = b->depth ? &b->open[b->depth - 1] : NULL;
	struct element *e;

	(void)prefix, (void)uri, (void)nr_namespaces, (void)namespaces, (void)nr_default;
	if (b->failed)
		return;
	if (b->depth == XML_MAX_DEPTH) {
		xml_fail(b, "elements are nested more than %u deep", XML_MAX_DEPTH);
		return;
	}
	if (b->elements++ == XML_MAX_ELEMENTS) {
		xml_fail(b, "the file has more than %u elements", XML_MAX_ELEMENTS);
		return;
	}
	if (parent)
		take_blanks(b, parent);
	if (b->failed)
		return;
	e = xml_alloc(b->xml, sizeof(*e));
	e->name = xml_keep(b->xml, name, strlen((const char *)name));
	e->text = "";
	e->line = xml_line(b);
	take_attributes(b, e, nr, attributes);
	if (parent) {
		*parent->end = e;
		parent->end = &e->next;
	} else {
		b->xml->root = e;
	}
	b->open[b->depth++] = (struct open_element){ e, &e->first, b->text_len };
}

static void xml_on_end(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
	struct builder *b = data;
	struct open_element *open;

	(void)name, (void)prefix, (void)uri;
	if (b->failed || !b->depth)
		return;
	open = &b->open[b->depth - 1];
	if (open->element->first)
		take_blanks(b, open);
	else if (b->text_len > open->text)
		open->element->text =
			xml_keep(b->xml, b->text + open->text, b->text_len - open->text);
	b->text_len = open->text;
	b->depth--;
}

static void xml_on_text(void *data, const xmlChar *text, int len)
{
	struct builder *b = data;

	if (b->failed || !b->depth || len <= 0)
		return;
	if (b->text_size - b->text_len < (size_t)len) {
		b->text_size = (b->text_len + (size_t)len) * 2;
		b->text = xrealloc(b->text, b->text_size);
	}
	memcpy(b->text + b->text_len, text, (size_t)len);
	b->text_len += (size_t)len;
}

/* The first one: others may follow from it. */
static PRINTF(2, 3) void xml_on_error(void *data, const char *fmt, ...)
{
	char text[300];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';
	xml_fail(data, "this is not well-formed XML: %s", text);
}

static PRINTF(2, 3) void xml_on_warning(void *data, const char *fmt, ...)
{
	(void)data, (void)fmt;
}

/* --- before the parser ------------------------------------------------------------------ */

/* Length of the character at @at, which is in UTF-8 and none that XML forbids; 0: it is not. */
static size_t char_length(const unsigned char *at, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
	uint32_t code = len == 1 ? *at : *at & (0x7fu >> len);

	if (len == 0 || len > left || *at > 0xf4)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	return code && code >= least[len] && code <= 0x10ffff ? len : 0;
}

/* The text behind the end of markup, from @at on. */
static const char *behind(const char *at, const char *end, const char *mark)
{
	const char *found = memmem(at, (size_t)(end - at), mark, strlen(mark));

	return found ? found + strlen(mark) : end;
}

/* The text behind the tag that begins at @at; '>' in quotes does not end it. */
static const char *behind_tag(const char *at, const char *end)
{
	char quote = 0;

	for (; at < end; at++) {
		if (*at == quote)
			quote = 0;
		else if (!quote && (*at == '"' || *at == '\''))
			quote = *at;
		else if (!quote && *at == '>')
			return at + 1;
	}
	return end;
}

/* The first tag that is too long; NULL: there is none. */
static const char *long_tag(const char *at, const char *end)
{
	while (at < end && (at = memchr(at, '<', (size_t)(end - at)))) {
		const char *begin = at;
		size_t left = (size_t)(end - at);

		if (left >= 4 && memcmp(at, "<!--", 4) == 0)
			at = behind(at + 4, end, "-->");
		else if (left >= 9 && memcmp(at, "<![CDATA[", 9) == 0)
			at = behind(at + 9, end, "]]>");
		else if (left >= 2 && at[1] == '?')
			at = behind(at + 2, end, "?>");
		else if (left >= 2 && at[1] == '!')
			return NULL; /* a document type, at which the parser stops */
		else if ((size_t)((at = behind_tag(at, end)) - begin) > XML_MAX_TAG)
			return begin;
	}
	return NULL;
}

static unsigned int line_of(const char *text, const char *at)
{
	unsigned int line = 1;

	while ((text = memchr(text, '\n', (size_t)(at - text)))) {
		line++;
		text++;
	}
	return line;
}

/* Return: whether the parser may read it; else the reason is added to @problems. */
static bool xml_is_readable(const char *text, size_t len, struct problems *problems)
{
	const char *tag;
	size_t step;

	if (len > XML_MAX_BYTES)
		return problems_add(problems, 0, NULL, "the file is larger than %u MiB",
				    XML_MAX_BYTES >> 20);
	for (size_t at = 0; at < len; at += step) {
		step = char_length((const unsigned char *)text + at, len - at);
		if (!step)
			return problems_add(problems, line_of(text, text + at), NULL,
					    "the file is not text in UTF-8");
	}
	tag = long_tag(text, text + len);
	if (tag)
		return problems_add(problems, line_of(text, tag), NULL,
				    "a tag is longer than %u bytes", XML_MAX_TAG);
	return true;
}

/* --- the document -------------------------------------------------------------------- */

/* xmlStopParser() frees the text, to which the parser and its callbacks may still point: after a
 * failure, the parser gets no more text instead. */
static void parse_chunks(struct builder *b, const char *text, size_t len)
{
	size_t at = 0;

	do {
		size_t n = MIN(len - at, CHUNK_BYTES);

		at += n;
		if (b->lib->xmlParseChunk(b->parser, text + at - n, (int)n, at == len) != 0)
			xml_fail(b, "this is not well-formed XML");
	} while (at < len && !b->failed);
}

int xml_parse(const char *text, size_t len, struct xml *ret, struct problems *problems)
{
	xmlSAXHandler handler = {
		.initialized = XML_SAX2_MAGIC,
		.internalSubset = xml_on_doctype,
		.startElementNs = xml_on_begin,
		.endElementNs = xml_on_end,
		.characters = xml_on_text,
		.ignorableWhitespace = xml_on_text,
		.cdataBlock = xml_on_text,
		.error = xml_on_error,
		.warning = xml_on_warning,
	};
	struct err err = { 0 };
	struct builder b = { .lib = libxml(&err), .xml = ret, .problems = problems };

	*ret = (struct xml){ 0 };
	if (!b.lib) {
		problems_add(problems, 0, NULL, "%s", err.text);
		return -1;
	}
	if (!xml_is_readable(text, len, problems))
		return -1;
	b.parser = b.lib->xmlCreatePushParserCtxt(&handler, &b, NULL, 0, NULL);
	if (!b.parser) {
		problems_add(problems, 0, NULL, "out of memory");
		return -1;
	}
	b.lib->xmlCtxtUseOptions(b.parser, XML_PARSE_NONET | XML_PARSE_IGNORE_ENC);
	parse_chunks(&b, text, len);
	b.lib->xmlFreeDoc(b.parser->myDoc); /* NULL, unless the parser has begun one for entities */
	b.parser->myDoc = NULL;
	b.lib->xmlFreeParserCtxt(b.parser);
	free(b.text);
	if (!b.failed && ret->root && !b.depth)
		return 0;
	xml_fini(ret);
	return -1;
}
