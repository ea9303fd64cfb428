/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Names in a sentence may come from a hostile peer: one line, no control characters. */
static void tame(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

/* Return: false: there is an error already, which stays. */
static bool err_format(struct err *err, enum err_code code, const char *fmt, va_list args)
{
	if (err->code)
		return false;
	err->code = code;
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	tame(err->text);
	return true;
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	err_format(err, code, fmt, args);
	va_end(args);
	return err->code;
}

int err_errno(struct err *err, enum err_code code, int errno_value, const char *fmt, ...)
{
	va_list args;
	size_t len;
	bool is_new;

	va_start(args, fmt);
	is_new = err_format(err, code, fmt, args);
	va_end(args);
	len = strlen(err->text);
	if (is_new)
		snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(errno_value));
	return err->code;
}

int err_memory(struct err *err)
{
	return err_set(err, ERR_NO_MEMORY, "out of memory");
}
