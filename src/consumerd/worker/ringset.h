/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ringset.h - a ring set and its streams. Owned by a worker, which makes it, writes its data and
 * frees it. In between, the main thread may switch recording on and off and read its
 * counters.
 */
#ifndef CONSUMERD_WORKER_RINGSET_H
#define CONSUMERD_WORKER_RINGSET_H

#include "base/list.h"
#include "consumerd/ring/ringcopy.h"
#include "consumerd/ring/ringmem.h"
#include "stream.h"

struct ringset {
	struct list_node node;
	uint64_t id;
	struct ringmem mem;
	int module;  /* the kernel module's data descriptor, for poll(); -1: of applications */
	int spliced; /* the rings' file, if packets are spliced from it; -1 */
	int sparse;  /* the same, if not all of its pages have memory, or need it later; -1 */
	bool exclusive;	     /* its producers do without restartable sequences */
	uint64_t reclaim_ns; /* free sub-buffers have no memory after this time; 0: they keep it */
	uint64_t reclaim_next_ns; /* of CLOCK_MONOTONIC: not before */
	bool kept;   /* ringset_is_kept() */
	bool remembered; /* a clear leaves its records */
	struct sink *sink;
	struct stream_config config;
	/* Of a set that is overwritten, and only in snapshots: the room for copies of its rings, as
	 * a snapshot has no time to populate it; NULL: there was no memory. */
	struct ring_copy *copies;
	uint64_t damage, damage_ns; /* that was reported, and when */
	struct stream streams[];    /* mem.desc.nr_rings */
};

/** Arguments of ringset_new() and others. */
struct ringset_spec {
	uint64_t id;
	struct ltt_ring_desc desc; /* checked */
	uint64_t clock_add;
	char *channel;
	uint32_t stream_class;
	uint32_t first_instance;
	uint64_t tracefile_size;
	uint32_t tracefile_count;
	struct sink *sink;	 /* the output of the streams; outlives the set */
	struct stats_box *boxes; /* one for each ring; outlive the set */
	bool module;		 /* the kernel module made the memory */
	bool kept;		 /* only snapshots take from it, whatever its mode */
	bool remembered;	 /* the same, and a clear leaves its records */
	bool splice;		 /* packets are spliced where the output permits it */
	bool sparse;		 /* its pages are allocated by their first use */
	bool exclusive;		 /* its producers do without restartable sequences */
	uint64_t reclaim_ns;	 /* as in the set */
};

/** Check that @channel is a valid prefix of file names. Return: the code. */
int ringset_check_channel(const char *channel, struct err *err);

/** Return: the one of @sets (struct ringset) with this id, or NULL. */
struct ringset *ringset_find(const struct list_node *sets, uint64_t id);

/** Make a ring set, with recording off. Return: 0 or the error's code. */
int ringset_new(const struct ringset_spec *spec, const struct chunk_trace *trace,
		struct ringset **ret, struct ringmem_fds *ret_fds, struct err *err);
/**
 * ringset_adopt() - continue with a set of an earlier consumer; recording stays on or off.
 * @fds: data and ctl_rw; stay the caller's.
 * @ret_cut: bytes that were cut off the files.
 */
int ringset_adopt(const struct ringset_spec *spec, const struct chunk_trace *trace,
		  const struct ringmem_fds *fds, struct ringset **ret, uint64_t *ret_cut,
		  struct err *err);
/** Repair the files of a set whose memory is lost: its counters become those of its files. */
int ringset_repair(const struct ringset_spec *spec, const struct chunk_trace *trace,
		   uint64_t *ret_cut, struct err *err);
/** Wait until no record is in progress in a set of the kernel module whose recording is off. Does
 *  nothing for other sets. */
void ringset_drain(const struct ringset *set);
/** Free the set without a last packet: the next consumer reads its data. */
struct ringset *ringset_leave(struct ringset *set);
/** Bytes of memory that the rings take. Main thread, too. */
uint64_t ringset_memory(const struct ringset *set);
/** Switch recording on or off. */
void ringset_switch(struct ringset *set, bool on);
/** Switch recording off, write the last packets, and free the set. Events that can't be written are
 *  counted. */
struct ringset *ringset_free(struct ringset *set);

/**
 * ringset_cut() - write a packet of each ring.
 * @only_crossed: skip rings whose producer is still in the sub-buffer of the last packet's end.
 * Return: number of rings that had data. @ret_error is set if the output fails, and else unchanged.
 */
unsigned int ringset_cut(struct ringset *set, enum stream_cut how, bool only_crossed,
			 int *ret_error);
/** After sink_settle(): write the packets that did not arrive. Errors: as ringset_cut(). */
void ringset_write_again(struct ringset *set, int *ret_error);
/** Open all streams at the relay on the current connection. Return: 0 or negative errno. */
int ringset_attach(struct ringset *set) MUST_CHECK;
/** Its streams go on in new files, see stream_turn(), stream_turn_away() and
 *  stream_end_turn(); a clear empties the rings that are kept, too. */
void ringset_turn(struct ringset *set, bool drop);
void ringset_turn_away(struct ringset *set);
uint64_t ringset_end_turn(struct ringset *set, bool clear);
/** Whether all packets were written that begin new files. */
bool ringset_is_turned(const struct ringset *set);
/** Whether only snapshots take from it: its producers overwrite the oldest records, or its session
 *  is for snapshots and they lose the new ones. */
bool ringset_is_kept(const struct ringset *set);
/** Whether the last cut took all data that was published. */
bool ringset_is_seen(const struct ringset *set);
/** Whether damage was found that is to be reported now: it is new, and the last report is a second
 *  old. */
bool ringset_report_damage(struct ringset *set);
/** Update the counters of all rings without writing packets. */
void ringset_update(struct ringset *set);
bool ringset_has_data(const struct ringset *set);
bool ringset_is_half_full(const struct ringset *set);
bool ringset_has_crossed(const struct ringset *set);

/** Set or clear bits of ltt_ring_cons.state in all rings. Any thread. */
void ringset_set_state(struct ringset *set, uint32_t bits);
void ringset_clear_state(struct ringset *set, uint32_t bits);
void ringset_set_waiting(struct ringset *set, bool waiting);

/** Give the memory of sub-buffers back whose records were released @age_ns ago, or longer.
 *  @patience_ns: it waits so long for the CPUs of the rings. @bytes: is added to. Return: number of
 *  rings where some still have it. */
uint32_t ringset_reclaim(struct ringset *set, uint64_t age_ns, uint64_t patience_ns,
			 uint64_t *bytes);
/** The same by the set's own age, if it is time. Return: when it is the next time. */
uint64_t ringset_reclaim_due(struct ringset *set, uint64_t now);

/** Current counters of one ring. Main thread; only while the set exists. @ret_used: bytes in
 *  use. */
void ringset_peek(const struct ringset *set, uint32_t ring, const struct stats_box *box,
		  struct stats *ret, uint64_t *ret_used);

#endif
