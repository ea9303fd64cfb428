/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tsdl.h - from the text of CTF 1.8 metadata to a trace class.
 *
 * Two steps: the parser reads declarations as they are written (tsdl.c for the
 * blocks, type.c for types, scope.c for their names), then
 * tsdl_resolve() gives each place where a type is used a copy whose references
 * are bound. The text is untrusted: nesting, memory and time are bounded, and a
 * declaration that is invalid costs itself only.
 */
#ifndef VIEW_TSDL_TSDL_H
#define VIEW_TSDL_TSDL_H

#include "view/report.h"
#include "view/type.h"

/**
 * tsdl_parse() - read a trace's metadata.
 * @where: the metadata's name in reports.
 * @ret_tc: lives in @arena, as does everything that it points to.
 *
 * Return: 0, also where declarations had to be left out (that is reported);
 * -EPROTO: no stream could be read from it.
 */
int tsdl_parse(const char *text, size_t len, const char *where, struct arena *arena,
	       struct reporter *reporter, struct ctf_trace_class **ret_tc) MUST_CHECK;

#endif
