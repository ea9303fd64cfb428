/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turn.c - the steps of a turn, each of which may be the last one before the relay is killed:
 * 1. the new traces are made in `.next`, and a list of them;
 * 2. `.next/turn`, the name of the turn: now it may begin;
 * 3. the old traces move to their directory, see chunk_hand_on();
 * 4. the new traces move in, then the list becomes that of the session;
 * 5. `.next/turn` moves to `.turned`: the turn is not done again.
 */
#include "turn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "relayd/sender/conn.h"
#include "retention.h"
#include "session.h"
#include "store/append.h"
#include "store/chunk_turn.h"
#include "trace/streamlist.h"

#define LIST_FILE "list"
#define TURN_FILE "turn"
#define TURN_FILE_NEW "turn.new"
#define TURNED_FILE ".turned" /* in a session's directory: the last turn */
#define CLEARED ".cleared"
#define TURN_NAME_MAX 255u
#define HIDDEN_NAME_MAX (NAME_MAX_BYTES - 1)
#define COPY_BYTES (64u << 10)
#define FILES_OF_TURN 4u   /* the archive, the directory that it is in, its list, the turn's name */
#define FILES_OF_TRACE 12u /* metadata, index, .streams; and its directories */
#define FILES_OF_STREAM 2u
#define ARCHIVE_DEPTH (CHUNK_MAX_DEPTH + 2) /* with its own directory, and index/ */

/** A turn, as its file has it: a letter and the name. */
struct turn {
	char kind;
	char name[TURN_NAME_MAX + 1];
};

enum { TURN_ROTATE = 'R', TURN_CLEAR = 'C' };

static const struct chunk_place next_place = { -1, RELTURN_NEXT, RELTURN_NEXT };

/* --- its name ------------------------------------------------------------------------------ */

static int turn_check(const struct req_rel_turn *req, struct err *err)
{
	const char *name = req->name + strlen(RELTURN_ARCHIVES "/");

	if (!*req->name || strlen(req->name) > TURN_NAME_MAX)
		return err_set(err, ERR_INVALID, "the name of a turn has 1 to %u bytes",
			       TURN_NAME_MAX);
	if (req->clear)
		return 0;
	if (strncmp(req->name, RELTURN_ARCHIVES "/", strlen(RELTURN_ARCHIVES "/")) != 0)
		return err_set(err, ERR_INVALID, "'%.80s' is not in '" RELTURN_ARCHIVES "'",
			       req->name);
	if (name_check(name))
		return err_set(err, ERR_INVALID, "the name of the archive, '%.80s', %s", name,
			       name_check(name));
	if (strlen(name) > HIDDEN_NAME_MAX)
		return err_set(err, ERR_INVALID, "the name of the archive is too long");
	return 0;
}

static int write_turn(int dir_fd, const struct turn *turn)
{
	AUTO_FD int fd = chunk_create_file(dir_fd, TURN_FILE_NEW);
	int ret = fd < 0 ? fd : append_bytes(fd, turn, 1 + strlen(turn->name), 0);

	if (ret == 0 && renameat(dir_fd, TURN_FILE_NEW, dir_fd, TURN_FILE) < 0)
		ret = -errno;
	return ret;
}

/* Return: 0; -ENOENT: there is none; or another negative errno. */
static int read_turn(int dir_fd, const char *file, struct turn *ret)
{
	AUTO_FD int fd = chunk_read_file(dir_fd, file);
	ssize_t n = fd < 0 ? 0 : pread(fd, ret, sizeof(*ret) - 1, 0);

	if (fd < 0 || n < 0)
		return fd < 0 ? fd : -errno;
	if (n < 2)
		return -ENOENT; /* as after a power failure */
	ret->name[n - 1] = '\0';
	return 0;
}

static bool was_done(int session_fd, const char *name)
{
	struct turn turn;

	return read_turn(session_fd, TURNED_FILE, &turn) == 0 && strcmp(turn.name, name) == 0;
}

/* --- the place of the old traces ----------------------------------------------------------- */

struct archive {
	int fd; /* the directory that it is in */
	char *hidden, *name;
};

static void archive_fini(struct archive *archive)
{
	close_fd(archive->fd);
	free(archive->hidden);
	free(archive->name);
}

/* Return: 0 or negative errno. */
static int archive_open(struct archive *ret, int session_fd, const struct turn *turn)
{
	bool clear = turn->kind == TURN_CLEAR;
	const char *name = strrchr(turn->name, '/');

	ret->fd = clear ? chunk_open_dir(session_fd, ".") :
			  chunk_make_dir(session_fd, RELTURN_ARCHIVES);
	ret->name = xstrdup(clear || !name ? CLEARED : name + 1);
	ret->hidden = clear ? xstrdup(CLEARED "-") : xasprintf(".%s", ret->name);
	return MIN(ret->fd, 0);
}

static struct chunk_place archive_place(const struct archive *archive)
{
	return (struct chunk_place){ archive->fd, archive->hidden, archive->name };
}

static uint64_t archive_bytes(const struct archive *archive, const struct turn *turn)
{
	return turn->kind == TURN_CLEAR ?
		       0 :
		       chunk_tree_bytes(archive->fd, archive->name, ARCHIVE_DEPTH);
}

/* By a turn before the last one; it gets its name when it is complete. */
static bool archive_is_there(const struct archive *archive, const struct turn *turn)
{
	AUTO_FREE char *list = xasprintf("%s/" TRACELIST_FILE, archive->name);

	return turn->kind == TURN_ROTATE &&
	       faccessat(archive->fd, list, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Return: 0, or negative errno: no traces can be moved there. */
static int archive_check(const struct archive *archive, int session_fd)
{
	struct stat from, to;

	if (faccessat(archive->fd, archive->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	if (fstat(session_fd, &from) < 0 || fstat(archive->fd, &to) < 0)
		return -errno;
	return from.st_dev == to.st_dev ? 0 : -EXDEV;
}

/* --- the new traces ------------------------------------------------------------------------ */

static int copy_metadata(const struct chunk_trace *from, struct chunk_trace *to)
{
	AUTO_FREE char *buf = xalloc(COPY_BYTES);
	int ret = 0;

	while (ret == 0 && to->metadata_bytes < from->metadata_bytes) {
		uint64_t left = from->metadata_bytes - to->metadata_bytes;
		ssize_t n = pread(from->metadata_fd, buf, MIN(left, COPY_BYTES),
				  (off_t)to->metadata_bytes);

		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		ret = append_bytes(to->metadata_fd, buf, (size_t)n, to->metadata_bytes);
		to->metadata_bytes += ret == 0 ? (uint64_t)n : 0;
	}
	return ret;
}

static struct chunk_trace_spec spec_of(const struct chunk_trace *trace)
{
	return (struct chunk_trace_spec){
		.id = trace->id,
		.path = trace->path,
		.uuid = trace->uuid,
		.metadata_bytes = trace->metadata_bytes,
	};
}

static int make_trace(struct chunk *next, const struct chunk_trace *trace, struct err *err)
{
	const struct chunk_trace_spec spec = spec_of(trace);
	struct chunk_trace *made;
	int ret;

	if (chunk_trace_open(next, &spec, &made, err))
		return err->code;
	ret = copy_metadata(trace, made);
	if (ret < 0)
		err_errno(err, ERR_OUTPUT, -ret, "can't copy the metadata of %s", trace->path);
	chunk_trace_free(made);
	return err->code;
}

static int make_traces(struct chunk *next, const struct relsession *session, struct err *err)
{
	const struct chunk_trace *trace;

	list_for_each(trace, &session->chunk.traces, node)
		if (!chunk_is_beside(trace->path) && make_trace(next, trace, err))
			return err->code;
	return 0;
}

static int open_stream(const struct relstream *stream, const struct chunk_trace *trace,
		       struct err *err)
{
	struct packet_header opening = packet_opening(&stream->last);
	struct stream_config config = stream->config;
	struct chunk_stream file;
	int ret;

	opening.crc32c = packet_checksum(&opening, NULL, 0);
	config.trace = trace;
	chunk_stream_init(&file, &config, stream->file.cpu);
	ret = chunk_stream_append(&file, &opening, NULL, 0, NULL);
	chunk_stream_close(&file);
	return ret < 0 ? err_errno(err, ERR_OUTPUT, -ret, "can't begin a file of stream %s_%u",
				   config.channel, stream->file.cpu) :
			 0;
}

/* Streams of one trace follow each other, as a rule. */
static int open_streams(struct chunk *next, const struct relsession *session, struct err *err)
{
	const struct chunk_trace *of = NULL;
	struct chunk_trace *trace = NULL;
	const struct relstream *stream;

	list_for_each(stream, &session->streams, node) {
		const struct chunk_trace_spec spec = spec_of(stream->config.trace);

		if (!packet_is_set(&stream->last) || chunk_is_beside(spec.path))
			continue;
		if (of != stream->config.trace) {
			trace = chunk_trace_free(trace);
			if (chunk_trace_continue(next, &spec, &trace, err))
				break;
			of = stream->config.trace;
		}
		if (open_stream(stream, trace, err))
			break;
	}
	chunk_trace_free(trace);
	return err->code;
}

/* As the session's own: of traces that are open. */
static int write_list(const struct chunk *chunk, int dir_fd)
{
	AUTO_FD int fd = chunk_create_file(dir_fd, LIST_FILE);
	const struct chunk_trace *trace;
	int ret = MIN(fd, 0);
	uint64_t at = 0;

	list_for_each(trace, &chunk->traces, node) {
		AUTO_FREE char *entry = xasprintf("\n" TRACELIST_OPEN TRACELIST_END
						  "\n%s" TRACELIST_END,
						  trace->path);

		if (chunk_is_beside(trace->path))
			continue;
		ret = ret ? ret : append_bytes(fd, entry, strlen(entry), at);
		at += strlen(entry);
	}
	return ret;
}

/* Where there is no archive, readers miss none. */
static int list_cleared(int session_fd, const struct turn *turn,
			int (*list)(int dir_fd, const char *name))
{
	AUTO_FD int fd = chunk_open_dir(session_fd, RELTURN_ARCHIVES);
	const char *slash = strrchr(turn->name, '/');

	return turn->kind == TURN_CLEAR && slash && fd >= 0 ? list(fd, slash + 1) : 0;
}

static int note_with_sync(int dir_fd, const char *name)
{
	return chunk_turn_note_cleared(dir_fd, name, true);
}

/* Step 1 and 2. */
static int prepare(const struct relsession *session, const struct turn *turn, struct err *err)
{
	struct chunk_place place = next_place;
	struct chunk next;
	int ret;

	place.dir_fd = session->fd;
	ret = chunk_open(&next, &place, session->chunk.disk);
	if (ret < 0)
		return err_errno(err, ERR_OUTPUT, -ret, "can't begin the next chunk of %s",
				 session->path);
	if (!make_traces(&next, session, err) && !open_streams(&next, session, err)) {
		ret = list_cleared(session->fd, turn, chunk_turn_reserve_cleared);
		if (ret == 0)
			ret = write_list(&session->chunk, next.fd);
		if (ret == 0)
			ret = write_turn(next.fd, turn);
		if (ret == 0 && session->conn->sync_us != SYNCER_NONE && syncfs(next.fd) < 0)
			ret = -errno;
		if (ret < 0)
			err_errno(err, ERR_OUTPUT, -ret, "can't write the next chunk of %s",
				  session->path);
	}
	chunk_fini(&next);
	if (err->code)
		chunk_discard(&place);
	return err->code;
}

/* --- the old traces ------------------------------------------------------------------------ */

/* @all: of which nothing is written: a list. */
static void find_traces(struct chunk *all, int at_fd, const char *name, const char *path,
			unsigned int depth)
{
	const struct chunk_trace_spec spec = { .path = path, .uuid = (const uint8_t[16]){ 0 } };
	AUTO_DIR DIR *dir = dir_open(at_fd, name);
	struct err ignored = { 0 };
	struct chunk_trace *trace;
	struct dirent *entry;

	if (dir && *path && faccessat(dirfd(dir), "metadata", F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !chunk_check_path(path, &ignored))
		(void)!chunk_trace_open(all, &spec, &trace, &ignored);
	while (depth < CHUNK_MAX_DEPTH && (entry = dir_next(dir))) {
		AUTO_FREE char *below = NULL;

		if (entry->d_name[0] == '.' || strcmp(entry->d_name, "index") == 0 ||
		    (!*path && strcmp(entry->d_name, RELTURN_ARCHIVES) == 0) ||
		    (!*path && chunk_is_beside(entry->d_name)) ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		below = xasprintf("%s%s%s", path, *path ? "/" : "", entry->d_name);
		find_traces(all, dirfd(dir), entry->d_name, below, depth + 1);
	}
}

/* Step 3, also of traces that have ended. */
static int move_old(const struct relsession *session, const struct archive *archive)
{
	const struct chunk_place place = archive_place(archive);
	struct chunk all;
	int ret;

	chunk_init(&all, -1, session->chunk.disk);
	find_traces(&all, session->fd, ".", "", 0);
	all.fd = session->fd;
	all.state = CHUNK_CLOSED;
	ret = chunk_hand_on(&all, &place);
	chunk_fini(&all);
	return ret;
}

/* Return: 0; -ENOENT: nothing was moved, and nothing of the attempt is left; or another negative
 * errno. */
static int move_old_again(int session_fd, const struct turn *turn)
{
	struct archive archive CLEANUP(archive_fini) = { .fd = -1 };
	struct chunk_place place;
	int ret = archive_open(&archive, session_fd, turn);

	if (ret < 0)
		return ret == -ENOENT ? -EIO : ret;
	place = archive_place(&archive);
	ret = chunk_hand_on_again(session_fd, &place);
	if (ret == -ENOENT)
		chunk_discard(&place);
	return ret;
}

/* Unless it was moved before. The directories on the path are made. */
static int move_in(int from_fd, int to_fd, const char *path)
{
	AUTO_FREE char *copy = xstrdup(path);
	char *rest = copy, *name;
	AUTO_FD int at = -1;

	while ((name = strsep(&rest, "/")) && rest) {
		int below = chunk_make_dir(at < 0 ? to_fd : at, name);

		close_fd(at);
		at = below;
		if (at < 0)
			return at;
	}
	return renameat(from_fd, path, at < 0 ? to_fd : at, name) == 0 || errno == ENOENT ? 0 :
											   -errno;
}

/* Step 4. */
static int take_in(int next_fd, int session_fd)
{
	AUTO_FD int fd = chunk_read_file(next_fd, LIST_FILE);
	uint64_t bytes = fd < 0 ? 0 : fd_bytes(fd);
	AUTO_FREE char *list = xalloc(bytes + 1);
	struct err ignored = { 0 };
	char *rest = list, *entry;
	int ret = 0;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (pread(fd, list, bytes, 0) != (ssize_t)bytes)
		return -EIO;
	while (ret == 0 && (entry = strsep(&rest, "\n"))) {
		char *end = strstr(entry, TRACELIST_END);

		if (*entry == '/' || !end)
			continue;
		*end = '\0';
		ret = chunk_check_path(entry, &ignored) ? -EINVAL :
							  move_in(next_fd, session_fd, entry);
	}
	if (ret == 0 && renameat(next_fd, LIST_FILE, session_fd, TRACELIST_FILE) < 0)
		ret = -errno;
	return ret;
}

static void note_cleared(int session_fd, const struct turn *turn)
{
	int ret = list_cleared(session_fd, turn, note_with_sync);

	if (ret < 0)
		log_warn("%s: can't be noted as cleared, and will count as missing: %s", turn->name,
			 strerror(-ret));
}

/* The rest of steps 3 to 5. Return: as relturn_finish(). */
static int finish(int session_fd, int next_fd)
{
	struct turn turn;
	int ret = read_turn(next_fd, TURN_FILE, &turn);

	if (ret < 0)
		return ret == -ENOENT ? 0 : ret;
	ret = move_old_again(session_fd, &turn);
	if (ret == -ENOENT)
		return unlinkat(next_fd, TURN_FILE, 0) < 0 ? -errno : 0;
	if (ret == 0)
		ret = take_in(next_fd, session_fd);
	if (ret == 0)
		note_cleared(session_fd, &turn);
	if (ret == 0 && renameat(next_fd, TURN_FILE, session_fd, TURNED_FILE) < 0)
		ret = -errno;
	return ret < 0 ? ret : 1;
}

int relturn_finish(struct relay *relay, int fd)
{
	AUTO_FD int next_fd = chunk_open_dir(fd, RELTURN_NEXT);
	int ret;

	if (next_fd < 0)
		return next_fd == -ENOENT ? 0 : next_fd;
	ret = finish(fd, next_fd);
	if (ret < 0)
		return ret;
	if (faccessat(fd, CLEARED, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		retention_erase(relay, fd, CLEARED);
	dir_remove(fd, RELTURN_NEXT);
	return ret;
}

/* --- the session --------------------------------------------------------------------------- */

static void close_streams(struct relsession *session)
{
	struct relstream *stream;

	list_for_each(stream, &session->streams, node)
		relstream_leave(stream);
}

/* At its paths, the traces are those of the next chunk, or the old ones. */
static int reopen(struct relsession *session)
{
	struct chunk_trace *trace;
	struct relstream *stream;
	int ret = 0;

	list_for_each(trace, &session->chunk.traces, node) {
		relconn_keep(session->conn, trace, -1); /* where it moved to */
		ret = ret ? ret : chunk_trace_reopen(trace);
		if (ret == 0)
			relconn_keep(session->conn, trace, trace->metadata_fd);
	}
	list_for_each(stream, &session->streams, node) {
		ret = ret ? ret : relstream_resume(stream);
		if (ret == 0)
			relstream_show(stream, session->live);
		if (ret == 0 && packet_is_set(&stream->last))
			relconn_keep_stream(session->conn, stream);
	}
	return ret;
}

static int turn_charge(const struct relsession *session, uint64_t *ret_bytes, struct err *err)
{
	struct relpeer *peer = session->conn->peer;
	const struct chunk_trace *trace;
	const struct relstream *stream;
	unsigned int files = FILES_OF_TURN;

	*ret_bytes = 0;
	list_for_each(trace, &session->chunk.traces, node) {
		files += FILES_OF_TRACE;
		*ret_bytes += trace->metadata_bytes;
	}
	list_for_each(stream, &session->streams, node) {
		files += FILES_OF_STREAM;
		*ret_bytes += sizeof(struct packet_header);
	}
	if (relpeer_reserve(peer, *ret_bytes, err))
		return err->code;
	if (relpeer_make(peer, files, err))
		relpeer_unreserve(peer, *ret_bytes);
	return err->code;
}

/* Steps 3 to 5. Return: 0 or the code in @err. */
static int turn_over(struct relsession *session, const struct archive *archive, bool *ret_broken,
		     struct err *err)
{
	int ret, done, error;

	close_streams(session);
	ret = move_old(session, archive);
	done = relturn_finish(session->relay, session->fd);
	error = done < 0 ? done : reopen(session);
	*ret_broken = error < 0;
	if (error == 0 && done > 0)
		return 0;
	return err_errno(err, ERR_OUTPUT, error < 0 ? -error : -ret,
			 "can't move the traces of %s", session->path);
}

int relturn(struct relsession *session, const struct req_rel_turn *req, struct rep_rel_turn *ret,
	    bool *ret_broken, struct err *err)
{
	struct archive archive CLEANUP(archive_fini) = { .fd = -1 };
	struct turn turn = { .kind = req->clear ? TURN_CLEAR : TURN_ROTATE };
	uint64_t bytes;
	int result;

	*ret = (struct rep_rel_turn){ 0 };
	*ret_broken = false;
	if (turn_check(req, err))
		return err->code;
	if (relsession_is_snapshot(session))
		return err_set(err, ERR_STATE, "a snapshot has no turns");
	memcpy(turn.name, req->name, strlen(req->name));
	result = archive_open(&archive, session->fd, &turn);
	if (result == 0 &&
	    (was_done(session->fd, req->name) || archive_is_there(&archive, &turn))) {
		ret->bytes = archive_bytes(&archive, &turn);
		return 0;
	}
	if (result == 0)
		result = archive_check(&archive, session->fd);
	if (result < 0)
		return err_errno(err, ERR_OUTPUT, -result, "can't move the traces of %s to %s",
				 session->path, req->clear ? CLEARED : req->name);
	if (turn_charge(session, &bytes, err))
		return err->code;
	if (prepare(session, &turn, err) || turn_over(session, &archive, ret_broken, err)) {
		relpeer_unreserve(session->conn->peer, bytes);
		return err->code;
	}
	relpeer_commit(session->conn->peer, bytes);
	ret->made = true;
	ret->bytes = archive_bytes(&archive, &turn);
	log_info("%s: %s", session->path, req->clear ? "cleared" : req->name);
	return 0;
}
