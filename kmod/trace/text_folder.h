/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text_folder.h - the folder of each trace in /sys/kernel/debug/ltt, and in it `text`: the records
 * of all of its channels as lines of text, in the order of time. A folder is there as long as a
 * channel of its trace. Process context only.
 *
 * Reading changes nothing in the rings (merge.h), so their consumer loses nothing by it. A file has
 * the records that the rings had when it was opened, consumed ones too; behind their end, further
 * reads return those that were recorded since. An open file keeps the memory of its channels: it
 * can be read to the end also if the trace is gone.
 */
#ifndef KMOD_TRACE_TEXT_FOLDER_H
#define KMOD_TRACE_TEXT_FOLDER_H

#include "ltt_kmod.h"
#include "text.h"

struct dentry;
struct text_channel;

/**
 * struct text_trace - the trace that a channel belongs to. All texts are copied.
 * @id: channels with the same id share a folder.
 * @name: made a file name: other characters are replaced, and a number is appended if another trace
 *        has the name.
 * @channel: name of the channel, in whose order records of the same time are printed.
 * @host: name of the machine; empty: that of this one.
 * @clock: .hz 0: the relation of now.
 */
struct text_trace {
	u8 id[LTT_KMOD_TRACE_ID];
	const char *name;
	const char *channel;
	const char *host;
	struct text_clock clock;
};

/** Show the records of @set, to which it takes a reference, in the folder of the trace. Return: to
 *  be freed by text_folder_leave(); or ERR_PTR: -EINVAL: no name; -ENOMEM; the error of debugfs. */
struct text_channel *text_folder_join(const struct text_trace *trace, struct ring_set *set);
/** Remove the channel from its folder. NULL and ERR_PTR are allowed. Open files are not waited
 *  for. */
void text_folder_leave(struct text_channel *channel);

/** Name of the folder, a slash, and the channel's name. */
void text_folder_name(const struct text_channel *channel, char *ret, size_t size);

/** @parent: the folder of all folders; ERR_PTR: there is no debugfs. */
void text_folder_init(struct dentry *parent);

#endif
