/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * channel.h - channels: a ring set and the events that are recorded into it. Owned by the
 * descriptor for its requests (channel_file.h), or by a trace inside of the kernel (trace/trace.h).
 * Any task, several at once, until kmod_channel_free(); process context, may sleep.
 */
#ifndef KMOD_CHANNEL_H
#define KMOD_CHANNEL_H

#include "event.h"
#include "ltt_kmod.h"
#include "ring.h"
#include "stats.h"

struct channel;
struct filter;
struct fires;
struct seq_file;
struct text_trace;

/** @desc: mode, sizes and clock. @counts: its events are counted and not recorded. Return: or
 *  ERR_PTR. */
struct channel *kmod_channel_new(const struct ltt_ring_desc *desc, bool counts);
/** Disable all events, and return when no record is in progress. */
void kmod_channel_free(struct channel *channel);
/** Show its records as text, from now on (trace/text_folder.h). Once. Return: 0 or -errno; -ENODEV:
 *  there is no debugfs. */
int kmod_channel_show(struct channel *channel, const struct text_trace *trace);
/** Its events fire triggers. Once, before the first event. Return: 0 or -ENOMEM. */
int kmod_channel_add_fires(struct channel *channel);
/** The memory of these; NULL: its events fire none. */
struct fires *kmod_channel_fires(struct channel *channel);
/** Its rings, which others may reference for longer. */
struct ring_set *kmod_channel_set(struct channel *channel);

/**
 * kmod_channel_enable() - record an event, or count it, from now on or as soon as it is live.
 * @event: of the registry; or one that has kind->release: then the channel owns it.
 * @id: the id in its records.
 * @spec: how it is counted, in a channel that counts.
 * @filter: owned by the channel; NULL: none.
 * @instead: of the event with another id, which is disabled if it is there; no record of an event
 *	     is missing, and hardly any is there twice.
 * Return: 0; -EEXIST: the channel has the id or the event; -ENOMEM; or the kind's error. If it
 * fails, @event and @filter stay the caller's.
 */
int kmod_channel_enable(struct channel *channel, struct event *event, u32 id,
			const struct stat_spec *spec, const struct filter *filter, bool instead);
/** Have the event with that id record the places of @more, too, which stays the caller's. Return:
 *  0; -ENOENT: no such event; -EEXIST: it has these, or can have no more; or the kind's error. */
int kmod_channel_join(struct channel *channel, u32 id, struct event *more);
/** A record of the event may be in progress on return. Return: 0 or -ENOENT. */
int kmod_channel_disable(struct channel *channel, u32 id);
/** The same for all events that fire the trigger of a slot; there may be none. */
void kmod_channel_disable_slot(struct channel *channel, u32 slot);
/** Wait until the last records of all disabled events are complete. */
void kmod_channel_drain(struct channel *channel);
/** Replace the filter of an event; NULL: none. Return: 0; -ENOENT: then @filter stays the caller's.
 */
int kmod_channel_refilter(struct channel *channel, u32 id, const struct filter *filter);
/** Fill in the counts of an event. Return: 0; -ENOENT: no such event; -EINVAL: it is recorded. */
int kmod_channel_counted(struct channel *channel, u32 id, struct ltt_kmod_counted *ret_counted);
/** The same for its keys, of which there are none otherwise (-EINVAL). Return: also -EFAULT. */
int kmod_channel_counted_keys(struct channel *channel, u32 id, struct ltt_kmod_keys *ret_keys);

/** A line for each channel, and one for each of its events, with the counts of records and
 *  losses. */
void kmod_channels_show(struct seq_file *to);

/** As LTT_KMOD_CONTEXT: @context is checked. */
int kmod_channel_add_context(struct channel *channel, const struct ltt_kmod_context *context);
/** As LTT_KMOD_TRACK. */
int kmod_channel_track(struct channel *channel, const struct ltt_kmod_track *track);
/** As LTT_KMOD_DUMP. @flags: LTT_KMOD_DUMP_*. */
void kmod_channel_dump(struct channel *channel, u32 flags);

#endif
