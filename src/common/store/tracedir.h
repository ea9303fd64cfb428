/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracedir.h - one CTF trace on disk: its directory, index/ and the metadata
 * file. Owned and used by the worker of its output, as the output's user. Paths
 * are opened one component at a time, relative to the output's descriptor: symbolic
 * links are not followed, and existing files are not replaced.
 */
#ifndef STORE_TRACEDIR_H
#define STORE_TRACEDIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "store/disk.h"

struct tracedir {
	struct list_node node;
	uint64_t id;
	uint8_t uuid[16];
	char *path;		       /* relative to the output; for messages */
	int fd, index_fd, metadata_fd; /* -1: the output has no directory, or it is not used */
	int output_fd;		       /* of the output's directory; owned by the output */
	uint64_t metadata_bytes;
	uint64_t sent_bytes;	 /* bytes of the metadata that the relay has */
	uint64_t reserved_bytes; /* bytes reserved on disk for the metadata file; 0: none */
	struct disk *disk;	 /* owned by the worker */
};

#define TRACEDIR_MAX_DEPTH 8u /* components of a trace's path, below the output's directory */

/** Check that @path is relative, has at most TRACEDIR_MAX_DEPTH components, and that these are
 *  valid names, not "." or "..". */
int tracedir_check_path(const char *path, struct err *err);

/**
 * tracedir_new() - create the missing directories and an empty metadata file.
 * @disk: outlives the trace.
 * @output_fd: the output's directory, which outlives the trace; -1: none, events are only counted.
 * @path: checked by tracedir_check_path().
 */
int tracedir_new(uint64_t id, int output_fd, const char *path, const uint8_t uuid[16],
		 struct disk *disk, struct tracedir **ret, struct err *err);
/**
 * tracedir_new_in_memory() - a trace whose metadata is kept in memory: it has no directory, as
 * snapshots are written to directories of their own.
 * @metadata_fd: memory of such a trace that an earlier process had, of which @metadata_bytes were
 *               acknowledged; taken over; -1: make it.
 */
int tracedir_new_in_memory(uint64_t id, const char *path, const uint8_t uuid[16], int metadata_fd,
			   uint64_t metadata_bytes, struct disk *disk, struct tracedir **ret,
			   struct err *err);
/**
 * tracedir_adopt() - continue an existing trace.
 * @metadata_bytes: the acknowledged bytes of its metadata; the rest is truncated.
 */
int tracedir_adopt(uint64_t id, int output_fd, const char *path, const uint8_t uuid[16],
		   uint64_t metadata_bytes, struct disk *disk, struct tracedir **ret,
		   struct err *err);
/** Truncate the metadata to @metadata_bytes: the rest was never acknowledged. Return: 0 or negative
 *  errno. */
int tracedir_cut(struct tracedir *dir, uint64_t metadata_bytes) MUST_CHECK;
/** tracedir_adopt() and tracedir_cut() for a file that may be shorter than @metadata_bytes: the
 *  trace's metadata_bytes is then the file's size. */
int tracedir_adopt_shorter(uint64_t id, int output_fd, const char *path, const uint8_t uuid[16],
			   uint64_t metadata_bytes, struct disk *disk, struct tracedir **ret,
			   struct err *err);
int tracedir_cut_shorter(struct tracedir *dir, uint64_t metadata_bytes) MUST_CHECK;
/** Release the space that was reserved for metadata, as it is complete. */
void tracedir_release(struct tracedir *dir);
struct tracedir *tracedir_free(struct tracedir *dir);
/** Sum of the sizes of the trace's files. */
uint64_t tracedir_measure(const struct tracedir *dir);

/** Add the trace to the output's list of traces. A failure is ignored: readers do not miss a trace
 *  that the list does not have. */
void tracedir_note(const struct tracedir *dir);
/** Note in the output's list, if it has one, that all of its traces were written to their end. */
void tracedir_note_end(int output_fd, struct disk *disk);

/** Append TSDL text as one packet. Return: 0, or negative errno: nothing was appended. */
int tracedir_append(struct tracedir *dir, const void *text, uint32_t len) MUST_CHECK;
/**
 * tracedir_text() - the text of the metadata packet at offset @at. Appended to another file at the
 * same offset, it produces the same bytes.
 * @ret: allocated.
 * Return: 0 or negative errno.
 */
int tracedir_text(const struct tracedir *dir, uint64_t at, char **ret,
		  uint32_t *ret_len) MUST_CHECK;

/** Append the metadata of @from to that of @to, a new trace, with the UUID of @to. Return: 0 or
 *  negative errno. */
int tracedir_copy_metadata(const struct tracedir *from, struct tracedir *to) MUST_CHECK;

/** Remove the trace's metadata file, lists and directories, if no other files are in them. */
void tracedir_remove(struct tracedir *dir, int output_fd);

/** Open an existing regular file, not a symbolic link. Return: descriptor or negative errno. */
int tracedir_open_file(int dir_fd, const char *name) MUST_CHECK;

/** Whether the trace's directory was removed, so that new data cannot be found. */
bool tracedir_is_gone(const struct tracedir *dir);

/** Make a file in a directory of the trace. Return: descriptor or negative errno. */
int tracedir_create_file(int dir_fd, const char *name) MUST_CHECK;

#endif
