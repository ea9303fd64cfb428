// SPDX-License-Identifier: GPL-2.0-only
#include "marker_format.h"

#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

static bool is_of_name(char c)
{
	return isalnum(c) || c == '_';
}

/* The last word between two conversions, or the number of the value. */
static void name_value(char *to, u32 nr, const char *from, const char *end)
{
	const char *last;
	u32 len;

	while (end > from && !is_of_name(end[-1]))
		end--;
	for (last = end; last > from && is_of_name(last[-1]);)
		last--;
	len = min_t(u32, end - last, MARKER_NAME_MAX - 1);
	memcpy(to, last, len);
	to[len] = 0;
	if (!len || isdigit(*last))
		snprintf(to, MARKER_NAME_MAX, "arg%u", nr);
}

static const char *skip_flags(const char *at)
{
	while (*at && strchr("-+ #0", *at))
		at++;
	while (isdigit(*at) || *at == '.')
		at++;
	return at;
}

static const char *take_length(const char *at, u32 *ret_bytes)
{
	*ret_bytes = sizeof(int);
	if (!strncmp(at, "hh", 2)) {
		*ret_bytes = 1;
		return at + 2;
	}
	if (*at == 'h') {
		*ret_bytes = 2;
		return at + 1;
	}
	for (; *at && strchr("lLqjzt", *at); at++)
		*ret_bytes = sizeof(long);
	return at;
}

/* Return: behind the conversion; NULL for one that is not known. */
static const char *take_conversion(const char *at, u32 bytes, struct field *field)
{
	field->elem_bytes = bytes;
	field->form = FORM_VALUE;
	switch (*at) {
	case 'd':
	case 'i':
		field->type = bytes == 8 ? "long" : "int";
		field->is_signed = true;
		return at + 1;
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		field->type = bytes == 8 ? "unsigned long" : "unsigned int";
		return at + 1;
	case 'c':
		field->type = "char";
		field->elem_bytes = 1;
		return at + 1;
	case 'p':
		field->type = "void *";
		field->elem_bytes = sizeof(void *);
		return isalnum(at[1]) ? NULL : at + 1; /* it would be a structure's */
	case 's':
		field->type = "char";
		field->elem_bytes = 1;
		field->form = FORM_STRING;
		return at + 1;
	default:
		return NULL;
	}
}

int marker_format_parse(const char *text, struct marker_format *ret)
{
	const char *at = text, *since = text;
	u32 bytes;

	memset(ret, 0, sizeof(*ret));
	while ((at = strchr(at, '%'))) {
		struct field *field = &ret->fields[ret->nr];

		if (at[1] == '%') {
			at += 2;
			continue;
		}
		if (ret->nr == MARKER_VALUES_MAX)
			return -EINVAL;
		name_value(ret->names[ret->nr], ret->nr, since, at);
		field->name = ret->names[ret->nr];
		at = take_length(skip_flags(at + 1), &bytes);
		at = take_conversion(at, bytes, field);
		if (!at)
			return -EINVAL;
		since = at;
		ret->nr++;
	}
	return 0;
}
