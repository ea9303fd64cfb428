/* SPDX-License-Identifier: GPL-2.0-only */
#include "ringset.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/thread.h"
#include "consumerd/now.h"
#include "consumerd/ring/reclaim.h"
#include "io/memfile.h"
#include "io/memgroup.h"

#define DAMAGE_PERIOD_NS 1000000000u
#define RECLAIM_PERIOD_NS 250000000u
#define RECLAIM_PATIENCE_NS 50000000u /* rings fill up meanwhile */

struct ringset *ringset_find(const struct list_node *sets, uint64_t id)
{
	struct ringset *set;

	list_for_each(set, sets, node)
		if (set->id == id)
			return set;
	return NULL;
}

int ringset_check_channel(const char *channel, struct err *err)
{
	const char *wrong = name_check_channel(channel);

	if (wrong)
		return err_set(err, ERR_INVALID, "the channel name '%s' %s", channel, wrong);
	return 0;
}

/* For all of its rings. */
static void ringset_note_passed(struct ringset *set)
{
	const uint32_t nr = set->mem.desc.num_subbuf;
	uint64_t *passed = xalloc((size_t)set->mem.desc.nr_rings * nr * sizeof(*passed));
	uint64_t now = now_ns();

	for (size_t i = 0; i < (size_t)set->mem.desc.nr_rings * nr; i++)
		passed[i] = now;
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		set->streams[i].reader.reclaim.passed_ns = &passed[(size_t)i * nr];
}

static void init_reclaim(struct ringset *set, uint32_t i)
{
	set->streams[i].reader.reclaim = (struct reader_reclaim){
		.fd = set->sparse,
		.base = i * ltt_ring_stride(&set->mem.desc) +
			ltt_ring_prod_size(set->mem.desc.num_subbuf),
		.page = (uint32_t)sysconf(_SC_PAGESIZE),
		.at_release = set->mem.desc.gap != 0,
	};
}

static void init_stream(struct ringset *set, struct sink *sink, uint32_t i, struct stats_box *box)
{
	struct stream *stream = &set->streams[i];

	reader_init(&stream->reader, &set->mem.desc, ringmem_prod(&set->mem, i),
		    ringmem_data(&set->mem, i), ringmem_cons(&set->mem, i), set->mem.start_ts);
	stream->reader.kept = set->kept;
	init_reclaim(set, i);
	stream_init(stream, sink, &set->config, i, box);
	stream->out->source = (struct splice_source){
		.splicer = &sink->splicer,
		.mapped = ringmem_data(&set->mem, i),
		.fd = set->spliced,
		.base = i * ltt_ring_stride(&set->mem.desc) +
			ltt_ring_prod_size(set->mem.desc.num_subbuf),
		.size = set->mem.desc.data_size,
	};
}

static struct ringset *ringset_alloc(const struct ringset_spec *spec)
{
	struct ringset *set = xalloc(sizeof(*set) + spec->desc.nr_rings * sizeof(set->streams[0]));

	list_init(&set->node);
	set->id = spec->id;
	set->module = set->spliced = set->sparse = -1;
	return set;
}

/* Without a descriptor the packets are written from the mapping. Of rings that are kept, or
 * overwritten, only copies are written. */
static void keep_spliced(struct ringset *set, const struct ringset_spec *spec, int data_fd)
{
	if (!spec->splice || set->kept || spec->desc.mode == LTT_RING_OVERWRITE)
		return;
	set->spliced = fcntl(data_fd, F_DUPFD_CLOEXEC, 0);
	if (set->spliced < 0)
		log_warn("channel '%s': packets are written without splice(): %s", spec->channel,
			 strerror(errno));
}

/* The kernel's events can't wait for memory; producers that overwrite know no limit, which could be
 * lowered. */
static bool ringset_may_reclaim(const struct ringset *set, const struct ringset_spec *spec)
{
	return spec->desc.mode == LTT_RING_DISCARD && !set->kept && !spec->module &&
	       !spec->exclusive;
}

/* Without a descriptor the memory stays, and all of it is shown. */
static void keep_sparse(struct ringset *set, const struct ringset_spec *spec, int data_fd)
{
	if (!spec->sparse && !spec->desc.gap && !ringset_may_reclaim(set, spec))
		return;
	set->sparse = fcntl(data_fd, F_DUPFD_CLOEXEC, 0);
	if (set->sparse < 0)
		log_warn("channel '%s': no memory of buffers is given back: %s", spec->channel,
			 strerror(errno));
}

/* With the words. */
static uint64_t ringset_allocated(const struct ringset *set)
{
	struct stat st;

	if (set->sparse >= 0 && fstat(set->sparse, &st) == 0)
		return (uint64_t)st.st_blocks * 512;
	return ltt_ring_data_bytes(&set->mem.desc);
}

uint64_t ringset_memory(const struct ringset *set)
{
	return MIN(ringset_allocated(set), set->mem.desc.data_size * set->mem.desc.nr_rings);
}

static void init_streams(struct ringset *set, const struct ringset_spec *spec,
			 const struct chunk_trace *trace, int data_fd)
{
	set->remembered = spec->remembered;
	set->exclusive = spec->exclusive;
	set->kept = spec->kept || spec->remembered;
	keep_spliced(set, spec, data_fd);
	keep_sparse(set, spec, data_fd);
	set->sink = spec->sink;
	set->config = (struct stream_config){
		.trace = trace,
		.disk = trace->disk,
		.channel = xstrdup(spec->channel),
		.stream_class = spec->stream_class,
		.first_instance = spec->first_instance,
		.tracefile_size = spec->tracefile_size,
		.tracefile_count = spec->tracefile_count,
	};
	for (uint32_t i = 0; i < spec->desc.nr_rings; i++)
		init_stream(set, spec->sink, i, &spec->boxes[i]);
	if (ringset_may_reclaim(set, spec)) {
		ringset_note_passed(set);
		set->reclaim_ns = spec->reclaim_ns;
	}
}

bool ringset_is_kept(const struct ringset *set)
{
	return set->kept;
}

static void free_copies(struct ringset *set)
{
	for (uint32_t i = 0; set->copies && i < set->mem.desc.nr_rings; i++)
		ring_copy_fini(&set->copies[i]);
	free(set->copies);
	set->copies = NULL;
}

/* Without them a snapshot takes longer, and has fewer records if a ring goes round meanwhile; so
 * does the first packet of a ring that is overwritten. */
static void make_copies(struct ringset *set)
{
	uint32_t nr = set->mem.desc.nr_rings;
	uint64_t bytes = nr * set->mem.desc.data_size;
	int ret = 0;

	if (set->mem.desc.mode != LTT_RING_OVERWRITE ||
	    bytes > MIN(memfile_available(), memgroup_available()))
		return;
	disk_leave(set->config.disk);
	if (set->kept)
		set->copies = xalloc(nr * sizeof(set->copies[0]));
	for (uint32_t i = 0; i < nr && ret == 0; i++)
		ret = ring_copy_init(set->kept ? &set->copies[i] : &set->streams[i].copy,
				     &set->streams[i].reader);
	if (ret < 0)
		free_copies(set);
	disk_progress(set->config.disk);
}

int ringset_new(const struct ringset_spec *spec, const struct chunk_trace *trace,
		struct ringset **ret, struct ringmem_fds *ret_fds, struct err *err)
{
	struct ringset *set = ringset_alloc(spec);

	disk_leave(trace->disk);
	if (ringmem_init(&set->mem, &spec->desc, spec->sparse, spec->clock_add, ret_fds, err)) {
		free(set);
		return err->code;
	}
	init_streams(set, spec, trace, ret_fds->data);
	make_copies(set);
	disk_progress(trace->disk);
	*ret = set;
	return 0;
}

static int adopt_streams(struct ringset *set, uint64_t *ret_cut, struct err *err)
{
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++) {
		int ret = stream_adopt(&set->streams[i], ret_cut);

		if (ret < 0)
			return err_errno(err, ERR_OUTPUT, -ret,
					 "can't continue the files of stream %s_%u",
					 set->config.channel, i);
	}
	return 0;
}

static void ringset_close(struct ringset *set)
{
	list_remove(&set->node);
	free_copies(set);
	free(set->streams[0].reader.reclaim.passed_ns);
	ringmem_fini(&set->mem);
	close_fd(set->module);
	close_fd(set->spliced);
	close_fd(set->sparse);
	free(set->config.channel);
	free(set);
}

static void close_streams(struct ringset *set, enum sink_end how)
{
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		stream_close(&set->streams[i], how);
}

/* The rings stay as they are: their producers count lost events. */
struct ringset *ringset_leave(struct ringset *set)
{
	close_streams(set, SINK_LEFT);
	ringset_close(set);
	return NULL;
}

void ringset_switch(struct ringset *set, bool on)
{
	(on ? ringset_set_state : ringset_clear_state)(set, LTT_RING_ON);
}

static int keep_module(struct ringset *set, int data_fd, struct err *err)
{
	set->module = fcntl(data_fd, F_DUPFD_CLOEXEC, 0);
	return set->module < 0 ?
		       err_errno(err, ERR_INTERNAL, errno, "can't poll the kernel's buffers") :
		       0;
}

int ringset_adopt(const struct ringset_spec *spec, const struct chunk_trace *trace,
		  const struct ringmem_fds *fds, struct ringset **ret, uint64_t *ret_cut,
		  struct err *err)
{
	struct ringset *set = ringset_alloc(spec);

	disk_leave(trace->disk);
	if (ringmem_adopt(&set->mem, &spec->desc, spec->clock_add, fds->data, fds->ctl_rw,
			  spec->module, err)) {
		free(set);
		return err->code;
	}
	init_streams(set, spec, trace, fds->data);
	disk_progress(trace->disk);
	if (spec->module && keep_module(set, fds->data, err)) {
		ringset_leave(set);
		return err->code;
	}
	if (adopt_streams(set, ret_cut, err)) {
		ringset_leave(set);
		return err->code;
	}
	make_copies(set);
	*ret = set;
	return 0;
}

/* Streams want memory; this memory is unused, so it is the smallest that there is. */
int ringset_repair(const struct ringset_spec *spec, const struct chunk_trace *trace,
		   uint64_t *ret_cut, struct err *err)
{
	struct ringmem_fds fds = { -1, -1, -1 };
	struct ringset_spec least = *spec;
	struct ringset *set;

	least.desc.num_subbuf = 2;
	least.desc.subbuf_size = (uint64_t)sysconf(_SC_PAGESIZE);
	if (ringmem_check(&least.desc, err) || ringset_new(&least, trace, &set, &fds, err))
		return err->code;
	close_fd(fds.data);
	close_fd(fds.ctl);
	close_fd(fds.ctl_rw);
	adopt_streams(set, ret_cut, err);
	close_streams(set, SINK_ABANDONED);
	ringset_close(set);
	return err->code;
}

/* The kernel records with preemption off: a grace period ends after all that began
 * before it. Kernels that have none to give answer with an error, at once. */
void ringset_drain(const struct ringset *set)
{
	if (set->module >= 0)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

struct ringset *ringset_free(struct ringset *set)
{
	int ignored = 0; /* unwritten records are counted by stream_fini() */

	if (!set)
		return NULL;
	ringset_clear_state(set, LTT_RING_ON);
	ringset_drain(set);
	ringset_cut(set, STREAM_LAST, false, &ignored);
	if (sink_settle(set->sink) == 0)
		ringset_write_again(set, &ignored);
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		stream_fini(&set->streams[i]);
	ringset_close(set);
	return NULL;
}

unsigned int ringset_cut(struct ringset *set, enum stream_cut how, bool only_crossed,
			 int *ret_error)
{
	unsigned int taken = 0;

	if (ringset_is_kept(set)) { /* only snapshots take from it */
		if (!only_crossed)
			ringset_update(set);
		return 0;
	}
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++) {
		struct stream *stream = &set->streams[i];
		int ret;

		if (only_crossed && !reader_has_crossed(&stream->reader))
			continue;
		ret = stream_cut(stream, how);
		if (ret < 0)
			*ret_error = ret;
		else
			taken += (unsigned int)ret;
	}
	return taken;
}

void ringset_write_again(struct ringset *set, int *ret_error)
{
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++) {
		int ret = stream_write_again(&set->streams[i]);

		if (ret < 0)
			*ret_error = ret;
	}
}

int ringset_attach(struct ringset *set)
{
	int ret = 0;

	for (uint32_t i = 0; i < set->mem.desc.nr_rings && ret == 0; i++)
		ret = stream_attach(&set->streams[i]);
	return ret;
}

void ringset_turn(struct ringset *set, bool drop)
{
	if (ringset_is_kept(set))
		return;
	if (drop)
		ringset_update(set);
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		stream_turn(&set->streams[i], drop);
}

void ringset_turn_away(struct ringset *set)
{
	for (uint32_t i = 0; i < set->mem.desc.nr_rings && !ringset_is_kept(set); i++)
		stream_turn_away(&set->streams[i]);
}

uint64_t ringset_end_turn(struct ringset *set, bool clear)
{
	uint64_t records = 0;

	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++) {
		struct stream *stream = &set->streams[i];

		if (clear && !set->remembered)
			records += ring_clear(&stream->reader);
		if (ringset_is_kept(set))
			stream_update(stream);
		else
			records += stream_end_turn(stream, clear);
	}
	return records;
}

bool ringset_is_turned(const struct ringset *set)
{
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		if (set->streams[i].reopens)
			return false;
	return true;
}

bool ringset_is_seen(const struct ringset *set)
{
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		if (set->streams[i].torn_read)
			return false;
	return true;
}

bool ringset_report_damage(struct ringset *set)
{
	uint64_t damage = 0, now;

	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		damage += reader_damage(&set->streams[i].reader);
	if (damage == set->damage)
		return false;
	now = now_ns();
	if (set->damage && now - set->damage_ns < DAMAGE_PERIOD_NS)
		return false;
	set->damage = damage;
	set->damage_ns = now;
	return true;
}

void ringset_update(struct ringset *set)
{
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		stream_update(&set->streams[i]);
}

bool ringset_has_data(const struct ringset *set)
{
	if (ringset_is_kept(set))
		return false;
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		if (reader_has_data(&set->streams[i].reader))
			return true;
	return false;
}

bool ringset_is_half_full(const struct ringset *set)
{
	if (ringset_is_kept(set))
		return false;
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		if (reader_is_half_full(&set->streams[i].reader))
			return true;
	return false;
}

bool ringset_has_crossed(const struct ringset *set)
{
	if (ringset_is_kept(set))
		return false;
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		if (reader_has_crossed(&set->streams[i].reader))
			return true;
	return false;
}

/* A record of a ring that is kept wakes no reader: none waits for it. */
void ringset_set_state(struct ringset *set, uint32_t bits)
{
	if (ringset_is_kept(set))
		bits &= ~(uint32_t)LTT_RING_WAKE;
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		__atomic_fetch_or(&ringmem_cons(&set->mem, i)->state, bits, __ATOMIC_SEQ_CST);
}

void ringset_clear_state(struct ringset *set, uint32_t bits)
{
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		__atomic_fetch_and(&ringmem_cons(&set->mem, i)->state, ~bits, __ATOMIC_SEQ_CST);
}

void ringset_set_waiting(struct ringset *set, bool waiting)
{
	waiting &= !ringset_is_kept(set);
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		__atomic_store_n(&ringmem_cons(&set->mem, i)->waiting, waiting, __ATOMIC_RELAXED);
}

/* The ring's counts since the worker's last read, as far as they are plausible. */
static void add_since(const struct ringset *set, struct stats *stats,
		      const struct ring_words *words, uint64_t not_sampled)
{
	uint64_t now = now_ns();
	uint64_t elapsed = now - stats->snapshot_ns;
	bool stalling = stats->stalling || disk_hangs(set->config.disk, now);
	uint64_t more = words->count - stats->raw_count;
	bool laps = ringset_is_kept(set) || set->mem.desc.mode == LTT_RING_OVERWRITE;

	if (laps ? reader_plausible_lost(more, elapsed) :
		   more <= set->mem.desc.data_size / LTT_HDR_COMPACT)
		stats->recorded += more;
	more = not_sampled - stats->raw_not_sampled;
	stats->not_sampled += reader_plausible_lost(more, elapsed) ? more : 0;
	for (int i = 0; i < LOST_KINDS; i++) {
		more = words->lost[i] - stats->raw_lost[i];
		if (!reader_plausible_lost(more, elapsed))
			continue;
		stats->lost[i] += more;
		if (i == LOST_FULL && stalling)
			stats->stalled += more;
	}
}

static void peek_kept(const struct ringset *set, uint32_t ring, const struct ring_words *words,
		      struct stats *stats, uint64_t *ret_used)
{
	const struct ring_reader *reader = &set->streams[ring].reader;

	ring_divide(reader, words, false, stats);
	*ret_used = ring_used(reader, words);
}

/* Of the records that wait in a ring that is overwritten, without those that were copied.
 * @waiting: bytes of all of them. */
static void peek_overwritten(const struct ring_reader *reader, const struct ring_words *words,
			     struct stats *stats, uint64_t waiting)
{
	uint64_t records = stats->recorded - stats->released, bytes;

	records -= MIN(stats->held, records);
	waiting -= MIN(stats->held_bytes, waiting);
	records = ring_overwritten(reader, words, records, waiting, &bytes);
	stats->overwritten += records;
	stats->released += records;
}

void ringset_peek(const struct ringset *set, uint32_t ring, const struct stats_box *box,
		  struct stats *ret, uint64_t *ret_used)
{
	const struct ltt_ring_cons *cons = ringmem_cons(&set->mem, ring);
	uint64_t size = set->mem.desc.data_size;
	struct ring_words words;
	uint64_t used;
	bool consistent;

	/* the worker's figures first: then the ring's can only be newer */
	stats_read(box, ret);
	used = reclaim_position(cons);
	consistent = reader_read_words(&set->streams[ring].reader, &words);
	if (consistent)
		add_since(set, ret, &words, reader_not_sampled(ringmem_prod(&set->mem, ring)));
	ret->produced = words.pub & LTT_POS_MASK;
	used = (words.pub - used) & LTT_POS_MASK;
	*ret_used = MIN(used, size);
	if (consistent && !ringset_is_kept(set) && set->mem.desc.mode == LTT_RING_OVERWRITE)
		peek_overwritten(&set->streams[ring].reader, &words, ret, used);
	if (consistent && ringset_is_kept(set))
		peek_kept(set, ring, &words, ret, ret_used);
}

/* --- memory that is given back ------------------------------------------------------- */

static bool ringset_gives_memory_back(const struct ringset *set)
{
	return set->streams[0].reader.reclaim.passed_ns && set->sparse >= 0;
}

/**
 * struct visit - of a thread that gives memory of one ring back, on its CPU, while the worker
 * waits. Another thread may keep the CPU for itself: then the worker abandons this one, which frees
 * the structure.
 */
struct visit {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct ring_reader *reader;
	uint64_t age_ns, now;
	int cpu;
	bool ended, abandoned;
	bool complete; /* no memory is left */
};

static uint32_t abandoned_visits; /* whose threads have not ended */

static bool visit_go(const struct visit *visit)
{
	const size_t size = CPU_ALLOC_SIZE(visit->cpu + 1);
	cpu_set_t *cpus = CPU_ALLOC(visit->cpu + 1);
	bool there = false;

	if (cpus) {
		CPU_ZERO_S(size, cpus);
		CPU_SET_S(visit->cpu, size, cpus);
		there = sched_setaffinity(0, size, cpus) == 0;
	}
	CPU_FREE(cpus);
	return there;
}

static void visit_free(struct visit *visit)
{
	pthread_cond_destroy(&visit->changed);
	pthread_mutex_destroy(&visit->lock);
	free(visit);
}

static void *visit_run(void *data)
{
	struct visit *visit = data;
	bool there = visit_go(visit), abandoned;

	pthread_mutex_lock(&visit->lock);
	abandoned = visit->abandoned;
	if (there && !abandoned)
		visit->complete =
			reclaim_free(visit->reader, visit->age_ns, visit->now, visit->cpu);
	visit->ended = true;
	pthread_cond_signal(&visit->changed);
	pthread_mutex_unlock(&visit->lock);
	if (abandoned) {
		__atomic_sub_fetch(&abandoned_visits, 1, __ATOMIC_RELAXED);
		visit_free(visit);
	}
	return NULL;
}

/* The thread holds the lock while it uses the reader. Return: whether the memory was given back. */
static bool visit_await(struct visit *visit, uint64_t until_ns)
{
	const struct timespec at = { (time_t)(until_ns / 1000000000u),
				     (long)(until_ns % 1000000000u) };
	bool ended, complete;

	pthread_mutex_lock(&visit->lock);
	while (!visit->ended &&
	       pthread_cond_clockwait(&visit->changed, &visit->lock, CLOCK_MONOTONIC, &at) == 0)
		;
	ended = visit->ended;
	complete = visit->complete;
	visit->abandoned = !ended;
	if (!ended)
		__atomic_add_fetch(&abandoned_visits, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&visit->lock);
	if (ended)
		visit_free(visit);
	return complete;
}

static bool ringset_reclaim_ring(struct ringset *set, uint32_t ring, uint64_t age_ns,
				 uint64_t now, uint64_t until_ns)
{
	struct visit *visit;

	if (now_ns() >= until_ns || __atomic_load_n(&abandoned_visits, __ATOMIC_RELAXED))
		return false;
	visit = xalloc(sizeof(*visit));
	visit->reader = &set->streams[ring].reader;
	visit->age_ns = age_ns;
	visit->now = now;
	visit->cpu = (int)ring;
	pthread_mutex_init(&visit->lock, NULL);
	pthread_cond_init(&visit->changed, NULL);
	if (thread_start(NULL, visit_run, visit) == 0)
		return visit_await(visit, until_ns);
	visit_free(visit);
	return false;
}

uint32_t ringset_reclaim(struct ringset *set, uint64_t age_ns, uint64_t patience_ns,
			 uint64_t *bytes)
{
	uint64_t now = now_ns(), until = now + patience_ns, before, after, ignored;
	uint32_t left = 0;

	if (!ringset_gives_memory_back(set))
		return set->exclusive ? set->mem.desc.nr_rings : 0;
	before = ringset_allocated(set);
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++)
		if (reclaim_is_due(&set->streams[i].reader, age_ns, now, &ignored) &&
		    !ringset_reclaim_ring(set, i, age_ns, now, until))
			left++;
	after = ringset_allocated(set);
	*bytes += before - MIN(before, after);
	return left;
}

static bool ringset_reclaim_is_due(const struct ringset *set, uint64_t age_ns, uint64_t now,
				   uint64_t *ret_due_ns)
{
	uint64_t due;
	bool any = false;

	*ret_due_ns = UINT64_MAX;
	for (uint32_t i = 0; i < set->mem.desc.nr_rings; i++) {
		any |= reclaim_is_due(&set->streams[i].reader, age_ns, now, &due);
		*ret_due_ns = MIN(*ret_due_ns, due);
	}
	return any;
}

uint64_t ringset_reclaim_due(struct ringset *set, uint64_t now)
{
	uint64_t due, bytes = 0;

	if (!set->reclaim_ns || !ringset_gives_memory_back(set))
		return UINT64_MAX;
	if (now < set->reclaim_next_ns)
		return set->reclaim_next_ns;
	if (!ringset_reclaim_is_due(set, set->reclaim_ns, now, &due))
		return due;
	set->reclaim_next_ns = now + RECLAIM_PERIOD_NS;
	if (ringset_reclaim(set, set->reclaim_ns, RECLAIM_PATIENCE_NS, &bytes))
		set->reclaim_next_ns += set->reclaim_ns;
	return set->reclaim_next_ns;
}
