/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * metadata.h - reads the text of a trace's metadata file, which may be plain or in
 * packets, of either byte order. The file may be truncated or damaged anywhere.
 */
#ifndef READ_METADATA_H
#define READ_METADATA_H

#include "report.h"
#include "trace/clock.h"
#include "view.h"

/**
 * metadata_read() - read `metadata` in a directory.
 * @where: name of the trace in reports.
 * @ret_text: to be freed; @ret_len bytes of any value.
 * Return: 0; -EPROTO: it can't be read; other negative errno.
 */
int metadata_read(int dir_fd, const char *where, struct reporter *reporter, char **ret_text,
		  size_t *ret_len) MUST_CHECK;

/**
 * metadata_unpack() - remove the packet headers, in place.
 * Return: as above; @len is updated.
 */
int metadata_unpack(char *text, size_t *len, const char *where,
		    struct reporter *reporter) MUST_CHECK;

/** struct metadata_sampling - the sampling of an event class. @one_in: one of this number of events
 *  was recorded; 0: unknown. */
struct metadata_sampling {
	uint64_t stream_id;
	uint64_t id;
	uint32_t one_in;
	char *how; /* description in the metadata */
};

/**
 * struct metadata_remarks - contents of the comments of this tracer in the metadata (see
 * common/trace/metadata.h). @lost_buffers: buffers that were lost with events that no packet
 * counts.
 * @conflicts: markers that were not recorded, @nr_conflicts; one for each name and format.
 * @not_sampled: events that the sampling of rules left out. @sampled: event classes with a
 * sampling, @nr_sampled, sorted. @clocks: later segments of the clock, @nr_clocks. @pairs: readings
 * of the clock and the cycle counter, @nr_pairs. @set_ns: by which the time of day was set.
 */
struct metadata_remarks {
	uint64_t lost_buffers;
	uint64_t not_sampled;
	struct metadata_sampling *sampled;
	size_t nr_sampled;
	struct view_conflict *conflicts;
	size_t nr_conflicts;
	struct clock_segment *clocks;
	size_t nr_clocks;
	struct clock_pair *pairs;
	size_t nr_pairs;
	int64_t set_ns;
};

void metadata_remarks(const char *text, size_t len, struct metadata_remarks *ret);
/** Whether the text may have any. */
bool metadata_has_remarks(const char *text, size_t len);
/** The sampling of an event class, or NULL. */
const struct metadata_sampling *metadata_sampling_of(const struct metadata_remarks *remarks,
						     uint64_t stream_id, uint64_t id);
void metadata_remarks_fini(struct metadata_remarks *remarks);

#endif
