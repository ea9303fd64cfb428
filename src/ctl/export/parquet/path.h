/* SPDX-License-Identifier: GPL-2.0-only */
/* path.h - names of events and hosts, of any bytes, as names of directories. Pure. */
#ifndef CTL_EXPORT_PARQUET_PATH_H
#define CTL_EXPORT_PARQUET_PATH_H

/**
 * path_dataset() - the directory of an event: all but letters, digits, '_', '-' and '.' as %HH;
 * allocated. So is a '_' or '.' at the begin, behind which engines read no files. A name that would
 * be too long for a file has a hash in place of its end. It differs from the directories of other
 * data, "losses" and "sampling".
 */
char *path_dataset(const char *event);
/** path_part() - DATASET/host=HOST/hour=YYYYMMDDHH of a time, UTC; allocated. @host: NULL: unknown,
 *  which engines read as null. */
char *path_part(const char *dataset, const char *host, long long hour);

#define PATH_HOUR_NS 3600000000000LL
/** The hour of a time, since 1970. */
static inline long long path_hour(long long ns)
{
	return ns / PATH_HOUR_NS - (ns % PATH_HOUR_NS < 0);
}

#endif
