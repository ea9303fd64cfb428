/* SPDX-License-Identifier: GPL-2.0-only */
/* retention_scan.c - finds all sessions, and those to be removed, from the files only. Symbolic
 * links are not followed. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "proto/relay.h"
#include "retention.h"
#include "session.h"
#include "turn.h"

#define MAX_DEPTH 12
#define ABANDONED_S 86400u

void kept_fini(struct kept_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->sessions[i].path);
	free(list->sessions);
	*list = (struct kept_list){ 0 };
}

static void retention_scan_measure(int at_fd, const char *name, int depth, struct kept_session *sum)
{
	AUTO_DIR DIR *dir = depth > MAX_DEPTH ? NULL : dir_open(at_fd, name);
	struct dirent *entry;
	struct stat st;

	while ((entry = dir_next(dir))) {
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    (!depth && strcmp(entry->d_name, RELTURN_ARCHIVES) == 0))
			continue;
		if (S_ISDIR(st.st_mode)) {
			retention_scan_measure(dirfd(dir), entry->d_name, depth + 1, sum);
			continue;
		}
		sum->bytes += (uint64_t)st.st_size;
		sum->last_s = MAX(sum->last_s, (uint64_t)MAX(st.st_mtime, 0));
	}
}

static void retention_scan_add(struct kept_list *list, const struct kept_session *session)
{
	if (list->nr == list->cap) {
		list->cap = MAX(2 * list->cap, (size_t)64);
		list->sessions = xrealloc(list->sessions, list->cap * sizeof(*list->sessions));
	}
	list->sessions[list->nr++] = *session;
	list->bytes += session->bytes;
}

static void add_archive(int at_fd, const char *session, const char *name, struct kept_list *ret)
{
	struct kept_session archive = { .over = true, .is_archive = true };

	archive.path = xasprintf("%s/" RELTURN_ARCHIVES "/%s", session, name);
	retention_scan_measure(at_fd, name, 1, &archive);
	retention_scan_add(ret, &archive);
}

/* Each archive is whole, also while its session is received; but of a turn that is being made. */
static void scan_archives(int session_fd, const char *session, struct kept_list *ret)
{
	AUTO_DIR DIR *dir = dir_open(session_fd, RELTURN_ARCHIVES);
	struct dirent *entry;

	if (faccessat(session_fd, RELTURN_NEXT, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	while ((entry = dir_next(dir)))
		if (entry->d_name[0] != '.')
			add_archive(dirfd(dir), session, entry->d_name, ret);
}

/* A directory that no session has claimed is none of ours. */
static void scan_inner(int at_fd, const char *outer, const char *name, uint64_t now_s,
		       struct kept_list *ret)
{
	AUTO_FD int fd = chunk_open_dir(at_fd, name);
	struct kept_session session = { 0 };
	int whose = fd < 0 ? RELSESSION_NONE : relsession_status_of_dir(fd);

	if (whose == RELSESSION_NONE)
		return;
	session.path = xasprintf("%s/%s", outer, name);
	retention_scan_measure(fd, ".", 0, &session);
	session.over = whose == RELSESSION_ENDED || session.last_s + ABANDONED_S < now_s;
	retention_scan_add(ret, &session);
	scan_archives(fd, session.path, ret);
}

static void scan_outer(int out_fd, const char *outer, uint64_t now_s, struct kept_list *ret)
{
	AUTO_DIR DIR *dir = dir_open(out_fd, outer);
	struct dirent *entry;

	while ((entry = dir_next(dir)))
		if (entry->d_name[0] != '.')
			scan_inner(dirfd(dir), outer, entry->d_name, now_s, ret);
}

void kept_scan(int out_fd, uint64_t now_s, struct kept_list *ret)
{
	AUTO_DIR DIR *dir = dir_open(out_fd, ".");
	struct dirent *entry;

	*ret = (struct kept_list){ 0 };
	while ((entry = dir_next(dir)))
		if (entry->d_name[0] != '.')
			scan_outer(out_fd, entry->d_name, now_s, ret);
}

static int by_age(const void *one, const void *other)
{
	const struct kept_session *a = one, *b = other;

	if (a->last_s != b->last_s)
		return a->last_s < b->last_s ? -1 : 1;
	return strcmp(a->path, b->path);
}

void kept_evaluate(struct kept_list *list, const struct retention_rules *rules, uint64_t now_s,
		   uint64_t free_bytes)
{
	uint64_t bytes = list->bytes;

	if (list->nr)
		qsort(list->sessions, list->nr, sizeof(*list->sessions), by_age);
	for (size_t i = 0; i < list->nr; i++) {
		struct kept_session *s = &list->sessions[i];

		if (!s->over || s->waits)
			continue;
		if (rules->age_s && s->last_s + rules->age_s < now_s)
			s->why = "it is older than the age that was asked for (--keep-age)";
		else if (rules->size && bytes > rules->size)
			s->why = "all sessions are larger than was asked for (--keep-size)";
		else if (rules->keep_free && free_bytes < rules->keep_free)
			s->why = "less was free than was asked for (--keep-free)";
		else
			continue;
		bytes -= s->bytes;
		free_bytes += s->bytes;
	}
}
