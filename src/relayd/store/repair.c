/* SPDX-License-Identifier: GPL-2.0-only */
#include "repair.h"

#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/thread.h"
#include "session.h"
#include "store/chunk_stream.h"
#include "turn.h"

#define MAX_DEPTH 12 /* host, session, and a trace's directories below it */

/** Which directory it is. */
struct place {
	dev_t device;
	ino_t inode;
};

struct repairer {
	struct relay *relay;
	uint64_t before_ns;
	pthread_t thread;
	bool started;
	bool stop; /* atomic */

	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	bool busy;
	struct place current; /* the session that the thread is at, if it is busy */
	void *seen;	      /* tsearch: struct place of sessions that need no repair any more */
	bool over;	      /* none needs to be */
};

static bool repair_is_stopped(const struct repairer *m)
{
	return __atomic_load_n(&m->stop, __ATOMIC_RELAXED);
}

/* Files that this relay has written are whole, or will be; but for those it wrote as it began,
 * which the thread is kept from by the sessions' claims: times of files have steps of some
 * milliseconds. */
static bool is_old(const struct repairer *m, int fd, struct stat *ret)
{
	return fstat(fd, ret) == 0 && stat_mtime_ns(ret) < m->before_ns;
}

/* --- metadata ------------------------------------------------------------------------ */

/* Up to the end of the last packet that is there in its full length. */
static uint64_t whole_metadata(int fd, uint8_t ret_uuid[16])
{
	uint64_t at = 0, end = fd_bytes(fd);
	struct metapacket head;

	while (at < end && chunk_read_metapacket(fd, at, &head) && head.bytes <= end - at) {
		if (head.has_uuid)
			memcpy(ret_uuid, head.uuid, sizeof(head.uuid));
		at += head.bytes;
	}
	return at;
}

/* --- streams ------------------------------------------------------------------------- */

/* CHANNEL_NUMBER. Return: where the number begins, or NULL. */
static const char *repair_number_of(const char *name, uint64_t *ret)
{
	const char *last = strrchr(name, '_');

	if (!last || last == name || parse_u64(last + 1, ret) < 0 || *ret > UINT32_MAX)
		return NULL;
	return last + 1;
}

/* The time of the last write shows which relay wrote its last packet (doubted_ns): it is kept. */
static uint64_t repair_stream(const struct repairer *m, struct chunk_trace *trace, const char *name)
{
	AUTO_FD int fd = chunk_open_file(trace->fd, name);
	AUTO_FREE char *channel = NULL;
	struct stream_config config = { .trace = trace, .disk = trace->disk };
	struct packet_header first = { 0 };
	struct chunk_stream file;
	uint64_t number, cut = 0;
	const char *digits = repair_number_of(name, &number);
	struct stat before, after;

	if (!digits || fd < 0 || !is_old(m, fd, &before))
		return 0;
	(void)!pread(fd, &first, sizeof(first), 0);
	/* the last number of its name may be a CPU's or a file's: both are searched for so */
	config.channel = channel = xstrdup(name);
	channel[digits - name - 1] = '\0';
	config.stream_class = first.stream_id;
	config.first_instance = first.stream_instance_id - (uint32_t)number;
	chunk_stream_init(&file, &config, (uint32_t)number);
	if (chunk_stream_continue(&file, &first, &cut) < 0)
		log_warn("%s/%s can't be repaired", trace->path, name);
	chunk_stream_close(&file);
	if (fstat(fd, &after) == 0 && stat_mtime_ns(&after) != stat_mtime_ns(&before))
		(void)!futimens(fd, (struct timespec[]){ { .tv_nsec = UTIME_OMIT },
							 before.st_mtim });
	return cut;
}

static uint64_t repair_streams(struct repairer *m, struct chunk_trace *trace)
{
	AUTO_DIR DIR *dir = dir_open(trace->fd, ".");
	struct dirent *entry;
	uint64_t cut = 0;

	while (!repair_is_stopped(m) && (entry = dir_next(dir)))
		if (entry->d_name[0] != '.')
			cut += repair_stream(m, trace, entry->d_name);
	return cut;
}

static uint64_t repair_trace(struct repairer *m, int fd, const char *path)
{
	AUTO_FD int metadata_fd = chunk_open_file(fd, "metadata");
	AUTO_FD int index_fd = chunk_open_dir(fd, "index");
	struct disk disk = { 0 };
	struct chunk_trace trace = { .path = (char *)path,
				     .fd = fd,
				     .index_fd = index_fd,
				     .metadata_fd = metadata_fd,
				     .disk = &disk };
	uint64_t whole, cut;
	struct stat st;

	if (metadata_fd < 0 || index_fd < 0)
		return 0;
	whole = whole_metadata(metadata_fd, trace.uuid);
	cut = is_old(m, metadata_fd, &st) ? (uint64_t)st.st_size - whole : 0;
	if (cut && ftruncate(metadata_fd, (off_t)whole) < 0)
		log_warn("the metadata of %s can't be repaired", path);
	if (!whole)
		return cut; /* its streams can't be identified: they stay */
	return cut + repair_streams(m, &trace);
}

/* --- all of them ----------------------------------------------------------------------- */

static int repair_compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->inode > y->inode) - (x->inode < y->inode);
}

/* With the lock. Return: false: it has been here before. */
static bool note_seen(struct repairer *m, const struct place *place)
{
	struct place *own;

	if (tfind(place, &m->seen, repair_compare))
		return false;
	own = xalloc(sizeof(*own));
	*own = *place;
	if (!tsearch(own, &m->seen, repair_compare))
		free(own);
	return true;
}

static bool find_place(int fd, struct place *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	*ret = (struct place){ .device = st.st_dev, .inode = st.st_ino };
	return true;
}

/* The thread begins with a session. Return: false: the session was claimed or is done. */
static bool repair_enter(struct repairer *m, int fd)
{
	struct place place;
	bool mine = find_place(fd, &place);

	pthread_mutex_lock(&m->lock);
	mine = mine && note_seen(m, &place);
	m->busy = mine;
	m->current = place;
	pthread_mutex_unlock(&m->lock);
	return mine;
}

static void repair_leave(struct repairer *m)
{
	pthread_mutex_lock(&m->lock);
	m->busy = false;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
}

/* @in_session: below a directory that has been entered. */
static uint64_t repair_below(struct repairer *m, int at_fd, const char *name, int depth,
			     bool in_session)
{
	AUTO_DIR DIR *dir = depth > MAX_DEPTH ? NULL : dir_open(at_fd, name);
	bool enters = dir && !in_session && relsession_status_of_dir(dirfd(dir)) != RELSESSION_NONE;
	struct dirent *entry;
	uint64_t cut;

	if (!dir || (enters && !repair_enter(m, dirfd(dir))))
		return 0;
	if (enters && relturn_finish(m->relay, dirfd(dir)) < 0)
		log_warn("the rotation of %s can't be finished", name);
	cut = repair_trace(m, dirfd(dir), name);
	while (!repair_is_stopped(m) && (entry = dir_next(dir)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "index") != 0 &&
		    (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN))
			cut += repair_below(m, dirfd(dir), entry->d_name, depth + 1,
					    enters || in_session);
	if (enters)
		repair_leave(m);
	return cut;
}

static void repair_report(uint64_t cut)
{
	if (cut)
		log_warn("%llu bytes of unfinished packets were removed", (unsigned long long)cut);
}

static void *repair_all(void *data)
{
	struct repairer *m = data;

	repair_report(repair_below(m, m->relay->out_fd, ".", 0, false));
	pthread_mutex_lock(&m->lock);
	m->over = !repair_is_stopped(m);
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

void repairer_claim(struct repairer *m, int fd)
{
	struct place place;
	bool first;

	if (!m || !find_place(fd, &place))
		return;
	pthread_mutex_lock(&m->lock);
	while (m->busy && repair_compare(&m->current, &place) == 0)
		pthread_cond_wait(&m->changed, &m->lock);
	first = !m->over && note_seen(m, &place);
	pthread_mutex_unlock(&m->lock);
	if (first)
		repair_report(repair_below(m, fd, ".", 0, true));
}

/* --- life ------------------------------------------------------------------------------- */

int repairer_start(struct repairer **ret, struct relay *relay, uint64_t before_ns)
{
	struct repairer *m = xalloc(sizeof(*m));
	int error;

	m->relay = relay;
	m->before_ns = before_ns;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
	error = thread_start(&m->thread, repair_all, m);
	m->started = error == 0;
	if (error)
		repairer_free(m);
	else
		*ret = m;
	return error;
}

void repairer_stop(struct repairer *m)
{
	if (m)
		__atomic_store_n(&m->stop, true, __ATOMIC_RELAXED);
}

void repairer_free(struct repairer *m)
{
	if (!m)
		return;
	repairer_stop(m);
	if (m->started)
		pthread_join(m->thread, NULL);
	tdestroy(m->seen, free);
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
