/* SPDX-License-Identifier: GPL-2.0-only */
#include "function.h"

#include "analyse/symbol/demangle.h"
#include "base/mem.h"
#include "base/str.h"

int function_names_whole;

char *function_name(const char *name, size_t most)
{
	char *brief;

	if (function_names_whole)
		return xstrdup(name);
	brief = xalloc(most);
	demangle_brief(name, brief, most);
	return brief;
}
