/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Names in a sentence may come from a hostile peer: one line, no control characters. */
static void tame(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	va_list args;

	if (err->code)
		return err->code;
	err->code = code;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	tame(err->text);
	return code;
}

int err_errno(struct err *err, enum err_code code, int errno_value, const char *fmt, ...)
{
	size_t len;
	va_list args;

	if (err->code)
		return err->code;
	err->code = code;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	tame(err->text);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(errno_value));
	return code;
}

int err_memory(struct err *err)
{
	return err_set(err, ERR_NO_MEMORY, "out of memory");
}
