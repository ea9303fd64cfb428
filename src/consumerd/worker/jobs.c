/* SPDX-License-Identifier: GPL-2.0-only */
/* jobs.c - a worker's jobs; runs in its thread. */
#include "priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "base/thread.h"
#include "archives.h"
#include "consumerd/now.h"
#include "io/walk.h"
#include "store/chunk_turn.h"
#include "trace/kallsyms.h"

#define RELAY_TIMEOUT_NS 1200000000ull
#define RELAY_PAUSE_MS 60
#define ARCHIVES "archives" /* directory of all archives, see con_turn */
#define ARCHIVE_DEPTH (CHUNK_MAX_DEPTH + 2) /* with its own directory, and index/ */
#define STORE_TIMEOUT_NS 5000000000ull /* while the relay's store takes nothing */
#define RECLAIM_PATIENCE_NS 2000000000ull /* a user waits */
#define DRAIN_TIMEOUT_NS 10000000000ull /* while a relay that is back takes something */

/* --- identity ------------------------------------------------------------------
 * Raw system calls: libc's would change the ids of the whole process. */

static int set_fs_ids(uid_t uid, gid_t gid)
{
	syscall(SYS_setfsgid, gid);
	syscall(SYS_setfsuid, uid);
	/* an invalid id changes nothing and returns the one in force */
	if (syscall(SYS_setfsgid, -1) != (long)gid || syscall(SYS_setfsuid, -1) != (long)uid)
		return -EPERM;
	return 0;
}

static bool is_other_user(const struct worker *w)
{
	return w->config.uid != geteuid() || w->config.gid != getegid();
}

/* Runs with the owner's rights: a directory that the owner may not enter is not opened. Return: a
 * descriptor; -1: @err is set. */
static int find_dir(const char *path, const struct dirid *dir, struct err *err)
{
	int fd = dirid_open(path, dir);

	if (fd == -ESTALE)
		err_set(err, ERR_OUTPUT, "%s has been replaced by another directory", path);
	else if (fd < 0)
		err_errno(err, ERR_OUTPUT, -fd, "can't open %s again", path);
	return MAX(fd, -1);
}

static bool has_files(const struct worker *w)
{
	return !w->sink->link && !w->chunk.in_memory && w->config.dir_fd >= 0;
}

/* It is requested again when all traces and ring sets were adopted. */
static void resume_turn(struct worker *w, const char *name, uint64_t output, struct err *err)
{
	int ret = has_files(w) ? chunk_turn_resume(&w->chunk, name, output) : -ENOENT;

	if (ret == 0)
		w->turning = xstrdup(name);
	else if (ret != -ENOENT)
		err_errno(err, ERR_OUTPUT, -ret, "the trace can't be moved to '%s'", name);
}

static bool do_start(struct worker *w, struct job *job)
{
	int ret = 0;

	w->owner = job->owner;
	if (w->config.uid == geteuid())
		w->config.gid = getegid();
	else
		ret = syscall(SYS_setgroups, 0, NULL) < 0 ? -errno : 0;
	if (ret == 0 && is_other_user(w))
		ret = set_fs_ids(w->config.uid, w->config.gid);
	if (ret < 0)
		err_errno(&job->err, ERR_DENIED, -ret, "can't create files as user %u",
			  (unsigned int)w->config.uid);
	else if (job->start.path)
		w->config.dir_fd = w->chunk.fd =
			find_dir(job->start.path, &job->start.dir, &job->err);
	if (!job->err.code && job->start.turning)
		resume_turn(w, job->start.turning, job->id, &job->err);
	if (!job->err.code) {
		const struct sink_start start = {
			.dir_fd = w->config.dir_fd,
			.leftover = w->config.leftover,
			.connect = !job->start.path && !w->config.relay_later,
		};

		if (w->config.gap)
			sink_note_gap(w->sink);
		if (w->sink->ops->start)
			(void)w->sink->ops->start(w->sink, &start, &job->err);
	}
	return true;
}

/* --- traces ------------------------------------------------------------------- */

/* An unreachable relay receives it later; metadata waits for that. */
static void announce_trace(struct worker *w, struct chunk_trace *dir, bool found)
{
	const struct sink_ops *ops = w->sink->ops;
	int ret = ops->open_chunk ? ops->open_chunk(w->sink, dir, found) : 0;

	if (ret < 0)
		worker_note(w, -ret, "opening a trace at the relay");
}

/* In memory it is kept for the next consumer. */
static struct chunk_trace *add_trace(struct worker *w, struct job *job)
{
	struct job_trace *trace = &job->trace;
	const struct chunk_trace_spec spec = {
		.id = job->id,
		.path = trace->path,
		.uuid = trace->uuid,
		.metadata_bytes = trace->metadata_bytes,
		.metadata_fd = TAKE_FD(trace->metadata),
	};
	struct chunk_trace *dir;

	if ((trace->adopt ? chunk_trace_continue : chunk_trace_open)(&w->chunk, &spec, &dir,
								     &job->err))
		return NULL;
	if (w->chunk.in_memory)
		trace->metadata = fcntl(dir->metadata_fd, F_DUPFD_CLOEXEC, 3);
	return dir;
}

static void open_trace(struct worker *w, struct job *job)
{
	struct chunk_trace *dir = add_trace(w, job);

	if (dir)
		announce_trace(w, dir, false);
}

/* Jobs that were in flight when the session daemon died are requested again. */
static void drop_jobs(struct worker *w, struct list_node *jobs, uint64_t trace)
{
	struct job *job, *tmp;

	list_for_each_safe(job, tmp, jobs, node) {
		if (job->id != trace)
			continue;
		list_remove(&job->node);
		err_set(&job->err, ERR_STATE, "the trace has been taken over, or closed");
		job_queue_push(w->config.done, job);
	}
}

static void drop_delayed(struct worker *w, uint64_t trace)
{
	drop_jobs(w, &w->delayed, trace);
	drop_jobs(w, &w->closing, trace);
}

static void adopt_trace(struct worker *w, struct job *job)
{
	struct chunk_trace *dir = chunk_find(&w->chunk, job->id);
	int ret;

	w->unreported = true;
	if (dir || !w->chunk.in_memory)
		job->trace.metadata = close_fd(job->trace.metadata);
	if (dir) {
		drop_delayed(w, job->id);
		ret = chunk_trace_cut(dir, job->trace.metadata_bytes, false);
		if (ret < 0)
			err_errno(&job->err, ERR_OUTPUT, -ret, "can't continue the trace '%s'",
				  dir->path);
		else
			announce_trace(w, dir, false);
		return;
	}
	dir = add_trace(w, job);
	if (!dir)
		return;
	w->measure = true;
	if (!w->adopted && w->disk.max_size)
		w->closed_bytes += chunk_tree_bytes(w->chunk.fd, ARCHIVES, ARCHIVE_DEPTH);
	w->adopted = true;
	announce_trace(w, dir, true);
}

static bool do_trace(struct worker *w, struct job *job)
{
	(job->trace.adopt ? adopt_trace : open_trace)(w, job);
	return true;
}

int worker_append(struct worker *w, struct job *job)
{
	struct chunk_trace *dir = chunk_find(&w->chunk, job->id);
	const struct sink_ops *ops = w->sink->ops;
	const void *text = job->metadata.text;
	uint32_t len = job->metadata.text_len;
	int ret = ops->append ? ops->append(w->sink, dir, text, len) : chunk_append(dir, text, len);

	job->metadata.bytes = dir->metadata_bytes;
	return ret;
}

/* Metadata that can't be written now is written first when that is possible
 * again; its answer waits until then. */
static bool do_metadata(struct worker *w, struct job *job)
{
	int ret;

	if (!chunk_find(&w->chunk, job->id)) {
		err_set(&job->err, ERR_INVALID, "no trace %llu", (unsigned long long)job->id);
		return true;
	}
	ret = list_empty(&w->delayed) ? worker_append(w, job) : -EAGAIN;
	if (ret == 0)
		return true;
	list_append(&w->delayed, &job->node);
	if (ret != -EAGAIN)
		worker_note(w, -ret, "writing metadata");
	return false;
}

/* A relay, or the spool for it, gets none: the names are for readers on this host. */
static bool do_kallsyms(struct worker *w, struct job *job)
{
	struct chunk_trace *dir = chunk_find(&w->chunk, job->id);
	int ret;

	if (!dir) {
		err_set(&job->err, ERR_INVALID, "no trace %llu", (unsigned long long)job->id);
		return true;
	}
	if (w->sink->link)
		return true;
	ret = chunk_trace_set_kallsyms(dir, job->kallsyms.file);
	if (ret < 0)
		err_errno(&job->err, ERR_OUTPUT, -ret, "can't write '%s/" KALLSYMS_FILE "'",
			  dir->path);
	return true;
}

/* --- rings -------------------------------------------------------------------- */

/* The control pages belong to us and not to the output's user: an application
 * of that user could otherwise open its read-only descriptor again for writing. */
static void open_ring(struct worker *w, struct job_ring *ring, struct chunk_trace *dir,
		      struct err *err)
{
	int ret = 0;

	if (is_other_user(w))
		ret = set_fs_ids(geteuid(), getegid());
	if (ret == 0)
		ret = ringset_new(&ring->spec, dir, &ring->set, &ring->fds, err);
	if (is_other_user(w) && set_fs_ids(w->config.uid, w->config.gid) < 0)
		err_set(err, ERR_DENIED, "can't create files as user %u",
			(unsigned int)w->config.uid);
	if (ret == 0) {
		list_append(&w->sets, &ring->set->node);
		if (sink_attaches_all(w->sink) && worker_attach(w) < 0)
			worker_flow(w); /* the next round sees to it */
		if (w->pace != PACE_FLOWING)
			ringset_set_state(ring->set, LTT_RING_WAKE);
	}
}

/* Data waits in the rings, and the producers may or may not know that this thread sleeps. */
static void adopt_ring(struct worker *w, struct job_ring *ring, struct chunk_trace *dir,
		       struct err *err)
{
	int ret;

	if (ring->fds.data < 0) {
		ringset_repair(&ring->spec, dir, &ring->cut_bytes, err);
		return;
	}
	if (ringset_adopt(&ring->spec, dir, &ring->fds, &ring->set, &ring->cut_bytes, err))
		return;
	ret = notifier_add(&w->notifier, ring->set);
	if (ret < 0) {
		ring->set = ringset_leave(ring->set);
		err_errno(err, ERR_INTERNAL, -ret, "can't poll the kernel's buffers");
		return;
	}
	list_append(&w->sets, &ring->set->node);
	worker_flow(w);
}

static bool do_ring(struct worker *w, struct job *job)
{
	struct chunk_trace *dir = chunk_find(&w->chunk, job->ring.trace);

	job->ring.spec.sink = w->sink;
	/* without a trace, only snapshots have the records of one that is overwritten */
	if (job->ring.spec.desc.mode == LTT_RING_OVERWRITE && w->chunk.in_memory)
		job->ring.spec.kept = true;
	if (dir)
		(job->ring.adopt ? adopt_ring : open_ring)(w, &job->ring, dir, &job->err);
	else
		err_set(&job->err, ERR_INVALID, "no trace %llu",
			(unsigned long long)job->ring.trace);
	return true;
}

static bool jobs_is_in_use(const struct worker *w, const struct chunk_trace *dir)
{
	const struct ringset *set;

	list_for_each(set, &w->sets, node)
		if (set->config.trace == dir)
			return true;
	return false;
}

void worker_close_trace(struct worker *w, struct chunk_trace *dir)
{
	chunk_trace_release(dir);
	if (!w->sink->link) /* no turn moves the files of a spool, and nothing may stay of it */
		chunk_trace_end(dir);
	if (w->sink->ops->close_chunk)
		w->sink->ops->close_chunk(w->sink, dir);
	w->closed_bytes += chunk_trace_measure(dir);
	chunk_trace_free(dir);
}

/* Where data waits for a relay, when that has everything. */
static bool do_trace_close(struct worker *w, struct job *job)
{
	struct chunk_trace *dir = chunk_find(&w->chunk, job->id);

	if (!dir || jobs_is_in_use(w, dir)) {
		err_set(&job->err, ERR_INVALID, "no trace %llu without ring sets",
			(unsigned long long)job->id);
		return true;
	}
	drop_delayed(w, job->id);
	if (sink_state(w->sink).behind || sink_keeps_trace(w->sink, dir)) {
		list_append(&w->closing, &job->node);
		return false;
	}
	worker_close_trace(w, dir);
	return true;
}

/* The last counters of a set include the snapshot that is being written. */
static bool do_ring_close(struct worker *w, struct job *job)
{
	struct ringset *set = ringset_find(&w->sets, job->id);

	if (set && w->saving && ringset_is_kept(set)) {
		list_append(&w->held, &job->node);
		return false;
	}
	if (set) {
		notifier_remove(&w->notifier, set);
		ringset_free(set);
	} else {
		err_set(&job->err, ERR_INVALID, "no ring set %llu", (unsigned long long)job->id);
	}
	return true;
}

/* --- snapshots ------------------------------------------------------------------ */

/* They are at the relay then, unless it is away. */
static void send_copies(struct worker *w, struct job *job)
{
	w->awaited = true;
	snapshot_send(w, job);
	if (!job->err.code && !sink_state(w->sink).trouble)
		worker_wait_for_drain(w, RELAY_TIMEOUT_NS, 2 * RELAY_TIMEOUT_NS);
	w->awaited = false;
}

/* Return: false: the error is set. */
static bool snapshot_find_dir(struct job *job)
{
	struct job_snapshot *snapshot = &job->snapshot;
	int fd = -1;

	if (!snapshot->path || snapshot->dir_fd >= 0)
		return true;
	if (snapshot->dir.ino)
		snapshot->dir_fd = find_dir(snapshot->path, &snapshot->dir, &job->err);
	else if (walk_dir(snapshot->path, 0, &fd, NULL, &job->err) == 0)
		snapshot->dir_fd = fd;
	return snapshot->dir_fd >= 0;
}

/* It is done when the files are written. Another one of the session waits until then. */
static bool do_snapshot(struct worker *w, struct job *job)
{
	if (job->snapshot.copied) {
		if (job->snapshot.sent)
			snapshot_note_sent(w, job);
		else
			send_copies(w, job);
		return true;
	}
	if (w->saving) {
		list_append(&w->held, &job->node);
		return false;
	}
	if (!snapshot_find_dir(job))
		return true;
	disk_leave(&w->disk); /* buffers are copied, and another thread writes them */
	w->saving = snapshot_begin(w, job);
	if (job->snapshot.copied && job->snapshot.to == job->id) {
		send_copies(w, job);
		job->snapshot.noted = true;
		if (!job->err.code)
			snapshot_note_sent(w, job);
	}
	return !w->saving;
}

static bool do_wait(struct worker *w, struct job *job);

/* They may be held again, by a snapshot that is among them. */
static void do_held(struct worker *w)
{
	struct list_node jobs;
	struct job *job;

	list_init(&jobs);
	while ((job = list_first(&w->held, struct job, node))) {
		list_remove(&job->node);
		list_append(&jobs, &job->node);
	}
	while ((job = list_first(&jobs, struct job, node))) {
		list_remove(&job->node);
		if (job->kind == JOB_RING_CLOSE  ? do_ring_close(w, job) :
		    job->kind == JOB_SNAPSHOT ? do_snapshot(w, job) :
						do_wait(w, job))
			job_queue_push(w->config.done, job);
	}
}

bool worker_finish_snapshot(struct worker *w, bool wait)
{
	struct snapshot *s = w->saving;
	struct job *job;

	if (!s || (!wait && !snapshot_is_written(s)))
		return false;
	job = s->job;
	snapshot_finish(w, s);
	w->saving = NULL;
	job_queue_push(w->config.done, job);
	do_held(w);
	return true;
}

/* --- archives ------------------------------------------------------------------- */

bool worker_finish_archives(struct worker *w, bool wait)
{
	uint64_t freed;

	if (!w->removing || (!wait && !archives_are_done(w->removing)))
		return false;
	freed = archives_end(w->removing);
	w->removing = NULL;
	w->closed_bytes -= MIN(w->closed_bytes, freed);
	w->disk.used -= MIN(w->disk.used, freed);
	return true;
}

/* It is done when they are removed. */
static bool do_archives(struct worker *w, struct job *job)
{
	worker_finish_archives(w, false);
	if (w->config.dir_fd < 0) {
		err_set(&job->err, ERR_INVALID, "the output has no directory with archives");
		return true;
	}
	if (w->removing) {
		err_set(&job->err, ERR_BUSY, "archives of the session are being removed");
		return true;
	}
	/* the job may be done, and freed, by now */
	w->removing = archives_begin(w->config.dir_fd, job, w->config.done, &w->doorbell);
	return !w->removing;
}

/* --- flush and end -------------------------------------------------------------- */

static void report_failure(struct worker *w, const char *what, struct err *err)
{
	char text[WORKER_TEXT_BYTES];
	const char *limit = worker_limit_text(w, text);

	if (w->failing && *limit)
		err_set(err, ERR_OUTPUT, "%s: %s", what, limit);
	else if (w->failing)
		err_errno(err, ERR_OUTPUT, w->failing, "%s", what);
}

/* Once is enough for all sets. */
static void drain_kernel(const struct worker *w)
{
	struct ringset *set;

	list_for_each(set, &w->sets, node)
		if (set->module >= 0) {
			ringset_drain(set);
			return;
		}
}

/* A relay that has just been started again, or a line that was cut, is retried before the failure
 * is reported. */
static void wait_for_output(struct worker *w)
{
	uint64_t end = now_ns() + RELAY_TIMEOUT_NS;

	while (w->sink->link && w->failing && now_ns() < end) {
		poll(NULL, 0, RELAY_PAUSE_MS);
		worker_cut_all(w, STREAM_TAKE_LOSSES);
	}
}

static void flush_rings(struct worker *w)
{
	drain_kernel(w);
	worker_cut_all(w, STREAM_TAKE_LOSSES);
	wait_for_output(w);
	/* records that were being made when the rings were switched off are published by
	 * now */
	worker_cut_all(w, STREAM_TAKE_LOSSES);
}

static bool do_flush(struct worker *w, struct job *job)
{
	w->awaited = true;
	flush_rings(w);
	worker_wait_for_drain(w, RELAY_TIMEOUT_NS, 2 * RELAY_TIMEOUT_NS);
	w->awaited = false;
	if (!w->failing)
		worker_sync(w);
	report_failure(w, "the trace could not be written", &job->err);
	return true;
}

/* Records that are not written yet keep their memory. */
static bool do_reclaim(struct worker *w, struct job *job)
{
	struct job_reclaim *reclaim = &job->reclaim;
	struct ringset *set;

	w->awaited = true;
	if (!reclaim->age_ns)
		flush_rings(w);
	w->awaited = false;
	list_for_each(set, &w->sets, node)
		if (reclaim->all || set->config.stream_class == reclaim->stream_class)
			reclaim->left += ringset_reclaim(set, reclaim->age_ns, RECLAIM_PATIENCE_NS,
							 &reclaim->bytes);
	return true;
}

/* --- turns ---------------------------------------------------------------------- */

void worker_end_turn(struct worker *w)
{
	chunk_turn_end(&w->chunk);
	free(w->turning);
	w->turning = NULL;
}

static int turn_failed(const struct worker *w, const struct job *job, int error, struct err *err)
{
	const char *name = job->turn.name, *obstacle;
	AUTO_FREE char *entry = NULL;

	if (w->sink->link)
		return err_set(err, ERR_OUTPUT,
			       "the traces at the relay can't be moved now: %s; repeat it later",
			       relay_conn_reason(w->sink->link, error));
	if (error == -EEXIST)
		return err_set(err, ERR_OUTPUT, "'%s' exists already; move it away", name);
	if (error == -EXDEV)
		return err_set(err, ERR_OUTPUT,
			       "'%s' would be on another file system than the trace, which is only "
			       "moved within one; unmount that",
			       name);
	obstacle = chunk_turn_obstacle(&w->chunk, name, job->id, &entry);
	if (obstacle)
		return err_set(err, ERR_OUTPUT, "'%s' in the output directory %s", entry, obstacle);
	return err_errno(err, ERR_OUTPUT, -error, "the trace can't be moved to '%s'", name);
}

void worker_turn_away(struct worker *w)
{
	struct ringset *set;

	list_for_each(set, &w->sets, node)
		ringset_turn_away(set);
	w->sink->turn_made = false;
}

/* The traces were moved; their streams go on in new directories, by packets with their places.
 * Return: 0 or negative errno: it goes on in the archive, and the request may be repeated. */
static int turn_streams(struct worker *w, bool clear)
{
	int ret = has_files(w) ? chunk_turn_renew(&w->chunk) : 0;
	const struct chunk_trace *trace;
	struct ringset *set;

	if (ret == 0 && w->sink->link)
		ret = worker_attach(w);
	if (ret == 0 && w->sink->ops->turn)
		ret = w->sink->ops->turn(w->sink, w->turning, clear);
	worker_turn_away(w);
	if (ret < 0)
		return ret;
	list_for_each(set, &w->sets, node)
		if (set->config.trace->next.fd >= 0)
			ringset_turn(set, clear);
	list_for_each(trace, &w->chunk.traces, node)
		if (trace->next.fd >= 0)
			w->closed_bytes += chunk_trace_measure(trace);
	chunk_turn_switch(&w->chunk);
	w->disk.accounting = clear; /* a clear makes room only behind these packets */
	worker_cut_all(w, STREAM_TAKE);
	w->disk.accounting = false;
	list_for_each(set, &w->sets, node)
		if (!ringset_is_turned(set))
			return w->failing ? -w->failing : -EAGAIN;
	return 0;
}

static int turn_begin(struct worker *w, const struct job *job)
{
	int ret = has_files(w) ? chunk_turn_move(&w->chunk, job->turn.name, job->id) : 0;

	if (ret == 0)
		w->turning = xstrdup(job->turn.name);
	return ret;
}

/* --- removing cleared archives ------------------------------------------------------ */

struct removal {
	int dir_fd; /* owned by the worker, which waits for the end */
	uint64_t output;
	char *path;
};

static void *remove_cleared(void *data)
{
	struct removal *removal = data;

	chunk_turn_remove(removal->dir_fd, removal->path, removal->output);
	free(removal->path);
	free(removal);
	return NULL;
}

void worker_await_removal(struct worker *w)
{
	if (w->removes)
		pthread_join(w->remover, NULL);
	w->removes = false;
}

/* Without a thread it takes this one's time. @path: of an archive. */
static void begin_removal(struct worker *w, const char *path, uint64_t output)
{
	struct removal *removal = xalloc(sizeof(*removal));

	worker_await_removal(w);
	*removal = (struct removal){ w->config.dir_fd, output, xstrdup(path) };
	w->removes = thread_start(&w->remover, remove_cleared, removal) == 0;
	if (!w->removes)
		remove_cleared(removal);
}

static uint64_t end_turn_of_streams(struct worker *w, bool clear)
{
	struct ringset *set;
	uint64_t cleared = 0;

	list_for_each(set, &w->sets, node)
		cleared += ringset_end_turn(set, clear);
	return cleared;
}

static int clear_archive(struct worker *w, uint64_t output, uint64_t bytes, uint64_t *ret_cleared)
{
	int ret;

	*ret_cleared = end_turn_of_streams(w, true);
	if (!has_files(w))
		return 0;
	ret = chunk_turn_hide(&w->chunk, w->turning, output);
	if (ret < 0)
		return ret;
	w->disk.used -= MIN(w->disk.used, bytes);
	w->closed_bytes -= MIN(w->closed_bytes, bytes);
	begin_removal(w, w->turning, output);
	return 0;
}

/* Records in the rings belong to the chunk before, unless they are dropped. A relay that is away
 * gets them later, and makes the turn then. */
static int turn_flush(struct worker *w, const struct job *job, struct err *err)
{
	if (job->turn.clear && has_files(w))
		return sink_settle(w->sink);
	flush_rings(w);
	if (!w->failing)
		worker_sync(w);
	report_failure(w, "the trace could not be written", err);
	return err->code ? -w->failing : 0;
}

/* A turn that is not finished comes before another one. */
static void make_turn(struct worker *w, struct job *job)
{
	int ret = turn_flush(w, job, &job->err);

	if (job->err.code)
		return;
	if (ret == 0 && w->turning && strcmp(w->turning, job->turn.name) != 0) {
		ret = turn_streams(w, false);
		if (ret == 0) {
			(void)end_turn_of_streams(w, false);
			worker_end_turn(w);
		}
	}
	if (ret == 0 && !w->turning)
		ret = turn_begin(w, job);
	w->clears = job->turn.clear;
	if (ret == 0)
		ret = turn_streams(w, job->turn.clear);
	job->turn.bytes = ret < 0 ? 0 : chunk_turn_bytes(&w->chunk, job->id);
	if (ret == 0 && job->turn.clear)
		ret = clear_archive(w, job->id, job->turn.bytes, &job->turn.cleared);
	else if (ret == 0)
		(void)end_turn_of_streams(w, false);
	if (ret < 0) {
		turn_failed(w, job, ret, &job->err);
		return;
	}
	worker_end_turn(w);
	if (!sink_state(w->sink).trouble)
		worker_wait_for_drain(w, RELAY_TIMEOUT_NS, 2 * RELAY_TIMEOUT_NS);
	job->turn.waits = sink_state(w->sink).turns;
	if (w->sink->link && !job->turn.waits)
		job->turn.bytes = w->sink->turned_bytes;
}

static bool do_turn(struct worker *w, struct job *job)
{
	if (w->chunk.in_memory && job->turn.clear) { /* only buffers have records */
		job->turn.cleared = end_turn_of_streams(w, true);
		return true;
	}
	if (w->chunk.in_memory || (!w->sink->link && w->config.dir_fd < 0)) {
		err_set(&job->err, ERR_STATE, "the session writes no trace that could be moved");
		return true;
	}
	w->awaited = true;
	make_turn(w, job);
	w->awaited = false;
	return true;
}

static void give_up_jobs(struct worker *w, struct list_node *jobs, const char *what)
{
	struct job *job, *tmp;

	list_for_each_safe(job, tmp, jobs, node) {
		list_remove(&job->node);
		err_errno(&job->err, ERR_OUTPUT, w->failing, "%s", what);
		job_queue_push(w->config.done, job);
	}
}

static void end_sets(struct worker *w, bool leave)
{
	struct ringset *set, *tmp;

	list_for_each_safe(set, tmp, &w->sets, node) {
		notifier_remove(&w->notifier, set);
		(leave ? ringset_leave : ringset_free)(set);
	}
}

/* It failed, and was not requested again. Streams that have turned have dropped the records that a
 * clear removes: they count them, also if others can't turn now. */
static void give_up_turn(struct worker *w, uint64_t output)
{
	uint64_t cleared;

	if (!w->turning || !has_files(w) || chunk_turn_renew(&w->chunk) < 0)
		return;
	(void)!turn_streams(w, w->clears);
	if (w->clears)
		(void)!clear_archive(w, output, chunk_turn_bytes(&w->chunk, output), &cleared);
	else
		(void)end_turn_of_streams(w, false);
	worker_end_turn(w);
}

static bool do_end(struct worker *w, struct job *job)
{
	struct chunk_trace *dir;

	while (worker_finish_snapshot(w, true))
		; /* one that was held begins */
	worker_finish_archives(w, true);
	w->awaited = true;
	if (!job->end.leave)
		give_up_turn(w, job->id);
	worker_cut_all(w, STREAM_TAKE_LOSSES);
	if (!job->end.leave) {
		wait_for_output(w);
		worker_wait_for_drain(w, RELAY_TIMEOUT_NS, DRAIN_TIMEOUT_NS);
		worker_wait_for_store(w, STORE_TIMEOUT_NS, DRAIN_TIMEOUT_NS);
	}
	/* files of the greatest size are whole */
	sink_begin_end(w->sink, w->failing && (w->sink->link || !w->at_limit));
	if (w->failing && !job->end.leave)
		list_for_each(dir, &w->chunk.traces, node)
			chunk_trace_release(dir);
	end_sets(w, job->end.leave);
	report_failure(w, "the end of the trace could not be written", &job->err);
	give_up_jobs(w, &w->delayed, "the metadata could not be written");
	give_up_jobs(w, &w->closing, "the relay has not got all of the trace");
	if (w->sink->ops->end)
		w->sink->ops->end(w->sink, job->end.leave ? SINK_LEFT : SINK_ENDED, &job->err);
	chunk_fini(&w->chunk);
	w->ended = true;
	return true;
}

/* --- all of them ---------------------------------------------------------------- */

static bool do_complete(struct worker *w, struct job *job)
{
	if (w->incomplete && w->sink->ops->adopted)
		w->sink->ops->adopted(w->sink);
	w->incomplete = false;
	if (w->config.dir_fd >= 0 && !w->saving)
		snapshot_clean(w->config.dir_fd, job->id);
	if (has_files(w) && chunk_has(w->config.dir_fd, ARCHIVES))
		begin_removal(w, ARCHIVES "/.", job->id);
	return true;
}

/* Jobs that are held are before it, too. */
static bool do_wait(struct worker *w, struct job *job)
{
	if (list_empty(&w->held))
		return true;
	list_append(&w->held, &job->node);
	return false;
}

/* They return whether the job is done and goes back: else it is kept in one of the worker's
 * lists. */
static bool (*const jobs_do[JOB_KINDS])(struct worker *w, struct job *job) = {
	[JOB_START] = do_start,	      [JOB_TRACE] = do_trace,
	[JOB_METADATA] = do_metadata, [JOB_TRACE_CLOSE] = do_trace_close,
	[JOB_RING] = do_ring,	      [JOB_RING_CLOSE] = do_ring_close,
	[JOB_FLUSH] = do_flush,	      [JOB_SNAPSHOT] = do_snapshot,
	[JOB_TURN] = do_turn,	      [JOB_WAIT] = do_wait,
	[JOB_COMPLETE] = do_complete, [JOB_END] = do_end,
	[JOB_ARCHIVES] = do_archives, [JOB_KALLSYMS] = do_kallsyms,
	[JOB_RECLAIM] = do_reclaim,
};

/* Within one that opens something, or ends everything, no other is begun. */
static void jobs_take(struct worker *w, struct job *job)
{
	bool before = w->opening, done;

	w->opening = before || job_opens(job) || job->kind == JOB_END;
	done = jobs_do[job->kind](w, job);
	w->opening = before;
	if (!w->ended)
		worker_note_trouble(w);
	if (done)
		job_queue_push(w->config.done, job);
}

bool worker_do_jobs(struct worker *w)
{
	bool any = false;
	struct job *job;

	for (; !w->ended && (job = job_queue_pop(&w->inbox)); any = true) {
		jobs_take(w, job);
		if (!w->ended)
			disk_progress(&w->disk);
	}
	return any;
}

void worker_do_openings(struct worker *w)
{
	struct job *job;

	while (!w->opening && (job = job_queue_pop_opening(&w->inbox)))
		jobs_take(w, job);
}
