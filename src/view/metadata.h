/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * metadata.h - the text of a trace's metadata file, whether it is plain or in
 * packets, of either byte order. The file may be cut or damaged anywhere.
 */
#ifndef VIEW_METADATA_H
#define VIEW_METADATA_H

#include "report.h"
#include "view.h"

/**
 * metadata_read() - read `metadata` in a directory.
 * @where: its name in reports.
 * @ret_text: to be freed; @ret_len bytes, may hold any byte.
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

/**
 * struct metadata_remarks - contents of the remarks in a metadata. @lost_buffers: buffers that
 * are lost with events that no packet counts.
 * @conflicts: markers that were not recorded, @nr_conflicts; one for each name and format.
 */
struct metadata_remarks {
	uint64_t lost_buffers;
	struct view_conflict *conflicts;
	size_t nr_conflicts;
};

void metadata_remarks(const char *text, size_t len, struct metadata_remarks *ret);
void metadata_remarks_fini(struct metadata_remarks *remarks);

#endif
