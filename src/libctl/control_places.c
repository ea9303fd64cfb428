/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_places.c - ltt_ctl_find_places() of ltt/control.h: the file, and offsets in it. Runs with
 * the caller's rights. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/str.h"
#include "io/rootpath.h"
#include "libctl/control.h"
#include "place/places.h"

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
	struct places places CLEANUP(places_fini) = { 0 };

	if (places_find(fd, file, location, &places, err))
		return err->code;
	ret->file = pool_str(pool_of(ret), file);
	ret->text = pool_str(pool_of(ret), places.text);
	ret->left_out = pool_str(pool_of(ret), places.left_out);
	put_list(&places.found, ret);
	return 0;
}

static int find_places(const char *text, struct ltt_ctl_places *ret, struct err *err)
{
	struct location location CLEANUP(location_fini) = { 0 };
	char *file AUTO_FREE = NULL;
	int fd AUTO_FD = -1;

	if (location_parse(text, &location, err) || find_file(location.path, &file, err))
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
