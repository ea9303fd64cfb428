/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xml.h - reads an XML document, by libxml2, into a tree of elements with texts. The document may
 * be hostile: it has to be UTF-8; its size, its depth, the number of its elements and the length of
 * their tags are limited; one with a document type definition, which can define entities, is
 * rejected before the definition is read, so nothing is expanded or fetched.
 */
#ifndef XML_XML_H
#define XML_XML_H

#include <stddef.h>

#include "problems.h"

#define XML_MAX_BYTES (16u << 20)
#define XML_MAX_DEPTH 32u
#define XML_MAX_ELEMENTS 200000u
#define XML_MAX_TAG 4096u /* bytes: libxml2 compares each attribute with each other one */

/**
 * struct element - an element of a document.
 * @text: all of its text; "" if it has children, which blanks may separate.
 * @attribute, @value: its first attribute that belongs to no namespace; NULL: none.
 */
struct element {
	const char *name, *text;
	const char *attribute, *value;
	unsigned int line;
	struct element *first, *next;
};

struct xml {
	struct element *root;
	struct xml_block *blocks; /* memory of all of it */
};

/** Parse @len bytes. Return: 0; -1: the reason is added to @problems. */
int xml_parse(const char *text, size_t len, struct xml *ret, struct problems *problems) MUST_CHECK;
void xml_fini(struct xml *xml);

#endif
