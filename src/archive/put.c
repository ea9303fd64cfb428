/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"
#include "tables.h"
#include "trace/streamlist.h"
#include "verbs.h"

#define MAX_DEPTH 4 /* of sessions: hosts, users */

struct put_all {
	const struct archive *archive;
	struct tables *tables; /* NULL: none are put */
	unsigned int sessions, failed;
};

static bool has_file(int fd, const char *name)
{
	return faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Of a relay's session the directory around it has the name of its host. */
static char *host_of(const char *path, bool at_relay)
{
	const char *last = strrchr(path, '/'), *from = last;
	struct utsname own = { .nodename = "localhost" };

	while (from > path && from[-1] != '/')
		from--;
	if (at_relay && last > from)
		return strndup(from, (size_t)(last - from));
	(void)uname(&own);
	return strdup(own.nodename);
}

/* A session of a relay, of ours, or of another tracer. */
static bool is_session(int fd)
{
	static const char *const marks[] = { ".session", TRACELIST_FILE, "metadata", "ust",
					     "kernel" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		found = found || has_file(fd, marks[i]);
	return found;
}

static int put_tables(const struct put_all *all, const char *path,
		      const struct archive_session *session, bool ended, const char *label,
		      struct err *err)
{
	const struct tables_session is = { path, archive_session_prefix(session),
					   archive_session_catalog(session)->number, ended };
	struct tables_counts counts;
	char bytes[TEXT_BYTES];

	if (tables_put(all->tables, &is, &counts, err))
		return err->code;
	printf("%s: %s bytes in %llu Parquet file%s%s\n", label, text_count(bytes, counts.bytes),
	       (unsigned long long)counts.files, text_plural(counts.files),
	       ended ? "" : "; those of its current traces are put when it has ended");
	fflush(stdout);
	return 0;
}

static int put_session(struct put_all *all, const char *path, bool at_relay, struct err *err)
{
	AUTO_FREE char *host = host_of(path, at_relay);
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct archive_session *session;
	AUTO_FREE char *label = xasprintf("%s/%s", host ? host : "", name);
	struct archive_counts counts;
	char bytes[TEXT_BYTES];
	bool ended;

	if (!host || name_check(host) || name_check(name))
		return err_set(err, ERR_INVALID, "%s: this name can't be used in an archive", path);
	if (archive_session_open(path, host, name, &session, err))
		return err->code;
	ended = archive_session_has_ended(session);
	if (!archive_session_put(session, all->archive, ended, &counts, err)) {
		printf("%s: %s bytes in %llu segment%s%s\n", label, text_count(bytes, counts.bytes),
		       (unsigned long long)counts.segments, text_plural(counts.segments),
		       ended ? "" : "; the session has not ended");
		fflush(stdout);
		if (all->tables)
			(void)!put_tables(all, path, session, ended, label, err);
	}
	archive_session_close(session);
	return err->code;
}

static void put_below(struct put_all *all, const char *path, int depth)
{
	AUTO_DIR DIR *dir = dir_open(AT_FDCWD, path);
	bool at_relay = dir && has_file(dirfd(dir), ".session");
	struct dirent *entry;
	struct err err = { 0 };

	if (!dir) {
		log_error("can't read %s: %s", path, strerror(errno));
		all->failed++;
	} else if (is_session(dirfd(dir))) {
		all->sessions++;
		if (put_session(all, path, at_relay, &err)) {
			log_error("%s", err.text);
			all->failed++;
		}
	} else {
		while (depth < MAX_DEPTH && (entry = dir_next(dir))) {
			AUTO_FREE char *below = xasprintf("%s/%s", path, entry->d_name);
			struct stat st;

			if (entry->d_name[0] != '.' && lstat(below, &st) == 0 &&
			    S_ISDIR(st.st_mode))
				put_below(all, below, depth + 1);
		}
	}
}

int verb_put(const char *url, const struct archive *archive, bool parquet, const char *const *dirs)
{
	struct archive own = *archive;
	struct put_all all = { .archive = &own };
	struct err err = { 0 };

	if (bucket_open(url, &own.bucket, &err) ||
	    (parquet && !(all.tables = tables_new(own.bucket, &err)))) {
		bucket_close(own.bucket);
		log_error("%s", err.text);
		return 1;
	}
	for (; *dirs; dirs++) {
		AUTO_FREE char *path = realpath(*dirs, NULL);
		unsigned int before = all.sessions + all.failed;

		if (path) {
			put_below(&all, path, 0);
		} else {
			log_error("can't read %s: %s", *dirs, strerror(errno));
			all.failed++;
		}
		if (all.sessions + all.failed == before) {
			log_error("%s: no session is there", *dirs);
			all.failed++;
		}
	}
	tables_free(all.tables);
	bucket_close(own.bucket);
	return all.failed ? 1 : 0;
}
