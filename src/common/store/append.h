/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * append.h - append a packet to a file so that a concurrent reader
 * finds complete packets only. Runs in the thread that writes the file.
 *
 * A file grows page by page while write() copies, and readers (for example babeltrace2)
 * reject a trace whose last packet is incomplete; with an incomplete metadata file they
 * loop. Therefore a packet that crosses a page is first written as an empty packet: the header,
 * with a content size of 0, and the last byte; then the body is written, and last the content size
 * in the header, behind its checksum if that is computed on the way.
 *
 * The order of header and last byte depends on the readers. Readers of stream files read the file's
 * size once, when they open the file, and search it for packets some system calls later: the last
 * byte is written first, so that the size is final, and the header follows at once. Readers of
 * metadata read until the end of the file: the header is written first, so that they find an empty
 * packet at the end, or nothing. A crash leaves an empty packet with padding, which every reader
 * skips and which differs from all complete packets of this project; or, between the first two
 * writes, space without a header, which this project's readers recognise
 * (tests/e2e/readable-steps.test), and which the next writer truncates.
 */
#ifndef STORE_APPEND_H
#define STORE_APPEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/splice.h"
#include "store/disk.h"

struct append_packet {
	const void *head; /* the header of the complete packet */
	size_t head_bytes;
	const void *body;
	size_t body_bytes;
	size_t content_at;    /* offset in @head of the content size (in bits) */
	size_t content_bytes; /* bytes of the content size: 4 or 8; 0: it is written at once */
	bool head_first;      /* write the header before the last byte: for metadata */
	/* Offset in @head, which is writable then, of the CRC-32C up to @body: it is continued over
	 * @body while that is in the CPU's cache, and written before the content size. 0: none. */
	size_t sum_at;
	/* The ring that @body is in, to be spliced if the packet crosses a page; NULL: write it. */
	const struct splice_source *source;
	const struct disk *disk; /* learns about the progress of @body; NULL */
};

#define APPEND_HEAD_MAX 256u
#define APPEND_PAGE 4096u /* the smallest step in which a file grows */

/** Write all of @data at @offset, with retries. Return: 0 or negative errno. */
int append_bytes(int fd, const void *data, size_t len, uint64_t offset) MUST_CHECK;

/** Write the first @bytes of the file @from to the beginning of the file @to. Return: 0 or negative
 *  errno. */
int append_file(int from, int to, uint64_t bytes) MUST_CHECK;

/**
 * append_packet() - append at @offset, the end of the file.
 * Return: 0, or negative errno: then the file ends at @offset again or, if truncation
 * failed, has an empty or incomplete packet there.
 */
int append_packet(int fd, uint64_t offset, const struct append_packet *packet) MUST_CHECK;

/**
 * append_begin() - append an empty packet of the final size, if the body will be written in chunks,
 * by append_bytes() after the header. append_finish() completes it. packet->body must be NULL.
 */
int append_begin(int fd, uint64_t offset, const struct append_packet *packet) MUST_CHECK;
int append_finish(int fd, uint64_t offset, const struct append_packet *packet) MUST_CHECK;

#endif
