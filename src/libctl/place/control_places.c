/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_places.c - ltt_ctl_find_places() of ltt/control.h: the file, and offsets in it, also as
 * messages to the session daemon have them. Runs with the caller's rights. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/macros.h"
#include "base/str.h"
#include "elf_place.h"
#include "io/rootpath.h"
#include "libctl/control.h"

/** The requested place; texts are of one allocation. */
struct location {
	char *text, *path, *provider, *symbol; /* @provider: of a USDT probe; else NULL */
};

static void location_fini(struct location *location)
{
	free(location->text);
}

/* --- program and name ---------------------------------------------------------------- */

/* Cut off the text behind the last colon. Return: NULL: nothing is, or nothing before it. */
static char *program_cut_last(char *text)
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

static int program_parse(const char *text, struct location *ret, struct err *err)
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
	ret->symbol = program_cut_last(ret->path);
	if (ret->symbol && is_usdt)
		ret->provider = program_cut_last(ret->path);
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

/* @ret: allocated; not changed if the file is in none of the folders. Return: 0 or the code in
 * @err: no memory. */
static int program_search(const char *folders, const char *name, char **ret, struct err *err)
{
	while (*folders && !*ret) {
		size_t len = strcspn(folders, ":");
		char *path AUTO_FREE = str_printf("%.*s/%s", (int)len, folders, name);
		struct stat st;

		if (!path)
			return err_memory(err);
		errno = 0;
		if (len && stat(path, &st) == 0 && S_ISREG(st.st_mode))
			*ret = realpath(path, NULL);
		if (!*ret && errno == ENOMEM)
			return err_memory(err);
		folders += len + (folders[len] == ':');
	}
	return 0;
}

static int find_file(const char *path, char **ret, struct err *err)
{
	const char *programs = getenv("PATH"), *libraries = getenv("LD_LIBRARY_PATH");

	if (strchr(path, '/')) {
		*ret = rootpath_is(path) ? strdup(path) : realpath(path, NULL);
		return *ret	       ? 0 :
		       errno == ENOMEM ? err_memory(err) :
					 err_errno(err, ERR_NO_EVENT, errno, "%s", path);
	}
	if (program_search(programs ? programs : "/usr/bin:/bin", path, ret, err) != 0 ||
	    program_search(libraries ? libraries : "", path, ret, err) != 0 ||
	    program_search(LIBRARIES, path, ret, err) != 0)
		return err->code;
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

static bool program_is_known(const struct elf_places *found, unsigned int nr)
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
		if (program_is_known(found, i))
			put_arg(out, i, &arg, &as);
	}
}

static void put_unknown(FILE *out, const struct elf_places *found)
{
	const char *separator = "";

	for (unsigned int i = 0; i < count_args(found); i++) {
		if (program_is_known(found, i))
			continue;
		fprintf(out, "%sarg%u", separator, i + 1);
		separator = ", ";
	}
}

static void put_all(FILE *out, const struct elf_places *found, const struct stat *st)
{
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, (uint64_t)st->st_dev,
		(uint64_t)st->st_ino, (uint64_t)st->st_size,
		stat_mtime_ns(st));
	for (size_t i = 0; i < found->nr; i++)
		put_place(out, found, &found->all[i]);
}

/* Two texts, each with a NUL byte at its end. Return: 0 or the code in @err. */
static int put_texts(const struct elf_places *found, const struct stat *st,
		     struct ltt_ctl_places *ret, struct err *err)
{
	char *text AUTO_FREE = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool whole;

	if (!out)
		return err_memory(err);
	put_all(out, found, st);
	fputc('\0', out);
	put_unknown(out, found);
	whole = !ferror(out);
	if (fclose(out) != 0 || !whole)
		return err_memory(err);
	ret->text = pool_str(pool_of(ret), text);
	ret->left_out = pool_str(pool_of(ret), text + strlen(text) + 1);
	return 0;
}

static void put_list(const struct elf_places *found, struct ltt_ctl_places *ret)
{
	for (size_t i = 0; i < found->nr; i++) {
		struct ltt_ctl_place *place = pool_alloc(pool_of(ret), sizeof(*place));

		if (!place)
			return;
		place->offset = found->all[i].offset;
		place->semaphore = found->all[i].semaphore;
		pool_append(pool_of(ret), (const void *const **)&ret->places, &ret->nr, place);
	}
}

static int find_in_file(int fd, const struct location *location, const char *file,
			struct ltt_ctl_places *ret, struct err *err)
{
	struct elf_places found CLEANUP(elf_places_fini) = { 0 };
	struct stat st;
	int code;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "%s is not a regular file", file);
	code = location->provider ?
		       elf_find_usdt(fd, file, location->provider, location->symbol, &found, err) :
		       elf_find_function(fd, file, location->symbol, &found, err);
	if (code)
		return code;
	ret->file = pool_str(pool_of(ret), file);
	put_list(&found, ret);
	return put_texts(&found, &st, ret, err);
}

static int find_places(const char *text, struct ltt_ctl_places *ret, struct err *err)
{
	struct location location CLEANUP(location_fini) = { 0 };
	char *file AUTO_FREE = NULL;
	int fd AUTO_FD = -1;

	if (program_parse(text, &location, err) || find_file(location.path, &file, err))
		return err->code;
	fd = rootpath_open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_errno(err, ERR_NO_EVENT, -fd, "%s", file);
	return find_in_file(fd, &location, file, ret, err);
}

int ltt_ctl_find_places(struct ltt_ctl *ctl, const char *location,
			struct ltt_ctl_places **ret_places)
{
	struct ltt_ctl_places *places;

	control_forget(ctl);
	if (control_check_given(ctl, location, "the location") != 0)
		return ctl->err.code;
	places = pool_owner_new(sizeof(*places));
	if (!places)
		return err_memory(&ctl->err);
	if (control_finish(ctl, find_places(location, places, &ctl->err), places) != 0)
		return ctl->err.code;
	*ret_places = places;
	return 0;
}

void ltt_ctl_places_free(struct ltt_ctl_places *places)
{
	pool_owner_free(places);
}
