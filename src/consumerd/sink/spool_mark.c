/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spool_mark.c - turns in the order of a spool's packets. A mark is a hidden file in the spool, of
 * one line: `rotate NAME` or `clear NAME`, of relay_conn_name_clear(). The numbers of the streams'
 * files begin with that of the newest mark when they were made, so all packets in files of its
 * number or a later one are behind a mark. It is removed when the relay has made the turn, that of
 * a rotation when there are no copies of packets before it: a relay that has lost its disk makes it
 * again. A relay that is sent the same turn once more does nothing: the streams go on behind one
 * empty packet.
 * The mark of the last rotation that was made is kept under another name: one that is repeated, as
 * its answer did not reach the session daemon, has moved nothing that was recorded since.
 */
#include "spool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/append.h"

#define MARK_PREFIX ".turn-"
#define ROTATED_FILE ".rotated"
#define MARK_NAME_BYTES 32
#define ROTATE "rotate "
#define CLEAR "clear "

static void mark_file(uint64_t number, char ret[MARK_NAME_BYTES])
{
	snprintf(ret, MARK_NAME_BYTES, MARK_PREFIX "%llu", (unsigned long long)number);
}

static struct spool_mark *first_mark(const struct spool *spool)
{
	return list_empty(&spool->marks) ? NULL :
					   list_first(&spool->marks, struct spool_mark, node);
}

/* @text: of its file. Return: NULL: it is not whole. */
static struct spool_mark *mark_make(uint64_t number, const char *text)
{
	bool clear = strncmp(text, CLEAR, strlen(CLEAR)) == 0;
	const char *name = text + strlen(clear ? CLEAR : ROTATE);
	const char *end = strchr(text, '\n');
	struct spool_mark *mark;

	if (!end || (!clear && strncmp(text, ROTATE, strlen(ROTATE)) != 0))
		return NULL;
	mark = xalloc(sizeof(*mark));
	mark->number = number;
	mark->clear = clear;
	mark->name = xasprintf("%.*s", (int)(end - name), name);
	return mark;
}

/* The session daemon repeats a turn until it is answered. */
static bool mark_is_of(const struct spool_mark *mark, const char *name)
{
	const char *end = mark->clear ? strstr(mark->name, RELAY_CONN_ONCE) : NULL;
	size_t len = end ? (size_t)(end - mark->name) : strlen(mark->name);

	return strncmp(mark->name, name, len) == 0 && !name[len];
}

static void mark_free(struct spool_mark *mark)
{
	list_remove(&mark->node);
	free(mark->name);
	free(mark);
}

static void mark_remove(const struct spool *spool, struct spool_mark *mark)
{
	bool rotated = !mark->clear && spool->rotated && strcmp(spool->rotated, mark->name) == 0;
	char file[MARK_NAME_BYTES];

	mark_file(mark->number, file);
	if (!rotated || renameat(spool->dir_fd, file, spool->dir_fd, ROTATED_FILE) < 0)
		unlinkat(spool->dir_fd, file, 0);
	mark_free(mark);
}

/* Whether the store may lack packets before it, or the one with which a stream goes on. */
static bool mark_has_copies(const struct spool *spool, const struct spool_mark *mark)
{
	const struct spooled *sp;

	list_for_each(sp, &spool->streams, node)
		if (sp->drain.kept && sp->drain.first <= mark->number << SPOOL_MARK_SHIFT)
			return true;
	return false;
}

void spool_release_marks(struct spool *spool)
{
	struct spool_mark *mark, *tmp;

	list_for_each_safe(mark, tmp, &spool->made, node)
		if (!mark_has_copies(spool, mark))
			mark_remove(spool, mark);
}

void spool_revive_marks(struct spool *spool)
{
	struct spool_mark *mark;
	struct list_node *before = spool->marks.next;

	while ((mark = list_first(&spool->made, struct spool_mark, node))) {
		list_remove(&mark->node);
		list_append(before, &mark->node);
	}
}

/* By the relay. */
static void mark_pass(struct spool *spool, struct spool_mark *mark)
{
	if (mark->clear) {
		mark_remove(spool, mark);
	} else {
		free(spool->rotated);
		spool->rotated = xstrdup(mark->name);
		list_remove(&mark->node);
		list_append(&spool->made, &mark->node);
	}
	spool_release_marks(spool);
}

static int mark_write(const struct spool *spool, uint64_t number, const char *text)
{
	bool sync = disk_syncs(spool->disk);
	char file[MARK_NAME_BYTES];
	AUTO_FD int fd = -1;
	int ret;

	mark_file(number, file);
	fd = chunk_create_file(spool->dir_fd, file);
	if (fd < 0)
		return fd;
	ret = append_bytes(fd, text, strlen(text), 0);
	if (ret == 0 && sync)
		ret = disk_sync_data(fd);
	if (ret == 0 && sync)
		ret = disk_sync_dir(spool->dir_fd);
	if (ret < 0)
		unlinkat(spool->dir_fd, file, 0);
	return ret;
}

/* Without its line the turn was not acknowledged: *@ret is NULL. Return: 0, or negative errno. */
static int mark_read(const struct spool *spool, const char *file, uint64_t number,
		     struct spool_mark **ret)
{
	AUTO_FD int fd = chunk_read_file(spool->dir_fd, file);
	char text[PATH_MAX] = "";

	if (fd < 0)
		return fd;
	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		return -errno;
	*ret = mark_make(number, text);
	return 0;
}

/* Return: 0, or negative errno: it stays. */
static int mark_find(struct spool *spool, const char *file, uint64_t number)
{
	struct spool_mark *mark, *at;
	int ret = mark_read(spool, file, number, &mark);

	if (ret < 0)
		return ret;
	spool->last_mark = MAX(spool->last_mark, number);
	if (!mark) {
		log_warn("a turn in the spool of '%s' is damaged, and is removed",
			 relay_conn_config(spool->sink.link)->name);
		unlinkat(spool->dir_fd, file, 0);
		return 0;
	}
	list_for_each(at, &spool->marks, node)
		if (at->number > number)
			break;
	list_append(&at->node, &mark->node); /* before it, or at the end */
	return 0;
}

static int find_rotated(struct spool *spool)
{
	struct spool_mark *mark = NULL;
	int ret = mark_read(spool, ROTATED_FILE, 0, &mark);

	if (mark) {
		spool->rotated = mark->name;
		free(mark);
	}
	return ret == -ENOENT ? 0 : ret;
}

int spool_find_marks(struct spool *spool)
{
	AUTO_DIR DIR *dir = dir_open(spool->dir_fd, ".");
	struct dirent *entry;
	uint64_t number;
	int ret = dir ? 0 : -errno;

	while (ret == 0 && (errno = 0, entry = dir_next(dir)))
		if (strncmp(entry->d_name, MARK_PREFIX, strlen(MARK_PREFIX)) == 0 &&
		    parse_u64(entry->d_name + strlen(MARK_PREFIX), &number) == 0)
			ret = mark_find(spool, entry->d_name, number);
	if (ret == 0 && errno)
		ret = -errno;
	if (ret == 0)
		ret = find_rotated(spool);
	if (ret < 0)
		spool_free_marks(spool);
	if (ret < 0 || first_mark(spool))
		spool->fills = true;
	return ret;
}

void spool_free_marks(struct spool *spool)
{
	struct spool_mark *mark, *tmp;

	spool_revive_marks(spool);
	list_for_each_safe(mark, tmp, &spool->marks, node)
		mark_free(mark);
	free(spool->rotated);
	spool->rotated = NULL;
}

void spool_forget_rotated(const struct spool *spool)
{
	unlinkat(spool->dir_fd, ROTATED_FILE, 0);
}

int spool_add_mark(struct spool *spool, const char *name, bool clear)
{
	AUTO_FREE char *once = clear ? relay_conn_name_clear(name) : NULL;
	AUTO_FREE char *text = xasprintf("%s%s\n", clear ? CLEAR : ROTATE, once ? once : name);
	struct spool_mark *mark;
	struct spooled *sp;
	int ret = 0;

	if (!clear && spool->rotated && strcmp(spool->rotated, name) == 0)
		return 0;
	list_for_each(mark, &spool->marks, node)
		if (mark_is_of(mark, name))
			return 0;
	list_for_each(sp, &spool->streams, node)
		if (sp->unplaced)
			return spool->error ? spool->error : -EAGAIN;
	spool->fills = true;
	spool->last_mark++;
	list_for_each(sp, &spool->streams, node)
		ret = ret ? ret : spool_add_opening(sp);
	if (ret == 0)
		ret = mark_write(spool, spool->last_mark, text);
	mark = ret < 0 ? NULL : mark_make(spool->last_mark, text);
	if (mark)
		list_append(&spool->marks, &mark->node);
	spool->sink.turn_made = mark != NULL;
	return ret;
}

bool spool_is_behind_mark(const struct spooled *sp)
{
	const struct spool_mark *mark = first_mark(sp->spool);

	return mark && sp->drain.number >> SPOOL_MARK_SHIFT >= mark->number;
}

int spool_send_mark(struct spool *spool)
{
	struct spool_mark *mark = first_mark(spool);
	struct relay_conn_turned turned;
	struct spooled *sp;
	int ret;

	if (!mark || spool->host->adopts(spool->host->data))
		return 0;
	ret = relay_conn_turn(spool->sink.link, mark->name, mark->clear, &turned);
	if (ret < 0)
		return ret;
	if (turned.made)
		list_for_each(sp, &spool->streams, node)
			spool_pass_mark(sp);
	if (mark->clear) /* all that was sent */
		list_for_each(sp, &spool->streams, node)
			spooled_release(sp, UINT64_MAX);
	spool->sink.turned_bytes = turned.bytes;
	mark_pass(spool, mark);
	return 1;
}

void spool_give_up_mark(struct spool *spool)
{
	mark_remove(spool, first_mark(spool));
}
