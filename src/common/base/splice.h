/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * splice.h - moves bytes of a ring's file to another file or to a socket, through a pipe and
 * without a copy in user space. Owned by the thread that writes.
 *
 * A file has its own copy of the bytes when the call returns. A socket does not: it refers to the
 * pages of the ring until the peer has read them, even after TCP's acknowledgement. Therefore the
 * bytes must not change until the peer itself has acknowledged them, and a connection that fails
 * before is aborted.
 */
#ifndef BASE_SPLICE_H
#define BASE_SPLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "macros.h"

/** struct splicer - a pipe, empty between two calls. @pipe: -1: not made yet. @warned: a failure
 *  was logged. */
struct splicer {
	int pipe[2];
	bool warned;
};

#define SPLICER_NONE ((struct splicer){ .pipe = { -1, -1 } })

/**
 * struct splice_source - a ring whose data area is in a file.
 * @splicer: the pipe to be used, which several sources share.
 * @mapped: a mapping of the data area, twice in a row.
 * @base, @size: position of the data area in @fd, and its size, a power of two.
 */
struct splice_source {
	struct splicer *splicer;
	const uint8_t *mapped;
	int fd;
	uint64_t base, size;
};

/** Close the pipe. */
void splicer_fini(struct splicer *splicer);

/** Wait until the socket has room. Return: 0 or negative errno. */
typedef int (*splice_wait)(void *data);

/**
 * splice_move() - move @len bytes from @at, which is in source->mapped.
 * @offset: position in the file @out; NULL: @out is a socket.
 * @more: for sockets: more bytes follow at once.
 * @wait, @data: for non-blocking sockets; may be NULL for files.
 * @ret_moved: bytes that @out has, also after an error.
 * Return: 0 or negative errno: the rest is not in @out, nor in the pipe, which is made anew.
 */
int splice_move(const struct splice_source *source, const void *at, uint64_t len, int out,
		const uint64_t *offset, bool more, splice_wait wait, void *data,
		uint64_t *ret_moved) MUST_CHECK;

/** Log, once for each pipe, that @error of splice_move() has the bytes written or sent from the
 *  mapping. */
void splice_warn(const struct splice_source *source, int error);

#endif
