/* SPDX-License-Identifier: GPL-2.0-only */
/* layout.h - fields of the events of this folder. */
#ifndef KMOD_DUMP_LAYOUT_H
#define KMOD_DUMP_LAYOUT_H

#include "event.h"

#define FIELD(name_, type_, ctype, sign)						\
	{ .name = #name_, .type = type_, .elem_bytes = sizeof(ctype), .is_signed = (sign) }
#define INT(name)  FIELD(name, "int", s32, true)
#define UINT(name) FIELD(name, "unsigned int", u32, false)
#define S64(name)  FIELD(name, "s64", s64, true)
#define U64(name)  FIELD(name, "u64", u64, false)
#define ADDRESS(name) FIELD(name, "void *", u64, false)
#define TEXT(name_) { .name = #name_, .type = "char", .elem_bytes = 1, .form = FORM_STRING }
#define ARRAY_OF(name_, type_, count_)							\
	{ .name = #name_, .type = type_, .elem_bytes = 1, .count = (count_), .form = FORM_ARRAY }

#endif
