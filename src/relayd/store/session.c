/* SPDX-License-Identifier: GPL-2.0-only */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/tcp_owner.h"
#include "relayd/sender/conn.h"
#include "repair.h"
#include "retention.h"
#include "store/append.h"
#include "turn.h"
#include "usage.h"

#define FILES_OF_SESSION 5u /* itself, the directory that it is in, .session, .traces, clocks */
#define FILES_OF_TRACE 3u   /* metadata, index, .streams; and its directories */
#define FILES_OF_STREAM 2u  /* each of those that follow each other, and its index */
#define MAX_NAMESAKES 99u   /* sessions of one name, made in one second */
#define ID_FILE ".session"  /* in a session's directory: its owner */
#define ENDED_MARK "E"
#define SNAPSHOT_HIDDEN ".snapshot" /* the directory of a snapshot, until it is whole */
#define CLOCKS_FILE \
	"clocks" /* lines: when, how far our clock is ahead of the sender's, error; ns */
#define CLOCKS_MAX_BYTES (64 << 10)

/* --- its directory ------------------------------------------------------------------ */

/* NAME-STAMP, or NAME where it ends so already, as generated names do. */
static char *with_stamp(const char *name, const char *stamp)
{
	size_t len = strlen(name), tail = strlen(stamp);

	if (len > tail && strcmp(name + len - tail, stamp) == 0)
		return xstrdup(name);
	return xasprintf("%s-%s", name, stamp);
}

/* So that no host's directory SESSION/HOST-TIME can be mistaken for that of a host with a longer
 * name. */
static bool is_stamp(const char *text)
{
	const char *rest = usage_skip_stamp(text);

	return rest && !*rest;
}

/* Whether the connection is local and not encrypted: then the kernel knows its owner. */
static bool is_from_here(const struct relconn *conn)
{
	struct tcp_addr own = { .len = sizeof(own.sa) };

	return !chan_peer(&conn->chan) &&
	       getsockname(conn->source.fd, (struct sockaddr *)&own.sa, &own.len) == 0 &&
	       tcp_is_local(&own);
}

/* Root and the relay's own user send for the host that they name. The sessions of each other user
 * are below names that end with the uid from the kernel: no other user's name ends so.
 * @ret_name: the name, allocated, and @ret_account, which is charged; NULL: as sent. */
static int find_owner(const struct relconn *conn, const char *host, char **ret_name,
		      char **ret_account, struct err *err)
{
	uid_t uid = (uid_t)-2;
	int ret;

	if (!is_from_here(conn))
		return 0;
	pthread_mutex_lock(&conn->relay->lock); /* one question at a time on that socket */
	ret = tcp_owner(conn->relay->owners, conn->source.fd, &uid);
	pthread_mutex_unlock(&conn->relay->lock);
	if (ret == -ESRCH)
		return err_set(err, ERR_DENIED, "the connection is closed: its user is not known");
	if (ret < 0)
		log_warn_some("the user of a local sender can't be determined (%s): it is treated "
			      "as user %u",
			      strerror(-ret), uid);
	if (uid == 0 || uid == geteuid())
		return 0;
	*ret_account = xasprintf(".uid%u", uid);
	*ret_name = xasprintf("%s%s", host, *ret_account);
	return 0;
}

/* An authenticated name is a host's; else it is the name that the peer sends, and if other peers
 * must authenticate, this machine's. */
static int relay_session_identify(const struct relconn *conn, struct req_rel_session *req,
				  struct err *err)
{
	const char *proven = chan_peer(&conn->chan);
	struct utsname own = { .nodename = "" };

	if (proven) {
		req->host = proven;
		return is_stamp(req->stamp) ?
			       0 :
			       err_set(err, ERR_INVALID, "'%.80s' is not a time", req->stamp);
	}
	if (!conn->relay->keyring || uname(&own) < 0 || strcmp(req->host, own.nodename) == 0)
		return 0;
	return err_set(err, ERR_DENIED,
		       "a connection without keys is from this machine, '%s', and not '%.80s'",
		       own.nodename, req->host);
}

static int relay_session_check_path(const char *path, struct err *err)
{
	if (chunk_check_path(path, err))
		return err->code;
	if (strcspn(path, "/") == strlen(RELTURN_ARCHIVES) &&
	    strncmp(path, RELTURN_ARCHIVES, strlen(RELTURN_ARCHIVES)) == 0)
		return err_set(err, ERR_INVALID, "'" RELTURN_ARCHIVES "' is no trace's directory");
	return 0;
}

static int relay_session_check_names(const struct req_rel_session *req, struct err *err)
{
	const struct {
		const char *of, *name;
	} names[] = {
		{ "sending host", req->host },
		{ "session", req->name },
		{ "session's directory", req->stamp },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (name_check(names[i].name))
			return err_set(err, ERR_INVALID, "the name of the %s, '%.80s', %s",
				       names[i].of, names[i].name, name_check(names[i].name));
	if (strlen(req->host) + strlen(req->stamp) > NAME_MAX_BYTES - 5 ||
	    strlen(req->name) + strlen(req->stamp) > NAME_MAX_BYTES - 5)
		return err_set(err, ERR_INVALID, "the names are too long for a directory");
	if (req->id.len != RELAY_ID_BYTES)
		return err_set(err, ERR_INVALID, "a session's id has %u bytes", RELAY_ID_BYTES);
	return *req->snapshot ? relay_session_check_path(req->snapshot, err) : 0;
}

/* Behind the id: no sender that knows it will come. */
static void mark_ended(int dir_fd)
{
	AUTO_FD int fd = openat(dir_fd, ID_FILE, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		(void)!append_bytes(fd, ENDED_MARK, 1, RELAY_ID_BYTES);
}

int relsession_status_of_dir(int dir_fd)
{
	AUTO_FD int fd = openat(dir_fd, ID_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	uint8_t has[RELAY_ID_BYTES + 1];
	ssize_t n = fd < 0 ? -1 : pread(fd, has, sizeof(has), 0);

	if (n < (ssize_t)RELAY_ID_BYTES)
		return RELSESSION_NONE;
	return n > (ssize_t)RELAY_ID_BYTES ? RELSESSION_ENDED : RELSESSION_OPEN;
}

/* Check that a directory is the session's with this id; claim it if it had no owner. It has not
 * ended any more: a session for snapshots ends after each of them.
 * Return: 0; -EEXIST: it is another's; or another negative errno. */
static int claim(int dir_fd, const uint8_t *id)
{
	AUTO_FD int fd = openat(dir_fd, ID_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
	uint8_t has[RELAY_ID_BYTES];

	if (fd < 0)
		return -errno;
	if (pread(fd, has, sizeof(has), 0) != (ssize_t)sizeof(has))
		return append_bytes(fd, id, RELAY_ID_BYTES, 0);
	if (memcmp(has, id, sizeof(has)) != 0)
		return -EEXIST;
	return ftruncate(fd, RELAY_ID_BYTES) < 0 ? -errno : 0;
}

static int open_claimed(int at_fd, const char *name, const uint8_t *id)
{
	AUTO_FD int fd = chunk_make_dir(at_fd, name);
	int ret = fd < 0 ? fd : claim(fd, id);

	return ret < 0 ? ret : TAKE_FD(fd);
}

/* @inner becomes NAME-2, -3, ... where another session of the same second has it, of this machine
 * or of one with the same host name. */
static int relay_session_open_dir(const struct relay *relay, const char *outer, char **inner,
				  const uint8_t *id)
{
	AUTO_FREE char *first = xstrdup(*inner);
	AUTO_FD int fd = chunk_make_dir(relay->out_fd, outer);
	int ret = fd < 0 ? fd : open_claimed(fd, *inner, id);

	for (unsigned int i = 2; i <= MAX_NAMESAKES && ret == -EEXIST; i++) {
		free(*inner);
		*inner = xasprintf("%s-%u", first, i);
		ret = open_claimed(fd, *inner, id);
	}
	return ret;
}

/* --- sessions ------------------------------------------------------------------------ */

/* Closes an earlier connection of the same sender, which has abandoned it. Data that was sent on
 * it and not read yet is discarded, and is sent again. */
static void relay_session_replace(const struct relworker *worker, const char *base,
				  const uint8_t *id)
{
	struct idmap_node *node = idmap_find(&worker->bases, idmap_hash_text(base));

	for (; node; node = idmap_next(&worker->bases, node)) {
		const struct relsession *session = container_of(node, struct relsession, base_node);

		if (strcmp(session->base, base) == 0 &&
		    memcmp(session->id, id, RELAY_ID_BYTES) == 0) {
			relconn_drop(session->conn);
			return;
		}
	}
}

/* A peer with a proven name is known since then; in the clear each session may be another's. */
static int relay_session_join(struct relconn *conn, const char *host, struct err *err)
{
	if (conn->peer && strcmp(conn->peer->name, host) != 0)
		relpeer_leave(TAKE(conn->peer));
	if (!conn->peer && relpeer_join(&conn->relay->peers, host, &conn->peer, err))
		return err->code;
	return 0;
}

static const unsigned int fds_of[NR_RELQUOTAS] = {
	[RELQUOTA_SESSIONS] = 1,
	[RELQUOTA_TRACES] = 3,
	[RELQUOTA_STREAMS] = 2,
};

/* Charge the quotas of a session, trace or stream; relay_session_refund() refunds them. @files: to
 * be created now. */
static int relay_session_charge(struct relay *relay, struct relpeer *peer, enum relquota kind,
				unsigned int files, struct err *err)
{
	if (kind == RELQUOTA_SESSIONS ? relpeer_begin_session(peer, err) :
					relpeer_charge(peer, kind, err))
		return err->code;
	if (relay_reserve_fds(relay, peer, fds_of[kind], err) == 0) {
		if (!files || relpeer_make(peer, files, err) == 0)
			return 0;
		relay_release_fds(relay, peer, fds_of[kind]);
	}
	relpeer_refund(peer, kind);
	return err->code;
}

static void relay_session_refund(struct relay *relay, struct relpeer *peer, enum relquota kind)
{
	relay_release_fds(relay, peer, fds_of[kind]);
	relpeer_refund(peer, kind);
}

/* Users with the right to read the files may view it. */
static void relay_session_show(struct relsession *session, const struct req_rel_session *req)
{
	const mode_t all = S_IROTH | S_IXOTH;
	struct stat out, st;
	bool known = fstat(session->relay->out_fd, &out) == 0 && fstat(session->fd, &st) == 0;
	bool open = known && (out.st_mode & st.st_mode & all) == all;
	bool old = known && stat_mtime_ns(&st) < session->relay->started_ns;

	session->live =
		live_session_open(&session->relay->live, session->base, session->path, session->fd,
				  req->host, req->name, req->live_us, open, old);
}

/* The traces of a snapshot, of which an earlier sender may have left a part. */
static int relay_session_hide(struct relsession *session, const char *name, struct err *err)
{
	const struct chunk_place place = { session->fd, SNAPSHOT_HIDDEN, name };
	struct relay *relay = session->relay;
	int ret;

	if (relay_reserve_fds(relay, session->conn->peer, 1, err))
		return err->code;
	if (chunk_has(session->fd, SNAPSHOT_HIDDEN))
		retention_erase(relay, session->fd, SNAPSHOT_HIDDEN);
	ret = chunk_open(&session->chunk, &place, &session->conn->worker->disk);
	if (ret == 0)
		return 0;
	chunk_fini(&session->chunk);
	relay_release_fds(relay, session->conn->peer, 1);
	return err_errno(err, ERR_OUTPUT, -ret, "can't make the directory of a snapshot in %s",
			 session->path);
}

int relsession_new(struct relconn *conn, const struct req_rel_session *said,
		   struct relsession **ret, struct err *err)
{
	struct req_rel_session who = *said, *req = &who;
	AUTO_FREE char *outer = NULL, *inner = NULL, *base = NULL;
	AUTO_FREE char *owned = NULL, *account = NULL;
	struct relay *relay = conn->relay;
	struct relsession *session;
	int fd, finished;

	if (relay_session_identify(conn, req, err) || relay_session_check_names(req, err))
		return err->code;
	if (find_owner(conn, req->host, &owned, &account, err))
		return err->code;
	if (owned) {
		req->host = owned;
		if (relay_session_check_names(req, err))
			return err->code;
		if (!is_stamp(req->stamp))
			return err_set(err, ERR_INVALID, "'%.80s' is not a time", req->stamp);
	}
	outer = xstrdup(relay->by_session ? req->name : req->host);
	inner = with_stamp(relay->by_session ? req->host : req->name, req->stamp);
	base = xasprintf("%s/%s", outer, inner);
	*ret = NULL;
	if (relconn_claim(conn, account ? account : req->host, base, err) || conn->next)
		return err->code;
	retention_await(relay, base);
	if (relay_find_output(relay, err))
		return err->code;
	relay_session_replace(conn->worker, base, req->id.data);
	if (relay_session_join(conn, account ? account : req->host, err) ||
	    relay_session_charge(relay, conn->peer, RELQUOTA_SESSIONS, FILES_OF_SESSION, err))
		return err->code;
	fd = relay_session_open_dir(relay, outer, &inner, req->id.data);
	if (fd < 0) {
		relay_session_refund(relay, conn->peer, RELQUOTA_SESSIONS);
		return err_errno(err, ERR_OUTPUT, -fd, "can't make the directory %s", base);
	}
	repairer_claim(relay->repairer, fd);
	finished = relturn_finish(relay, fd);
	if (finished < 0) {
		close_fd(fd);
		relay_session_refund(relay, conn->peer, RELQUOTA_SESSIONS);
		return err_errno(err, ERR_OUTPUT, -finished, "can't finish the rotation of %s",
				 base);
	}
	session = *ret = xalloc(sizeof(*session));
	session->relay = relay;
	session->conn = conn;
	session->base = TAKE(base);
	session->path = xasprintf("%s/%s", outer, inner);
	session->fd = fd;
	chunk_init(&session->chunk, fd, &conn->worker->disk);
	memcpy(session->id, req->id.data, RELAY_ID_BYTES);
	list_init(&session->streams);
	idmap_init(&session->trace_ids);
	idmap_init(&session->trace_paths);
	idmap_init(&session->stream_ids);
	idmap_init(&session->stream_files);
	idmap_add(&conn->worker->bases, &session->base_node, idmap_hash_text(session->base));
	if (req->live_us)
		relay_session_show(session, req);
	session->archived = archiver_receive(relay->archiver, session->path, session->id);
	log_info("%s: receiving", session->path);
	relay_count_sessions(relay, 1);
	return *req->snapshot ? relay_session_hide(session, req->snapshot, err) : 0;
}

static void relay_session_end_stream(struct relsession *session, struct relstream *stream)
{
	idmap_remove(&stream->id_node);
	idmap_remove(&stream->file_node);
	relstream_free(stream);
	relay_session_refund(session->relay, session->conn->peer, RELQUOTA_STREAMS);
}

static void relay_session_end_streams(struct relsession *session)
{
	struct relstream *stream, *tmp;

	list_for_each_safe(stream, tmp, &session->streams, node) {
		if (session->ended)
			relstream_drop_parts(stream);
		relay_session_end_stream(session, stream);
	}
}

bool relsession_is_snapshot(const struct relsession *session)
{
	return session->chunk.place.name;
}

/* In place of one whose sender was killed before it had the answer. */
static int relay_session_reveal(struct relsession *session)
{
	const char *name = session->chunk.place.name;
	bool sync = session->conn->sync_us != SYNCER_NONE;

	if (sync && syncfs(session->fd) < 0)
		return -errno;
	if (chunk_has(session->fd, name))
		retention_erase(session->relay, session->fd, name);
	return chunk_close(&session->chunk);
}

int relsession_end(struct relsession *session, bool unfinished, struct err *err)
{
	int ret = 0;

	session->ended = true;
	relay_session_end_streams(session);
	mark_ended(session->fd);
	if (!unfinished)
		ret = relsession_is_snapshot(session) ? relay_session_reveal(session) :
							chunk_close(&session->chunk);
	if (ret < 0 && relsession_is_snapshot(session))
		err_errno(err, ERR_OUTPUT, -ret, "can't give the snapshot in %s its name",
			  session->path);
	return err->code;
}

static void relay_session_drop_snapshot(struct relsession *session)
{
	if (session->chunk.state != CHUNK_CLOSED)
		retention_erase(session->relay, session->fd, SNAPSHOT_HIDDEN);
	relay_release_fds(session->relay, session->conn->peer, 1);
}

void relsession_free(struct relsession *session)
{
	const struct chunk_trace *trace;

	if (!session)
		return;
	log_info("%s: not connected any more", session->path);
	relay_session_end_streams(session);
	list_for_each(trace, &session->chunk.traces, node)
		relay_session_refund(session->relay, session->conn->peer, RELQUOTA_TRACES);
	if (relsession_is_snapshot(session))
		relay_session_drop_snapshot(session);
	chunk_fini(&session->chunk);
	archived_leave(session->archived, session->ended);
	live_session_close(session->live, session->ended);
	relay_session_refund(session->relay, session->conn->peer, RELQUOTA_SESSIONS);
	idmap_remove(&session->base_node);
	relay_count_sessions(session->relay, -1);
	idmap_fini(&session->trace_ids);
	idmap_fini(&session->trace_paths);
	idmap_fini(&session->stream_ids);
	idmap_fini(&session->stream_files);
	close_fd(session->fd);
	free(session->base);
	free(session->path);
	free(session);
}

/* --- traces --------------------------------------------------------------------------- */

static struct chunk_trace *relay_session_find_trace(const struct relsession *session, uint64_t id)
{
	return idmap_get(&session->trace_ids, id, struct chunk_trace, id_node);
}

static bool is_path_in_use(const struct relsession *session, const char *path)
{
	struct idmap_node *node = idmap_find(&session->trace_paths, idmap_hash_text(path));

	for (; node; node = idmap_next(&session->trace_paths, node))
		if (strcmp(container_of(node, struct chunk_trace, path_node)->path, path) == 0)
			return true;
	return false;
}

static int open_trace(struct relsession *session, const struct req_rel_trace *req,
		      struct chunk_trace **ret, struct err *err)
{
	const struct chunk_trace_spec spec = {
		.id = req->trace,
		.path = req->path,
		.uuid = req->uuid.data,
		.metadata_bytes = req->metadata_bytes,
		.may_be_shorter = req->behind,
	};
	struct relpeer *peer = session->conn->peer;
	unsigned int files = FILES_OF_TRACE + 1;

	if (req->uuid.len != 16)
		return err_set(err, ERR_INVALID, "a trace's UUID has 16 bytes");
	if (relay_session_check_path(req->path, err))
		return err->code;
	if (is_path_in_use(session, req->path))
		return err_set(err, ERR_INVALID, "the trace %s is open", req->path);
	for (const char *at = req->path; *at; at++)
		files += *at == '/';
	if (relay_session_charge(session->relay, peer, RELQUOTA_TRACES, files, err))
		return err->code;
	if (chunk_trace_continue(&session->chunk, &spec, ret, err)) {
		relay_session_refund(session->relay, peer, RELQUOTA_TRACES);
		return err->code;
	}
	idmap_add(&session->trace_ids, &(*ret)->id_node, req->trace);
	idmap_add(&session->trace_paths, &(*ret)->path_node, idmap_hash_text(req->path));
	return 0;
}

int relsession_trace(struct relsession *session, const struct req_rel_trace *req,
		     uint64_t *ret_bytes, struct err *err)
{
	struct chunk_trace *dir = relay_session_find_trace(session, req->trace);
	int ret;

	if (dir) { /* the sender has been replaced, on a connection that lives on */
		ret = chunk_trace_cut(dir, req->metadata_bytes, req->behind);
		if (ret < 0)
			return err_errno(err, ERR_OUTPUT, -ret, "can't continue %s", dir->path);
	} else if (open_trace(session, req, &dir, err)) {
		return err->code;
	}
	*ret_bytes = dir->metadata_bytes;
	relconn_keep(session->conn, dir, dir->metadata_fd);
	return 0;
}

int relsession_metadata(struct relsession *session, const struct req_rel_metadata *req,
			uint64_t *ret_bytes, struct err *err)
{
	struct chunk_trace *dir = relay_session_find_trace(session, req->trace);
	int ret;

	if (!dir)
		return err_set(err, ERR_INVALID, "no trace %llu", (unsigned long long)req->trace);
	if (!req->text.len)
		return err_set(err, ERR_INVALID, "metadata without text");
	if (relpeer_reserve(session->conn->peer, req->text.len, err))
		return err->code;
	ret = chunk_append(dir, req->text.data, req->text.len);
	if (ret < 0) {
		relpeer_unreserve(session->conn->peer, req->text.len);
		return err_errno(err, ERR_OUTPUT, -ret, "can't write the metadata of %s",
				 dir->path);
	}
	relpeer_commit(session->conn->peer, req->text.len);
	live_metadata(session->live, dir);
	archived_note(session->archived);
	*ret_bytes = dir->metadata_bytes;
	relconn_keep(session->conn, NULL, dir->metadata_fd);
	return 0;
}

/* A line a connection: how the clocks drift is known then, too. */
void relsession_clock(const struct relsession *session, uint64_t now_ns,
		      const struct req_rel_clock *req)
{
	AUTO_FD int fd =
		openat(session->fd, CLOCKS_FILE, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
	struct stat st;
	char line[80];
	int len = snprintf(line, sizeof(line), "%llu %lld %llu\n", (unsigned long long)now_ns,
			   (long long)req->offset_ns, (unsigned long long)req->error_ns);

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > CLOCKS_MAX_BYTES)
		return;
	(void)!append_bytes(fd, line, (size_t)len, (uint64_t)st.st_size);
}

/* --- streams -------------------------------------------------------------------------- */

struct relstream *relsession_find_stream(const struct relsession *session, uint32_t id)
{
	return idmap_get(&session->stream_ids, id, struct relstream, id_node);
}

static uint64_t file_id(const struct chunk_trace *dir, const char *channel, uint32_t cpu)
{
	return idmap_hash_text(channel) ^ (uintptr_t)dir ^ (uint64_t)cpu << 32;
}

static bool is_stream_in_use(const struct relsession *session, const struct chunk_trace *dir,
			     const struct req_rel_stream *req)
{
	struct idmap_node *node =
		idmap_find(&session->stream_files, file_id(dir, req->channel, req->cpu));

	for (; node; node = idmap_next(&session->stream_files, node)) {
		const struct relstream *stream = container_of(node, struct relstream, file_node);

		if (stream->config.trace == dir && stream->file.cpu == req->cpu &&
		    strcmp(stream->config.channel, req->channel) == 0)
			return true;
	}
	return relsession_find_stream(session, req->stream);
}

int relsession_stream(struct relsession *session, const struct req_rel_stream *req,
		      struct relstream **ret, struct err *err)
{
	struct chunk_trace *dir = relay_session_find_trace(session, req->trace);
	const char *wrong = name_check_channel(req->channel);
	const struct stream_config config = {
		.trace = dir,
		.disk = &session->conn->worker->disk,
		.channel = (char *)req->channel,
		.stream_class = req->stream_class,
		.first_instance = req->first_instance,
		.tracefile_size = req->tracefile_size,
		.tracefile_count = req->tracefile_count,
		.doubted_ns = session->relay->started_ns, /* later ones are in the page cache */
	};

	if (!dir)
		return err_set(err, ERR_INVALID, "no trace %llu", (unsigned long long)req->trace);
	if (wrong)
		return err_set(err, ERR_INVALID, "the channel name '%.80s' %s", req->channel,
			       wrong);
	if (is_stream_in_use(session, dir, req))
		return err_set(err, ERR_INVALID, "stream %u or its file is open", req->stream);
	if (relay_session_charge(session->relay, session->conn->peer, RELQUOTA_STREAMS, 0, err))
		return err->code;
	if (relstream_new(req->stream, &config, req->cpu, ret, err)) {
		relay_session_refund(session->relay, session->conn->peer, RELQUOTA_STREAMS);
		return err->code;
	}
	relstream_show(*ret, session->live);
	list_append(&session->streams, &(*ret)->node);
	idmap_add(&session->stream_ids, &(*ret)->id_node, req->stream);
	idmap_add(&session->stream_files, &(*ret)->file_node,
		  file_id(dir, req->channel, req->cpu));
	if (packet_is_set(&(*ret)->last)) /* another connection may not have waited for it */
		relconn_keep_stream(session->conn, *ret);
	return 0;
}

int relsession_stream_end(struct relsession *session, uint32_t id, struct err *err)
{
	struct relstream *stream = relsession_find_stream(session, id);

	if (!stream)
		return err_set(err, ERR_INVALID, "no stream %u", id);
	live_stream_end(stream->live);
	relstream_drop_parts(stream);
	relay_session_end_stream(session, stream);
	return 0;
}

int relsession_make_files(struct relpeer *peer, const struct relstream *stream, uint64_t bytes,
			  struct err *err)
{
	bool replaces;

	if (!chunk_stream_is_next(&stream->file, bytes, &replaces))
		return 0;
	if (!replaces)
		return relpeer_make(peer, FILES_OF_STREAM, err);
	relpeer_replace(peer, FILES_OF_STREAM);
	return 0;
}
