/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"
#include "fetch.h"
#include "store/chunk.h"
#include "verbs.h"

#define MAX_NAMESAKES 99u

/* --- fetch --------------------------------------------------------------------------- */

/* How many names from @from on are of one session. */
static uint32_t count_of_session(const struct listing *names, uint32_t from)
{
	size_t len = listing_prefix_len(names->all[from]);
	uint32_t i = from;

	while (i < names->nr && listing_prefix_len(names->all[i]) == len &&
	       strncmp(names->all[i], names->all[from], len) == 0)
		i++;
	return i - from;
}

/* A directory that is new (@ret_made) or empty. Return: descriptor, or -1 with @err. */
static int open_empty(int at_fd, const char *name, const char *path, bool *ret_made,
		      struct err *err)
{
	AUTO_FD int fd = -1;
	AUTO_DIR DIR *dir = NULL;

	*ret_made = mkdirat(at_fd, name, 0777) == 0;
	if (!*ret_made && errno != EEXIST) {
		err_errno(err, ERR_OUTPUT, errno, "can't create %s", path);
		return -1;
	}
	fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : dir_open(fd, ".");
	if (!dir)
		err_errno(err, ERR_OUTPUT, errno, "can't read %s", path);
	else if (dir_next(dir))
		err_set(err, ERR_OUTPUT, "%s is not empty: name a new directory", path);
	return err->code ? -1 : TAKE_FD(fd);
}

/* HOST/SESSION below @top, or -2 and so on. Return: descriptor, or -1 with @err. */
static int open_own(int top, const struct segment_footer *footer, char **ret_path, struct err *err)
{
	AUTO_FREE char *own = NULL;
	AUTO_FD int host = -1;

	if (name_check(footer->is.host) || name_check(footer->is.session)) {
		err_set(err, ERR_OUTPUT, "the session's name '%.80s' can't be that of a directory",
			footer->is.session);
		return -1;
	}
	host = chunk_make_dir(top, footer->is.host);
	if (host < 0) {
		err_errno(err, ERR_OUTPUT, -host, "can't create %s", footer->is.host);
		return -1;
	}
	for (unsigned int nr = 1; nr <= MAX_NAMESAKES; nr++) {
		free(own);
		own = nr == 1 ? xstrdup(footer->is.session) :
				xasprintf("%s-%u", footer->is.session, nr);
		if (mkdirat(host, own, 0777) < 0 && errno == EEXIST)
			continue;
		free(*ret_path);
		*ret_path = xasprintf("%s/%s", footer->is.host, own);
		return open_empty(host, own, *ret_path, &(bool){ false }, err);
	}
	err_set(err, ERR_OUTPUT, "%s has too many sessions of one name", footer->is.host);
	return -1;
}

static void print_line(const char *path, const struct fetch_counts *counts)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "path", json_object_new_string(path));
	json_object_object_add(o, "packets", json_object_new_uint64(counts->packets));
	json_object_object_add(o, "bytes", json_object_new_uint64(counts->bytes));
	json_object_object_add(o, "ended", json_object_new_boolean(counts->ended));
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

static void print_text(const char *path, const struct fetch_counts *counts)
{
	char packets[TEXT_BYTES], bytes[TEXT_BYTES];

	printf("%s: %s bytes of %s packets%s\n", path, text_count(bytes, counts->bytes),
	       text_count(packets, counts->packets),
	       counts->ended ? "" : "; the session has not ended, or was not archived to its end");
}

struct fetch_target {
	const char *dir;
	const struct excerpt *excerpt;
	bool lines; /* JSON is printed */
};

/* What a fetch that failed has made: the directory of the session, of its host, and @dir. */
static void discard(int fd, const struct fetch_target *to, const char *path, bool alone, bool made)
{
	AUTO_FREE char *own = alone ? NULL : xasprintf("%s/%s", to->dir, path);
	char *slash;

	dir_empty(fd, ".", CHUNK_MAX_DEPTH + 4);
	for (; own && strlen(own) > strlen(to->dir) && rmdir(own) == 0; *slash = '\0')
		slash = strrchr(own, '/');
	if (made)
		(void)rmdir(to->dir);
}

/* @alone: the session gets the directory itself. */
static int fetch_one(struct bucket *bucket, char *const *names, uint32_t nr,
		     const struct fetch_target *to, bool alone, struct err *err)
{
	const char *dir = to->dir;
	AUTO_FREE char *path = xstrdup(dir);
	struct segment_footer footer = { 0 };
	struct fetch_counts counts;
	bool made = false;
	AUTO_FD int top = -1;
	AUTO_FD int fd = -1;

	if (alone) {
		fd = open_empty(AT_FDCWD, dir, dir, &made, err);
	} else if (!segment_read(bucket, names[0], &footer, err)) {
		made = mkdir(dir, 0777) == 0;
		if (!made && errno != EEXIST)
			err_errno(err, ERR_OUTPUT, errno, "can't create %s", dir);
		top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd = top < 0 ? -1 : open_own(top, &footer, &path, err);
		if (top < 0)
			err_errno(err, ERR_OUTPUT, errno, "can't read %s", dir);
		segment_footer_fini(&footer);
	}
	if (fd < 0)
		return err->code;
	if (fetch_session(bucket, names, nr, to->excerpt, fd, &counts, err) == 0)
		(to->lines ? print_line : print_text)(path, &counts);
	else
		discard(fd, to, path, alone, made);
	return err->code;
}

int verb_fetch(const char *url, const char *dir, const struct excerpt *excerpt, bool lines)
{
	const struct fetch_target to = { dir, excerpt, lines };
	struct bucket *bucket = NULL;
	struct listing names = { 0 };
	struct err err = { 0 };
	bool failed = false;

	if (!bucket_open(url, &bucket, &err) && !listing_read(&names, bucket, "", &err) &&
	    !names.nr)
		err_set(&err, ERR_NO_SESSION, "no session is archived below %s", url);
	for (uint32_t i = 0, nr; i < names.nr && !err.code; i += nr) {
		nr = count_of_session(&names, i);
		if (fetch_one(bucket, names.all + i, nr, &to, nr == names.nr, &err)) {
			log_error("%s", err.text);
			failed = true;
			err = (struct err){ 0 };
		}
	}
	if (err.code)
		log_error("%s", err.text);
	failed = failed || err.code;
	listing_fini(&names);
	bucket_close(bucket);
	return failed ? 1 : 0;
}

/* --- list ---------------------------------------------------------------------------- */

static int print_session(void *of, const char *name)
{
	const char *rest = strchr(name, '/'); /* behind by-hour/ */

	(void)of;
	if (rest && strchr(rest + 1, '/'))
		printf("%.10s  %s\n", rest + 1, strchr(rest + 1, '/') + 1);
	return 0;
}

int verb_list(const char *url, unsigned int hours)
{
	struct bucket *bucket = NULL;
	struct err err = { 0 };
	time_t now = time(NULL);

	(void)!bucket_open(url, &bucket, &err);
	for (unsigned int i = hours; i-- > 0 && !err.code;) {
		time_t then = now - (time_t)i * 3600;
		char prefix[32];
		struct tm tm;

		strftime(prefix, sizeof(prefix), "by-hour/%Y%m%d%H/", gmtime_r(&then, &tm));
		(void)!bucket_list(bucket, prefix, print_session, NULL, &err);
	}
	if (err.code)
		log_error("%s", err.text);
	bucket_close(bucket);
	return err.code ? 1 : 0;
}
