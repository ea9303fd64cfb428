/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "verify.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "chain.h"
#include "find.h"
#include "source.h"
#include "read/clock/clock.h"
#include "trace/clock_watch.h"
#include "trace/index.h"
#include "trace/metadata.h"
#include "trace/streamlist.h"
#include "view_priv.h"

/* --- one index -------------------------------------------------------------- */

static bool index_header_fits(const struct index_header *h)
{
	return be32toh(h->magic) == INDEX_MAGIC && be32toh(h->major) == INDEX_MAJOR &&
	       be32toh(h->entry_bytes) >= offsetof(struct index_entry, packet_seq_num) &&
	       be32toh(h->entry_bytes) <= 4096;
}

/* No entry is all 0, so an index ends at its first hole: its size is no bound. */
static uint64_t index_end(int fd, off_t size)
{
	off_t hole = lseek(fd, sizeof(struct index_header), SEEK_HOLE);

	return (uint64_t)(hole < (off_t)sizeof(struct index_header) ? size : MIN(hole, size));
}

/* Return: false: it is there and is none. */
static bool view_verify_index_open(struct verify_index *index, const struct source *s,
				   const char *name)
{
	char path[512];
	struct index_header head;
	struct stat st;
	uint64_t end;

	*index = (struct verify_index){ .fd = -1 };
	if (snprintf(path, sizeof(path), "index/%s.idx", name) >= (int)sizeof(path))
		return true;
	index->fd = openat(s->dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (index->fd < 0)
		return true;
	if (fstat(index->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    pread(index->fd, &head, sizeof(head), 0) == sizeof(head) && index_header_fits(&head)) {
		index->entry_bytes = be32toh(head.entry_bytes);
		end = index_end(index->fd, st.st_size);
		index->has_hole = end < (uint64_t)st.st_size;
		index->nr = (end - sizeof(head)) / index->entry_bytes;
		return true;
	}
	index->fd = close_fd(index->fd);
	return st.st_size == 0;
}

/* In the machine's byte order. */
static bool entry_get(const struct verify_index *index, uint64_t i, struct index_entry *ret)
{
	size_t want = MIN(sizeof(*ret), (size_t)index->entry_bytes);
	uint64_t words[sizeof(*ret) / 8] = { 0 };

	if (i >= index->nr ||
	    pread(index->fd, words, want, sizeof(struct index_header) + i * index->entry_bytes) !=
		    (ssize_t)want)
		return false;
	for (size_t k = 0; k < ARRAY_SIZE(words); k++)
		words[k] = be64toh(words[k]);
	memcpy(ret, words, sizeof(*ret));
	return true;
}

static void report_wrong(struct verify_index *index, struct feed *f, uint64_t offset,
			 const char *what)
{
	if (!index->wrong)
		report(f->source->reporter, "%s/%s: the packet at byte %llu: %s", f->source->label,
		       f->name, (unsigned long long)offset, what);
	index->wrong = true;
}

static bool entry_fits(const struct index_entry *e, const struct packet *p)
{
	uint64_t lost = 0;

	for (int i = 0; i < VIEW_NR_LOST; i++)
		lost += p->lost[i];
	if (packet_has(p, ROLE_RECORDED) &&
	    (e->packet_seq_num != p->seq_num || e->stream_instance_id != p->instance ||
	     e->events_discarded != lost))
		return false;
	return e->packet_size == p->size * 8 && e->content_size == p->content_bits &&
	       (!packet_has(p, ROLE_BEGIN) || e->timestamp_begin == p->begin) &&
	       (!packet_has(p, ROLE_END) || e->timestamp_end == p->end) &&
	       e->stream_id == p->stream_id;
}

void verify_index_packet(struct verify_index *index, struct feed *f)
{
	struct index_entry entry;
	bool found = entry_get(index, index->at, &entry);

	/* those of damaged packets have been reported */
	for (; found && entry.offset < f->packet.offset; index->at++)
		found = entry_get(index, index->at + 1, &entry);
	if (!found || entry.offset != f->packet.offset) {
		f->tally->sum.unindexed_packets++;
		return;
	}
	index->at++;
	if (!entry_fits(&entry, &f->packet))
		report_wrong(index, f, entry.offset, "its entry in the index is wrong");
}

/* An entry is written once its packet is whole in the file. The file may have grown
 * since its size was taken, but never shrinks. */
void verify_index_end(struct verify_index *index, struct feed *f)
{
	struct index_entry entry;
	struct stat st;

	if (index->fd < 0 || !f->window.file || fstat(window_fd(&f->window), &st) < 0)
		return;
	for (; entry_get(index, index->at, &entry); index->at++) {
		if (entry.offset >= (uint64_t)st.st_size ||
		    entry.packet_size / 8 > (uint64_t)st.st_size - entry.offset) {
			report_wrong(index, f, entry.offset,
				     "it is in the index, but the file ends before it does");
			tally_damaged(f->tally);
			return;
		}
		if (entry.offset == f->cut_at &&
		    entry.packet_size / 8 <= f->window.limit - entry.offset) {
			report_wrong(index, f, entry.offset,
				     "it is damaged: the index says that it is whole");
			tally_damaged(f->tally);
		}
	}
}

/* --- streams that are gone --------------------------------------------------- */

#define NOT_A_FILE "%s/%s is missing: something that is no file has its place"

/* It was there when the trace was opened: it isn't searched for again. */
static bool had_bytes(const struct source *s, const char *name, uint64_t bytes)
{
	const struct feed *feed = source_feed(s, name);

	return feed && feed->window.limit >= bytes;
}

/* Each file in index/ belongs to a stream, which is made before its index. */
static void check_stream_of(struct source *s, int index_fd, const char *file)
{
	size_t len = strlen(file);
	char name[NAME_MAX + 1];
	struct stat st, stream;

	if (len < 5 || len > NAME_MAX || strcmp(file + len - 4, ".idx") != 0)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)len - 4, file);
	if (had_bytes(s, name, 1) || fstatat(index_fd, file, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (uint64_t)st.st_size <= sizeof(struct index_header))
		return;
	if (fstatat(s->dir_fd, name, &stream, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT && fstatat(index_fd, file, &st, AT_SYMLINK_NOFOLLOW) == 0)
			report(s->reporter, "%s/%s is missing: there is only its index", s->label,
			       name);
	} else if (!S_ISREG(stream.st_mode))
		report(s->reporter, NOT_A_FILE, s->label, name);
	else if (!stream.st_size)
		report(s->reporter, "%s/%s is empty, but its index is not", s->label, name);
}

static void check_index_dir(struct source *s)
{
	AUTO_DIR DIR *dir = dir_open(s->dir_fd, "index");
	struct dirent *entry;

	while ((entry = dir_next(dir)))
		check_stream_of(s, dirfd(dir), entry->d_name);
}

/* --- the list of streams ------------------------------------------------------ */

#define LIST_MAX (16u << 20)

/* Allocated; NULL: there is none that makes sense. */
static char *list_read(int dir_fd, const char *name)
{
	AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_FREE char *text = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > LIST_MAX)
		return NULL;
	text = xalloc((size_t)st.st_size + 1);
	return pread(fd, text, (size_t)st.st_size, 0) < 0 ? NULL : TAKE(text);
}

/* Is it a file of a stream of which the last ones are kept? @len: of @name, without '*'. */
static bool is_file_of(const char *file, const char *name, size_t len)
{
	return strncmp(file, name, len) == 0 && file[len] &&
	       file[len + strspn(file + len, "0123456789")] == '\0';
}

static bool view_verify_has_any(const struct source *s, const char *name, size_t len)
{
	for (uint32_t i = 0; i < s->nr_feeds; i++)
		if (is_file_of(s->feeds[i]->name, name, len))
			return true;
	return false;
}

/* An entry "+STORED LOST NAME*", without its end: so much is in earlier archives. */
static void take_off_before(struct source *s, const char *entry)
{
	char *at, *name;
	uint64_t stored = strtoull(entry + 1, &at, 10), lost = strtoull(at, &name, 10);
	size_t len = strlen(name);

	if (*name != ' ' || name[len - 1] != STREAMLIST_ALL)
		return;
	for (struct tally *t = s->tallies; t; t = t->next) {
		if (!t->sum.name || t->has_base || t->taken_off ||
		    !is_file_of(t->sum.name, name + 1, len - 2))
			continue;
		t->taken_off = true;
		t->sum.before -= MIN(t->sum.before, stored);
		t->sum.lost_before -= MIN(t->sum.lost_before, lost);
	}
}

static void view_verify_check_file(struct source *s, const char *name, uint64_t bytes)
{
	char index[NAME_MAX + sizeof("index/.idx")];
	struct stat st;

	if (had_bytes(s, name, MAX(bytes, (uint64_t)1)))
		return;
	snprintf(index, sizeof(index), "index/%s.idx", name);
	if (fstatat(s->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (!S_ISREG(st.st_mode))
			report(s->reporter, NOT_A_FILE, s->label, name);
		else if ((uint64_t)st.st_size < bytes)
			report(s->reporter, "%s/%s has %llu bytes and had %llu", s->label, name,
			       (unsigned long long)st.st_size, (unsigned long long)bytes);
	} else if (errno == ENOENT && fstatat(s->dir_fd, index, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		report(s->reporter, "%s/%s is missing, and so is its index", s->label, name);
	}
}

static uint64_t entry_bytes(const char *entry)
{
	return strtoull(entry, NULL, 10);
}

static const char *entry_name(const char *entry)
{
	return strchr(entry, ' ') + 1;
}

/* @entry: without its end. */
static bool is_entry(const char *entry)
{
	size_t digits = strspn(entry, "0123456789"), len = strlen(entry);

	return digits && entry[digits] == ' ' && len > digits + 1 && len - digits <= NAME_MAX &&
	       !strchr(entry, '/');
}

static void check_entry(struct source *s, const char *entry)
{
	const char *name = entry_name(entry);
	size_t len = strlen(name);

	if (name[len - 1] != STREAMLIST_ALL)
		view_verify_check_file(s, name, entry_bytes(entry));
	else if (!view_verify_has_any(s, name, len - 1))
		report(s->reporter, "%s/%s: none of the stream's files is there", s->label, name);
}

static int view_verify_by_name(const void *a, const void *b)
{
	return strcmp(entry_name(a), entry_name(b));
}

/* Of the entries about a file the one with the most bytes counts. Return: 0 or -ENOMEM. */
static int view_verify_add_entry(void **entries, char *e)
{
	char **found = tsearch(e, entries, view_verify_by_name);

	if (found && entry_bytes(e) > entry_bytes(*found))
		*found = e;
	return found ? 0 : -ENOMEM;
}

static int check_entries(struct source *s, char *text)
{
	const char begin[] = { STREAMLIST_BEGIN, '\0' };
	void *entries = NULL;
	char *rest = NULL;
	int ret = 0;

	for (char *e = strtok_r(text, begin, &rest); e; e = strtok_r(NULL, begin, &rest)) {
		size_t len = strlen(e);

		if (e[len - 1] != STREAMLIST_END)
			continue;
		e[len - 1] = '\0';
		if (*e == STREAMLIST_BEFORE)
			take_off_before(s, e);
		else if (is_entry(e) && ret == 0)
			ret = view_verify_add_entry(&entries, e);
	}
	while (entries) {
		char *e = *(char **)entries;

		check_entry(s, e);
		tdelete(e, &entries, view_verify_by_name);
	}
	return ret;
}

static int view_verify_by_label(const void *one, const void *other)
{
	const struct view_session *a = one, *b = other;

	return strcmp(a->label, b->label);
}

void verify_sort_sessions(struct view *view)
{
	if (view->nr_sessions)
		qsort(view->sessions, view->nr_sessions, sizeof(*view->sessions),
		      view_verify_by_label);
}

/* Of a trace: that of a snapshot is in the directory of a session. Each archive has one: they are
 * found by the directories in the trace's label. */
static const struct view_session *session_of(const struct view *view, const struct source *source)
{
	AUTO_FREE char *label = xstrdup(source->label);
	const struct view_session key = { .label = label }, *found = NULL;

	while (view->nr_sessions && !found) {
		char *slash = strrchr(label, '/');

		found = bsearch(&key, view->sessions, view->nr_sessions, sizeof(key),
				view_verify_by_label);
		if (!*label)
			break;
		*(slash ? slash : label) = '\0';
	}
	return found;
}

/* Has it no stream, and its session a list that it is not in? It gets there with its first one. */
static bool had_no_stream(const struct view_session *session, const struct source *s)
{
	AUTO_FREE char *entry = NULL;
	const char *path = s->label;

	if (!session || !session->list || s->nr_feeds)
		return false;
	path += strlen(session->label) + (*session->label != '\0');
	entry = xasprintf("\n%s%s%s" TRACELIST_END, session->below, *session->below ? "/" : "", path);
	return !strstr(session->list, entry);
}

/* Without a list it is not known which streams there were: it is older than that, or no file of
 * it is there yet, or it is another tracer's. */
static void check_list(const struct view *view, struct source *s)
{
	AUTO_FREE char *text = list_read(s->dir_fd, STREAMLIST_FILE);
	const struct view_session *session = session_of(view, s);
	bool listed = session || strcmp(s->label, ".") == 0;

	if (text)
		s->list_incomplete = check_entries(s, text) < 0 || !listed;
	else
		s->list_incomplete = !had_no_stream(session, s);
}

/* A copy of a stream's file has each record a second time. */
static void check_copies(struct source *s)
{
	void *begins = NULL;

	for (const struct tally *t = s->tallies; t; t = t->next) {
		const struct tally **first =
			tally_has_begin(t) ? tsearch(t, &begins, tally_compare_begins) : &t;

		if (!first)
			report(s->reporter, "%s/%s: no memory to find copies of it", s->label,
			       t->sum.name);
		else if (*first != t)
			report(s->reporter, "%s/%s has the packets of %s: one is a copy", s->label,
			       t->sum.name, (*first)->sum.name);
	}
	while (begins)
		tdelete(*(const struct tally **)begins, &begins, tally_compare_begins);
}

/* Report each stream of a trace that is missing or too short, by its index and its list. */
static void verify_streams(const struct view *view, struct source *s)
{
	check_index_dir(s);
	check_list(view, s);
	check_copies(s);
}

/* --- the list of traces -------------------------------------------------------- */

/* Names may have dots, for example that of a program; only ".." leads out of the session. */
static bool is_path(const char *path, size_t len)
{
	if (!len || len >= TRACELIST_PATH_MAX || path[0] == '/')
		return false;
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (strcspn(at, "/") == 2 && strncmp(at, "..", 2) == 0)
			return false;
	}
	return true;
}

/* No level is a link: find_traces() follows none. Return: the directory, or negative errno. */
static int view_verify_open_below(int dir_fd, const char *path)
{
	AUTO_FREE char *copy = xstrdup(path);
	char *rest = NULL;
	int at = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);

	for (char *name = strtok_r(copy, "/", &rest); name && at >= 0;
	     name = strtok_r(NULL, "/", &rest)) {
		int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int error = errno;

		close(at);
		at = next < 0 ? -error : next;
	}
	return at;
}

/* NULL: it is there, and was read. */
static const char *view_verify_why_missing(int dir_fd, const char *path)
{
	int fd = view_verify_open_below(dir_fd, path);
	const char *why = NULL;

	if (fd == -ENOENT)
		return "is missing";
	if (fd == -ELOOP || fd == -ENOTDIR)
		return "is missing: a link or a file has its place";
	if (fd < 0)
		return "can't be opened";
	if (find_trace_state(fd) == TRACE_NONE)
		why = "is missing: its directory has no stream";
	close(fd);
	return why;
}

static void view_verify_check_trace(struct view *view, int dir_fd, const char *label,
				    const char *path)
{
	const char *why = view_verify_why_missing(dir_fd, path);
	char *text;

	if (!why)
		return;
	text = xasprintf("the trace %s%s%s %s", label, *label ? "/" : "", path, why);
	for (size_t i = 0; i < view->nr_missing; i++)
		if (strcmp(view->missing[i], text) == 0) { /* listed twice */
			free(text);
			return;
		}
	view->missing = xrealloc(view->missing, (view->nr_missing + 1) * sizeof(*view->missing));
	view->missing[view->nr_missing++] = text;
}

/* The next entry of a list, without its end; one that is torn lacks it. NULL: there is none. */
static char *next_entry(char *text, char **rest)
{
	const size_t end = strlen(TRACELIST_END);

	for (char *e = strtok_r(text, "\n", rest); e; e = strtok_r(NULL, "\n", rest)) {
		size_t len = strlen(e);

		if (len <= end || strcmp(e + len - end, TRACELIST_END) != 0)
			continue;
		e[len - end] = '\0';
		return e;
	}
	return NULL;
}

static void note_state(const char *entry, bool *open)
{
	if (strcmp(entry, TRACELIST_OPEN) == 0 || strcmp(entry, TRACELIST_ENDED) == 0)
		*open = strcmp(entry, TRACELIST_OPEN) == 0;
}

/* Ownership of the strings of @new is passed. */
static void add_session(struct view *view, const struct view_session *new)
{

	view->sessions =
		xrealloc(view->sessions, (view->nr_sessions + 1) * sizeof(*view->sessions));
	view->sessions[view->nr_sessions++] = *new;
}

int verify_list(void *priv, int dir_fd, const char *label)
{
	AUTO_FREE char *text = list_read(dir_fd, TRACELIST_FILE);
	struct view *view = priv;
	struct view_session session = {
		.path = xasprintf("%s%s%s", view->dir, *label ? "/" : "", label),
		.label = xstrdup(label),
		.below = xstrdup(""),
		.list = text ? xstrdup(text) : NULL,
	};
	char *rest = NULL, *e = text ? next_entry(text, &rest) : NULL;

	for (; e; e = next_entry(NULL, &rest))
		note_state(e, &session.open);
	add_session(view, &session);
	return 0;
}

static int verify_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Only those that were not found are searched for. @labels: of the others, sorted. */
static void verify_session_list(struct view *view, const struct view_session *session,
				const char **labels)
{
	AUTO_FREE char *text = xstrdup(session->list);
	AUTO_FD int fd = -1;
	char *rest = NULL;

	for (char *e = next_entry(text, &rest); e; e = next_entry(NULL, &rest)) {
		AUTO_FREE char *label = xasprintf(
			"%s%s%s", session->label, *session->label ? "/" : "", e);

		if (!is_path(e, strlen(e)) || bsearch(&label, labels, view->nr_sources,
						      sizeof(*labels), verify_by_text))
			continue;
		if (fd < 0)
			fd = open(session->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		view_verify_check_trace(view, fd, session->label, e);
	}
}

void verify_lists(struct view *view)
{
	AUTO_FREE const char **labels = xalloc((view->nr_sources + 1) * sizeof(*labels));

	for (size_t i = 0; i < view->nr_sources; i++)
		labels[i] = view->sources[i]->label;
	if (view->nr_sources)
		qsort(labels, view->nr_sources, sizeof(*labels), verify_by_text);
	for (size_t i = 0; i < view->nr_sessions; i++)
		if (view->sessions[i].list)
			verify_session_list(view, &view->sessions[i], labels);
}

#define PATH_DEPTH 8u /* directories of a trace's path below its session's, at most */

/* Has a session's list a trace that is, or is below, @session->below? Those that are below it are
 * to be in the directory that was opened. */
static bool is_listed_in(struct view *view, struct view_session *session)
{
	AUTO_FREE char *text = xstrdup(session->list);
	AUTO_FD int fd = open(view->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t len = strlen(session->below);
	bool found = false;
	char *rest = NULL;

	for (char *e = next_entry(text, &rest); e; e = next_entry(NULL, &rest)) {
		note_state(e, &session->open);
		if (strncmp(e, session->below, len) != 0 || (e[len] != '\0' && e[len] != '/'))
			continue;
		found = true;
		if (fd >= 0 && e[len] && is_path(e + len + 1, strlen(e + len + 1)))
			view_verify_check_trace(view, fd, "", e + len + 1);
	}
	return found;
}

void verify_find_session(struct view *view)
{
	AUTO_FREE char *path = realpath(view->dir, NULL);
	char *at = path ? strrchr(path, '/') : NULL;

	for (unsigned int i = 0; i < PATH_DEPTH && at && at > path; i++) {
		AUTO_FREE char *above = strndup(path, (size_t)(at - path));
		AUTO_FD int fd = above ? open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
		AUTO_FREE char *list = fd < 0 ? NULL : list_read(fd, TRACELIST_FILE);
		struct view_session session = { .below = at + 1, .list = list };

		if (list && is_listed_in(view, &session)) {
			session.path = TAKE(above);
			session.label = xstrdup("");
			session.below = xstrdup(at + 1);
			session.list = TAKE(list);
			add_session(view, &session);
			return;
		}
		at = memrchr(path, '/', (size_t)(at - path));
	}
}

/* Those whose end is not in their list. */
static void find_unended(struct view *view)
{
	view->unended = xalloc((view->nr_sessions + 1) * sizeof(*view->unended));
	for (size_t i = 0; i < view->nr_sessions; i++) {
		struct view_unended *unended = &view->unended[view->nr_unended];

		if (!view->sessions[i].open)
			continue;
		*unended = (struct view_unended){ view->sessions[i].path, INT64_MIN };
		for (size_t k = 0; k < view->nr_sources; k++)
			if (session_of(view, view->sources[k]) == &view->sessions[i])
				unended->until_ns =
					MAX(unended->until_ns, view->sources[k]->until_ns);
		view->nr_unended++;
	}
}

void verify_report_missing(struct view *view)
{
	for (size_t i = 0; i < view->nr_missing; i++)
		report(&view->reporter, "%s", view->missing[i]);
}

/* --- all of it ---------------------------------------------------------------- */

static int verify_feed(struct feed *f, size_t preferred)
{
	struct verify_index index;
	int r;

	if (!view_verify_index_open(&index, f->source, f->name))
		report(f->source->reporter, "%s/index/%s.idx is not an index", f->source->label,
		       f->name);
	if (index.has_hole)
		report(f->source->reporter, "%s/index/%s.idx has a hole behind entry %llu",
		       f->source->label, f->name, (unsigned long long)index.nr);
	r = feed_verify(f, preferred, &index);
	close_fd(index.fd);
	return r;
}

/* Files that go on where others ended come behind them. */
static int by_time(const void *a, const void *b)
{
	const struct feed *x = *(struct feed *const *)a, *y = *(struct feed *const *)b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int verify_source(const struct view *view, struct source *s)
{
	struct feed **feeds AUTO_FREE = xalloc((s->nr_feeds + 1) * sizeof(*feeds));
	int r = 0;

	for (uint32_t i = 0; i < s->nr_feeds; i++)
		feeds[i] = s->feeds[i];
	qsort(feeds, s->nr_feeds, sizeof(*feeds), by_time);
	for (uint32_t i = 0; !r && i < s->nr_feeds; i++)
		r = verify_feed(feeds[i], view->preferred);
	verify_streams(view, s);
	return r;
}

/* Events that were read, that can't be read and that are in no file add up. */
static void check_ledger(struct view *view, const struct view_stream *stream)
{
	uint64_t have = stream->events + stream->damaged_events;

	if (stream->has_ledger && !stream->lost_packets && have != stream->recorded)
		report(&view->reporter,
		       "%s/%s: %llu events should be there by the last packet's count, and %llu are",
		       stream->trace, stream->name, (unsigned long long)stream->recorded,
		       (unsigned long long)have);
}

/* --- the clock ------------------------------------------------------------------ */

static bool is_earlier_source(const struct view *view, size_t nr, const struct clock_segment *s)
{
	for (size_t i = 0; i < nr; i++) {
		const struct metadata_remarks *remarks = &view->sources[i]->remarks;

		for (size_t k = 0; k < remarks->nr_clocks; k++)
			if (remarks->clocks[k].from == s->from &&
			    remarks->clocks[k].jump_ns == s->jump_ns)
				return true;
	}
	return false;
}

/* Times that can be of either side of the change, if they would differ by more than 1 ms. */
static void put_unsure(const struct clock_segment *s, int64_t off_ns, char *buf, size_t len)
{
	uint64_t off = off_ns < 0 ? -(uint64_t)off_ns : (uint64_t)off_ns;
	uint64_t range = s->first <= s->last ? s->last - s->first : 0;

	*buf = '\0';
	if (clock_went_back(s))
		snprintf(buf, len,
			 ", but for the first seconds after it, whose events have the time of the "
			 "last one before in their buffer, or are early by up to %.3f s",
			 (double)s->jump_ns / -1e9);
	else if (range && off > 1000000)
		snprintf(buf, len,
			 ", but for some within %.1f s of it, which can be wrong by %.3f s",
			 (double)range / (double)s->freq_hz, (double)off / 1e9);
}

/* A suspension, in which the counter stood still, is no news. */
static void verify_clock(struct view *view, const struct source *source, size_t nr)
{
	const struct ctf_clock *clock = source->tc->clocks;
	const struct clock_segment *s = &source->remarks.clocks[nr];
	struct ctf_clock before = *clock;
	char how[160], when[32], unsure[200];
	int64_t at_ns, then_ns;

	before.nr_changes = nr;
	at_ns = clock_ns(&before, s->from);
	before.nr_changes = 0;
	before.freq = s->freq_hz;
	before.base_ns = s->base_ns;
	then_ns = clock_ns(&before, s->from);
	clock_describe(s, how, sizeof(how));
	metadata_datetime((uint64_t)MAX(MIN(at_ns, then_ns), 0), when, sizeof(when));
	put_unsure(s, (int64_t)((uint64_t)then_ns - (uint64_t)at_ns), unsure, sizeof(unsure));
	view->clock_changes++;
	report_note(&view->reporter,
		    "%s%sthe clock %s at about %s; times before and after are right%s",
		    source->label, *source->label ? ": " : "", how, when, unsure);
}

static void verify_clock_set(struct view *view, const struct source *source)
{
	double s = (double)source->remarks.set_ns / 1e9;

	report_note(&view->reporter,
		    "%s%sthe time of day was set %.3f s %s while it was recorded; the times of all its "
		    "events follow the clock as it was set last",
		    source->label, *source->label ? ": " : "", s < 0 ? -s : s,
		    s < 0 ? "back" : "ahead");
}

static void verify_clocks(struct view *view)
{
	view->clock_changes = 0;
	for (size_t i = 0; i < view->nr_sources; i++) {
		const struct source *source = view->sources[i];
		const struct metadata_remarks *remarks = &source->remarks;

		if (remarks->set_ns)
			verify_clock_set(view, source);
		for (size_t k = 0; source->tc->clocks && k < remarks->nr_clocks; k++)
			if (remarks->clocks[k].cause != CLOCK_STOPPED &&
			    !is_earlier_source(view, i, &remarks->clocks[k]))
				verify_clock(view, source, k);
	}
}

void view_check_files(struct view *view)
{
	for (size_t i = 0; i < view->nr_sources; i++)
		if (!view->sources[i]->guest)
			verify_streams(view, view->sources[i]);
	verify_report_missing(view);
	chain_note_missing(view);
}

int view_verify(struct view *view)
{
	int r = view_peek(view, NULL); /* the files of a stream are verified in their order */

	for (size_t i = 0; !r && i < view->nr_sources; i++)
		r = verify_source(view, view->sources[i]);
	verify_report_missing(view);
	chain_check(view);
	verify_clocks(view);
	find_unended(view);
	for (size_t i = 0; !r && i < view->nr_sources; i++)
		for (struct tally *t = view->sources[i]->tallies; t; t = t->next) {
			view->events += t->sum.events;
			if (t->sum.name)
				check_ledger(view, &t->sum);
		}
	return r;
}
