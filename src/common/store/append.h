/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * append.h - append a packet to a file so that a concurrent reader
 * finds whole packets. Runs in the thread that writes the file.
 *
 * A file grows page by page while write() copies, and readers (babeltrace2 among
 * them) reject a trace whose last packet is cut off; a torn metadata file even
 * makes them loop. So a packet that crosses a page goes in as an empty one
 * first: header that says "nothing but padding" and last byte, then the body, and
 * then the one field that says how much of it is content.
 *
 * Which of header and last byte comes first depends on the readers. Those of stream files read
 * the size once, when they open the file, and look for packets up to there, some system calls
 * later: the size is right from the beginning, and the header follows at once. Those of metadata
 * read until the file ends: they find an empty header and then the end, or nothing, if the
 * header is in one page. A crash leaves an empty packet with padding, which every reader skips and
 * which no whole packet of ours looks like, or, between the first two writes,
 * room without a header, which this project's readers recognise (tests/e2e/readable-steps.test),
 * and which the next writer truncates.
 */
#ifndef STORE_APPEND_H
#define STORE_APPEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct append_packet {
	const void *head; /* as it is when the packet is complete */
	size_t head_bytes;
	const void *body;
	size_t body_bytes;
	size_t content_at;    /* where the head holds the content size (in bits) */
	size_t content_bytes; /* its width: 4 or 8 */
	bool head_first;      /* for readers that don't use the file's size */
};

#define APPEND_HEAD_MAX 256u
#define APPEND_PAGE 4096u /* the smallest step in which a file grows */

/** Write all of @data at @offset, whatever it takes. Return: 0 or negative errno. */
int append_bytes(int fd, const void *data, size_t len, uint64_t offset) MUST_CHECK;

/**
 * append_packet() - append at @offset, the end of the file.
 * Return: 0, or negative errno: then the file ends at @offset again, or, where
 * not even that was possible, holds an empty packet or a torn one behind it.
 */
int append_packet(int fd, uint64_t offset, const struct append_packet *packet) MUST_CHECK;

/**
 * append_begin() - where the body comes in chunks (append_bytes() behind the head): an empty
 * packet of the right size. append_finish() completes it. packet->body is not used.
 */
int append_begin(int fd, uint64_t offset, const struct append_packet *packet) MUST_CHECK;
int append_finish(int fd, uint64_t offset, const struct append_packet *packet) MUST_CHECK;

#endif
