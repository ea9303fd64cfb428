/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ctf2.h - parser of CTF 2 metadata; makes a trace class of it. The metadata is a sequence of JSON
 * texts, each behind the byte 0x1E (RFC 7464). Field classes are in class.c.
 *
 * The text is untrusted: depth, memory and time are limited, and invalid fragments are skipped.
 */
#ifndef READ_CTF2_CTF2_H
#define READ_CTF2_CTF2_H

#include "read/report.h"
#include "read/decode/type.h"

/** Whether metadata, without packets, is CTF 2. */
bool ctf2_is_text(const char *text, size_t len);

/** As tsdl_parse(). */
int ctf2_parse(const char *text, size_t len, const char *where, struct arena *arena,
	       struct reporter *reporter, struct ctf_trace_class **ret_tc) MUST_CHECK;

/** The remarks of this tracer in the metadata, which are attributes of aliases: as the comments of
 *  TSDL. Return: allocated; NULL: there is none. */
char *ctf2_remarks(const char *text, size_t len);

#endif
