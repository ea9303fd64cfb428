/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spool_mark.c - turns in the order of a spool's packets. A mark is a hidden file in the spool: a
 * line `rotate NAME` or `clear NAME`, then a line `TRACE/CHANNEL_CPU NUMBER` for each stream, with
 * the number of its first packet behind the turn; all packets of other streams are behind it. The
 * file has its name when it is whole, and is removed when the relay has made the turn. A relay that
 * is sent the same turn once more does nothing.
 */
#include "spool.h"

#include <errno.h>
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
#define MARK_NEW ".turn"
#define MARK_NAME_BYTES 32
#define MARK_BYTES_MAX (16u << 20)
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

/* --- its text ------------------------------------------------------------------------- */

static char *stream_key(const struct spooled *sp)
{
	return xasprintf("%s/%s_%u", sp->relay_config.trace->path, sp->relay_config.channel,
			 sp->file.cpu);
}

/* The first packet of a stream behind the mark that is written now. */
static uint64_t mark_place(const struct spooled *sp)
{
	const struct packet_header *last = spooled_tail(sp);

	if (!packet_is_set(last))
		return 0;
	return last->packet_seq_num + !sp->out.opened;
}

static char *mark_text(const struct spool *spool, const char *name, bool clear)
{
	const struct spooled *sp;
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	fprintf(out, "%s%s\n", clear ? CLEAR : ROTATE, name);
	list_for_each(sp, &spool->streams, node) {
		AUTO_FREE char *key = stream_key(sp);

		fprintf(out, "%s %llu\n", key, (unsigned long long)mark_place(sp));
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* @text is owned by the mark. Return: NULL: it is none. */
static struct spool_mark *mark_make(struct spool *spool, uint64_t number, char *text)
{
	bool clear = strncmp(text, CLEAR, strlen(CLEAR)) == 0;
	char *end = strchr(text, '\n');
	struct spool_mark *mark;

	if (!end || (!clear && strncmp(text, ROTATE, strlen(ROTATE)) != 0)) {
		free(text);
		return NULL;
	}
	*end = '\0';
	mark = xalloc(sizeof(*mark));
	mark->number = number;
	mark->text = text;
	mark->name = text + strlen(clear ? CLEAR : ROTATE);
	mark->places = end + 1;
	mark->clear = clear;
	spool->last_mark = MAX(spool->last_mark, number);
	return mark;
}

static void mark_free(struct spool_mark *mark)
{
	list_remove(&mark->node);
	free(mark->text);
	free(mark);
}

/* The number at @key in the lines of @mark; 0: it has none. */
static uint64_t find_place(const struct spool_mark *mark, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = mark->places; *line; line += *line == '\n') {
		size_t bytes = strcspn(line, "\n");

		if (bytes > len && strncmp(line, key, len) == 0 && line[len] == ' ')
			return strtoull(line + len + 1, NULL, 10);
		line += bytes;
	}
	return 0;
}

/* --- its file -------------------------------------------------------------------------- */

static int mark_write(const struct spool *spool, uint64_t number, const char *text)
{
	bool sync = disk_syncs(spool->disk);
	char file[MARK_NAME_BYTES];
	AUTO_FD int fd = -1;
	int ret;

	mark_file(number, file);
	unlinkat(spool->dir_fd, MARK_NEW, 0);
	fd = chunk_create_file(spool->dir_fd, MARK_NEW);
	if (fd < 0)
		return fd;
	ret = append_bytes(fd, text, strlen(text), 0);
	if (ret == 0 && sync)
		ret = disk_sync_data(fd);
	if (ret == 0 && renameat(spool->dir_fd, MARK_NEW, spool->dir_fd, file) < 0)
		ret = -errno;
	return ret == 0 && sync ? disk_sync_dir(spool->dir_fd) : ret;
}

/* One that can't be read, as after a power failure, is none. */
static void mark_read(struct spool *spool, const char *file, uint64_t number)
{
	AUTO_FD int fd = chunk_read_file(spool->dir_fd, file);
	uint64_t bytes = fd < 0 ? 0 : fd_bytes(fd);
	struct spool_mark *mark = NULL, *at;
	AUTO_FREE char *text = NULL;

	if (bytes && bytes <= MARK_BYTES_MAX)
		text = xalloc(bytes + 1);
	if (text && pread(fd, text, bytes, 0) == (ssize_t)bytes)
		mark = mark_make(spool, number, TAKE(text));
	if (!mark) {
		log_warn("a turn in the spool of '%s' can't be read",
			 relay_conn_config(spool->sink.link)->name);
		return;
	}
	list_for_each(at, &spool->marks, node)
		if (at->number > number)
			break;
	list_append(&at->node, &mark->node); /* before it, or at the end */
}

void spool_find_marks(struct spool *spool)
{
	AUTO_DIR DIR *dir = dir_open(spool->dir_fd, ".");
	struct dirent *entry;
	uint64_t number;

	while ((entry = dir_next(dir)))
		if (strncmp(entry->d_name, MARK_PREFIX, strlen(MARK_PREFIX)) == 0 &&
		    parse_u64(entry->d_name + strlen(MARK_PREFIX), &number) == 0)
			mark_read(spool, entry->d_name, number);
	if (first_mark(spool))
		spool_handle(spool, SPOOL_DIVERT);
}

void spool_free_marks(struct spool *spool)
{
	struct spool_mark *mark, *tmp;

	list_for_each_safe(mark, tmp, &spool->marks, node)
		mark_free(mark);
}

/* --- turns -------------------------------------------------------------------------------- */

static bool is_marked(const struct spool *spool, const char *name)
{
	const struct spool_mark *mark;

	list_for_each(mark, &spool->marks, node)
		if (strcmp(mark->name, name) == 0)
			return true;
	return false;
}

/* Each stream goes on with an empty packet, whose number the mark has. */
static int open_streams(struct spool *spool)
{
	struct spooled *sp;
	int ret = 0;

	list_for_each(sp, &spool->streams, node)
		if (sp->unplaced)
			return -EAGAIN;
	list_for_each(sp, &spool->streams, node)
		ret = ret ? ret : spool_add_opening(sp);
	return ret;
}

int spool_add_mark(struct spool *spool, const char *name, bool clear)
{
	AUTO_FREE char *text = NULL;
	struct spool_mark *mark;
	int ret;

	if (is_marked(spool, name)) /* it is repeated */
		return 0;
	spool_handle(spool, SPOOL_DIVERT);
	ret = open_streams(spool);
	if (ret < 0)
		return ret;
	text = mark_text(spool, name, clear);
	if (!text)
		return -ENOMEM;
	ret = mark_write(spool, spool->last_mark + 1, text);
	mark = ret < 0 ? NULL : mark_make(spool, spool->last_mark + 1, TAKE(text));
	if (mark)
		list_append(&spool->marks, &mark->node);
	return ret;
}

bool spool_is_behind_mark(struct spooled *sp, const struct packet_header *header)
{
	const struct spool_mark *mark = first_mark(sp->spool);

	if (!mark)
		return false;
	if (sp->mark_number != mark->number) {
		AUTO_FREE char *key = stream_key(sp);

		sp->mark_place = find_place(mark, key);
		sp->mark_number = mark->number;
	}
	return header->packet_seq_num >= sp->mark_place;
}

int spool_send_mark(struct spool *spool)
{
	struct spool_mark *mark = first_mark(spool);
	char file[MARK_NAME_BYTES];
	struct relay_conn_turned turned;
	struct spooled *sp;
	int ret;

	if (!mark || spool->host->adopts(spool->host->data))
		return 0;
	ret = relay_conn_turn(spool->sink.link, mark->name, mark->clear, &turned);
	if (ret < 0)
		return ret;
	list_for_each(sp, &spool->streams, node)
		spool_pass_mark(sp, turned.made);
	spool->sink.turned_bytes = turned.bytes;
	mark_file(mark->number, file);
	unlinkat(spool->dir_fd, file, 0);
	mark_free(mark);
	return 1;
}
