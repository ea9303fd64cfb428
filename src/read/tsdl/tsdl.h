/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tsdl.h - parser of CTF 1.8 metadata (TSDL); makes a trace class of it.
 *
 * Two steps: the parser reads the declarations (tsdl.c for the blocks, type.c for types,
 * scope.c for their names); then tsdl_resolve() makes a copy of each type for each use,
 * in which references are bound. The text is untrusted: nesting, memory and time are
 * limited, and invalid declarations are skipped.
 */
#ifndef READ_TSDL_TSDL_H
#define READ_TSDL_TSDL_H

#include "read/report.h"
#include "read/decode/type.h"

/**
 * tsdl_parse() - read a trace's metadata.
 * @where: the metadata's name in reports.
 * @ret_tc: allocated in @arena, with all data that it points to.
 *
 * Return: 0, also if declarations were skipped (which is reported), or if there are none, as before
 * a trace's first packet; -EPROTO: no stream could be read from it.
 */
int tsdl_parse(const char *text, size_t len, const char *where, struct arena *arena,
	       struct reporter *reporter, struct ctf_trace_class **ret_tc) MUST_CHECK;

#endif
