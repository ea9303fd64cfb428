/* SPDX-License-Identifier: GPL-2.0-only */
#include "archives.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/dir.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/thread.h"
#include "priv.h"
#include "store/chunk_turn.h"

#define ARCHIVES_DIR "archives"
#define REMOVED ".removed-" /* begins the name of an archive while it is removed */
#define MEASURED_LEVELS 16u
#define TIME_LEN 20u /* YYYYmmddTHHMMSS+0000 */

struct archives {
	pthread_t thread;
	atomic_bool stop, done;
	int dir_fd; /* of the output; borrowed */
	struct doorbell *doorbell;
	uint64_t freed_bytes;
	struct job *job;
	struct job_queue *jobs_done;
};

struct archive {
	char *name;
	uint64_t number, end_s;
};

struct archive_list {
	struct archive *archives;
	size_t nr, cap;
};

static void archive_list_fini(struct archive_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->archives[i].name);
	free(list->archives);
}

/* Of the form BEGIN-END-NUMBER. */
static bool archive_parse(const char *name, struct archive *ret)
{
	const size_t end = TIME_LEN + 1, number = 2 * (TIME_LEN + 1);
	struct tm tm = { 0 };
	const char *rest;

	if (strlen(name) <= number || name[end - 1] != '-' || name[number - 1] != '-' ||
	    strspn(name, "0123456789T+-") != strlen(name) ||
	    parse_u64(name + number, &ret->number) != 0)
		return false;
	rest = strptime(name + end, "%Y%m%dT%H%M%S+0000-", &tm);
	if (rest != name + number)
		return false;
	ret->end_s = (uint64_t)timegm(&tm);
	return true;
}

static void archive_list_add(struct archive_list *list, const char *name)
{
	struct archive archive;

	if (!archive_parse(name, &archive))
		return;
	if (list->nr == list->cap) {
		list->cap = MAX(2 * list->cap, (size_t)64);
		list->archives = xrealloc(list->archives, list->cap * sizeof(*list->archives));
	}
	archive.name = xstrdup(name);
	list->archives[list->nr++] = archive;
}

static int archive_by_number(const void *a, const void *b)
{
	const struct archive *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* The rest of an earlier removal is removed at once. */
static void archive_list_read(struct archive_list *list, int archives_fd)
{
	AUTO_DIR DIR *dir = dir_open(archives_fd, ".");
	struct dirent *entry;

	while ((entry = dir_next(dir)))
		if (strncmp(entry->d_name, REMOVED, strlen(REMOVED)) == 0)
			dir_remove(archives_fd, entry->d_name);
		else
			archive_list_add(list, entry->d_name);
	if (list->nr)
		qsort(list->archives, list->nr, sizeof(*list->archives), archive_by_number);
}

/* The number of archives at the begin of the list to which a limit applies; not the newest. */
static size_t archives_beyond(const struct archive_list *list, int archives_fd,
			      const struct job_archives *limits)
{
	uint64_t bytes = 0;
	size_t first = list->nr;

	while (first > 0) {
		const struct archive *archive = &list->archives[first - 1];

		if (limits->max_size)
			bytes += chunk_tree_bytes(archives_fd, archive->name, MEASURED_LEVELS);
		if (first < list->nr &&
		    ((limits->most && list->nr - first >= limits->most) ||
		     archive->end_s < limits->since_s ||
		     (limits->max_size && bytes > limits->max_size)))
			break;
		first--;
	}
	return first;
}

/* It has another name before it is incomplete. Return: 0 or negative errno. */
static int archive_remove(struct archives *a, int archives_fd, const char *name)
{
	AUTO_FREE char *removed = xasprintf(REMOVED "%s", name);

	a->freed_bytes += chunk_tree_bytes(archives_fd, name, MEASURED_LEVELS);
	if (renameat(archives_fd, name, archives_fd, removed) < 0)
		return -errno;
	dir_remove(archives_fd, removed);
	return 0;
}

static void archives_limit(struct archives *a)
{
	AUTO_FD int fd = openat(a->dir_fd, ARCHIVES_DIR,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct archive_list list CLEANUP(archive_list_fini) = { 0 };
	struct job_archives *job = &a->job->archives;
	size_t beyond;
	int ret = fd < 0 && errno != ENOENT ? -errno : 0;

	if (fd >= 0)
		archive_list_read(&list, fd);
	beyond = archives_beyond(&list, fd, job);
	while (job->removed < beyond && ret == 0 && !atomic_load(&a->stop)) {
		ret = archive_remove(a, fd, list.archives[job->removed].name);
		job->removed += ret == 0;
	}
	job->left = (uint32_t)list.nr - job->removed;
	if (ret < 0)
		err_errno(&a->job->err, ERR_OUTPUT, -ret, "can't remove an archive");
}

static void *archives_main(void *data)
{
	struct archives *a = data;

	archives_limit(a);
	job_queue_push(a->jobs_done, a->job);
	atomic_store(&a->done, true);
	doorbell_ring(a->doorbell);
	return NULL;
}

struct archives *archives_begin(int dir_fd, struct job *job, struct job_queue *done,
				struct doorbell *doorbell)
{
	struct archives *a = xalloc(sizeof(*a));
	int ret;

	a->dir_fd = dir_fd;
	a->job = job;
	a->jobs_done = done;
	a->doorbell = doorbell;
	ret = thread_start(&a->thread, archives_main, a);
	if (ret == 0)
		return a;
	free(a);
	err_errno(&job->err, ERR_INTERNAL, -ret, "can't start a thread that removes archives");
	return NULL;
}

bool archives_are_done(const struct archives *a)
{
	return atomic_load(&a->done);
}

uint64_t archives_end(struct archives *a)
{
	uint64_t freed;

	atomic_store(&a->stop, true);
	pthread_join(a->thread, NULL);
	freed = a->freed_bytes;
	free(a);
	return freed;
}
