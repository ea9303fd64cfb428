/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chunk.h - a piece of a trace: a directory, or memory, with traces of one domain, their metadata
 * and lists. It has one writer. While it is open, traces and packets (chunk_stream.h) are added.
 * Closed, it is whole, readable alone, and has its final name; then it may be handed on. A writer
 * that was killed at any moment is replaced by one that continues its chunks.
 *
 * Owned and used by the worker of its output, as the output's user. Paths are opened one component
 * at a time: symbolic links are not followed, and existing files are not replaced.
 */
#ifndef STORE_CHUNK_H
#define STORE_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/idmap.h"
#include "base/list.h"
#include "store/disk.h"
#include "trace/metapacket.h"

enum chunk_state {
	CHUNK_OPEN,
	CHUNK_CLOSED,
};

/** Where a chunk gets a directory of its own. */
struct chunk_place {
	int dir_fd;	    /* owned by the caller */
	const char *hidden; /* name until it is whole */
	const char *name;
};

struct chunk {
	enum chunk_state state;
	struct chunk_place place; /* its strings are owned; name NULL: @fd is the caller's */
	int fd;			  /* -1: nothing is written, or it is in memory */
	bool in_memory;
	struct list_node traces; /* struct chunk_trace */
	struct disk *disk;	 /* owned by the worker */
	int archive_fd;		 /* of a turn that is not finished (chunk_turn.h); -1: none is */
};

/** One CTF trace of a chunk. */
struct chunk_trace {
	struct list_node node;
	struct idmap_node id_node, path_node; /* for maps of the chunk's owner */
	const struct chunk *chunk;
	uint64_t id;
	uint8_t uuid[16];
	char *path;		       /* relative to the chunk's directory; for messages */
	int fd, index_fd, metadata_fd; /* -1: it has no directory, or it is not used */
	uint64_t metadata_bytes;
	uint64_t sent_bytes;	 /* bytes of the metadata that the relay has */
	uint64_t reserved_bytes; /* bytes reserved on disk for the metadata file; 0: none */
	int kallsyms;		 /* content of that file; -1: it has none */
	/* Of a turn (chunk_turn.h): the files with which the trace will go on, and, of one that is
	 * continued, those that were moved; -1: none. */
	struct chunk_trace_files {
		int fd, index_fd, metadata_fd;
	} next, moved;
	struct disk *disk;	 /* owned by the worker */
	bool ctf_2;		 /* the form of its metadata, once there is some */
};

/* --- chunks ---------------------------------------------------------------------- */

/** Open a chunk in the directory @fd, which the caller owns and which has its name; -1: nothing is
 *  written, events are only counted. @disk: outlives the chunk. */
void chunk_init(struct chunk *chunk, int fd, struct disk *disk);
/** The same in memory: it has metadata only. */
void chunk_init_in_memory(struct chunk *chunk, struct disk *disk);
/** Open a chunk in a new directory; a hidden one that was left behind is removed. Return: 0 or
 *  negative errno. */
int chunk_open(struct chunk *chunk, const struct chunk_place *place, struct disk *disk) MUST_CHECK;
/** Write a chunk in memory, with its traces, to a new directory, as which it is open from then on.
 *  Return: 0 or negative errno. */
int chunk_store(struct chunk *chunk, const struct chunk_place *place) MUST_CHECK;
/** Continue the chunk that a killed writer opened there; its traces are continued by
 *  chunk_trace_continue(), if chunk->state is CHUNK_OPEN. Return: 0; -ENOENT: there is none; or
 *  another negative errno. */
int chunk_continue(struct chunk *chunk, const struct chunk_place *place,
		   struct disk *disk) MUST_CHECK;
/** Close the chunk, which has all of its data: mark it as whole, and give it its name. Its files
 *  are closed; streams must be closed before. Return: 0 or negative errno: it is open. */
int chunk_close(struct chunk *chunk) MUST_CHECK;
/**
 * chunk_hand_on() - move a closed chunk to another directory of the same file system. In the
 * directory of others (chunk_init()), the directories of its traces are moved; it may be open.
 * Return: 0 or negative errno; -EEXIST: something has the name. After an error, traces that were
 * moved are back, if possible; the same call may be repeated, and finishes it.
 */
int chunk_hand_on(const struct chunk *chunk, const struct chunk_place *to) MUST_CHECK;
/** Finish chunk_hand_on() of a killed writer, for a chunk in the directory @fd of others.
 *  Return: 0; -ENOENT: nothing was moved, or it is back; or another negative errno. */
int chunk_hand_on_again(int fd, const struct chunk_place *to) MUST_CHECK;
/** Remove the hidden directory of a chunk that will not be closed, with all that is in it. */
void chunk_discard(const struct chunk_place *place);
/** Free the chunk's memory, and its traces. Its files stay. */
void chunk_fini(struct chunk *chunk);

/* --- traces ---------------------------------------------------------------------- */

#define CHUNK_MAX_DEPTH 8u /* components of a trace's path, below the output's directory */

/** Return: the chunk's trace with this id, or NULL. */
struct chunk_trace *chunk_find(const struct chunk *chunk, uint64_t id);

/** Check that @path is relative, has at most CHUNK_MAX_DEPTH components, and that these are
 *  valid names, not "." or "..". */
int chunk_check_path(const char *path, struct err *err);

/** Arguments of chunk_trace_open() and chunk_trace_continue(). */
struct chunk_trace_spec {
	uint64_t id;
	const char *path; /* checked by chunk_check_path() */
	const uint8_t *uuid;
	/* Of a trace that is continued. */
	uint64_t metadata_bytes; /* its acknowledged metadata; the rest is truncated */
	bool may_be_shorter;	 /* the file's size becomes the trace's metadata_bytes then */
	int metadata_fd;	 /* of one in memory; taken over; -1: none */
};

/** Add a trace: make the missing directories and an empty metadata file. Return: the code. */
int chunk_trace_open(struct chunk *chunk, const struct chunk_trace_spec *spec,
		     struct chunk_trace **ret, struct err *err);
/** Add a trace that a killed writer has left. Return: the code. */
int chunk_trace_continue(struct chunk *chunk, const struct chunk_trace_spec *spec,
			 struct chunk_trace **ret, struct err *err);
/** Truncate the metadata to @metadata_bytes: the rest was never acknowledged. @may_be_shorter: as
 *  in struct chunk_trace_spec. Return: 0 or negative errno. */
int chunk_trace_cut(struct chunk_trace *trace, uint64_t metadata_bytes,
		    bool may_be_shorter) MUST_CHECK;
/** Release the space that was reserved for metadata, as it is complete. */
void chunk_trace_release(struct chunk_trace *trace);
void chunk_trace_files_close(struct chunk_trace_files *files);
struct chunk_trace *chunk_trace_free(struct chunk_trace *trace);
/** Sum of the sizes of the trace's files. */
uint64_t chunk_trace_measure(const struct chunk_trace *trace);

/** Add the trace to the chunk's list of traces. A failure is ignored: readers do not miss a trace
 *  that the list does not have. */
void chunk_trace_note(const struct chunk_trace *trace);
/** The trace has ended, and belongs to no writer: the next turn in its directory moves it. */
void chunk_trace_end(const struct chunk_trace *trace);
/** Write the file with the functions of the kernel (trace/kallsyms.h), whose content @fd has, in
 *  place of an earlier one. In memory, it is kept for copies of the trace. Return: 0 or negative
 *  errno. */
int chunk_trace_set_kallsyms(struct chunk_trace *trace, int fd) MUST_CHECK;
/** Give another directory of the trace the same file, as a link where that is possible. A failure
 *  is ignored: readers show addresses without names. */
void chunk_trace_link_kallsyms(const struct chunk_trace *trace, int from_fd, int to_fd);
/** Append TSDL text as one packet. Return: 0, or negative errno: nothing was appended. */
int chunk_append(struct chunk_trace *trace, const void *text, uint32_t len) MUST_CHECK;
/** Read the beginning of the metadata packet at offset @at. Return: whether there is one. */
bool chunk_read_metapacket(int fd, uint64_t at, struct metapacket *ret) MUST_CHECK;
/**
 * chunk_trace_text() - the text of the metadata packet at offset @at. Appended to another file at
 * the same offset, it produces the same bytes.
 * @ret: allocated.
 * Return: 0 or negative errno.
 */
int chunk_trace_text(const struct chunk_trace *trace, uint64_t at, char **ret,
		     uint32_t *ret_len) MUST_CHECK;

/** Add a trace at @path with the metadata of @from and a UUID of its own: it is not a part of the
 *  same trace. @mix: not NULL: 16 bytes; the UUID follows from them and that of @from; NULL: it is
 *  random. Return: the code. */
int chunk_copy_trace(struct chunk *chunk, const struct chunk_trace *from, const char *path,
		     const uint8_t *mix, struct chunk_trace **ret, struct err *err);
/** Whether a trace at @path is beside those of its session (BESIDE_PREFIX, BESIDE_SNAPSHOTS): no
 *  turn moves it. */
bool chunk_is_beside(const char *path);
/** The chunk's trace at @path; NULL: none. */
struct chunk_trace *chunk_find_path(const struct chunk *chunk, const char *path);

/** Remove the trace's metadata file, lists and directories, if no other files are in them. */
void chunk_trace_remove(struct chunk_trace *trace);

/** Open an existing regular file, not a symbolic link; chunk_read_file(): only to read it.
 *  Return: descriptor or negative errno. */
int chunk_open_file(int dir_fd, const char *name) MUST_CHECK;
int chunk_read_file(int dir_fd, const char *name) MUST_CHECK;
/** Open a directory, not a symbolic link; chunk_make_dir(): it is created if it is missing;
 *  chunk_make_path(): so are its parents, which are synced if @sync. Return: descriptor or negative
 *  errno. */
int chunk_open_dir(int dir_fd, const char *name) MUST_CHECK;
int chunk_make_dir(int dir_fd, const char *name) MUST_CHECK;
int chunk_make_path(int dir_fd, const char *path, bool sync) MUST_CHECK;
/** Open a directory on a path without symbolic links. Return: descriptor or negative errno. */
int chunk_open_path(int dir_fd, const char *path) MUST_CHECK;
/** Whether something has that name. */
bool chunk_has(int dir_fd, const char *name);
/** Sum of the sizes of the files of a directory. */
uint64_t chunk_dir_bytes(int dir_fd);
/** Read a whole list (.traces). @ret: allocated. Return: 0 or negative errno. */
int chunk_read_list(int dir_fd, char **ret) MUST_CHECK;
/** The next path, or entry that begins with '/', of a list that is changed; NULL: there is none. */
char *chunk_next_listed(char **rest);
/** Reserve space for metadata, so that it can be written when the disk is full. */
void chunk_trace_reserve(struct chunk_trace *trace);

/** Close the trace's files, which were moved, and open those that are at its path now, with the
 *  same metadata. Return: 0 or negative errno. */
int chunk_trace_reopen(struct chunk_trace *trace) MUST_CHECK;

/** Whether the trace's directory was removed, so that new data cannot be found. */
bool chunk_trace_is_gone(const struct chunk_trace *trace);

/** Make a file in a directory of the trace. Return: descriptor or negative errno. */
int chunk_create_file(int dir_fd, const char *name) MUST_CHECK;

#endif
