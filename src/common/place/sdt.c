/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sdt.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- notes -------------------------------------------------------------------------- */

static uint64_t sdt_address(const uint8_t *at, bool is_64)
{
	uint64_t wide;
	uint32_t narrow;

	memcpy(&wide, at, is_64 ? sizeof(wide) : 0);
	memcpy(&narrow, at, sizeof(narrow));
	return is_64 ? wide : narrow;
}

/* Return: behind the text; NULL: it does not end. */
static const char *sdt_take_text(const char *at, const char *end, const char **ret)
{
	size_t len = at ? strnlen(at, (size_t)(end - at)) : 0;

	if (!at || at + len == end)
		return NULL;
	*ret = at;
	return at + len + 1;
}

bool sdt_note_parse(const void *desc, size_t len, bool is_64, struct sdt_note *ret)
{
	const uint8_t *bytes = desc;
	size_t step = is_64 ? 8 : 4;
	const char *at, *end = (const char *)bytes + len;

	if (len < 3 * step)
		return false;
	ret->pc = sdt_address(bytes, is_64);
	ret->base = sdt_address(bytes + step, is_64);
	ret->semaphore = sdt_address(bytes + 2 * step, is_64);
	at = sdt_take_text((const char *)bytes + 3 * step, end, &ret->provider);
	at = sdt_take_text(at, end, &ret->name);
	return sdt_take_text(at, end, &ret->args) != NULL;
}

/* --- arguments ---------------------------------------------------------------------- */

/** An operand that is being read. */
struct operand {
	const char *at, *end;
	uint64_t pc;
	sdt_resolve resolve;
	void *data;
};

static bool sdt_take(struct operand *o, char c)
{
	if (o->at == o->end || *o->at != c)
		return false;
	o->at++;
	return true;
}

static bool sdt_is_done(const struct operand *o)
{
	return o->at == o->end;
}

/* Decimal or 0x; of any size, as it wraps round. */
static bool sdt_take_number(struct operand *o, int64_t *ret)
{
	bool minus = sdt_take(o, '-');
	uint64_t n;
	char *end;

	if (sdt_is_done(o) || !isdigit((unsigned char)*o->at))
		return false;
	errno = 0;
	n = strtoull(o->at, &end, 0);
	if (errno || end > o->end)
		return false;
	*ret = (int64_t)(minus ? 0 - n : n);
	o->at = end;
	return true;
}

static size_t take_word(struct operand *o, char *ret, size_t room)
{
	size_t len = 0;

	while (o->at + len < o->end &&
	       (isalnum((unsigned char)o->at[len]) || strchr("_.$", o->at[len])))
		len++;
	if (len >= room)
		return 0;
	memcpy(ret, o->at, len);
	ret[len] = '\0';
	o->at += len;
	return len;
}

static void put_memory(struct sdt_arg *arg, int64_t offset, const char *base, const char *index)
{
	uint64_t size = offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset;

	snprintf(arg->value, sizeof(arg->value), "%cu%" PRIu64 "(%%%s%s)", offset < 0 ? '-' : '+',
		 size, base, index);
}

#if defined(__aarch64__)

/* x0, w0, sp: all their bytes are the machine's register's. */
static bool sdt_take_register(struct operand *o, char *ret, size_t room)
{
	char name[8];
	size_t len = take_word(o, name, sizeof(name));

	if (len == 0 || (strcmp(name, "sp") != 0 && (strchr("xw", *name) == NULL || len < 2)))
		return false;
	snprintf(ret, room, "%s%s", strcmp(name, "sp") == 0 ? "s" : "x", name + 1);
	return true;
}

/* 4@x0, 8@[sp, 12], 4@-5 */
static void parse_operand(struct operand *o, struct sdt_arg *arg)
{
	char base[8];
	int64_t n = 0;

	if (sdt_take_number(o, &n)) {
		snprintf(arg->value, sizeof(arg->value), "\\%" PRIu64, (uint64_t)n);
	} else if (sdt_take(o, '[')) {
		bool fine = sdt_take_register(o, base, sizeof(base));

		if (fine && sdt_take(o, ','))
			fine = (sdt_take(o, ' ') || true) && (sdt_take(o, '#') || true) &&
			       sdt_take_number(o, &n);
		if (fine && sdt_take(o, ']') && sdt_is_done(o))
			put_memory(arg, n, base, "");
	} else if (sdt_take_register(o, base, sizeof(base)) && sdt_is_done(o)) {
		snprintf(arg->value, sizeof(arg->value), "%%%s", base);
	}
}

#else

/* The names of a register's lowest 8, 4, 2 and 1 bytes; the third is --fetch's name, too. */
static const char *const legacy[][4] = {
	{ "rax", "eax", "ax", "al" },  { "rbx", "ebx", "bx", "bl" },  { "rcx", "ecx", "cx", "cl" },
	{ "rdx", "edx", "dx", "dl" },  { "rsi", "esi", "si", "sil" }, { "rdi", "edi", "di", "dil" },
	{ "rbp", "ebp", "bp", "bpl" }, { "rsp", "esp", "sp", "spl" },
};

static bool sdt_take_register(struct operand *o, char *ret, size_t room)
{
	char name[8], *end;
	unsigned long nr;

	if (!sdt_take(o, '%') || !take_word(o, name, sizeof(name)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(legacy); i++)
		for (size_t part = 0; part < 4; part++)
			if (strcmp(name, legacy[i][part]) == 0) {
				snprintf(ret, room, "%s", legacy[i][2]);
				return true;
			}
	nr = *name == 'r' ? strtoul(name + 1, &end, 10) : 0;
	if (nr < 8 || nr > 15 || strlen(end) > 1 || !strchr("dwb", *end))
		return false;
	snprintf(ret, room, "r%lu", nr);
	return true;
}

/* NUMBER, SYMBOL, SYMBOL+NUMBER, NUMBER+SYMBOL: the text before the brackets. */
static bool take_offset(struct operand *o, int64_t *ret, bool *ret_is_symbol)
{
	char symbol[128];
	uint64_t where;
	int64_t n = 0;
	bool before = sdt_take_number(o, &n);

	*ret = n;
	*ret_is_symbol = false;
	if (sdt_is_done(o) || *o->at == '(' || (before && !sdt_take(o, '+')))
		return before || (!sdt_is_done(o) && *o->at == '(');
	if (!take_word(o, symbol, sizeof(symbol)) || !o->resolve(o->data, symbol, &where))
		return false;
	if (!before && ((!sdt_is_done(o) && *o->at == '-') || sdt_take(o, '+')) &&
	    !sdt_take_number(o, &n))
		return false;
	*ret = (int64_t)(where + (uint64_t)n);
	*ret_is_symbol = true;
	return true;
}

/* (%BASE), (%BASE,%INDEX,SCALE), (%rip), which is where the program is. */
static void parse_memory(struct operand *o, struct sdt_arg *arg, int64_t offset, bool is_symbol)
{
	char base[8], name[8], index[24] = "";
	int64_t scale = 1;

	if (!sdt_take(o, '('))
		return;
	if (o->end - o->at == 5 && memcmp(o->at, "%rip)", 5) == 0) {
		if (is_symbol)
			put_memory(arg, (int64_t)((uint64_t)offset - o->pc), "ip", "");
		return;
	}
	if (is_symbol || !sdt_take_register(o, base, sizeof(base)))
		return;
	if (sdt_take(o, ',')) {
		if (!sdt_take_register(o, name, sizeof(name)) ||
		    (sdt_take(o, ',') && !sdt_take_number(o, &scale)) || scale < 1 || scale > 8)
			return;
		snprintf(index, sizeof(index), "+%d*%%%s", (int)scale, name);
	}
	if (sdt_take(o, ')') && sdt_is_done(o))
		put_memory(arg, offset, base, index);
}

/* $5, %eax, -8(%rbp) and the like, as the GNU assembler writes them. */
static void parse_operand(struct operand *o, struct sdt_arg *arg)
{
	char name[8];
	bool is_symbol;
	int64_t n;

	if (sdt_take(o, '$')) {
		if (sdt_take_number(o, &n) && sdt_is_done(o))
			snprintf(arg->value, sizeof(arg->value), "\\%" PRIu64, (uint64_t)n);
	} else if (!sdt_is_done(o) && *o->at == '%') {
		if (sdt_take_register(o, name, sizeof(name)) && sdt_is_done(o))
			snprintf(arg->value, sizeof(arg->value), "%%%s", name);
	} else if (take_offset(o, &n, &is_symbol)) {
		parse_memory(o, arg, n, is_symbol);
	}
}

#endif

/* Blanks part arguments, but not those in brackets. */
static const char *sdt_end_of(const char *at)
{
	int depth = 0;

	for (; *at && (*at != ' ' || depth); at++)
		depth += (*at == '[' && !depth) - (*at == ']' && depth);
	return at;
}

unsigned int sdt_args_parse(const char *text, uint64_t pc, sdt_resolve resolve, void *data,
			    struct sdt_arg ret[SDT_MAX_ARGS])
{
	unsigned int nr = 0;

	for (; *(text += strspn(text, " ")) && nr < SDT_MAX_ARGS; nr++) {
		struct operand o = { text, sdt_end_of(text), pc, resolve, data };
		int64_t size = 8;

		ret[nr] = (struct sdt_arg){ .bytes = 8 };
		text = o.end;
		if (memchr(o.at, '@', (size_t)(o.end - o.at)) &&
		    (!sdt_take_number(&o, &size) || !sdt_take(&o, '@')))
			continue; /* a floating-point number, or nothing that is known */
		ret[nr].is_signed = size < 0;
		size = size < 0 ? -size : size;
		if (size != 1 && size != 2 && size != 4 && size != 8)
			continue;
		ret[nr].bytes = (uint8_t)size;
		parse_operand(&o, &ret[nr]);
	}
	return nr;
}
