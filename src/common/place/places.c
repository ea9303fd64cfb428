/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "base/macros.h"

/* --- program and name ---------------------------------------------------------------- */

void location_fini(struct location *location)
{
	free(location->text);
}

/* Cut off the text behind the last colon. Return: NULL: nothing is, or nothing before it. */
static char *location_cut_last(char *text)
{
	char *colon = strrchr(text, ':');

	if (!colon || colon == text || colon[-1] == '\\' || !colon[1])
		return NULL;
	*colon = '\0';
	return colon + 1;
}

static void location_unescape(char *path)
{
	char *to = path;

	for (; *path; path++)
		if (path[0] != '\\' || path[1] != ':')
			*to++ = *path;
	*to = '\0';
}

int location_parse(const char *text, struct location *ret, struct err *err)
{
	static const char *const functions[] = { "elf:", "function:", "return:" };
	bool is_usdt = strncmp(text, "sdt:", 4) == 0;

	ret->text = strdup(text);
	if (!ret->text)
		return err_memory(err);
	ret->path = ret->text + (is_usdt ? 4 : 0);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (strncmp(text, functions[i], strlen(functions[i])) == 0)
			ret->path = ret->text + strlen(functions[i]);
	ret->symbol = location_cut_last(ret->path);
	if (ret->symbol && is_usdt)
		ret->provider = location_cut_last(ret->path);
	if (!ret->symbol || (is_usdt && !ret->provider))
		return err_set(err, ERR_INVALID,
			       "'%.200s' is not a place in a program: [elf:|return:]PATH:SYMBOL "
			       "or sdt:PATH:PROVIDER:NAME",
			       text);
	location_unescape(ret->path);
	return 0;
}

/* --- the text ------------------------------------------------------------------------ */

/* As wide as it is anywhere, so that all places make the same record. */
static struct sdt_arg places_widest(const struct elf_places *found, unsigned int nr)
{
	struct sdt_arg arg = { .bytes = 1 };

	for (size_t i = 0; i < found->nr; i++) {
		arg.bytes = MAX(arg.bytes, found->all[i].args[nr].bytes);
		arg.is_signed |= found->all[i].args[nr].is_signed;
	}
	return arg;
}

/* Only arguments that all places have are recorded. */
static unsigned int places_count_args(const struct elf_places *found)
{
	unsigned int nr = SDT_MAX_ARGS;

	for (size_t i = 0; i < found->nr; i++)
		nr = MIN(nr, found->all[i].nr_args);
	return nr;
}

static bool places_is_known(const struct elf_places *found, unsigned int nr)
{
	for (size_t i = 0; i < found->nr; i++)
		if (!*found->all[i].args[nr].value)
			return false;
	return true;
}

static void places_put_arg(FILE *out, unsigned int nr, const struct sdt_arg *arg,
			   const struct sdt_arg *as)
{
	fprintf(out, " arg%u=%s:%c%u", nr + 1, arg->value, arg->is_signed ? 's' : 'u',
		8u * arg->bytes);
	if (arg->bytes < as->bytes)
		fprintf(out, ">%c%u", as->is_signed ? 's' : 'u', 8u * as->bytes);
}

/* A value of that size with and without a sign is the same bits. */
static void places_put_place(FILE *out, const struct elf_places *found,
			     const struct elf_place *place)
{
	fprintf(out, ";0x%" PRIx64, place->offset);
	if (place->semaphore)
		fprintf(out, "@0x%" PRIx64, place->semaphore);
	for (unsigned int i = 0; i < places_count_args(found); i++) {
		const struct sdt_arg as = places_widest(found, i);
		struct sdt_arg arg = place->args[i];

		if (arg.bytes == as.bytes)
			arg.is_signed = as.is_signed;
		if (places_is_known(found, i))
			places_put_arg(out, i, &arg, &as);
	}
}

static void places_put_unknown(FILE *out, const struct elf_places *found)
{
	const char *separator = "";

	for (unsigned int i = 0; i < places_count_args(found); i++) {
		if (places_is_known(found, i))
			continue;
		fprintf(out, "%sarg%u", separator, i + 1);
		separator = ", ";
	}
}

static void places_put_all(FILE *out, const struct elf_places *found, const struct stat *st)
{
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, (uint64_t)st->st_dev,
		(uint64_t)st->st_ino, (uint64_t)st->st_size,
		stat_mtime_ns(st));
	for (size_t i = 0; i < found->nr; i++)
		places_put_place(out, found, &found->all[i]);
}

/* Two texts, each with a NUL byte at its end. Return: 0 or the code in @err. */
static int places_describe(struct places *places, const struct stat *st, struct err *err)
{
	size_t len;
	FILE *out = open_memstream(&places->text, &len);
	bool whole;

	if (!out)
		return err_memory(err);
	places_put_all(out, &places->found, st);
	fputc('\0', out);
	places_put_unknown(out, &places->found);
	whole = !ferror(out);
	if (fclose(out) != 0 || !whole)
		return err_memory(err);
	places->left_out = places->text + strlen(places->text) + 1;
	return 0;
}

/* --- the search ---------------------------------------------------------------------- */

int places_find(int fd, const char *file, const struct location *location, struct places *ret,
		struct err *err)
{
	struct stat st;
	int code;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "%s is not a regular file", file);
	code = location->provider ? elf_find_usdt(fd, file, location->provider, location->symbol,
						  &ret->found, err) :
				    elf_find_function(fd, file, location->symbol, &ret->found, err);
	return code ? code : places_describe(ret, &st, err);
}

void places_fini(struct places *places)
{
	elf_places_fini(&places->found);
	free(places->text);
}
