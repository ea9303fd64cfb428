/* SPDX-License-Identifier: GPL-2.0-only */
#include "demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#undef ARRAY_SIZE /* libiberty's */
#include "base/mem.h"
#include "base/str.h"

#define BRIEF_MOST 60u /* characters up to which parameters are shown */

/* --- symbols -------------------------------------------------------------------------------- */

struct demangled {
	jmp_buf too_long;
	size_t len;
	char text[DEMANGLE_MOST];
};

/* A few bytes can stand for gigabytes. libiberty's callback can't refuse; it holds no memory
 * meanwhile. */
static void demangle_part(const char *part, size_t len, void *priv)
{
	struct demangled *to = priv;

	if (len >= sizeof(to->text) - to->len)
		longjmp(to->too_long, 1);
	memcpy(to->text + to->len, part, len);
	to->len += len;
}

/* With libiberty's own limit of a symbol's depth and length, as its memory is on the stack. */
static bool demangle_to(const char *symbol, struct demangled *to)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(to->too_long))
		return false;
	return rust_demangle_callback(symbol, options, demangle_part, to) ||
	       cplus_demangle_v3_callback(symbol, options, demangle_part, to);
}

char *demangle(const char *symbol)
{
	struct demangled to;

	if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R'))
		return NULL;
	to.len = 0;
	if (!demangle_to(symbol, &to) || !to.len)
		return NULL;
	to.text[to.len] = '\0';
	return xstrdup(to.text);
}

/* --- brief names ---------------------------------------------------------------------------- */

/* The length of `operator<` and its like at @at, whose brackets enclose nothing; or 0. */
static size_t brief_operator(const char *at)
{
	static const char *const all[] = { "operator<=>", "operator<<=", "operator>>=",
					   "operator->*", "operator<<",	 "operator>>",
					   "operator<=",  "operator>=",	 "operator->",
					   "operator<",	  "operator>",	 "operator()" };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (strncmp(at, all[i], strlen(all[i])) == 0)
			return strlen(all[i]);
	return 0;
}

/* Behind the bracket that ends the one at @at; NULL: it has no end. */
static const char *brief_behind(const char *at, char open, char close)
{
	size_t depth = 0, skip;

	for (; *at; at += skip) {
		skip = brief_operator(at);
		if (!skip)
			skip = at[0] == '-' && at[1] == '>' ? 2 : 1;
		if (skip > 1)
			continue;
		depth += *at == open;
		depth -= *at == close;
		if (!depth)
			return at + 1;
	}
	return NULL;
}

/* Whether template arguments begin at @at: behind a name, or Rust's `::`. */
static bool brief_is_template(const char *name, const char *at)
{
	return *at == '<' && at > name &&
	       (isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == ':');
}

/* Return: the text without template arguments; allocated. */
static char *brief_templates(const char *name)
{
	/* `<>` becomes longer */
	char *text = xalloc(2 * strlen(name) + sizeof("<...>")), *to = text;
	const char *at = name, *behind;
	size_t len;

	while (*at) {
		behind = brief_is_template(name, at) ? brief_behind(at, '<', '>') : NULL;
		if (behind) {
			to = stpcpy(to, "<...>");
			at = behind;
			continue;
		}
		len = brief_operator(at);
		if (!len)
			len = 1;
		memcpy(to, at, len);
		to += len;
		at += len;
	}
	*to = '\0';
	return text;
}

/* Where the parameters of @name begin; NULL: it has none. `(anonymous namespace)` at the begin of a
 * part of the name isn't any. */
static char *brief_parameters(char *name)
{
	for (char *at = name; *at; at++) {
		size_t len = brief_operator(at);

		if (len)
			at += len - 1;
		else if (*at == '(' && at > name && at[-1] != ':' && at[-1] != ' ')
			return at;
	}
	return NULL;
}

void demangle_brief(const char *name, char *buf, size_t len)
{
	char *text AUTO_FREE = brief_templates(name);
	char *parameters = strlen(text) > BRIEF_MOST ? brief_parameters(text) : NULL;
	const char *behind = parameters ? brief_behind(parameters, '(', ')') : NULL;
	char *whole AUTO_FREE = NULL;

	if (behind && behind > parameters + strlen("()")) {
		*parameters = '\0';
		whole = xasprintf("%s(...)%s", text, behind);
	}
	snprintf(buf, len, "%s", whole ? whole : text);
}
