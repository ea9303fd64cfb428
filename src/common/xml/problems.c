/* SPDX-License-Identifier: GPL-2.0-only */
#include "problems.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

static void problems_append(struct problems *problems, unsigned int line, const char *element,
			    const char *fmt, va_list args)
{
	char *text AUTO_FREE = NULL;

	if (problems->nr == PROBLEMS_MAX) {
		problems->omitted++;
		return;
	}
	if (vasprintf(&text, fmt, args) < 0)
		text = xstrdup("out of memory");
	problems->texts[problems->nr++] =
		element ?
			xasprintf("%s:%u: element '%s': %s", problems->file, line, element, text) :
		line ? xasprintf("%s:%u: %s", problems->file, line, text) :
		       xasprintf("%s: %s", problems->file, text);
}

bool problems_add(struct problems *problems, unsigned int line, const char *element,
		  const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	problems_append(problems, line, element, fmt, args);
	va_end(args);
	problems->invalid++;
	return false;
}

bool problems_unsupported(struct problems *problems, unsigned int line, const char *element,
			  const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	problems_append(problems, line, element, fmt, args);
	va_end(args);
	return false;
}

void problems_fini(struct problems *problems)
{
	for (size_t i = 0; i < problems->nr; i++)
		free(problems->texts[i]);
	problems->nr = 0;
}
