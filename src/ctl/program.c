/* SPDX-License-Identifier: GPL-2.0-only */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "elf_place.h"

/** The requested place; texts are of one allocation. */
struct location {
	char *text, *path, *provider, *symbol; /* @provider: of a USDT probe; else NULL */
};

static void location_fini(struct location *location)
{
	free(location->text);
}

void program_places_fini(struct program_places *places)
{
	free(places->file);
	free(places->places);
	free(places->left_out);
	*places = (struct program_places){ 0 };
}

/* --- program and name ---------------------------------------------------------------- */

/* Cut off the text behind the last colon. Return: NULL: nothing is, or nothing before it. */
static char *ctl_program_cut_last(char *text)
{
	char *colon = strrchr(text, ':');

	if (!colon || colon == text || colon[-1] == '\\' || !colon[1])
		return NULL;
	*colon = '\0';
	return colon + 1;
}

static void unescape(char *path)
{
	char *to = path;

	for (; *path; path++)
		if (path[0] != '\\' || path[1] != ':')
			*to++ = *path;
	*to = '\0';
}

static int ctl_program_parse(const char *text, struct location *ret, struct err *err)
{
	static const char *const functions[] = { "elf:", "function:", "return:" };
	bool is_usdt = strncmp(text, "sdt:", 4) == 0;

	ret->text = xstrdup(text);
	ret->path = ret->text + (is_usdt ? 4 : 0);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (strncmp(text, functions[i], strlen(functions[i])) == 0)
			ret->path = ret->text + strlen(functions[i]);
	ret->symbol = ctl_program_cut_last(ret->path);
	if (ret->symbol && is_usdt)
		ret->provider = ctl_program_cut_last(ret->path);
	if (!ret->symbol || (is_usdt && !ret->provider))
		return err_set(err, ERR_INVALID,
			       "'%.200s' is not a place in a program: [elf:|return:]PATH:SYMBOL "
			       "or sdt:PATH:PROVIDER:NAME",
			       text);
	unescape(ret->path);
	return 0;
}

/* --- which file ---------------------------------------------------------------------- */

#define LIBRARIES                                          \
	"/lib:/usr/lib:/lib64:/usr/lib64:/usr/local/lib:"  \
	"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:" \
	"/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu"

/* Return: allocated; NULL: it is in none of them. */
static char *ctl_program_search(const char *folders, const char *name)
{
	while (*folders) {
		size_t len = strcspn(folders, ":");
		char *path AUTO_FREE = xasprintf("%.*s/%s", (int)len, folders, name);
		struct stat st;

		if (len && stat(path, &st) == 0 && S_ISREG(st.st_mode))
			return realpath(path, NULL);
		folders += len + (folders[len] == ':');
	}
	return NULL;
}

static int find_file(const char *path, char **ret, struct err *err)
{
	const char *programs = getenv("PATH"), *libraries = getenv("LD_LIBRARY_PATH");

	if (strchr(path, '/')) {
		*ret = realpath(path, NULL);
		return *ret ? 0 : err_errno(err, ERR_NO_EVENT, errno, "%s", path);
	}
	*ret = ctl_program_search(programs ? programs : "/usr/bin:/bin", path);
	if (!*ret)
		*ret = ctl_program_search(libraries ? libraries : "", path);
	if (!*ret)
		*ret = ctl_program_search(LIBRARIES, path);
	return *ret ? 0 :
		      err_set(err, ERR_NO_EVENT,
			      "there is no program '%s' in $PATH, and no such library; give its "
			      "path",
			      path);
}

/* --- where in it --------------------------------------------------------------------- */

/* As wide as it is anywhere, so that all places make the same record. */
static struct sdt_arg widest(const struct elf_places *found, unsigned int nr)
{
	struct sdt_arg arg = { .bytes = 1 };

	for (size_t i = 0; i < found->nr; i++) {
		arg.bytes = MAX(arg.bytes, found->all[i].args[nr].bytes);
		arg.is_signed |= found->all[i].args[nr].is_signed;
	}
	return arg;
}

/* Only arguments that all places have are recorded. */
static unsigned int count_args(const struct elf_places *found)
{
	unsigned int nr = SDT_MAX_ARGS;

	for (size_t i = 0; i < found->nr; i++)
		nr = MIN(nr, found->all[i].nr_args);
	return nr;
}

static bool ctl_program_is_known(const struct elf_places *found, unsigned int nr)
{
	for (size_t i = 0; i < found->nr; i++)
		if (!*found->all[i].args[nr].value)
			return false;
	return true;
}

static void put_arg(FILE *out, unsigned int nr, const struct sdt_arg *arg, const struct sdt_arg *as)
{
	fprintf(out, " arg%u=%s:%c%u", nr + 1, arg->value, arg->is_signed ? 's' : 'u',
		8u * arg->bytes);
	if (arg->bytes < as->bytes)
		fprintf(out, ">%c%u", as->is_signed ? 's' : 'u', 8u * as->bytes);
}

/* A value of that size with and without a sign is the same bits. */
static void put_place(FILE *out, const struct elf_places *found, const struct elf_place *place)
{
	fprintf(out, ";0x%" PRIx64, place->offset);
	if (place->semaphore)
		fprintf(out, "@0x%" PRIx64, place->semaphore);
	for (unsigned int i = 0; i < count_args(found); i++) {
		const struct sdt_arg as = widest(found, i);
		struct sdt_arg arg = place->args[i];

		if (arg.bytes == as.bytes)
			arg.is_signed = as.is_signed;
		if (ctl_program_is_known(found, i))
			put_arg(out, i, &arg, &as);
	}
}

static char *list_unknown(const struct elf_places *found)
{
	char *list = NULL;

	for (unsigned int i = 0; i < count_args(found); i++) {
		char *before AUTO_FREE = NULL;

		if (ctl_program_is_known(found, i))
			continue;
		before = list;
		list = xasprintf("%s%sarg%u", before ? before : "", before ? ", " : "", i + 1);
	}
	return list;
}

static char *put_all(const struct elf_places *found, const struct stat *st)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, (uint64_t)st->st_dev,
		(uint64_t)st->st_ino, (uint64_t)st->st_size,
		(uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec);
	for (size_t i = 0; i < found->nr; i++)
		put_place(out, found, &found->all[i]);
	fclose(out);
	return text;
}

static int ctl_program_find_places(int fd, const struct location *location,
				   struct program_places *ret, struct err *err)
{
	struct elf_places found CLEANUP(elf_places_fini) = { 0 };
	struct stat st;
	int code;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "%s is not a regular file", ret->file);
	code = location->provider ? elf_find_usdt(fd, ret->file, location->provider,
						  location->symbol, &found, err) :
				    elf_find_function(fd, ret->file, location->symbol, &found, err);
	if (code)
		return code;
	ret->places = put_all(&found, &st);
	ret->left_out = list_unknown(&found);
	return ret->places ? 0 :
			     err_set(err, ERR_NO_MEMORY, "no memory for the places in the program");
}

int program_find(const char *text, struct program_places *ret, struct err *err)
{
	struct location location CLEANUP(location_fini) = { 0 };
	int fd AUTO_FD = -1;

	if (ctl_program_parse(text, &location, err) || find_file(location.path, &ret->file, err))
		return err->code;
	fd = open(ret->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_errno(err, ERR_NO_EVENT, errno, "%s", ret->file);
	return ctl_program_find_places(fd, &location, ret, err);
}
