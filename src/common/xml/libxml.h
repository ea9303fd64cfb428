/* SPDX-License-Identifier: GPL-2.0-only */
/* libxml.h - the functions of libxml2 for documents of lttctl and of object stores. Any thread. */
#ifndef XML_LIBXML_H
#define XML_LIBXML_H

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/xmlwriter.h>

#include "base/lazy.h"

#define LIBXML_FUNCTIONS(X)             \
	X(xmlBufferContent)             \
	X(xmlBufferCreate)              \
	X(xmlBufferFree)                \
	X(xmlCheckUTF8)                 \
	X(xmlCreatePushParserCtxt)      \
	X(xmlCtxtUseOptions)            \
	X(xmlFreeDoc)                   \
	X(xmlFreeParserCtxt)            \
	X(xmlFreeTextWriter)            \
	X(xmlNewTextWriterMemory)       \
	X(xmlParseChunk)                \
	X(xmlSAX2GetLineNumber)         \
	X(xmlStopParser)                \
	X(xmlTextWriterEndDocument)     \
	X(xmlTextWriterEndElement)      \
	X(xmlTextWriterSetIndent)       \
	X(xmlTextWriterSetIndentString) \
	X(xmlTextWriterStartDocument)   \
	X(xmlTextWriterStartElement)    \
	X(xmlTextWriterWriteAttribute)  \
	X(xmlTextWriterWriteComment)    \
	X(xmlTextWriterWriteElement)    \
	X(xmlTextWriterWriteString)

struct libxml {
	LIBXML_FUNCTIONS(LAZY_POINTER)
};

/** NULL: the library can't be loaded. */
const struct libxml *libxml(struct err *err) MUST_CHECK;

#endif
