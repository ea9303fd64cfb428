/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ringset.h - a ring set and its streams. Owned by a worker, which makes, cuts and
 * frees it. Between making and freeing the main thread may switch it on and off
 * and peek at its counters.
 */
#ifndef CONSUMERD_WORKER_RINGSET_H
#define CONSUMERD_WORKER_RINGSET_H

#include "base/list.h"
#include "consumerd/ring/ringmem.h"
#include "stream.h"

struct ringset {
	struct list_node node;
	uint64_t id;
	struct ringmem mem;
	int module; /* the kernel module's memory, which poll() tells of; -1: an application's */
	struct sink *sink;
	struct stream_config config;
	struct stream streams[]; /* mem.desc.nr_rings */
};

/** The facts that a set is made from. */
struct ringset_spec {
	uint64_t id;
	struct ltt_ring_desc desc; /* checked */
	char *channel;
	uint32_t stream_class;
	uint32_t first_instance;
	uint64_t tracefile_size;
	uint32_t tracefile_count;
	struct sink *sink;	 /* the output of the streams; outlives the set */
	struct stats_box *boxes; /* one a ring; outlive the set */
	bool module;		 /* the kernel module made the memory */
};

/** Is @channel good for the names of files, with that many rings and files? */
int ringset_check_channel(const char *channel, struct err *err);

/** It starts off. Return: 0 or the error's code. */
int ringset_new(const struct ringset_spec *spec, const struct tracedir *trace, struct ringset **ret,
		struct ringmem_fds *ret_fds, struct err *err);
/**
 * ringset_adopt() - go on with a set of an earlier consumer, as it is: on or off.
 * @fds: data and ctl_rw; stay the caller's.
 * @ret_cut: bytes that were cut off the files.
 */
int ringset_adopt(const struct ringset_spec *spec, const struct tracedir *trace,
		  const struct ringmem_fds *fds, struct ringset **ret, uint64_t *ret_cut,
		  struct err *err);
/** Bring the files of one whose memory is lost in order: its counters are what they have. */
int ringset_repair(const struct ringset_spec *spec, const struct tracedir *trace, uint64_t *ret_cut,
		   struct err *err);
/** Wait until nothing is in flight into a set of the kernel module's that is off; else
 *  nothing is done. */
void ringset_drain(const struct ringset *set);
/** Let go of it: what is recorded into it from now on is for a successor. */
struct ringset *ringset_leave(struct ringset *set);
/** Record into it from now on, or no more. */
void ringset_switch(struct ringset *set, bool on);
/** Off, last cut, close. Events that can't be written are counted. */
struct ringset *ringset_free(struct ringset *set);

/**
 * ringset_cut() - cut all rings.
 * @only_crossed: leave rings alone whose producer is still in the sub-buffer of the last cut.
 * Return: how many had something; an error of the output goes to @ret_error (untouched if none).
 */
unsigned int ringset_cut(struct ringset *set, enum stream_cut how, bool only_crossed,
			 int *ret_error);
/** After sink_settle(): write the packets that did not arrive. Errors: as ringset_cut(). */
void ringset_write_again(struct ringset *set, int *ret_error);
/** Make all streams known to a relay on the present connection. Return: 0 or negative errno. */
int ringset_attach(struct ringset *set) MUST_CHECK;
/** Did the last cut see all that there was? */
bool ringset_is_seen(const struct ringset *set);
/** Only keep the counters of all rings up to date. */
void ringset_update(struct ringset *set);
bool ringset_has_news(const struct ringset *set);
bool ringset_is_half_full(const struct ringset *set);
bool ringset_has_crossed(const struct ringset *set);

/** Bits of ltt_ring_cons.state, in every ring. Any thread. */
void ringset_set_state(struct ringset *set, uint32_t bits);
void ringset_clear_state(struct ringset *set, uint32_t bits);
void ringset_set_waiting(struct ringset *set, bool waiting);

/** Counters of one ring of now. Main thread; only while the set exists. Bytes in use: @ret_used. */
void ringset_peek(const struct ringset *set, uint32_t ring, const struct stats_box *box,
		  struct stats *ret, uint64_t *ret_used);

#endif
