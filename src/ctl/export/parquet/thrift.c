/* SPDX-License-Identifier: GPL-2.0-only */
#include "thrift.h"

#include <string.h>

enum { MEMBER_TRUE = 1, MEMBER_FALSE, MEMBER_BYTE, MEMBER_I64 = 6, MEMBER_LIST = 9 };

void thrift_unsigned(struct pen *pen, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		pen_char(pen, (char)(value | 0x80));
	pen_char(pen, (char)value);
}

static void thrift_signed(struct pen *pen, int64_t value)
{
	thrift_unsigned(pen, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

/* All ids are less than 16. */
static void thrift_member(struct thrift *thrift, int id, unsigned int type)
{
	pen_char(thrift->pen, (char)((unsigned int)(id - thrift->last) << 4 | type));
	thrift->last = id;
}

void thrift_bool(struct thrift *thrift, int id, bool value)
{
	thrift_member(thrift, id, value ? MEMBER_TRUE : MEMBER_FALSE);
}

void thrift_byte(struct thrift *thrift, int id, int8_t value)
{
	thrift_member(thrift, id, MEMBER_BYTE);
	pen_char(thrift->pen, (char)value);
}

void thrift_i32(struct thrift *thrift, int id, int32_t value)
{
	thrift_member(thrift, id, THRIFT_I32);
	thrift_signed(thrift->pen, value);
}

void thrift_i64(struct thrift *thrift, int id, int64_t value)
{
	thrift_member(thrift, id, MEMBER_I64);
	thrift_signed(thrift->pen, value);
}

void thrift_binary(struct thrift *thrift, int id, const void *bytes, size_t len)
{
	thrift_member(thrift, id, THRIFT_BINARY);
	thrift_unsigned(thrift->pen, len);
	pen_bytes(thrift->pen, bytes, len);
}

void thrift_text(struct thrift *thrift, int id, const char *text)
{
	thrift_binary(thrift, id, text, strlen(text));
}

void thrift_list(struct thrift *thrift, int id, enum thrift_type type, size_t nr)
{
	thrift_member(thrift, id, MEMBER_LIST);
	pen_char(thrift->pen, (char)((nr < 15 ? nr : 15) << 4 | type));
	if (nr >= 15)
		thrift_unsigned(thrift->pen, nr);
}

void thrift_element_i32(struct thrift *thrift, int32_t value)
{
	thrift_signed(thrift->pen, value);
}

void thrift_element_text(struct thrift *thrift, const char *text)
{
	thrift_unsigned(thrift->pen, strlen(text));
	pen_text(thrift->pen, text);
}

struct thrift thrift_struct(struct thrift *thrift, int id)
{
	thrift_member(thrift, id, THRIFT_STRUCT);
	return thrift_element(thrift->pen);
}

struct thrift thrift_element(struct pen *pen)
{
	return (struct thrift){ .pen = pen };
}

void thrift_stop(struct thrift *thrift)
{
	pen_char(thrift->pen, 0);
}
