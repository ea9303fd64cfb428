/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "store/chunk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "store/append.h"
#include "base/dir.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/chunk_turn.h"
#include "trace/kallsyms.h"
#include "trace/metadata.h"
#include "trace/metapacket.h"
#include "trace/streamlist.h"

#define COMPARED_BYTES ((size_t)64 << 10)

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

int chunk_check_path(const char *path, struct err *err)
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
		if (++depth > CHUNK_MAX_DEPTH)
			return err_set(err, ERR_INVALID,
				       "the path of a trace has more than %u directories",
				       CHUNK_MAX_DEPTH);
	}
	return *path ? 0 : err_set(err, ERR_INVALID, "the path of a trace is empty");
}

int chunk_open_dir(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int chunk_make_dir(int dir_fd, const char *name)
{
	if (mkdirat(dir_fd, name, 0750) < 0 && errno != EEXIST)
		return -errno;
	return chunk_open_dir(dir_fd, name);
}

/* Directories on the path are synced if the files are. */
int chunk_make_path(int at_fd, const char *path, bool sync)
{
	AUTO_FD int fd = -1;
	char name[NAME_MAX_BYTES + 1];

	while (next_component(&path, name)) {
		int next = chunk_make_dir(fd < 0 ? at_fd : fd, name);

		int ret = next < 0 ? next : sync ? disk_sync_dir(fd < 0 ? at_fd : fd) : 0;

		close_fd(fd);
		fd = next;
		if (ret < 0)
			return ret;
	}
	return TAKE_FD(fd);
}

int chunk_open_path(int at_fd, const char *path)
{
	int fd = fcntl(at_fd, F_DUPFD_CLOEXEC, 3);
	char name[NAME_MAX_BYTES + 1];

	if (fd < 0)
		return -errno;
	while (fd >= 0 && next_component(&path, name)) {
		int next = chunk_open_dir(fd, name);

		close_fd(fd);
		fd = next;
	}
	return fd;
}

int chunk_create_file(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);

	return fd < 0 ? -errno : fd;
}

static int chunk_open_regular(int dir_fd, const char *name, int flags)
{
	AUTO_FD int fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? TAKE_FD(fd) : -EINVAL;
}

int chunk_open_file(int dir_fd, const char *name)
{
	return chunk_open_regular(dir_fd, name, O_RDWR);
}

int chunk_read_file(int dir_fd, const char *name)
{
	return chunk_open_regular(dir_fd, name, O_RDONLY);
}

/* Reserve space for metadata, so that it can be written when the disk is full. Errors are
 * ignored: not every file system supports it. */
void chunk_trace_reserve(struct chunk_trace *dir)
{
	uint64_t end = dir->metadata_bytes + DISK_METADATA_RESERVE;

	if (dir->fd < 0 || dir->reserved_bytes >= dir->metadata_bytes + DISK_METADATA_RESERVE / 2)
		return;
	if (fallocate(dir->metadata_fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)end) == 0)
		dir->reserved_bytes = end;
}

static int chunk_trace_sync_names(const struct chunk_trace *dir)
{
	int ret = disk_sync_dir(dir->fd);

	return ret < 0 ? ret : disk_sync_parent(dir->chunk->fd);
}

/* The first packet of metadata contains the trace's UUID. */
static bool chunk_trace_is_ours(struct chunk_trace *dir)
{
	struct metapacket first;

	if (!chunk_read_metapacket(dir->metadata_fd, 0, &first))
		return true;
	dir->ctf_2 = first.ctf_2;
	return !first.has_uuid || memcmp(first.uuid, dir->uuid, sizeof(first.uuid)) == 0;
}

static int make_files(struct chunk_trace *dir, bool adopt, bool may_create)
{
	dir->fd = chunk_make_path(dir->chunk->fd, dir->path, disk_syncs(dir->disk));
	if (dir->fd < 0)
		return dir->fd;
	dir->index_fd = chunk_make_dir(dir->fd, "index");
	if (dir->index_fd < 0)
		return dir->index_fd;
	if (adopt && dir->chunk->archive_fd >= 0) {
		int ret = chunk_turn_continue(dir);

		if (ret < 0)
			return ret;
	}
	dir->metadata_fd = adopt ? chunk_open_file(dir->fd, "metadata") : -ENOENT;
	/* the previous process may have died before it created the file */
	if (dir->metadata_fd == -ENOENT && may_create)
		dir->metadata_fd = chunk_create_file(dir->fd, "metadata");
	if (dir->metadata_fd < 0)
		return dir->metadata_fd;
	if (!chunk_trace_is_ours(dir))
		return -EEXIST;
	return disk_syncs(dir->disk) ? chunk_trace_sync_names(dir) : 0;
}

static struct chunk_trace *trace_alloc(const struct chunk *chunk,
				       const struct chunk_trace_spec *spec)
{
	struct chunk_trace *dir = xalloc(sizeof(*dir));

	list_init(&dir->node);
	dir->chunk = chunk;
	dir->id = spec->id;
	dir->path = xstrdup(spec->path);
	memcpy(dir->uuid, spec->uuid, sizeof(dir->uuid));
	dir->fd = dir->index_fd = dir->metadata_fd = dir->kallsyms = -1;
	dir->next = dir->moved = (struct chunk_trace_files){ -1, -1, -1 };
	dir->disk = chunk->disk;
	return dir;
}

static void chunk_list(int fd_of_chunk, int flags, const char *entry, struct disk *disk)
{
	size_t len = strlen(entry);
	AUTO_FD int fd =
		openat(fd_of_chunk, TRACELIST_FILE,
		       O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0640);

	if (fd < 0 || write(fd, entry, len) != (ssize_t)len)
		return;
	disk->used += len;
	if (disk_syncs(disk))
		(void)!disk_sync_data(fd);
}

void chunk_trace_note(const struct chunk_trace *dir)
{
	AUTO_FREE char *entry =
		xasprintf("\n" TRACELIST_OPEN TRACELIST_END "\n%s" TRACELIST_END, dir->path);

	if (dir->chunk)
		chunk_list(dir->chunk->fd, O_CREAT, entry, dir->disk);
}

void chunk_trace_end(const struct chunk_trace *dir)
{
	AUTO_FREE char *entry = xasprintf("\n" TRACELIST_CLOSED "%s" TRACELIST_END, dir->path);

	if (dir->fd >= 0)
		chunk_list(dir->chunk->fd, O_CREAT, entry, dir->disk);
}

int chunk_trace_cut(struct chunk_trace *dir, uint64_t metadata_bytes, bool may_be_shorter)
{
	struct stat st;

	if (dir->metadata_fd < 0) {
		dir->metadata_bytes = metadata_bytes;
		return 0;
	}
	if (fstat(dir->metadata_fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size < metadata_bytes && !may_be_shorter)
		return -ENODATA;
	metadata_bytes = MIN((uint64_t)st.st_size, metadata_bytes);
	if (ftruncate(dir->metadata_fd, (off_t)metadata_bytes) < 0)
		return -errno;
	dir->metadata_bytes = metadata_bytes;
	dir->reserved_bytes = 0; /* cut off as well */
	chunk_trace_reserve(dir);
	return 0;
}

static int open_memory(struct chunk_trace *dir, const struct chunk_trace_spec *spec)
{
	if (spec->metadata_fd < 0 && spec->metadata_bytes)
		return -ENODATA;
	dir->metadata_fd = spec->metadata_fd < 0 ? memfd_create("ltt-metadata", MFD_CLOEXEC) :
						   spec->metadata_fd;
	if (dir->metadata_fd < 0)
		return -errno;
	return chunk_trace_cut(dir, spec->metadata_bytes, false);
}

static int trace_add_in_memory(struct chunk *chunk, const struct chunk_trace_spec *spec,
			       struct chunk_trace **ret, struct err *err)
{
	struct chunk_trace *dir = trace_alloc(chunk, spec);
	int result = open_memory(dir, spec);

	if (result < 0) {
		err_errno(err, ERR_INTERNAL, -result, "can't keep the metadata of '%s' in memory",
			  spec->path);
		chunk_trace_free(dir);
		return err->code;
	}
	list_append(&chunk->traces, &dir->node);
	*ret = dir;
	return 0;
}

int chunk_trace_open(struct chunk *chunk, const struct chunk_trace_spec *spec,
		     struct chunk_trace **ret, struct err *err)
{
	struct chunk_trace *dir;
	int result;

	if (chunk->in_memory)
		return trace_add_in_memory(chunk, spec, ret, err);
	dir = trace_alloc(chunk, spec);
	result = chunk->fd < 0 ? 0 : make_files(dir, false, true);
	if (result == -EEXIST)
		err_set(err, ERR_OUTPUT, "%s/metadata exists: choose a directory without a trace",
			spec->path);
	else if (result < 0)
		err_errno(err, ERR_OUTPUT, -result, "can't create the trace directory '%s'",
			  spec->path);
	if (result < 0) {
		chunk_trace_free(dir);
		return err->code;
	}
	chunk_trace_reserve(dir);
	list_append(&chunk->traces, &dir->node);
	*ret = dir;
	return 0;
}

int chunk_trace_continue(struct chunk *chunk, const struct chunk_trace_spec *spec,
			 struct chunk_trace **ret, struct err *err)
{
	bool may_create = !spec->metadata_bytes || spec->may_be_shorter;
	struct chunk_trace *dir;
	int result;

	if (chunk->in_memory)
		return trace_add_in_memory(chunk, spec, ret, err);
	dir = trace_alloc(chunk, spec);
	result = chunk->fd < 0 ? 0 : make_files(dir, true, may_create);
	if (result == 0)
		result = chunk_trace_cut(dir, spec->metadata_bytes, spec->may_be_shorter);
	if (result < 0) {
		dir->metadata_fd = close_fd(dir->metadata_fd); /* left as it is */
		chunk_trace_free(dir);
		if (result == -EEXIST)
			return err_set(err, ERR_OUTPUT, "'%s' contains another trace", spec->path);
		return err_errno(err, ERR_OUTPUT, -result, "can't continue the trace '%s'",
				 spec->path);
	}
	list_append(&chunk->traces, &dir->node);
	*ret = dir;
	return 0;
}

void chunk_trace_release(struct chunk_trace *dir)
{
	if (dir->metadata_fd >= 0)
		(void)!ftruncate(dir->metadata_fd, (off_t)dir->metadata_bytes);
}

void chunk_trace_files_close(struct chunk_trace_files *files)
{
	files->metadata_fd = close_fd(files->metadata_fd);
	files->index_fd = close_fd(files->index_fd);
	files->fd = close_fd(files->fd);
}

/* All of it is in its files. */
static void chunk_trace_shut(struct chunk_trace *dir)
{
	chunk_trace_release(dir);
	dir->metadata_fd = close_fd(dir->metadata_fd);
	dir->index_fd = close_fd(dir->index_fd);
	dir->fd = close_fd(dir->fd);
	chunk_trace_files_close(&dir->next);
	chunk_trace_files_close(&dir->moved);
}

struct chunk_trace *chunk_trace_free(struct chunk_trace *dir)
{
	if (!dir)
		return NULL;
	list_remove(&dir->node);
	chunk_trace_shut(dir);
	close_fd(dir->kallsyms);
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

static int chunk_append_packet(struct chunk_trace *dir, const struct append_packet *packet)
{
	uint64_t bytes = packet->head_bytes + packet->body_bytes;
	int ret = append_packet(dir->metadata_fd, dir->metadata_bytes, packet);

	if (ret == 0 && dir->fd >= 0 && disk_syncs(dir->disk))
		ret = disk_sync_data(dir->metadata_fd);
	if (ret < 0) { /* the incomplete packet was truncated, and the reserved space with it */
		dir->reserved_bytes = 0;
		return ret;
	}
	dir->metadata_bytes += bytes;
	dir->disk->used += dir->fd < 0 ? 0 : bytes;
	chunk_trace_reserve(dir);
	return 0;
}

/* The text's separator is in the header. A fragment can't be written as an empty one first: a
 * reader at the wrong moment finds an incomplete one. */
static int append_fragments(struct chunk_trace *dir, const char *text, uint32_t len)
{
	uint32_t bytes = len - 1 + METAPACKET_TRAILER_BYTES;
	struct metapacket_spaces head = metapacket_spaces_make(bytes);
	AUTO_FREE char *body = xalloc(bytes);
	const struct append_packet packet = {
		.head = &head, .head_bytes = sizeof(head), .body = body, .body_bytes = bytes
	};

	memcpy(body, text + 1, len - 1);
	metapacket_trailer_make(body, len - 1, true, body + len - 1);
	return chunk_append_packet(dir, &packet);
}

int chunk_append(struct chunk_trace *dir, const void *text, uint32_t len)
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

	if (dir->metadata_fd < 0 || !len)
		return 0;
	dir->ctf_2 = metapacket_is_ctf_2(text, len);
	if (dir->ctf_2)
		return append_fragments(dir, text, len);
	packet.body = body = xalloc(bytes);
	memset(body, '\n', pad);
	memcpy(body + pad, text, len);
	metapacket_trailer_make(body, pad + len, false, body + pad + len);
	return chunk_append_packet(dir, &packet);
}

bool chunk_read_metapacket(int fd, uint64_t at, struct metapacket *ret)
{
	uint8_t bytes[METAPACKET_PEEK_BYTES];
	ssize_t n = pread(fd, bytes, sizeof(bytes), (off_t)at);

	return n > 0 && metapacket_parse(bytes, (size_t)n, ret);
}

/* With the empty lines before it, which are then written nowhere else: they serve their purpose
 * there, too. */
int chunk_trace_text(const struct chunk_trace *dir, uint64_t at, char **ret, uint32_t *ret_len)
{
	AUTO_FREE char *text = NULL;
	struct metapacket packet;
	uint32_t bytes, separator;

	if (!chunk_read_metapacket(dir->metadata_fd, at, &packet) ||
	    packet.text_bytes <= METAPACKET_TRAILER_BYTES ||
	    packet.bytes > dir->metadata_bytes - at)
		return -EIO;
	bytes = packet.text_bytes - METAPACKET_TRAILER_BYTES;
	separator = packet.ctf_2; /* is in the header */
	text = xalloc(separator + bytes);
	*text = METAPACKET_SEPARATOR;
	if (pread(dir->metadata_fd, text + separator, bytes, (off_t)(at + packet.head_bytes)) !=
	    (ssize_t)bytes)
		return -EIO;
	*ret = TAKE(text);
	*ret_len = separator + bytes;
	return 0;
}

struct chunk_trace *chunk_find(const struct chunk *chunk, uint64_t id)
{
	struct chunk_trace *trace;

	list_for_each(trace, &chunk->traces, node)
		if (trace->id == id)
			return trace;
	return NULL;
}

bool chunk_is_beside(const char *path)
{
	size_t first = strcspn(path, "/");

	return strncmp(path, BESIDE_PREFIX, strlen(BESIDE_PREFIX)) == 0 ||
	       (first == strlen(BESIDE_SNAPSHOTS) && strncmp(path, BESIDE_SNAPSHOTS, first) == 0);
}

struct chunk_trace *chunk_find_path(const struct chunk *chunk, const char *path)
{
	struct chunk_trace *trace;

	list_for_each(trace, &chunk->traces, node)
		if (strcmp(trace->path, path) == 0)
			return trace;
	return NULL;
}

static void chunk_replace(char *text, size_t len, const char *old, const char *new)
{
	char *at = memmem(text, len, old, strlen(old));

	if (at)
		memcpy(at, new, strlen(new));
}

/* As metadata_head() writes it: as text, and in CTF 2 as numbers, too. */
static void chunk_replace_uuid(char *text, size_t len, const uint8_t old[16], const uint8_t new[16])
{
	char from[METADATA_UUID_NUMBERS + 1], to[METADATA_UUID_NUMBERS + 1];

	metadata_uuid_text(old, from);
	metadata_uuid_text(new, to);
	chunk_replace(text, len, from, to);
	metadata_uuid_numbers(old, from);
	metadata_uuid_numbers(new, to);
	chunk_replace(text, len, from, to);
}

/* The last packet may have lines beside the text for its place in @from: they do no harm. */
static int chunk_copy_metadata(const struct chunk_trace *from, struct chunk_trace *to)
{
	int ret = 0;

	while (ret == 0 && to->metadata_bytes < from->metadata_bytes) {
		AUTO_FREE char *text = NULL;
		uint32_t len = 0;

		ret = chunk_trace_text(from, to->metadata_bytes, &text, &len);
		if (ret == 0)
			chunk_replace_uuid(text, len, from->uuid, to->uuid);
		ret = ret ? ret : chunk_append(to, text, len);
	}
	return ret;
}

int chunk_copy_trace(struct chunk *chunk, const struct chunk_trace *from, const char *path,
		     const uint8_t *mix, struct chunk_trace **ret, struct err *err)
{
	uint8_t uuid[16];
	const struct chunk_trace_spec spec = {
		.id = from->id, .path = path, .uuid = uuid, .metadata_fd = -1
	};
	int result = mix || getrandom(uuid, sizeof(uuid), 0) == sizeof(uuid) ? 0 : -EIO;

	for (size_t i = 0; mix && i < sizeof(uuid); i++)
		uuid[i] = from->uuid[i] ^ mix[i];
	uuid[6] = (uuid[6] & 0x0f) | 0x40; /* a random one, RFC 9562 */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
	if (result == 0 && chunk_trace_open(chunk, &spec, ret, err))
		return err->code;
	if (result == 0)
		result = chunk_copy_metadata(from, *ret);
	if (result == 0 && from->kallsyms >= 0)
		result = chunk_trace_set_kallsyms(*ret, from->kallsyms);
	return result < 0 ? err_errno(err, ERR_INTERNAL, -result,
				      "can't copy the metadata of '%s'", from->path) :
			    0;
}

void chunk_trace_remove(struct chunk_trace *dir)
{
	AUTO_FREE char *path = xstrdup(dir->path);
	char *slash;

	if (dir->fd < 0)
		return;
	unlinkat(dir->fd, "metadata", 0);
	unlinkat(dir->fd, KALLSYMS_FILE, 0);
	unlinkat(dir->fd, "index", AT_REMOVEDIR);
	while (unlinkat(dir->chunk->fd, path, AT_REMOVEDIR) == 0 && (slash = strrchr(path, '/')))
		*slash = '\0';
}

/* --- the functions of the kernel ------------------------------------------------- */

static bool is_same_content(int fd, int other)
{
	AUTO_FREE char *buf = xalloc(2 * COMPARED_BYTES);
	uint64_t bytes = fd_bytes(fd);

	if (bytes != fd_bytes(other))
		return false;
	for (uint64_t at = 0; at < bytes;) {
		ssize_t n = pread(fd, buf, COMPARED_BYTES, (off_t)at);

		if (n <= 0 || pread(other, buf + n, (size_t)n, (off_t)at) != n ||
		    memcmp(buf, buf + n, (size_t)n) != 0)
			return false;
		at += (uint64_t)n;
	}
	return true;
}

/* Under its name, the file is whole. */
static int write_kallsyms(const struct chunk_trace *trace, int dir_fd, int content)
{
	AUTO_FD int old = chunk_read_file(dir_fd, KALLSYMS_FILE), fd = -1;
	uint64_t bytes = fd_bytes(content);
	int ret;

	if (old >= 0 && is_same_content(old, content))
		return 0;
	if (unlinkat(dir_fd, KALLSYMS_FILE ".new", 0) < 0 && errno != ENOENT)
		return -errno;
	fd = chunk_create_file(dir_fd, KALLSYMS_FILE ".new");
	ret = fd < 0 ? fd : append_file(content, fd, bytes);
	if (ret == 0 && renameat(dir_fd, KALLSYMS_FILE ".new", dir_fd, KALLSYMS_FILE) < 0)
		ret = -errno;
	if (ret == 0)
		trace->disk->used += bytes;
	else
		unlinkat(dir_fd, KALLSYMS_FILE ".new", 0);
	return ret;
}

int chunk_trace_set_kallsyms(struct chunk_trace *trace, int fd)
{
	int kept = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (kept < 0)
		return -errno;
	close_fd(trace->kallsyms);
	trace->kallsyms = kept;
	return trace->fd < 0 ? 0 : write_kallsyms(trace, trace->fd, kept);
}

void chunk_trace_link_kallsyms(const struct chunk_trace *trace, int from_fd, int to_fd)
{
	if (linkat(from_fd, KALLSYMS_FILE, to_fd, KALLSYMS_FILE, 0) < 0 && errno != EEXIST &&
	    errno != ENOENT && trace->kallsyms >= 0)
		(void)!write_kallsyms(trace, to_fd, trace->kallsyms);
}

/* A file with several links, as archives have, counts once. */
uint64_t chunk_dir_bytes(int dir_fd)
{
	AUTO_DIR DIR *dir = dir_open(dir_fd, ".");
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	while ((entry = dir_next(dir)))
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size / MAX(st.st_nlink, 1u);
	return bytes;
}

uint64_t chunk_trace_measure(const struct chunk_trace *dir)
{
	return dir->fd < 0 ? 0 : chunk_dir_bytes(dir->fd) + chunk_dir_bytes(dir->index_fd);
}

bool chunk_trace_is_gone(const struct chunk_trace *dir)
{
	struct stat st;

	return dir->fd >= 0 && fstat(dir->fd, &st) == 0 && st.st_nlink == 0;
}

int chunk_trace_reopen(struct chunk_trace *dir)
{
	int ret;

	chunk_trace_shut(dir);
	dir->reserved_bytes = 0;
	ret = make_files(dir, true, false);
	if (ret == 0)
		chunk_trace_reserve(dir);
	return ret;
}

/* --- chunks ---------------------------------------------------------------------- */

void chunk_init(struct chunk *chunk, int fd, struct disk *disk)
{
	*chunk = (struct chunk){
		.fd = fd, .disk = disk, .place = { .dir_fd = -1 }, .archive_fd = -1
	};
	list_init(&chunk->traces);
}

void chunk_init_in_memory(struct chunk *chunk, struct disk *disk)
{
	chunk_init(chunk, -1, disk);
	chunk->in_memory = true;
}

static void chunk_set_place(struct chunk *chunk, const struct chunk_place *place)
{
	chunk->place.dir_fd = place->dir_fd;
	chunk->place.hidden = xstrdup(place->hidden);
	chunk->place.name = xstrdup(place->name);
}

static int chunk_make_place(struct chunk *chunk, const struct chunk_place *place)
{
	chunk_discard(place);
	if (mkdirat(place->dir_fd, place->hidden, 0750) < 0)
		return -errno;
	chunk_set_place(chunk, place);
	chunk->fd = chunk_open_dir(place->dir_fd, place->hidden);
	return MIN(chunk->fd, 0);
}

int chunk_open(struct chunk *chunk, const struct chunk_place *place, struct disk *disk)
{
	chunk_init(chunk, -1, disk);
	return chunk_make_place(chunk, place);
}

static int chunk_store_trace(struct chunk_trace *dir)
{
	AUTO_FD int memory = TAKE_FD(dir->metadata_fd);
	AUTO_FREE char *text = xalloc(dir->metadata_bytes + 1);
	int ret = make_files(dir, false, true);

	if (ret == 0 &&
	    pread(memory, text, dir->metadata_bytes, 0) != (ssize_t)dir->metadata_bytes)
		ret = -EIO;
	if (ret == 0)
		ret = append_bytes(dir->metadata_fd, text, dir->metadata_bytes, 0);
	if (ret == 0 && disk_syncs(dir->disk))
		ret = disk_sync_data(dir->metadata_fd);
	dir->disk->used += dir->metadata_bytes;
	return ret || dir->kallsyms < 0 ? ret : write_kallsyms(dir, dir->fd, dir->kallsyms);
}

int chunk_store(struct chunk *chunk, const struct chunk_place *place)
{
	struct chunk_trace *trace;
	int ret = chunk_make_place(chunk, place);

	list_for_each(trace, &chunk->traces, node)
		ret = ret ? ret : chunk_store_trace(trace);
	chunk->in_memory = false;
	return ret;
}

int chunk_continue(struct chunk *chunk, const struct chunk_place *place, struct disk *disk)
{
	int fd = chunk_open_dir(place->dir_fd, place->hidden);
	bool is_hidden = fd >= 0;

	if (fd == -ENOENT)
		fd = chunk_open_dir(place->dir_fd, place->name);
	if (fd < 0)
		return fd;
	chunk_init(chunk, fd, disk);
	chunk_set_place(chunk, place);
	chunk->state = is_hidden ? CHUNK_OPEN : CHUNK_CLOSED;
	return 0;
}

/* Of a chunk in a directory of its own: a chunk is under its name as a whole, or not at all. */
static int chunk_take_name(const struct chunk *chunk)
{
	const struct chunk_place *place = &chunk->place;

	if (renameat(place->dir_fd, place->hidden, place->dir_fd, place->name) < 0)
		return -errno;
	if (disk_syncs(chunk->disk))
		(void)!disk_sync_dir(place->dir_fd);
	return 0;
}

int chunk_close(struct chunk *chunk)
{
	struct chunk_trace *trace;
	int ret;

	list_for_each(trace, &chunk->traces, node)
		chunk_trace_shut(trace);
	if (chunk->fd >= 0)
		chunk_list(chunk->fd, 0, "\n" TRACELIST_ENDED TRACELIST_END, chunk->disk);
	ret = chunk->place.name ? chunk_take_name(chunk) : 0;
	if (ret == 0)
		chunk->state = CHUNK_CLOSED;
	return ret;
}

void chunk_discard(const struct chunk_place *place)
{
	dir_remove(place->dir_fd, place->hidden);
}

void chunk_fini(struct chunk *chunk)
{
	struct chunk_trace *trace, *tmp;

	list_for_each_safe(trace, tmp, &chunk->traces, node)
		chunk_trace_free(trace);
	close_fd(chunk->archive_fd);
	if (chunk->place.name)
		close_fd(chunk->fd);
	free((char *)chunk->place.hidden);
	free((char *)chunk->place.name);
	chunk_init(chunk, -1, NULL);
}

bool chunk_has(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* --- handing on ------------------------------------------------------------------
 * Of a chunk in the directory of others: first the list of traces is written to the hidden
 * directory, to its end; then the traces are moved. So a successor knows the traces to move, and
 * that nothing was moved if the list is incomplete. */

#define PLAN_BYTES_MAX (16u << 20)

static char *plan_add(char *plan, const char *path)
{
	char *longer =
		xasprintf("%s\n" TRACELIST_OPEN TRACELIST_END "\n%s" TRACELIST_END, plan, path);

	free(plan);
	return longer;
}

/* The next entry of a list, without its end; NULL: there is none. */
static char *next_listed(char **rest)
{
	const size_t end = strlen(TRACELIST_END);
	char *entry;

	while ((entry = strsep(rest, "\n"))) {
		size_t len = strlen(entry);

		if (len <= end || strcmp(entry + len - end, TRACELIST_END) != 0)
			continue;
		entry[len - end] = '\0';
		return entry;
	}
	return NULL;
}

char *chunk_next_listed(char **rest)
{
	struct err ignored = { 0 };
	char *entry;

	while ((entry = next_listed(rest)) && *entry != '/')
		if (chunk_check_path(entry, &ignored) == 0)
			break;
	return entry;
}

static char *plan_add_ended(char *plan, char *list)
{
	const size_t mark = strlen(TRACELIST_CLOSED);
	struct err ignored = { 0 };
	char *entry;

	while ((entry = next_listed(&list)))
		if (strncmp(entry, TRACELIST_CLOSED, mark) == 0 &&
		    chunk_check_path(entry + mark, &ignored) == 0)
			plan = plan_add(plan, entry + mark);
	return plan;
}

/* A trace that leaves without a stream has an empty list of them: so readers miss none. */
static void list_streams(int fd, const char *plan)
{
	AUTO_FREE char *copy = xstrdup(plan);
	char *rest = copy, *path;

	while ((path = chunk_next_listed(&rest))) {
		AUTO_FD int dir_fd = *path == '/' ? -1 : chunk_open_path(fd, path);

		if (dir_fd >= 0)
			close_fd(chunk_create_file(dir_fd, STREAMLIST_FILE));
	}
}

/* It begins with the hidden name: so it can be found among those of others. */
static int write_plan(const struct chunk *chunk, int to_fd, const char *hidden)
{
	AUTO_FREE char *plan = xasprintf("\n/%s" TRACELIST_END, hidden);
	AUTO_FREE char *list = NULL;
	const struct chunk_trace *trace;
	AUTO_FD int fd = -1;
	int ret;

	list_for_each(trace, &chunk->traces, node)
		plan = plan_add(plan, trace->path);
	if (chunk_read_list(chunk->fd, &list) == 0)
		plan = plan_add_ended(plan, list);
	list_streams(chunk->fd, plan);
	if (unlinkat(to_fd, TRACELIST_FILE, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = chunk_create_file(to_fd, TRACELIST_FILE);
	if (fd < 0)
		return fd;
	ret = append_bytes(fd, plan, strlen(plan), 0);
	if (ret == 0)
		ret = append_bytes(fd, "\n" TRACELIST_ENDED TRACELIST_END,
				   strlen("\n" TRACELIST_ENDED TRACELIST_END), strlen(plan));
	return ret == 0 && disk_syncs(chunk->disk) ? disk_sync_data(fd) : ret;
}

int chunk_read_list(int dir_fd, char **ret)
{
	AUTO_FD int fd = chunk_read_file(dir_fd, TRACELIST_FILE);
	AUTO_FREE char *list = NULL;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size > PLAN_BYTES_MAX)
		return -EFBIG;
	list = xalloc((size_t)st.st_size + 1);
	if (pread(fd, list, (size_t)st.st_size, 0) != st.st_size)
		return -EIO;
	*ret = TAKE(list);
	return 0;
}

/* @ret: allocated, without the mark at the end. Return: 0; -ENOENT: there is none, or not all. */
static int read_plan(int to_fd, char **ret)
{
	AUTO_FREE char *plan = NULL;
	int result = chunk_read_list(to_fd, &plan);
	char *end;

	if (result < 0)
		return result;
	end = strstr(plan, "\n" TRACELIST_ENDED TRACELIST_END);
	if (!end)
		return -ENOENT;
	*end = '\0';
	*ret = TAKE(plan);
	return 0;
}

static int move_trace(int from_fd, int to_fd, const char *path)
{
	AUTO_FREE char *parent = xstrdup(path);
	char *slash = strrchr(parent, '/');
	AUTO_FD int made = -1;

	if (slash) {
		*slash = '\0';
		made = chunk_make_path(to_fd, parent, false);
		if (made < 0)
			return made;
	}
	/* it was moved before */
	return renameat(from_fd, path, to_fd, path) == 0 || errno == ENOENT ? 0 : -errno;
}

static int move_traces(int from_fd, int to_fd, const char *plan)
{
	AUTO_FREE char *copy = xstrdup(plan);
	char *rest = copy, *path;
	int ret = 0;

	while (ret == 0 && (path = chunk_next_listed(&rest)))
		ret = *path == '/' ? 0 : move_trace(from_fd, to_fd, path);
	return ret;
}

/* --- the list of the directory that the traces leave -------------------------------- */

static bool is_planned(const char *plan, const char *path)
{
	AUTO_FREE char *entry = xasprintf("\n%s" TRACELIST_END, path);

	return strstr(plan, entry);
}

static int replace_list(int fd, const char *list)
{
	AUTO_FD int new_fd = -1;
	int ret;

	if (unlinkat(fd, TRACELIST_FILE ".new", 0) < 0 && errno != ENOENT)
		return -errno;
	new_fd = chunk_create_file(fd, TRACELIST_FILE ".new");
	ret = new_fd < 0 ? new_fd : append_bytes(new_fd, list, strlen(list), 0);
	if (ret == 0 && renameat(fd, TRACELIST_FILE ".new", fd, TRACELIST_FILE) < 0)
		ret = -errno;
	if (ret < 0)
		(void)unlinkat(fd, TRACELIST_FILE ".new", 0);
	return ret;
}

/* The traces of others stay in it. It exists from then on: a new trace that it lacks is empty. */
static int forget_moved(int fd, const char *list, const char *plan)
{
	AUTO_FREE char *kept = xstrdup("\n" TRACELIST_OPEN TRACELIST_END);
	AUTO_FREE char *copy = xstrdup(list);
	char *rest = copy, *entry;

	while ((entry = chunk_next_listed(&rest)))
		if (*entry != '/' && !is_planned(plan, entry))
			kept = plan_add(kept, entry);
	return replace_list(fd, kept);
}

/* --- the archive ------------------------------------------------------------------- */

/* Nothing is replaced, not even an empty directory. */
static int rename_to(int from_fd, const char *from, const struct chunk_place *to)
{
	if (renameat2(from_fd, from, to->dir_fd, to->name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL) /* of file systems that can't do it at once */
		return -errno;
	if (chunk_has(to->dir_fd, to->name))
		return -EEXIST;
	return renameat(from_fd, from, to->dir_fd, to->name) < 0 ? -errno : 0;
}

/* An archive of traces from one directory can get those of its other writers. */
static bool is_shared(const struct chunk_place *to)
{
	AUTO_FD int fd = chunk_open_dir(to->dir_fd, to->name);
	AUTO_FREE char *list = NULL;

	return fd >= 0 && chunk_read_list(fd, &list) == 0 && strncmp(list, "\n/.", 3) == 0;
}

/* The traces have no name in common. */
static int add_to_archive(int hidden_fd, const struct chunk_place *to, const char *plan,
			  struct disk *disk)
{
	AUTO_FD int fd = chunk_open_dir(to->dir_fd, to->name);
	AUTO_FREE char *entries = xasprintf("%s\n" TRACELIST_ENDED TRACELIST_END, plan);
	AUTO_FD int list_fd = -1;
	int ret = fd < 0 ? fd : move_traces(hidden_fd, fd, plan);

	if (ret == 0)
		ret = list_fd = chunk_open_file(fd, TRACELIST_FILE);
	if (ret >= 0)
		ret = append_bytes(list_fd, entries, strlen(entries), fd_bytes(list_fd));
	if (ret == 0 && disk && disk_syncs(disk))
		ret = disk_sync_data(list_fd);
	if (ret == 0)
		dir_remove(to->dir_fd, to->hidden);
	return ret;
}

/* Also those that were moved before. Return: 0 or negative errno. */
static int move_all(int fd, int hidden_fd, const struct chunk_place *to, const char *list,
		    const char *plan)
{
	int ret = move_traces(fd, hidden_fd, plan);

	if (ret == 0)
		ret = forget_moved(fd, list, plan);
	return ret < 0 ? ret : rename_to(to->dir_fd, to->hidden, to);
}

static int read_list_or_none(int fd, char **ret)
{
	int result = chunk_read_list(fd, ret);

	if (result == -ENOENT)
		*ret = xstrdup("");
	return result == -ENOENT ? 0 : result;
}

/* The traces would be in a directory that no reader knows, until the move is repeated. @list: NULL:
 * it was not read. Return: 0: nothing is moved now; or negative errno. */
static int move_back(int fd, int hidden_fd, const struct chunk_place *to, const char *list,
		     const char *plan)
{
	int ret = move_traces(hidden_fd, fd, plan);

	if (ret == 0 && list)
		ret = replace_list(fd, list);
	if (ret == 0)
		chunk_discard(to);
	return ret;
}

/* @to_fd: its hidden directory. @ret_undone: it has failed, and nothing is moved now. */
static int finish_hand_on(int fd, int to_fd, const struct chunk_place *to, const char *plan,
			  struct disk *disk, bool *ret_undone)
{
	AUTO_FREE char *list = NULL;
	int ret = read_list_or_none(fd, &list);

	*ret_undone = false;
	if (ret == 0)
		ret = move_all(fd, to_fd, to, list, plan);
	if (ret == -EEXIST && is_shared(to))
		return add_to_archive(to_fd, to, plan, disk);
	*ret_undone = ret < 0 && move_back(fd, to_fd, to, list, plan) == 0;
	return ret;
}

int chunk_hand_on_again(int fd, const struct chunk_place *to)
{
	AUTO_FD int to_fd = chunk_open_dir(to->dir_fd, to->hidden);
	AUTO_FREE char *plan = NULL;
	bool undone = false;
	int ret;

	if (to_fd < 0) /* perhaps it has its name already */
		return to_fd == -ENOENT && chunk_has(to->dir_fd, to->name) ? 0 : to_fd;
	ret = read_plan(to_fd, &plan);
	if (ret == 0)
		ret = finish_hand_on(fd, to_fd, to, plan, NULL, &undone);
	return undone ? -ENOENT : ret;
}

/* A part of it may have been done before. */
static int hand_on_traces(const struct chunk *chunk, const struct chunk_place *to)
{
	AUTO_FREE char *plan = NULL;
	AUTO_FD int to_fd = -1;
	bool undone;
	int ret;

	if (chunk_has(to->dir_fd, to->name) && !is_shared(to))
		return -EEXIST;
	to_fd = chunk_make_dir(to->dir_fd, to->hidden);
	ret = to_fd < 0 ? to_fd : read_plan(to_fd, &plan);
	if (ret == -ENOENT) {
		ret = write_plan(chunk, to_fd, to->hidden);
		if (ret == 0)
			ret = read_plan(to_fd, &plan);
		if (ret < 0) /* nothing was moved */
			chunk_discard(to);
	}
	if (ret < 0)
		(void)!unlinkat(to->dir_fd, to->hidden, AT_REMOVEDIR); /* if it is empty */
	return ret < 0 ? ret :
			 finish_hand_on(chunk->fd, to_fd, to, plan, chunk->disk, &undone);
}

int chunk_hand_on(const struct chunk *chunk, const struct chunk_place *to)
{
	const struct chunk_place *from = &chunk->place;
	int ret;

	if (from->name && chunk->state != CHUNK_CLOSED)
		return -EBUSY;
	if (from->name)
		ret = rename_to(from->dir_fd, from->name, to);
	else
		ret = hand_on_traces(chunk, to);
	if (ret == -ENOENT && from->name && chunk_has(to->dir_fd, to->name))
		ret = 0; /* before this writer was killed, or by its predecessor */
	if (ret == 0 && disk_syncs(chunk->disk))
		ret = disk_sync_dir(to->dir_fd);
	return ret;
}
