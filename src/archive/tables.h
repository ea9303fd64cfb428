/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables.h - the events of archived sessions as tables for engines, beside the segments:
 *
 *     parquet/DATASET/host=HOST/hour=YYYYMMDDHH/part-KEY[-N].parquet
 *
 * `lttctl export` makes them of one piece at a time: a complete archive of the session, or, when
 * the session has ended, one of its current traces. KEY is that of the session and the piece, so
 * that a repetition replaces each file by itself. An empty object HOST/SESSION/ID/parquet/KEY is
 * put after the last one. One piece is on the disk (TMPDIR), until this process ends. One thread.
 */
#ifndef ARCHIVE_TABLES_H
#define ARCHIVE_TABLES_H

#include <stdbool.h>

#include "bucket.h"

struct tables;

/** Return: NULL with @err set. @bucket outlives it. */
struct tables *tables_new(struct bucket *bucket, struct err *err);
struct tables *tables_free(struct tables *tables);

/** A session in directory @path. @prefix: HOST/SESSION/ID/. @segments: how many it has; @ended: no
 *  events follow. */
struct tables_session {
	const char *path, *prefix;
	uint64_t segments;
	bool ended;
};

/** What the last call has done. */
struct tables_counts {
	uint64_t files, bytes;
};

/** Put all that is new. After a failure the next call goes on. Return: 0 or the code in @err. */
int tables_put(struct tables *tables, const struct tables_session *session,
	       struct tables_counts *ret, struct err *err) MUST_CHECK;

#endif
