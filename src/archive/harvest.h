/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * harvest.h - adds to segments all that is new in the directory of a session: packets, metadata,
 * files. The directory may be written to meanwhile, by a relay or a consumer: whole packets are
 * taken only. First the session's archives, then its current traces: so the packets of a stream
 * come in their order.
 */
#ifndef ARCHIVE_HARVEST_H
#define ARCHIVE_HARVEST_H

#include "catalog.h"

struct harvest {
	struct catalog *catalog;
	struct segment *segment; /* that is being made; owned by the harvest */
	uint64_t most;		 /* bytes of a segment, if it has more than one packet */
	/** The segment has its size: put it. @harvest->segment is empty then. Return: the code. */
	int (*full)(struct harvest *harvest, struct err *err);
	void *data;
	uint64_t *measure; /* only count the bytes of files behind what is known; NULL: read */
	struct catalog_trace *trace; /* that is being read; NULL: none */
	int metadata_fd;	     /* its */
	int session_fd;
};

/** Read all that is new in the directory @fd. Return: 0 or the code in @err. */
int harvest_session(struct harvest *harvest, int fd, struct err *err) MUST_CHECK;
/** Add the metadata that is new of the trace that is being read: called before a segment is put, so
 *  that it is never later than its events. Return: 0 or the code in @err. */
int harvest_metadata(struct harvest *harvest, struct err *err) MUST_CHECK;
/** How many bytes of packets are new there, by the sizes of the files. */
uint64_t harvest_measure(struct catalog *catalog, int fd);

/** Whether the session in directory @fd has ended, by its list of traces. */
bool harvest_has_ended(int fd);

#endif
