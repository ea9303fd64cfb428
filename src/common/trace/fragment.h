/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fragment.h - the fragments of CTF 2 metadata: JSON objects, each preceded by a record separator
 * and followed by a line feed (RFC 7464). They describe the same bytes as the TSDL of
 * trace/metadata.c, which calls them. Pure: they are appended to a file in memory.
 *
 * Names of fields are those of the TSDL without their leading underscore.
 */
#ifndef TRACE_FRAGMENT_H
#define TRACE_FRAGMENT_H

#include <stdio.h>

#include "metadata.h"
#include "metapacket.h"

/* Our own attributes, in the member of this name of an object's attributes. */
#define FRAGMENT_ATTRIBUTES "ltt"

void fragment_head(FILE *f, const struct metadata_trace *trace);
void fragment_stream(FILE *f, uint32_t stream_class, const struct layout *contexts);
/** The body of an event class, whose last structure is open: the context of a class, or a note
 *  about it, can follow. */
void fragment_event_body(FILE *f, const struct metadata_event *event);
void fragment_event_context(FILE *f, const struct layout *contexts);
void fragment_event_note(FILE *f, const char *recorded);
void fragment_event(FILE *f, uint32_t stream_class, uint32_t id, const char *body);
/** A named type, of an enumeration. */
void fragment_type(FILE *f, const char *name, const struct layout_field *field);
/** A remark, as an attribute of a type that no field has. @nr: no other of the trace has it. */
void fragment_remark(FILE *f, const char *remark, uint64_t nr);

/** A string literal. Bytes that are no UTF-8 become \xNN, in the string. */
void fragment_text(FILE *f, const char *s);

/* Parts that both forms have: metadata.c. */

/** The members of the environment. */
void metadata_put_env(FILE *f, const struct metadata_trace *trace);
const char *metadata_clock_name(const struct clock_facts *clock);
/** The format of a marker, as a URI. */
void metadata_put_format(FILE *f, const char *format);

#endif
