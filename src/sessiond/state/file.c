/* SPDX-License-Identifier: GPL-2.0-only */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "msg.h"
#include "trace/crc32c.h"

/* In the header's flags: its serial is a checksum. */
#define SUMMED 0x5ac3u

/* Of length, type and message: all but the two header fields that hold the checksum. */
static uint32_t checksum(const uint8_t *data, size_t len)
{
	const uint64_t length = len;
	uint32_t sum = crc32c(0, &length, sizeof(length));

	sum = crc32c(sum, data, sizeof(uint16_t));
	return crc32c(sum, data + sizeof(struct msg_header), len - sizeof(struct msg_header));
}

static void seal(uint8_t *data, size_t len)
{
	struct msg_header header;

	memcpy(&header, data, sizeof(header));
	header.flags = SUMMED;
	header.serial = checksum(data, len);
	memcpy(data, &header, sizeof(header));
}

static bool state_file_is_whole(const struct msg_header *header, const uint8_t *data, size_t len)
{
	return header->flags == SUMMED && header->serial == checksum(data, len);
}

static int state_file_write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int state_file_write(const char *dir, const char *name, const struct encoder *enc)
{
	AUTO_FREE char *path = xasprintf("%s/%s", dir, name);
	AUTO_FREE char *next = xasprintf("%s/.next", dir);
	int fd, ret;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (unlink(next) < 0 && errno != ENOENT) /* of a daemon that was killed */
		return -errno;
	fd = open(next, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	seal(enc->buf, enc->len);
	ret = state_file_write_all(fd, enc->buf, enc->len);
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	if (ret == 0 && rename(next, path) < 0)
		ret = -errno;
	if (ret < 0) /* a full directory needs its bytes */
		unlink(next);
	return ret;
}

static int state_file_read_file(const char *path, uint8_t **ret, size_t *ret_len)
{
	/* a FIFO would be waited for */
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	AUTO_FREE uint8_t *data = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > STATE_FILE_MAX)
		return -EBADMSG;
	data = xalloc((size_t)st.st_size + 1);
	if (read(fd, data, (size_t)st.st_size) != st.st_size)
		return -EIO;
	*ret_len = (size_t)st.st_size;
	*ret = TAKE(data);
	return 0;
}

int state_file_read(const char *dir, const char *name, uint16_t type, struct state_file *ret)
{
	AUTO_FREE char *path = xasprintf("%s/%s", dir, name);
	struct msg_header header;
	size_t len = 0;
	int error = state_file_read_file(path, &ret->data, &len);

	if (error < 0)
		return error;
	decoder_init(&ret->dec, ret->data, len, NULL, 0);
	if (decode_header(&ret->dec, &header) < 0) {
		ret->dec.bad = true;
		return STATE_DAMAGED;
	}
	return header.type == type && state_file_is_whole(&header, ret->data, len) ?
		       0 :
		       STATE_DAMAGED;
}

struct classes_head {
	uint32_t len, sum;
};

_Static_assert(sizeof(struct classes_head) == STATE_CLASSES_OVERHEAD, "as on disk");

static int classes_write(int fd, const struct list *list)
{
	const struct classes_head head = { list->len, crc32c(list->len, list->data, list->len) };
	int ret = state_file_write_all(fd, (const uint8_t *)&head, sizeof(head));

	return ret < 0 ? ret : state_file_write_all(fd, list->data, list->len);
}

int state_classes_append(const char *dir, const char *name, uint64_t offset,
			 const struct list *list)
{
	AUTO_FREE char *path = xasprintf("%s/%s", dir, name);
	AUTO_FD int fd = -1;
	int ret;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (offset + list->len + STATE_CLASSES_OVERHEAD > STATE_FILE_MAX)
		return -EFBIG;
	if (!offset && unlink(path) < 0 && errno != ENOENT)
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)offset) < 0 || lseek(fd, (off_t)offset, SEEK_SET) < 0)
		return -errno;
	ret = classes_write(fd, list);
	if (ret < 0) /* a full directory needs its bytes */
		(void)!ftruncate(fd, (off_t)offset);
	return ret;
}

int state_classes_read(const char *dir, const char *name, uint64_t bytes, uint8_t **ret_data,
		       struct list *ret)
{
	AUTO_FREE char *path = xasprintf("%s/%s", dir, name);
	AUTO_FREE uint8_t *data = NULL;
	struct classes_head head;
	size_t len = 0, out = 0;
	int error = state_file_read_file(path, &data, &len);

	if (error < 0)
		return error;
	if (len < bytes)
		return STATE_DAMAGED;
	for (size_t at = 0; at < bytes; at += head.len) { /* joins the lists */
		if (bytes - at < sizeof(head))
			return STATE_DAMAGED;
		memcpy(&head, data + at, sizeof(head));
		at += sizeof(head);
		if (head.len > bytes - at || crc32c(head.len, data + at, head.len) != head.sum)
			return STATE_DAMAGED;
		memmove(data + out, data + at, head.len);
		out += head.len;
	}
	*ret = (struct list){ .data = data, .len = (uint32_t)out };
	*ret_data = TAKE(data);
	return 0;
}

void state_file_fini(struct state_file *file)
{
	free(file->data);
	file->data = NULL;
}
