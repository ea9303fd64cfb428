/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source.h - one trace: a directory with `metadata` and stream files. Belongs
 * to a view.
 */
#ifndef VIEW_SOURCE_H
#define VIEW_SOURCE_H

#include "feed.h"
#include "metadata.h"
#include "report.h"
#include "type.h"

/**
 * struct source
 * @label: path below the directory that was opened, for people.
 * @host: prefix of an event's name: host, program and process.
 */
struct source {
	struct reporter *reporter;
	char *label;
	char *host;
	int dir_fd;
	struct arena arena;
	struct ctf_trace_class *tc;
	struct metadata_remarks remarks;
	bool listed;   /* in a list of traces, or asked for alone */
	bool unlisted; /* that is not so, or it has no list of its streams; see verify.c */
	struct feed **feeds;
	uint32_t nr_feeds;
	struct tally *tallies;
	struct tally **tail;
};

/**
 * source_open() - sizes first, then metadata: packets in the files were described before they
 * were written.
 * @dir_fd: taken over, also on failure.
 * Return: 0; -EPROTO: its metadata can't be read (reported); other negative errno.
 */
int source_open(int dir_fd, const char *label, struct reporter *reporter,
		struct source **ret_source) MUST_CHECK;
struct source *source_free(struct source *source);

/** Convert times to the clock of the relay that stored the trace; call it before any is read.
 *  Return: 0; negative errno: the difference is unknown. */
int source_to_relay_clock(struct source *source) MUST_CHECK;

/** Make the feed's tally the one that its present packet belongs to. */
void source_tally(struct source *source, struct feed *feed);

/** Whether packets begin with a magic number, by which they can be found. */
bool source_has_magic(const struct source *source);

#endif
