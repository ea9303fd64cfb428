/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "store/tracedir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "store/append.h"
#include "base/dir.h"
#include "base/mem.h"
#include "base/str.h"
#include "trace/metapacket.h"
#include "trace/streamlist.h"

#define UUID_TEXT_BYTES 36u

/* Copy the component at the front of @*path. Return: false at the end of the path. */
static bool next_component(const char **path, char ret[NAME_MAX_BYTES + 1])
{
	size_t len = strcspn(*path, "/");

	if (!**path)
		return false;
	snprintf(ret, NAME_MAX_BYTES + 1, "%.*s", (int)MIN(len, NAME_MAX_BYTES), *path);
	*path += len;
	if (**path == '/')
		(*path)++;
	return true;
}

int tracedir_check_path(const char *path, struct err *err)
{
	const char *rest = path;
	char name[NAME_MAX_BYTES + 1];
	unsigned int depth = 0;

	if (strlen(path) > 1024)
		return err_set(err, ERR_INVALID, "the path of a trace is longer than 1024 bytes");
	while (next_component(&rest, name)) {
		if (name_check(name))
			return err_set(err, ERR_INVALID, "'%s' in the path of a trace %s", name,
				       name_check(name));
		if (++depth > TRACEDIR_MAX_DEPTH)
			return err_set(err, ERR_INVALID,
				       "the path of a trace has more than %u directories",
				       TRACEDIR_MAX_DEPTH);
	}
	return *path ? 0 : err_set(err, ERR_INVALID, "the path of a trace is empty");
}

static int tracedir_open_dir(int at_fd, const char *name)
{
	int fd;

	if (mkdirat(at_fd, name, 0750) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Directories on the path are synced if the files are. */
static int open_path(int at_fd, const char *path, bool sync)
{
	AUTO_FD int fd = -1;
	char name[NAME_MAX_BYTES + 1];

	while (next_component(&path, name)) {
		int next = tracedir_open_dir(fd < 0 ? at_fd : fd, name);

		int ret = next < 0 ? next : sync ? disk_sync_dir(fd < 0 ? at_fd : fd) : 0;

		close_fd(fd);
		fd = next;
		if (ret < 0)
			return ret;
	}
	return TAKE_FD(fd);
}

int tracedir_create_file(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);

	return fd < 0 ? -errno : fd;
}

int tracedir_open_file(int dir_fd, const char *name)
{
	AUTO_FD int fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? TAKE_FD(fd) : -EINVAL;
}

/* Reserve space for metadata, so that it can be written when the disk is full. Errors are
 * ignored: not every file system supports it. */
static void tracedir_reserve(struct tracedir *dir)
{
	uint64_t end = dir->metadata_bytes + DISK_METADATA_RESERVE;

	if (dir->fd < 0 || dir->reserved_bytes >= dir->metadata_bytes + DISK_METADATA_RESERVE / 2)
		return;
	if (fallocate(dir->metadata_fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)end) == 0)
		dir->reserved_bytes = end;
}

static int tracedir_sync_names(const struct tracedir *dir, int output_fd)
{
	int ret = disk_sync_dir(dir->fd);

	return ret < 0 ? ret : disk_sync_parent(output_fd);
}

/* The first packet of metadata contains the trace's UUID. */
static bool tracedir_is_ours(const struct tracedir *dir)
{
	struct metapacket_header head;

	return pread(dir->metadata_fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	       memcmp(head.uuid, dir->uuid, sizeof(head.uuid)) == 0;
}

static int make_files(struct tracedir *dir, int output_fd, bool adopt, bool may_create)
{
	dir->fd = open_path(output_fd, dir->path, disk_syncs(dir->disk));
	if (dir->fd < 0)
		return dir->fd;
	dir->index_fd = tracedir_open_dir(dir->fd, "index");
	if (dir->index_fd < 0)
		return dir->index_fd;
	dir->metadata_fd = adopt ? tracedir_open_file(dir->fd, "metadata") : -ENOENT;
	/* the previous process may have died before it created the file */
	if (dir->metadata_fd == -ENOENT && may_create)
		dir->metadata_fd = tracedir_create_file(dir->fd, "metadata");
	if (dir->metadata_fd < 0)
		return dir->metadata_fd;
	if (!tracedir_is_ours(dir))
		return -EEXIST;
	return disk_syncs(dir->disk) ? tracedir_sync_names(dir, output_fd) : 0;
}

static struct tracedir *tracedir_alloc(uint64_t id, int output_fd, const char *path,
				       const uint8_t uuid[16], struct disk *disk)
{
	struct tracedir *dir = xalloc(sizeof(*dir));

	list_init(&dir->node);
	dir->id = id;
	dir->path = xstrdup(path);
	memcpy(dir->uuid, uuid, sizeof(dir->uuid));
	dir->fd = dir->index_fd = dir->metadata_fd = -1;
	dir->output_fd = output_fd;
	dir->disk = disk;
	return dir;
}

int tracedir_new(uint64_t id, int output_fd, const char *path, const uint8_t uuid[16],
		 struct disk *disk, struct tracedir **ret, struct err *err)
{
	struct tracedir *dir = tracedir_alloc(id, output_fd, path, uuid, disk);
	int result = output_fd < 0 ? 0 : make_files(dir, output_fd, false, true);

	if (result == -EEXIST)
		err_set(err, ERR_OUTPUT, "%s/metadata exists: choose a directory without a trace",
			path);
	else if (result < 0)
		err_errno(err, ERR_OUTPUT, -result, "can't create the trace directory '%s'", path);
	if (result < 0) {
		tracedir_free(dir);
		return err->code;
	}
	tracedir_reserve(dir);
	*ret = dir;
	return 0;
}

static void tracedir_list(int output_fd, int flags, const char *entry, struct disk *disk)
{
	size_t len = strlen(entry);
	AUTO_FD int fd =
		openat(output_fd, TRACELIST_FILE,
		       O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0640);

	if (fd < 0 || write(fd, entry, len) != (ssize_t)len)
		return;
	disk->used += len;
	if (disk_syncs(disk))
		(void)!disk_sync_data(fd);
}

void tracedir_note(const struct tracedir *dir)
{
	AUTO_FREE char *entry =
		xasprintf("\n" TRACELIST_OPEN TRACELIST_END "\n%s" TRACELIST_END, dir->path);

	tracedir_list(dir->output_fd, O_CREAT, entry, dir->disk);
}

void tracedir_note_end(int output_fd, struct disk *disk)
{
	tracedir_list(output_fd, 0, "\n" TRACELIST_ENDED TRACELIST_END, disk);
}

static int tracedir_truncate(struct tracedir *dir, uint64_t metadata_bytes, bool may_be_shorter)
{
	struct stat st;

	if (dir->metadata_fd < 0)
		return 0;
	if (fstat(dir->metadata_fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size < metadata_bytes && !may_be_shorter)
		return -ENODATA;
	metadata_bytes = MIN((uint64_t)st.st_size, metadata_bytes);
	if (ftruncate(dir->metadata_fd, (off_t)metadata_bytes) < 0)
		return -errno;
	dir->metadata_bytes = metadata_bytes;
	dir->reserved_bytes = 0; /* cut off as well */
	tracedir_reserve(dir);
	return 0;
}

int tracedir_cut(struct tracedir *dir, uint64_t metadata_bytes)
{
	return tracedir_truncate(dir, metadata_bytes, false);
}

int tracedir_cut_shorter(struct tracedir *dir, uint64_t metadata_bytes)
{
	return tracedir_truncate(dir, metadata_bytes, true);
}

static int open_memory(struct tracedir *dir, int metadata_fd, uint64_t metadata_bytes)
{
	if (metadata_fd < 0 && metadata_bytes)
		return -ENODATA;
	dir->metadata_fd =
		metadata_fd < 0 ? memfd_create("ltt-metadata", MFD_CLOEXEC) : metadata_fd;
	if (dir->metadata_fd < 0)
		return -errno;
	return tracedir_cut(dir, metadata_bytes);
}

int tracedir_new_in_memory(uint64_t id, const char *path, const uint8_t uuid[16], int metadata_fd,
			   uint64_t metadata_bytes, struct disk *disk, struct tracedir **ret,
			   struct err *err)
{
	struct tracedir *dir = tracedir_alloc(id, -1, path, uuid, disk);
	int result = open_memory(dir, metadata_fd, metadata_bytes);

	if (result < 0) {
		err_errno(err, ERR_INTERNAL, -result, "can't keep the metadata of '%s' in memory",
			  path);
		tracedir_free(dir);
		return err->code;
	}
	*ret = dir;
	return 0;
}

static int tracedir_open_existing(uint64_t id, int output_fd, const char *path,
				  const uint8_t uuid[16], uint64_t metadata_bytes,
				  bool may_be_shorter, struct disk *disk, struct tracedir **ret,
				  struct err *err)
{
	struct tracedir *dir = tracedir_alloc(id, output_fd, path, uuid, disk);
	int result = output_fd < 0 ?
			     0 :
			     make_files(dir, output_fd, true, !metadata_bytes || may_be_shorter);

	if (result == 0)
		result = tracedir_truncate(dir, metadata_bytes, may_be_shorter);
	if (result < 0) {
		dir->metadata_fd = close_fd(dir->metadata_fd); /* left as it is */
		tracedir_free(dir);
		if (result == -EEXIST)
			return err_set(err, ERR_OUTPUT, "'%s' contains another trace", path);
		return err_errno(err, ERR_OUTPUT, -result, "can't continue the trace '%s'", path);
	}
	*ret = dir;
	return 0;
}

int tracedir_adopt(uint64_t id, int output_fd, const char *path, const uint8_t uuid[16],
		   uint64_t metadata_bytes, struct disk *disk, struct tracedir **ret,
		   struct err *err)
{
	return tracedir_open_existing(id, output_fd, path, uuid, metadata_bytes, false, disk, ret,
				      err);
}

int tracedir_adopt_shorter(uint64_t id, int output_fd, const char *path, const uint8_t uuid[16],
			   uint64_t metadata_bytes, struct disk *disk, struct tracedir **ret,
			   struct err *err)
{
	return tracedir_open_existing(id, output_fd, path, uuid, metadata_bytes, true, disk, ret,
				      err);
}

void tracedir_release(struct tracedir *dir)
{
	if (dir->metadata_fd >= 0)
		(void)!ftruncate(dir->metadata_fd, (off_t)dir->metadata_bytes);
}

struct tracedir *tracedir_free(struct tracedir *dir)
{
	if (!dir)
		return NULL;
	list_remove(&dir->node);
	tracedir_release(dir);
	close_fd(dir->metadata_fd);
	close_fd(dir->index_fd);
	close_fd(dir->fd);
	free(dir->path);
	free(dir);
	return NULL;
}

/* Empty lines before the text, so that the next packet's header is in one page. */
static uint32_t padding_of(uint64_t end)
{
	uint64_t left = APPEND_PAGE - end % APPEND_PAGE;

	return left < sizeof(struct metapacket_header) ? (uint32_t)left : 0;
}

int tracedir_append(struct tracedir *dir, const void *text, uint32_t len)
{
	const uint32_t fixed = sizeof(struct metapacket_header) + METAPACKET_TRAILER_BYTES;
	uint32_t pad = padding_of(dir->metadata_bytes + fixed + len);
	uint32_t bytes = pad + len + METAPACKET_TRAILER_BYTES;
	struct metapacket_header head = metapacket_header_make(dir->uuid, bytes);
	char *body AUTO_FREE = NULL;
	struct append_packet packet = {
		.head = &head,
		.head_bytes = sizeof(head),
		.body_bytes = bytes,
		.content_at = offsetof(struct metapacket_header, content_size),
		.content_bytes = sizeof(head.content_size),
		.head_first = true,
	};
	int ret;

	if (dir->metadata_fd < 0 || !len)
		return 0;
	packet.body = body = xalloc(bytes);
	memset(body, '\n', pad);
	memcpy(body + pad, text, len);
	metapacket_trailer_make(body, pad + len, body + pad + len);
	ret = append_packet(dir->metadata_fd, dir->metadata_bytes, &packet);
	if (ret == 0 && dir->fd >= 0 && disk_syncs(dir->disk))
		ret = disk_sync_data(dir->metadata_fd);
	if (ret < 0) { /* the incomplete packet was truncated, and the reserved space with it */
		dir->reserved_bytes = 0;
		return ret;
	}
	dir->metadata_bytes += sizeof(head) + bytes;
	dir->disk->used += dir->fd < 0 ? 0 : sizeof(head) + bytes;
	tracedir_reserve(dir);
	return 0;
}

/* With the empty lines before it, which are then written nowhere else: they serve their purpose
 * there, too. */
int tracedir_text(const struct tracedir *dir, uint64_t at, char **ret, uint32_t *ret_len)
{
	const uint32_t fixed = sizeof(struct metapacket_header) + METAPACKET_TRAILER_BYTES;
	struct metapacket_header head;
	AUTO_FREE char *text = NULL;
	uint64_t bytes;

	if (pread(dir->metadata_fd, &head, sizeof(head), (off_t)at) != (ssize_t)sizeof(head))
		return -EIO;
	bytes = head.content_size / 8;
	if (head.magic != METAPACKET_MAGIC || bytes <= fixed || bytes > dir->metadata_bytes - at)
		return -EIO;
	bytes -= fixed;
	text = xalloc(bytes);
	if (pread(dir->metadata_fd, text, bytes, (off_t)(at + sizeof(head))) != (ssize_t)bytes)
		return -EIO;
	*ret = TAKE(text);
	*ret_len = (uint32_t)bytes;
	return 0;
}

/* As metadata_head() writes it. */
static void tracedir_uuid_text(const uint8_t uuid[16], char ret[UUID_TEXT_BYTES + 1])
{
	for (int i = 0; i < 16; i++)
		ret += sprintf(ret, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			       uuid[i]);
}

/* The last packet may have lines in front of the text for its place in @from: they do no harm. */
int tracedir_copy_metadata(const struct tracedir *from, struct tracedir *to)
{
	char old[UUID_TEXT_BYTES + 1], new[UUID_TEXT_BYTES + 1], *at;
	int ret = 0;

	tracedir_uuid_text(from->uuid, old);
	tracedir_uuid_text(to->uuid, new);
	while (ret == 0 && to->metadata_bytes < from->metadata_bytes) {
		AUTO_FREE char *text = NULL;
		uint32_t len = 0;

		ret = tracedir_text(from, to->metadata_bytes, &text, &len);
		if (ret == 0 && (at = memmem(text, len, old, UUID_TEXT_BYTES)))
			memcpy(at, new, UUID_TEXT_BYTES);
		ret = ret ? ret : tracedir_append(to, text, len);
	}
	return ret;
}

void tracedir_remove(struct tracedir *dir, int output_fd)
{
	AUTO_FREE char *path = xstrdup(dir->path);
	char *slash;

	if (dir->fd < 0)
		return;
	unlinkat(dir->fd, "metadata", 0);
	unlinkat(dir->fd, "index", AT_REMOVEDIR);
	while (unlinkat(output_fd, path, AT_REMOVEDIR) == 0 && (slash = strrchr(path, '/')))
		*slash = '\0';
}

static uint64_t measure_dir(int dir_fd)
{
	AUTO_DIR DIR *dir = dir_open(dir_fd, ".");
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	while ((entry = dir_next(dir)))
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	return bytes;
}

uint64_t tracedir_measure(const struct tracedir *dir)
{
	return dir->fd < 0 ? 0 : measure_dir(dir->fd) + measure_dir(dir->index_fd);
}

bool tracedir_is_gone(const struct tracedir *dir)
{
	struct stat st;

	return dir->fd >= 0 && fstat(dir->fd, &st) == 0 && st.st_nlink == 0;
}
