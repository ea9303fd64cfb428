/* SPDX-License-Identifier: GPL-2.0-only */
#include "mend.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/streamfile.h"
#include "trace/index.h"
#include "trace/metapacket.h"

#define MAX_DEPTH 12 /* host, session, and what a trace has below it */

static uint64_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* --- metadata ------------------------------------------------------------------------ */

/* Up to the end of the last packet that is there in its full length. */
static uint64_t whole_metadata(int fd, uint8_t ret_uuid[16])
{
	uint64_t at = 0, end = size_of(fd);
	struct metapacket_header head;

	while (end - at >= sizeof(head) &&
	       pread(fd, &head, sizeof(head), (off_t)at) == (ssize_t)sizeof(head)) {
		uint64_t bytes = head.packet_size / 8;

		if (head.magic != METAPACKET_MAGIC || bytes < sizeof(head) || bytes > end - at)
			break;
		memcpy(ret_uuid, head.uuid, sizeof(head.uuid));
		at += bytes;
	}
	return at;
}

/* --- streams ------------------------------------------------------------------------- */

/* CHANNEL_NUMBER. Return: where the number begins, or NULL. */
static const char *number_of(const char *name, uint64_t *ret)
{
	const char *last = strrchr(name, '_');

	if (!last || last == name || parse_u64(last + 1, ret) < 0 || *ret > UINT32_MAX)
		return NULL;
	return last + 1;
}

/* Does the last entry tell of the packet that ends with the file? */
static bool is_whole(int fd, int index_fd)
{
	uint64_t bytes = size_of(index_fd);
	struct index_entry entry;

	if (bytes < sizeof(struct index_header) + sizeof(entry) ||
	    (bytes - sizeof(struct index_header)) % sizeof(entry) != 0 ||
	    pread(index_fd, &entry, sizeof(entry), (off_t)(bytes - sizeof(entry))) !=
		    (ssize_t)sizeof(entry))
		return false;
	return be64toh(entry.offset) + be64toh(entry.packet_size) / 8 == size_of(fd);
}

static uint64_t mend_stream(struct tracedir *trace, const char *name)
{
	AUTO_FD int fd = tracedir_open_file(trace->fd, name);
	AUTO_FREE char *channel = NULL, *index = xasprintf("%s.idx", name);
	AUTO_FD int index_fd = tracedir_open_file(trace->index_fd, index);
	struct stream_config config = { .trace = trace, .disk = trace->disk };
	struct packet_header first = { 0 };
	union packet_bytes head;
	struct stream_file file;
	uint64_t number, cut = 0;
	const char *digits = number_of(name, &number);

	if (!digits || fd < 0 || (index_fd >= 0 && is_whole(fd, index_fd)))
		return 0;
	if (pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head))
		(void)!packet_from_file(&head, trace->hides, &first);
	/* the last number of its name may be a CPU's or a file's: both are looked for so */
	config.channel = channel = xstrdup(name);
	channel[digits - name - 1] = '\0';
	config.stream_class = first.stream_id;
	config.first_instance = (uint32_t)(first.stream_instance_id - number);
	stream_file_init(&file, &config, (uint32_t)number);
	if (stream_file_adopt(&file, &first, &cut) < 0)
		log_warn("%s/%s can't be brought in order", trace->path, name);
	stream_file_close(&file);
	return cut;
}

static uint64_t mend_streams(struct tracedir *trace)
{
	AUTO_DIR DIR *dir = dir_open(trace->fd, ".");
	struct dirent *entry;
	uint64_t cut = 0;

	while ((entry = dir_next(dir)))
		if (entry->d_name[0] != '.')
			cut += mend_stream(trace, entry->d_name);
	return cut;
}

static uint64_t mend_trace(int fd, const char *path)
{
	AUTO_FD int metadata_fd = tracedir_open_file(fd, "metadata");
	AUTO_FD int index_fd = openat(fd, "index", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct disk disk = { 0 };
	struct tracedir trace = { .path = (char *)path,
				  .fd = fd,
				  .index_fd = index_fd,
				  .metadata_fd = metadata_fd,
				  .disk = &disk };
	uint64_t whole, cut;

	if (metadata_fd < 0 || index_fd < 0)
		return 0;
	whole = whole_metadata(metadata_fd, trace.uuid);
	cut = size_of(metadata_fd) - whole;
	if (cut && ftruncate(metadata_fd, (off_t)whole) < 0)
		log_warn("the metadata of %s can't be brought in order", path);
	trace.hides = whole && tracedir_hides(metadata_fd);
	return cut + mend_streams(&trace);
}

/* --- all of them ----------------------------------------------------------------------- */

static uint64_t mend_below(int at_fd, const char *name, int depth)
{
	AUTO_DIR DIR *dir = depth > MAX_DEPTH ? NULL : dir_open(at_fd, name);
	struct dirent *entry;
	uint64_t cut = 0;

	if (!dir)
		return 0;
	cut = mend_trace(dirfd(dir), name);
	while ((entry = dir_next(dir)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "index") != 0 &&
		    (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN))
			cut += mend_below(dirfd(dir), entry->d_name, depth + 1);
	return cut;
}

uint64_t mend_all(int dir_fd)
{
	return mend_below(dir_fd, ".", 0);
}
