/* SPDX-License-Identifier: GPL-2.0-only */
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/locked.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/loop.h"
#include "proto/viewproto.h"

#define FDS_OF_TRACE 2u
/* A sender that does not come back: its viewers are let go. And so long are they expected that a
 * relay had which was here before. */
#define AWAY_NS 60000000000ull

void live_init(struct live *live, const unsigned int *nr_other_fds, unsigned int max_fds)
{
	*live = (struct live){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.nr_other_fds = nr_other_fds,
		.max_fds = max_fds,
	};
	list_init(&live->sessions);
}

/* --- release of unused objects: all under the lock ------------------ */

static void release_dirs(struct live *live, struct live_dirs *dirs)
{
	if (--dirs->refs)
		return;
	live->nr_fds -= FDS_OF_TRACE;
	close_fd(dirs->dir_fd);
	close_fd(dirs->index_fd);
	free(dirs);
}

static void release_part(struct live *live, struct live_part *part)
{
	while (part && !--part->refs) {
		struct live_part *next = part->next;

		release_dirs(live, part->dirs);
		free(part);
		part = next;
	}
}

static struct live_part *take_part(struct live_part *part)
{
	part->refs++;
	return part;
}

/* One that begins in the directories that the trace has now. */
static struct live_part *make_part(struct live_trace *trace)
{
	struct live_part *part = xalloc(sizeof(*part));

	part->refs = 1;
	part->dirs = trace->dirs;
	part->dirs->refs++;
	return part;
}

static void live_free_stream(struct live_stream *stream)
{
	struct live *live = stream->trace->session->live;

	release_part(live, stream->part);
	release_part(live, stream->first);
	list_remove(&stream->node);
	list_remove(&stream->trace_node);
	idmap_remove(&stream->serial_node);
	idmap_remove(&stream->file_node);
	free(stream->config.channel);
	free(stream);
}

static void live_free_trace(struct live_trace *trace)
{
	struct live_stream *stream;

	while ((stream = list_first(&trace->streams, struct live_stream, trace_node)))
		live_free_stream(stream);
	release_dirs(trace->session->live, trace->dirs);
	idmap_remove(&trace->path_node);
	free(trace->path);
	free(trace);
}

static void drop_trace(struct live_trace *trace)
{
	if (!trace->waiters && !trace->nr_active)
		live_free_trace(trace);
}

static void free_session(struct live_session *session)
{
	struct live_stream *stream;

	while ((stream = list_first(&session->streams, struct live_stream, node)))
		live_free_trace(stream->trace);
	list_remove(&session->node);
	session->live->nr_kept -= session->kept_until_ns != 0;
	session->live->nr_fds -= session->dir_fd >= 0;
	close_fd(session->dir_fd);
	idmap_fini(&session->trace_paths);
	idmap_fini(&session->stream_serials);
	idmap_fini(&session->stream_files);
	free(session->path);
	free(session->host);
	free(session->name);
	free(session);
}

static bool live_is_over(const struct live_session *s)
{
	return s->ended || (s->away_ns && loop_now_ns() - s->away_ns > AWAY_NS);
}

/* Is it too late to attach? */
static bool is_gone(const struct live_session *s)
{
	return live_is_over(s) && !s->kept_until_ns;
}

/* It has neither a sender nor a viewer. */
static void drop_session(struct live_session *session)
{
	if (!session->nr_viewers && !session->kept_until_ns && (session->ended || session->away_ns))
		free_session(session);
}

static void drop_traces(struct live_session *session)
{
	struct live_stream *s = list_first(&session->streams, struct live_stream, node);

	while (s) {
		struct list_node *next = s->node.next;
		struct live_trace *trace = s->trace;

		if (!trace->waiters && !trace->nr_active) {
			live_free_trace(trace);
			next = session->streams.next; /* it may have been the same one's */
		}
		s = next == &session->streams ? NULL : list_entry(next, struct live_stream, node);
	}
}

/* Each trace counts once, with any number of streams: it came just before the first of them. */
static void count_waiters(struct live_session *session, int by, uint64_t known)
{
	struct live_stream *s, *tmp;
	struct live_trace *trace;
	uint64_t before = 0;

	list_for_each_safe(s, tmp, &session->streams, node) {
		trace = s->trace;
		if (trace->serial <= known || trace->serial <= before)
			continue;
		before = trace->serial;
		trace->waiters = (unsigned int)((int)trace->waiters + by);
	}
}

/* Viewers that have not come back by now do not. */
static void release_kept(struct live *live)
{
	struct live_session *session, *tmp;

	if (!live->nr_kept)
		return;
	list_for_each_safe(session, tmp, &live->sessions, node) {
		if (!session->kept_until_ns || loop_now_ns() < session->kept_until_ns)
			continue;
		session->kept_until_ns = 0;
		live->nr_kept--;
		count_waiters(session, -1, 0);
		drop_traces(session);
		drop_session(session);
	}
}

void live_fini(struct live *live)
{
	struct live_session *session;

	while ((session = list_first(&live->sessions, struct live_session, node)))
		free_session(session);
}

/* --- sessions ---------------------------------------------------------------------------- */

static struct live_session *live_find_session(const struct live *live, const char *path)
{
	struct live_session *session;

	list_for_each(session, &live->sessions, node)
		if (!live_is_over(session) && strcmp(session->path, path) == 0)
			return session;
	return NULL;
}

static bool live_has_id(const struct live *live, uint64_t id)
{
	const struct live_session *session;

	list_for_each(session, &live->sessions, node)
		if (session->id == id)
			return true;
	return false;
}

/* A viewer of a relay before this one finds its session again by the id: several may have the same
 * host and name. FNV-1a. */
static uint64_t live_lasting_id(const struct live *live, const char *path)
{
	uint64_t id = 0xcbf29ce484222325ull;

	for (; *path; path++)
		id = (id ^ (unsigned char)*path) * 0x100000001b3ull;
	id |= VIEW_LASTING_ID;
	while (live_has_id(live, id))
		id = (id + 1) | VIEW_LASTING_ID;
	return id;
}

/* Whether @path is @base, with or without a number. */
static bool is_twin(const char *path, const char *base)
{
	size_t len = strlen(base);

	if (strncmp(path, base, len) != 0)
		return false;
	path += len + (path[len] == '-');
	return path[strspn(path, "0123456789")] == '\0';
}

static bool has_namesake(const struct live *live, const char *base, const char *name)
{
	const struct live_session *s;

	list_for_each(s, &live->sessions, node)
		if (!is_gone(s) && strcmp(s->name, name) == 0 && is_twin(s->path, base))
			return true;
	return false;
}

/* Viewers select a session by its host and name: NAME, else NAME-2, ... Return: allocated. */
static char *live_name(const struct live *live, const char *base, const char *name)
{
	char *own = xstrdup(name);

	for (unsigned int i = 2; has_namesake(live, base, own); i++) {
		free(own);
		own = xasprintf("%s-%u", name, i);
	}
	return own;
}

struct live_session *live_session_open(struct live *live, const char *base, const char *path,
				       int dir_fd, const char *host, const char *name,
				       uint32_t period_us, bool open_to_all, bool is_old)
{
	LOCKED(&live->lock);
	struct live_session *session;

	release_kept(live);
	session = live_find_session(live, path);
	if (session) {
		session->away_ns = 0;
		return session;
	}
	session = xalloc(sizeof(*session));
	session->live = live;
	session->id = live_lasting_id(live, path);
	session->path = xstrdup(path);
	session->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	live->nr_fds += session->dir_fd >= 0;
	session->host = xstrdup(host);
	session->name = live_name(live, base, name);
	session->period_us = period_us;
	session->open_to_all = open_to_all;
	session->kept_until_ns = is_old ? loop_now_ns() + AWAY_NS : 0;
	live->nr_kept += is_old;
	list_init(&session->streams);
	idmap_init(&session->trace_paths);
	idmap_init(&session->stream_serials);
	idmap_init(&session->stream_files);
	list_append(&live->sessions, &session->node);
	return session;
}

char *live_session_name(const struct live_session *session)
{
	return session ? xasprintf("%s/%s", session->host, session->name) : xstrdup("");
}

bool live_knows(struct live *live, const char *path)
{
	LOCKED(&live->lock);
	const struct live_session *session;

	list_for_each(session, &live->sessions, node)
		if (strcmp(session->path, path) == 0)
			return true;
	return false;
}

void live_session_close(struct live_session *session, bool ended)
{
	if (!session)
		return;
	LOCKED(&session->live->lock);

	session->ended |= ended;
	session->away_ns = loop_now_ns();
	drop_session(session);
}

void live_beacon(struct live_session *session, uint64_t time)
{
	if (!session)
		return;
	LOCKED(&session->live->lock);

	session->beacon = MAX(session->beacon, time);
	release_kept(session->live);
}

unsigned int live_fds(struct live *live)
{
	LOCKED(&live->lock);

	return live->nr_fds;
}

/* --- traces ------------------------------------------------------------------------------ */

/* One whose streams have all ended gets no more: for viewers it is over, and another
 * begins in the same directory. */
static struct live_trace *live_find_trace(const struct live_session *session, const char *path)
{
	struct idmap_node *node = idmap_find(&session->trace_paths, idmap_hash_text(path));

	for (; node; node = idmap_next(&session->trace_paths, node)) {
		struct live_trace *trace = container_of(node, struct live_trace, path_node);

		if (trace->nr_active && strcmp(trace->path, path) == 0)
			return trace;
	}
	return NULL;
}

/* Return: NULL: there may be no more descriptors. */
static struct live_dirs *make_dirs(struct live_session *session, const struct chunk_trace *dir)
{
	struct live *live = session->live;
	struct live_dirs *dirs;
	int dir_fd, index_fd;
	struct stat st;

	if (live->nr_fds + FDS_OF_TRACE > live->max_fds / 3 || /* the rest is for senders */
	    live->nr_fds + __atomic_load_n(live->nr_other_fds, __ATOMIC_RELAXED) + FDS_OF_TRACE >
		    live->max_fds) {
		log_warn_some("%s: too many traces for viewers to see all", session->path);
		return NULL;
	}
	dir_fd = fcntl(dir->fd, F_DUPFD_CLOEXEC, 0);
	index_fd = fcntl(dir->index_fd, F_DUPFD_CLOEXEC, 0);
	if (dir_fd < 0 || index_fd < 0 || fstat(dir_fd, &st) < 0) {
		close_fd(dir_fd);
		close_fd(index_fd);
		return NULL;
	}
	live->nr_fds += FDS_OF_TRACE;
	dirs = xalloc(sizeof(*dirs));
	*dirs = (struct live_dirs){ 1, dir_fd, index_fd, st.st_dev, st.st_ino };
	return dirs;
}

static struct live_trace *make_trace(struct live_session *session, const struct chunk_trace *dir,
				     bool is_past)
{
	struct live_dirs *dirs = make_dirs(session, dir);
	struct live_trace *trace;

	if (!dirs)
		return NULL;
	trace = xalloc(sizeof(*trace));
	trace->session = session;
	trace->serial = ++session->live->next_serial;
	trace->path = xstrdup(dir->path);
	memcpy(trace->uuid, dir->uuid, sizeof(trace->uuid));
	trace->dirs = dirs;
	trace->metadata_bytes = dir->metadata_bytes;
	session->ctf_2 |= dir->ctf_2;
	trace->is_past = is_past;
	trace->waiters = is_past ? 1 : session->nr_viewers + (session->kept_until_ns != 0);
	list_init(&trace->streams);
	list_init(&trace->path_node.node);
	if (!is_past)
		idmap_add(&session->trace_paths, &trace->path_node, idmap_hash_text(trace->path));
	return trace;
}

/* After a turn the trace goes on in other directories. Return: false: they can't be kept open. */
static bool renew_dirs(struct live_trace *trace, const struct chunk_trace *dir)
{
	struct live_dirs *dirs;
	struct stat st;

	if (fstat(dir->fd, &st) == 0 && st.st_ino == trace->dirs->inode &&
	    st.st_dev == trace->dirs->device)
		return true;
	dirs = make_dirs(trace->session, dir);
	if (!dirs)
		return false;
	release_dirs(trace->session->live, trace->dirs);
	trace->dirs = dirs;
	return true;
}

/* A sender may withdraw data that was never acknowledged; it sends the same again. */
void live_metadata(struct live_session *session, const struct chunk_trace *dir)
{
	struct live_trace *trace;

	if (!session)
		return;
	LOCKED(&session->live->lock);

	session->ctf_2 |= dir->ctf_2;
	trace = live_find_trace(session, dir->path);
	if (!trace)
		return;
	trace->metadata_bytes = dir->metadata_bytes;
}

uint64_t live_metadata_bytes(const struct live_trace *trace)
{
	LOCKED(&trace->session->live->lock);

	return trace->metadata_bytes;
}

bool live_session_is_ctf_2(const struct live_session *session)
{
	LOCKED(&session->live->lock);

	return session->ctf_2;
}

uint64_t live_session_beacon(const struct live_session *session)
{
	LOCKED(&session->live->lock);

	return session->ended ? UINT64_MAX : session->beacon;
}

/* --- streams ----------------------------------------------------------------------------- */

static uint64_t live_file_id(const struct live_trace *trace, const char *channel, uint32_t cpu)
{
	return idmap_hash_text(channel) ^ trace->serial << 16 ^ (uint64_t)cpu << 40;
}

static struct live_stream *live_find_stream(const struct live_session *session,
					    const struct live_trace *trace, const char *channel,
					    uint32_t cpu)
{
	struct idmap_node *node =
		idmap_find(&session->stream_files, live_file_id(trace, channel, cpu));

	for (; node; node = idmap_next(&session->stream_files, node)) {
		struct live_stream *s = container_of(node, struct live_stream, file_node);

		if (s->trace == trace && !s->ended && s->cpu == cpu &&
		    strcmp(s->config.channel, channel) == 0)
			return s;
	}
	return NULL;
}

static struct live_stream *alloc_stream(struct live_session *session, struct live_trace *trace,
					const struct stream_config *config, uint32_t cpu)
{
	struct live_stream *s = xalloc(sizeof(*s));

	s->trace = trace;
	s->serial = ++session->live->next_serial;
	s->cpu = cpu;
	s->since = session->beacon;
	s->config = *config;
	s->config.channel = xstrdup(config->channel);
	s->config.trace = NULL;
	s->config.disk = NULL;
	s->part = make_part(trace);
	s->first = take_part(s->part);
	list_init(&s->node);
	list_init(&s->serial_node.node);
	list_init(&s->file_node.node);
	list_append(&trace->streams, &s->trace_node);
	return s;
}

static struct live_stream *make_stream(struct live_session *session, struct live_trace *trace,
				       const struct chunk_stream *file)
{
	struct live_stream *s = alloc_stream(session, trace, file->config, file->cpu);

	session->last_serial = s->serial;
	trace->nr_active++;
	list_append(&session->streams, &s->node);
	idmap_add(&session->stream_serials, &s->serial_node, s->serial);
	idmap_add(&session->stream_files, &s->file_node,
		  live_file_id(trace, s->config.channel, s->cpu));
	return s;
}

/* The number of the file that is being written; it may not be there yet. */
static uint64_t current(const struct chunk_stream *file)
{
	return file->number ? file->number - 1 : 0;
}

static void live_stream_set_file(struct live_stream *s, const struct chunk_stream *file,
				 const struct packet_header *last)
{
	s->part->file = current(file) - s->part->first_name;
	s->part->index_bytes = file->fd < 0 ? 0 : file->index_bytes;
	s->last = *last;
}

/* The earlier parts stay for viewers that read them, and for those that have not begun. */
static void add_part(struct live_stream *s, const struct chunk_stream *file)
{
	struct live *live = s->trace->session->live;
	struct live_part *before = s->part;

	s->part = make_part(s->trace);
	s->part->first_name = current(file);
	before->next = take_part(s->part);
	release_part(live, before);
	if (s->trace->waiters <= s->trace->readers) {
		release_part(live, s->first);
		s->first = take_part(s->part);
	}
}

/* A stream that is known: a sender that found the files again counts them anew. */
static bool find_again(struct live_stream *s, const struct chunk_stream *file)
{
	if (!renew_dirs(s->trace, file->config->trace)) {
		s->trace->session->lacks_traces = s->ended = true;
		s->trace->nr_active--;
		return false;
	}
	if (s->part->dirs != s->trace->dirs)
		add_part(s, file);
	else
		s->part->first_name = current(file) - s->part->file;
	return true;
}

struct live_stream *live_stream_open(struct live_session *session, const struct chunk_stream *file,
				     const struct packet_header *last)
{
	const struct stream_config *config = file->config;
	struct live_trace *trace;
	struct live_stream *s;

	if (!session)
		return NULL;
	LOCKED(&session->live->lock);

	trace = live_find_trace(session, config->trace->path);
	if (!trace)
		trace = make_trace(session, config->trace, false);
	session->lacks_traces |= !trace;
	if (!trace)
		return NULL;
	s = live_find_stream(session, trace, config->channel, file->cpu);
	if (s && !find_again(s, file))
		return NULL;
	if (!s && renew_dirs(trace, config->trace))
		s = make_stream(session, trace, file);
	if (!s)
		return NULL;
	live_stream_set_file(s, file, last);
	return s;
}

void live_stored(struct live_stream *s, const struct chunk_stream *file,
		 const struct packet_header *last)
{
	if (!s)
		return;
	LOCKED(&s->trace->session->live->lock);

	live_stream_set_file(s, file, last);
}

void live_stream_end(struct live_stream *s)
{
	if (!s)
		return;
	LOCKED(&s->trace->session->live->lock);

	s->ended = true;
	s->trace->nr_active--;
	drop_trace(s->trace);
}

/* --- streams that have ended ---------------------------------------------------------------- */

bool live_is_settled(const struct live_session *session)
{
	LOCKED(&session->live->lock);

	return session->beacon || live_is_over(session);
}

bool live_lacks_traces(const struct live_session *session)
{
	LOCKED(&session->live->lock);

	return session->lacks_traces;
}

/* Whether a viewer that is attached finds the stream without further ado. *@ret_trace: the newest
 * trace of that path, if there is one. */
static bool has_stream(const struct live_session *session, const struct live_past *past,
		       struct live_trace **ret_trace)
{
	const char *path = past->config.trace->path;
	struct idmap_node *node = idmap_find(&session->trace_paths, idmap_hash_text(path));
	const struct live_stream *s;

	for (; node; node = idmap_next(&session->trace_paths, node)) {
		struct live_trace *trace = container_of(node, struct live_trace, path_node);

		if (strcmp(trace->path, path) != 0)
			continue;
		*ret_trace = trace;
		list_for_each(s, &trace->streams, trace_node)
			if (!list_empty(&s->file_node.node) && s->cpu == past->cpu &&
			    s->config.stream_class == past->config.stream_class)
				return true;
	}
	return false;
}

int live_add_past(struct live_session *session, const struct live_past *past,
		  struct live_trace **trace, struct live_stream **ret)
{
	LOCKED(&session->live->lock);
	struct live_stream *s;

	*ret = NULL;
	if (has_stream(session, past, trace))
		return 0;
	if (!*trace)
		*trace = make_trace(session, past->config.trace, true);
	if (!*trace)
		return -EMFILE;
	*ret = s = alloc_stream(session, *trace, &past->config, past->cpu);
	s->ended = true;
	s->part->file = past->nr_files - 1;
	s->part->first_name = past->first_name;
	s->part->index_bytes = past->index_bytes;
	return 0;
}

/* --- viewers ------------------------------------------------------------------------------- */

/* With the lock. */
static struct live_stream *live_stream_behind(const struct live_session *session, uint64_t known)
{
	const struct live_stream *last =
		idmap_get(&session->stream_serials, known, struct live_stream, serial_node);
	struct list_node *node = last ? last->node.next : session->streams.next;

	for (; node != &session->streams; node = node->next) {
		struct live_stream *s = list_entry(node, struct live_stream, node);

		if (s->serial > known)
			return s;
	}
	return NULL;
}

struct live_stream *live_next_stream(const struct live_session *session, uint64_t known)
{
	LOCKED(&session->live->lock);

	return live_stream_behind(session, known);
}

uint64_t live_last_stream(const struct live_session *session)
{
	LOCKED(&session->live->lock);

	return session->last_serial;
}

struct live_part *live_part_begin(struct live_stream *s, bool newest)
{
	LOCKED(&s->trace->session->live->lock);

	return take_part(newest ? s->part : s->first);
}

struct live_part *live_part_next(struct live_stream *s, struct live_part *part)
{
	LOCKED(&s->trace->session->live->lock);
	struct live_part *next = take_part(part->next);

	release_part(s->trace->session->live, part);
	return next;
}

void live_part_done(struct live_stream *s, struct live_part *part)
{
	LOCKED(&s->trace->session->live->lock);

	release_part(s->trace->session->live, part);
}

int live_open_metadata(struct live_trace *trace)
{
	struct live *live = trace->session->live;
	struct live_dirs *dirs;
	int fd;

	pthread_mutex_lock(&live->lock);
	dirs = trace->dirs;
	dirs->refs++;
	pthread_mutex_unlock(&live->lock);
	fd = chunk_read_file(dirs->dir_fd, "metadata");
	pthread_mutex_lock(&live->lock);
	release_dirs(live, dirs);
	pthread_mutex_unlock(&live->lock);
	return fd;
}

void live_trace_known(struct live_trace *trace)
{
	LOCKED(&trace->session->live->lock);

	trace->readers++;
}

void live_state(const struct live_stream *s, const struct live_part *part, uint64_t known,
		struct live_state *ret)
{
	const struct live_session *session = s->trace->session;
	const struct live_stream *unknown;

	LOCKED(&session->live->lock);

	unknown = session->last_serial > known ? live_stream_behind(session, known) : NULL;
	*ret = (struct live_state){
		.ended = s->ended || live_is_over(session),
		.turned = part->next != NULL,
		.file = part->file,
		.first_name = part->first_name,
		.index_bytes = part->index_bytes,
		.beacon = session->beacon,
		.metadata_bytes = s->trace->metadata_bytes,
		.last = s->last,
		.unknown_since = unknown ? unknown->since : 0,
		.is_unknown = unknown,
	};
}

bool live_session_is_over(const struct live_session *session)
{
	LOCKED(&session->live->lock);

	return live_is_over(session);
}

bool view_acl_covers(const struct view_acl *view_acl, const struct live_session *session)
{
	if (view_acl->all || !view_acl->hosts)
		return view_acl->all || session->open_to_all;
	for (unsigned int i = 0; i < view_acl->nr_hosts; i++)
		if (strcmp(view_acl->hosts[i], session->host) == 0)
			return true;
	return false;
}

void view_acl_fini(struct view_acl *view_acl)
{
	for (unsigned int i = 0; i < view_acl->nr_hosts; i++)
		free(view_acl->hosts[i]);
	free(view_acl->hosts);
	*view_acl = (struct view_acl){ 0 };
}

struct live_session *live_attach(struct live *live, uint64_t id, const struct view_acl *view_acl)
{
	LOCKED(&live->lock);
	struct live_session *session;

	list_for_each(session, &live->sessions, node) {
		if (session->id != id || is_gone(session) || !view_acl_covers(view_acl, session))
			continue;
		session->nr_viewers++;
		count_waiters(session, 1, 0);
		return session;
	}
	return NULL;
}

void live_trace_done(struct live_trace *trace)
{
	LOCKED(&trace->session->live->lock);

	trace->waiters--;
	trace->readers -= MIN(trace->readers, 1u);
	drop_trace(trace);
}

void live_detach(struct live_session *session, uint64_t known)
{
	struct live *live = session->live;

	LOCKED(&live->lock);

	count_waiters(session, -1, known);
	session->nr_viewers--;
	drop_traces(session);
	drop_session(session);
}

void live_each(struct live *live, const struct view_acl *view_acl,
	       void (*visit)(const struct live_session *session, unsigned int streams, void *data),
	       void *data)
{
	LOCKED(&live->lock);
	const struct live_session *session;
	const struct live_stream *s;

	release_kept(live);
	list_for_each(session, &live->sessions, node) {
		unsigned int nr = 0;

		if (is_gone(session) || !view_acl_covers(view_acl, session))
			continue;
		list_for_each(s, &session->streams, node)
			nr += !s->ended;
		visit(session, nr, data);
	}
}
