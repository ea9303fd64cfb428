/* SPDX-License-Identifier: GPL-2.0-only */
#include "servants.h"

#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "base/str.h"

/* Patterns of names; those of C++ and Rust without the type that they return. */
static const char *const servants_names[] = {
	"operator new*",  "operator delete*", "_Znw*",		"_Zna*",
	"_Zdl*",	  "_Zda*",	      "std::*",		"_ZNSt*",
	"_ZNKSt*",	  "_ZSt*",	      "_ZNSa*",		"_ZNSs*",
	"__gnu_cxx::*",	  "_ZN9__gnu_cxx*",   "__gthread_*",	"malloc",
	"calloc",	  "realloc",	      "reallocarray",	"strdup",
	"strndup",	  "asprintf",	      "vasprintf",	"xmalloc",
	"xcalloc",	  "xzalloc",	      "xrealloc",	"xstrdup",
	"xstrndup",	  "xmemdup",	      "xnmalloc",	"x2realloc",
	"x2nrealloc",	  "xpalloc",	      "xasprintf",	"xvasprintf",
	"g_malloc*",	  "g_realloc*",	      "g_try_malloc*",	"g_try_realloc*",
	"g_slice_alloc*", "g_slice_copy",     "g_strdup*",	"g_strndup",
	"g_memdup*",	  "_PyObject_Malloc", "_PyObject_Calloc", "_PyObject_Realloc",
	"_PyMem_*",	  "PyObject_Malloc",  "PyObject_Calloc", "PyObject_Realloc",
	"PyMem_*",	  "alloc::*",	      "core::*",	"<alloc::*",
	"<core::*",	  "<std::*",	      "__rust_alloc*",	"__rust_realloc*",
	"__rdl_*",
};

/* Of files that come with a compiler. */
static const char *const servants_places[] = {
	"/usr/include/*", "*/include/c++/*", "/usr/lib/gcc/*", "/usr/lib/llvm*", "/rustc/*",
	"*/lib/rustlib/*",
};

static bool servants_has(const char *const *patterns, size_t nr, const char *text)
{
	for (size_t i = 0; i < nr; i++)
		if (glob_match(patterns[i], text))
			return true;
	return false;
}

/* The name of a function behind the type that it returns, which the symbols of templates have. */
static const char *servants_behind_type(const char *function)
{
	const char *name = function;
	unsigned int depth = 0;

	for (const char *at = function; *at; at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>' && depth)
			depth--;
		else if (!depth && (*at == '(' || strncmp(at, "operator", 8) == 0))
			break;
		else if (!depth && *at == ' ')
			name = at + 1;
	}
	return name;
}

bool is_servant(const char *function, const char *file)
{
	return (file && servants_has(servants_places, ARRAY_SIZE(servants_places), file)) ||
	       servants_has(servants_names, ARRAY_SIZE(servants_names),
			    servants_behind_type(function));
}
