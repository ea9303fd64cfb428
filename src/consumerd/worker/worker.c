/* SPDX-License-Identifier: GPL-2.0-only */
#include "priv.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"
#include "consumerd/now.h"

#define WORKER_SLICE_NS 100000u
#define PAUSE_MS 20
#define MARGIN_NS 10000000u /* between a record's time and its publication, at most */
/* Deaf to a doorbell that rang for nothing: 0.1 ms, twice that, ... */
#define DEAF_MIN_NS 100000u
#define DEAF_DOUBLINGS 8u

/* --- viewers --------------------------------------------------------------------
 *
 * A viewer merges streams by time: it can't show an event of one before it knows that no other has
 * an older one. So behind each round of cuts goes a beacon: a time up to which everything, of all
 * streams, has been sent. A record takes its time and is published some nanoseconds later, unless
 * an interrupt comes between the two; the beacon is that much behind the round, and then some.
 * Were a record later than that all the same, the trace is correct, and the relay disconnects the
 * viewers that it had sent that beacon.
 *
 * Data that is younger than a stream must not get to a viewer before the stream's
 * existence does; so the relay knows all streams before they record.
 */

/* MARGIN_NS on the rings' clock, which may be the CPU's, whose speed is not known here: it is
 * compared, the longer the more exactly. If the counter jumped, that begins anew. Return: 0: not
 * known yet. */
static uint64_t worker_margin(struct worker *w, uint64_t ts, uint64_t ns)
{
	uint64_t ticks = ts - w->base.ts, passed = ns - w->base.ns, margin;

	if (passed < MARGIN_NS)
		return w->base.margin;
	margin = (uint64_t)((unsigned __int128)ticks * MARGIN_NS / passed);
	if (w->base.margin && (margin / 2 > w->base.margin || margin < w->base.margin / 2)) {
		w->base.ts = ts;
		w->base.ns = ns;
	} else {
		w->base.margin = margin;
	}
	return w->base.margin;
}

static uint64_t worker_mark(struct worker *w)
{
	const struct ringset *set = list_first(&w->sets, struct ringset, node);
	uint64_t ts, ns, margin;
	uint32_t clock;

	if (!w->sink->live || w->incomplete || !set)
		return 0;
	clock = set->streams[0].reader.clock;
	ts = reader_now(&set->streams[0].reader);
	ns = now_ns();
	if (!w->base.ns || w->base.clock != clock) {
		w->base.clock = clock;
		w->base.ts = ts;
		w->base.ns = ns;
		w->base.margin = 0;
	}
	margin = worker_margin(w, ts, ns);
	return margin ? ts - margin : 0;
}

static int worker_beacon(struct worker *w, uint64_t mark)
{
	const struct ringset *set;

	if (!mark)
		return 0;
	list_for_each(set, &w->sets, node)
		if (!ringset_is_seen(set))
			return 0; /* the next round has it */
	return sink_beacon(w->sink, mark);
}

int worker_attach(struct worker *w)
{
	struct ringset *set;
	int ret = 0;

	list_for_each(set, &w->sets, node)
		ret = ret || ringset_is_kept(set) ? ret : ringset_attach(set);
	return sink_link_result(w->sink, ret);
}

/* --- draining the rings --------------------------------------------------- */

/* Packets that were in flight and have not arrived may have another way. */
static void retry_failed_packets(struct worker *w, int *ret_error)
{
	int error = sink_settle(w->sink);
	struct ringset *set;

	if (error)
		*ret_error = error;
	else
		list_for_each(set, &w->sets, node)
			ringset_write_again(set, ret_error);
}

void worker_report_damage(struct worker *w)
{
	struct ringset *set;

	list_for_each(set, &w->sets, node) {
		struct job *job = ringset_report_damage(set) ? job_new(JOB_DAMAGE, w->owner) : NULL;

		if (!job)
			continue;
		job->id = set->id;
		job_queue_push(w->config.done, job);
	}
}

static unsigned int cut_sets(struct worker *w, enum stream_cut how, bool only_crossed,
			     int *ret_error)
{
	unsigned int taken = 0;
	struct ringset *set;

	w->disk.limit = DISK_NO_LIMIT;
	*ret_error = sink_attaches_all(w->sink) ? worker_attach(w) : 0;
	if (*ret_error)
		return 0;
	list_for_each(set, &w->sets, node)
		taken += ringset_cut(set, how, only_crossed, ret_error);
	retry_failed_packets(w, ret_error);
	worker_report_damage(w);
	if (taken && w->disk.sync == SYNC_PERIOD && !w->sync_due_ns)
		w->sync_due_ns = now_ns() + (uint64_t)w->config.sync_us * 1000;
	return taken;
}

/* Metadata that had to wait. Return: 0 or the error. */
static int write_delayed(struct worker *w)
{
	struct job *job, *tmp;
	int ret = 0;

	list_for_each_safe(job, tmp, &w->delayed, node) {
		ret = worker_append(w, job);
		if (ret < 0)
			return ret;
		list_remove(&job->node);
		job_queue_push(w->config.done, job);
	}
	return ret;
}

unsigned int worker_cut_all(struct worker *w, enum stream_cut how)
{
	uint64_t mark = worker_mark(w);
	unsigned int taken;
	int error;

	if (worker_is_any_gone(w)) {
		worker_note(w, ENOENT, "its directory has been removed");
		worker_update(w);
		return 0;
	}
	error = write_delayed(w);
	if (error == 0 && w->failing)
		error = sink_revive(w->sink);
	if (error < 0) {
		worker_note(w, -error, "writing metadata");
		worker_update(w);
		return 0;
	}
	if (w->measure && w->disk.max_size)
		worker_measure(w);
	taken = cut_sets(w, how, false, &error);
	if (error == 0)
		error = worker_beacon(w, mark);
	if (taken && w->sink->live && w->pace != PACE_FLOWING) {
		/* a later beacon has to mark the end */
		worker_flow(w);
		w->due_ns = now_ns() + w->period_ns;
	}
	worker_note(w, -error, "writing trace data");
	return taken;
}

/* --- rhythm ----------------------------------------------------------------- */

static bool any(const struct worker *w, bool (*test)(const struct ringset *))
{
	struct ringset *set;

	list_for_each(set, &w->sets, node)
		if (test(set))
			return true;
	return false;
}

static void flow(struct worker *w, uint64_t now)
{
	worker_set_wake(w, false);
	w->pace = PACE_FLOWING;
	worker_cut_all(w, STREAM_TAKE);
	w->due_ns = now + w->period_ns;
}

void worker_flow(struct worker *w)
{
	worker_set_wake(w, false);
	w->pace = PACE_FLOWING;
	w->due_ns = 0;
}

static void worker_begin_idle(struct worker *w, uint64_t now)
{
	worker_set_wake(w, true);
	/* pairs with the producer's, between its store to `pub` and its load of `state` */
	__sync_synchronize();
	w->pace = PACE_SETTLING;
	w->due_ns = now + w->period_ns;
	if (any(w, ringset_has_data))
		flow(w, now);
}

/* Return: whether the relay has closed the connection while nothing was sent. */
static bool worker_check_link(struct worker *w)
{
	int ret = sink_check(w->sink);

	if (ret < 0)
		worker_note(w, -ret, "checking the connection to the relay");
	worker_note_trouble(w);
	return ret != 0;
}

/* Return: whether there was reason to be awake. */
static bool beat_flowing(struct worker *w, uint64_t now)
{
	int error = 0;

	if (now >= w->due_ns) {
		if (worker_cut_all(w, STREAM_TAKE) || w->failing)
			w->due_ns = now + w->period_ns;
		else
			worker_begin_idle(w, now);
		return true;
	}
	if (!cut_sets(w, STREAM_TAKE, true, &error) && !error)
		return false;
	if (error)
		worker_note(w, -error, "writing trace data");
	return true;
}

/* The relay may have been replaced: it knows no beacon, and no event may come that sends one. */
static bool worker_lacks_beacon(struct worker *w)
{
	uint32_t epoch = sink_epoch(w->sink);
	bool lacks = w->sink->live && epoch != w->marked_epoch && !sink_state(w->sink).behind;

	if (lacks)
		w->marked_epoch = epoch;
	return lacks;
}

static bool beat_quiet(struct worker *w, uint64_t now)
{
	if (any(w, ringset_has_data) || worker_lacks_beacon(w)) {
		flow(w, now);
		return true;
	}
	if (w->pace == PACE_SETTLING && now >= w->due_ns) {
		w->pace = PACE_IDLE; /* a relay that hung up since the last packet rings no more */
		(void)worker_check_link(w);
		return true;
	}
	return worker_check_link(w);
}

static void finish_closing(struct worker *w)
{
	struct job *job, *tmp;

	list_for_each_safe(job, tmp, &w->closing, node) {
		struct chunk_trace *trace = chunk_find(&w->chunk, job->id);

		if (sink_keeps_trace(w->sink, trace))
			continue;
		list_remove(&job->node);
		worker_close_trace(w, trace);
		job_queue_push(w->config.done, job);
	}
}

/* Return: whether data that the sink stored was sent. */
static bool worker_drain(struct worker *w, uint64_t now)
{
	uint64_t before = sink_waiting(w->sink) + sink_kept(w->sink);
	int ret = sink_drain(w->sink, now);

	if (ret == SINK_DRAINED) {
		worker_update(w); /* publish the number of missed events */
		finish_closing(w);
	}
	if (sink_waiting(w->sink) + sink_kept(w->sink) < before) /* there may be room again */
		w->retry_ns = 0;
	worker_note_trouble(w);
	return ret > 0;
}

void worker_wait_for_drain(struct worker *w, uint64_t timeout_ns, uint64_t most_ns)
{
	uint64_t now = now_ns(), end = now + timeout_ns, last = now + most_ns;

	while (sink_state(w->sink).behind && now < MIN(end, last)) {
		uint64_t before = sink_waiting(w->sink);

		if (!worker_drain(w, now))
			poll(NULL, 0, PAUSE_MS);
		if (any(w, ringset_is_half_full))
			worker_cut_all(w, STREAM_TAKE);
		now = now_ns();
		if (sink_waiting(w->sink) < before)
			end = now + timeout_ns;
	}
}

void worker_wait_for_store(struct worker *w, uint64_t timeout_ns, uint64_t most_ns)
{
	uint64_t now = now_ns(), end = now + timeout_ns, last = now + most_ns;
	struct sink_state state;

	sink_flush_store(w->sink);
	while (state = sink_state(w->sink), state.keeps && now < MIN(end, last)) {
		uint64_t before = sink_kept(w->sink);

		if (state.trouble || state.store_fails)
			break;
		if (!worker_drain(w, now))
			poll(NULL, 0, PAUSE_MS);
		now = now_ns();
		if (sink_kept(w->sink) < before)
			end = now + timeout_ns;
	}
}

/* While the output fails, nothing but time and jobs matters. */
static bool beat_failing(struct worker *w, uint64_t now)
{
	if (now < w->retry_ns)
		return false;
	worker_cut_all(w, STREAM_TAKE);
	return true;
}

static bool beat_rings(struct worker *w, uint64_t now)
{
	if (w->failing)
		return beat_failing(w, now);
	if (w->sync_due_ns && now >= w->sync_due_ns) {
		worker_sync(w);
		return true;
	}
	return w->pace == PACE_FLOWING ? beat_flowing(w, now) : beat_quiet(w, now);
}

static bool beat(struct worker *w)
{
	bool sent = worker_drain(w, now_ns());

	return beat_rings(w, now_ns()) || sent;
}

static void set_waiting(struct worker *w, bool waiting)
{
	struct ringset *set;

	list_for_each(set, &w->sets, node)
		ringset_set_waiting(set, waiting);
}

static uint64_t sleep_end(const struct worker *w)
{
	uint64_t end = w->pace == PACE_IDLE ? DOORBELL_FOREVER : w->due_ns;
	uint64_t drain_due = sink_state(w->sink).due_ns;

	end = MIN(w->failing ? w->retry_ns : end, drain_due);
	end = MIN(end, w->reclaim_due_ns);
	if (w->failing)
		return end;
	return w->sync_due_ns ? MIN(end, w->sync_due_ns) : end;
}

static void worker_reclaim(struct worker *w)
{
	uint64_t now = now_ns();
	struct ringset *set;

	w->reclaim_due_ns = DOORBELL_FOREVER;
	list_for_each(set, &w->sets, node) {
		uint64_t due = ringset_reclaim_due(set, now);

		w->reclaim_due_ns = MIN(w->reclaim_due_ns, due);
	}
}

/* A ring of the kernel notifies once each time it is armed. */
static void arm_kernel_rings(struct worker *w)
{
	struct ringset *set;

	list_for_each(set, &w->sets, node)
		notifier_arm(&w->notifier, set);
}

static void sleep_flowing(struct worker *w, struct doorbell_seen seen)
{
	set_waiting(w, true);
	__sync_synchronize();
	arm_kernel_rings(w);
	if (!any(w, ringset_has_crossed))
		doorbell_wait(&w->doorbell, seen, sleep_end(w));
	set_waiting(w, false);
}

/* An application may ring too often: the worker reacts at growing intervals. */
static void sleep_ignoring_rings(struct worker *w, struct doorbell_seen seen)
{
	uint64_t deaf = (uint64_t)DEAF_MIN_NS << w->spurious_wakes;
	uint64_t end = sleep_end(w), until = now_ns() + deaf;

	doorbell_wait_own(&w->doorbell, seen, MIN(until, end));
}

/* A producer that pauses while we are deaf is not quiet yet: it may be waiting for a CPU. */
static void worker_note_ring(struct worker *w, bool busy, bool rang)
{
	if (busy)
		w->spurious_wakes = 0;
	else if (rang)
		w->spurious_wakes = MIN(w->spurious_wakes + 1, DEAF_DOUBLINGS);
	else
		w->spurious_wakes /= 2;
}

static void worker_sleep(struct worker *w, struct doorbell_seen seen)
{
	if (w->failing) {
		doorbell_wait_own(&w->doorbell, seen, sleep_end(w));
	} else if (w->spurious_wakes) {
		sleep_ignoring_rings(w, seen);
	} else if (w->pace == PACE_FLOWING) {
		sleep_flowing(w, seen);
	} else {
		arm_kernel_rings(w);
		doorbell_wait(&w->doorbell, seen, sleep_end(w));
	}
}

/* as the kernel's, which libc does not have */
struct sched_request {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t slice_ns;
	uint64_t deadline;
	uint64_t period;
};

/* A worker works in short bursts and is wanted at once: applications fill their
 * rings meanwhile. Asking for a short slice (from Linux 6.12) gets it a CPU
 * sooner, and no more of it. */
static void request_short_slices(void)
{
	struct sched_request request = {
		.size = sizeof(request),
		.policy = SCHED_OTHER,
		.nice = getpriority(PRIO_PROCESS, 0),
		.slice_ns = WORKER_SLICE_NS,
	};

	syscall(SYS_sched_setattr, 0, &request, 0);
}

static void note_busy(struct worker *w, uint64_t since_ns)
{
	__atomic_store_n(&w->disk.busy_since_ns, since_ns, __ATOMIC_RELAXED);
}

static void note_progress(struct worker *w)
{
	uint64_t now = now_ns();

	if (disk_hangs(&w->disk, now))
		worker_update(w); /* losses until now are attributed to it */
	note_busy(w, now);
}

/* A slow disk does not delay the buffers of programs that begin. Other outputs may be in the middle
 * of a message. */
static void worker_progressed(void *data)
{
	struct worker *w = data;

	note_progress(w);
	if (w->sink->ops->way == SINK_LOCAL)
		worker_do_openings(w);
}

bool worker_hangs(const struct worker *w)
{
	return w->sink->ops->way == SINK_LOCAL && disk_hangs(&w->disk, now_ns());
}

static void *worker_main(void *data)
{
	struct worker *w = data;
	bool rang = false;

	request_short_slices();
	while (!w->ended) {
		struct doorbell_seen seen = doorbell_snapshot(&w->doorbell);
		bool busy;

		note_busy(w, now_ns());
		busy = worker_do_jobs(w);
		if (w->ended)
			break;
		busy |= worker_finish_snapshot(w, false);
		busy |= worker_finish_archives(w, false);
		busy |= beat(w);
		worker_reclaim(w);
		note_progress(w);
		note_busy(w, 0);
		worker_note_ring(w, busy, rang);
		worker_sleep(w, seen);
		rang = doorbell_snapshot(&w->doorbell).shared != seen.shared;
	}
	return NULL;
}

/* --- life --------------------------------------------------------------------- */

static void worker_release(struct worker *w)
{
	doorbell_fini(&w->doorbell);
	notifier_close(&w->notifier);
	job_queue_fini(&w->inbox);
	sink_free(w->sink);
	relay_conn_config_fini(&w->config.relay);
	worker_end_turn(w);
	worker_await_removal(w);
	close_fd(w->config.dir_fd);
	free(w);
}

static bool is_pressed(const void *data)
{
	const struct worker *w = data;

	return any(w, ringset_is_half_full);
}

/* Its error is found again by the next round. */
static void cut_for_sink(void *data)
{
	struct worker *w = data;
	struct ringset *set;
	int ignored = 0;

	list_for_each(set, &w->sets, node)
		ringset_cut(set, STREAM_TAKE, false, &ignored);
}

static bool has_work(void *data)
{
	struct worker *w = data;

	return w->awaited || !job_queue_is_empty(&w->inbox);
}

static bool is_adopting(const void *data)
{
	const struct worker *w = data;

	return w->incomplete;
}

static void turn_away_for_sink(void *data)
{
	worker_turn_away(data);
}

static void watch_connection(void *data, int fd)
{
	const struct worker *w = data;

	notifier_watch(&w->notifier, fd);
}

static void make_sink(struct worker *w)
{
	const struct sink_config config = {
		.has_dir = w->config.dir_fd >= 0 || w->config.at_path,
		.relay = &w->config.relay,
		.chunk = &w->chunk,
		.disk = &w->disk,
	};

	w->host = (struct sink_host){ is_pressed,  cut_for_sink,	  has_work,
				      is_adopting, turn_away_for_sink, watch_connection, w };
	w->sink = sink_new(&config, &w->host);
}

int worker_new(const struct worker_config *config, struct worker **ret)
{
	struct worker *w = xalloc(sizeof(*w));
	uint32_t flush_us = config->flush_us ? config->flush_us : WORKER_FLUSH_DEFAULT_US;
	int err = job_queue_init(&w->inbox, false);

	w->config = *config;
	w->notifier.fd = -1;
	w->doorbell.fd = config->doorbell_fd; /* it is closed here in case of any failure */
	w->period_ns = (uint64_t)MAX(flush_us, WORKER_FLUSH_MIN_US) * 1000;
	w->pace = PACE_IDLE;
	w->disk.keep_free = config->keep_free;
	w->disk.max_size = config->max_size;
	w->disk.sync = config->sync;
	w->disk.progress = worker_progressed;
	w->disk.data = w;
	if (config->snapshots || (!config->relay.addr && config->dir_fd < 0 && !config->at_path))
		chunk_init_in_memory(&w->chunk, &w->disk);
	else
		chunk_init(&w->chunk, config->dir_fd, &w->disk);
	list_init(&w->sets);
	list_init(&w->delayed);
	list_init(&w->closing);
	list_init(&w->held);
	make_sink(w);
	w->incomplete = config->relay_later;
	if (err == 0)
		err = doorbell_init(&w->doorbell, config->doorbell_fd);
	if (err == 0)
		err = thread_start(&w->thread, worker_main, w);
	if (err < 0) {
		worker_release(w);
		return err;
	}
	*ret = w;
	return 0;
}

struct worker *worker_free(struct worker *w)
{
	if (!w)
		return NULL;
	pthread_join(w->thread, NULL);
	worker_release(w);
	return NULL;
}

void worker_post(struct worker *w, struct job *job)
{
	job_queue_push(&w->inbox, job);
	doorbell_ring(&w->doorbell);
}

uint64_t worker_spooled(const struct worker *w)
{
	return sink_waiting(w->sink);
}

uint64_t worker_undurable(const struct worker *w)
{
	return sink_kept(w->sink);
}

struct relay_facts worker_relay(const struct worker *w)
{
	return sink_relay(w->sink);
}

int worker_listen(struct worker *w)
{
	int ret = notifier_open(&w->notifier);

	return ret < 0 ? ret : w->notifier.fd;
}

void worker_on_notify(struct worker *w)
{
	if (notifier_drain(&w->notifier))
		doorbell_ring_shared(&w->doorbell);
}

int worker_doorbell_fd(const struct worker *w)
{
	return w->doorbell.fd;
}

int worker_dir_fd(const struct worker *w)
{
	return w->config.dir_fd;
}
