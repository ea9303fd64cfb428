/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chunk_turn.h - the turn of a chunk that is in the directory of others: its traces move to an
 * archive, a directory below, and the chunk goes on in new directories at the old paths, with
 * the same metadata. First the traces are moved: a successor finishes that, or finds that nothing
 * was moved. Open files move with their directories: until the new directories are complete, the
 * chunk goes on in the archive. Runs in the thread of the chunk's writer.
 */
#ifndef STORE_CHUNK_TURN_H
#define STORE_CHUNK_TURN_H

#include "store/chunk.h"

/**
 * chunk_turn_move() - move the traces to the archive @path, whose parents are made.
 * @owner: distinguishes the chunks of one directory, which may have one archive.
 * Return: 0: chunk->archive_fd is set; or negative errno; -EEXIST: something has the name. After an
 * error, the same call may finish it.
 */
int chunk_turn_move(struct chunk *chunk, const char *path, uint64_t owner) MUST_CHECK;
/** Finish chunk_turn_move() of a killed writer, before the chunk's traces are continued. Return: 0;
 *  -ENOENT: nothing was moved; or another negative errno. */
int chunk_turn_resume(struct chunk *chunk, const char *path, uint64_t owner) MUST_CHECK;
/** After chunk_turn_move() failed: an entry on the way to archive @path that can't be used. @ret:
 *  its path in the output, "." for that itself. Return: a phrase about it, with the remedy; NULL:
 *  there is none, and @ret is not set. */
const char *chunk_turn_obstacle(const struct chunk *chunk, const char *path, uint64_t owner,
				char **ret) MUST_CHECK;
/** The trace of a chunk with an archive is continued: if it was moved and has no metadata yet, copy
 *  that; find its files in the archive. Return: 0 or negative errno. */
int chunk_turn_continue(struct chunk_trace *trace) MUST_CHECK;
/** Make new directories, with the metadata, for the traces that were moved: trace->next. Return: 0
 *  or negative errno: the traces are as they were. */
int chunk_turn_renew(struct chunk *chunk) MUST_CHECK;
/** The traces use the new directories. */
void chunk_turn_switch(struct chunk *chunk);
/** Bytes of the files that were moved to the archive. */
uint64_t chunk_turn_bytes(const struct chunk *chunk, uint64_t owner);
/** Hide the archive @path, which will be removed by chunk_turn_remove(). Return: 0 or negative
 *  errno. */
int chunk_turn_hide(const struct chunk *chunk, const char *path, uint64_t owner) MUST_CHECK;
/** Note in @dir_fd, of archives, the number in the name of one that a clear removes: readers don't
 *  miss it. Once is enough; other names are ignored. Return: 0 or negative errno. */
int chunk_turn_note_cleared(int dir_fd, const char *name, bool sync) MUST_CHECK;
/** Make room for that on the disk. Return: 0 or negative errno. */
int chunk_turn_reserve_cleared(int dir_fd, const char *name) MUST_CHECK;
/** Remove the archives in the directory of archive @path that @owner has hidden, and note it where
 *  the disk had no room before; any thread. */
void chunk_turn_remove(int fd, const char *path, uint64_t owner);
/** All streams go on in the new directories. */
void chunk_turn_end(struct chunk *chunk);
/** Bytes of the files in directory @name, and below. */
uint64_t chunk_tree_bytes(int dir_fd, const char *name, unsigned int depth);

#endif
