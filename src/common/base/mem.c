/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void mem_end(void)
{
	fputs("out of memory\n", stderr);
	_exit(3);
}

static void (*exhausted)(void) = mem_end;

void mem_on_exhausted(void (*fn)(void))
{
	__atomic_store_n(&exhausted, fn, __ATOMIC_RELAXED);
}

static void *or_die(void *p)
{
	if (!p)
		__atomic_load_n(&exhausted, __ATOMIC_RELAXED)();
	return p;
}

void *xalloc(size_t size)
{
	return or_die(calloc(1, size ? size : 1));
}

void *xrealloc(void *p, size_t size)
{
	return or_die(realloc(p, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return or_die(strdup(s));
}

char *xasprintf(const char *fmt, ...)
{
	char *s = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&s, fmt, args) < 0)
		s = NULL;
	va_end(args);
	return or_die(s);
}
