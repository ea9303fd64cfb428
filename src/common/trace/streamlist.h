/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * streamlist.h - the list of a trace's stream files, in a hidden file of its directory, by which
 * readers notice that a stream was deleted together with its index. Entries are appended:
 * "\nBYTES NAME/", where BYTES is a size that the file had (files never shrink). An entry without
 * STREAMLIST_END is incomplete, and is ignored. If old files of a stream are removed in favour of
 * new ones, one entry stands for all of them, with 0 bytes and '*' as the number of the file; if
 * the stream goes on from an archive, "\n+STORED LOST NAME/" has the events before.
 */
#ifndef TRACE_STREAMLIST_H
#define TRACE_STREAMLIST_H

#define STREAMLIST_FILE ".streams"
#define STREAMLIST_BEGIN '\n'
#define STREAMLIST_END '/' /* no name contains it */
#define STREAMLIST_ALL '*'
#define STREAMLIST_BEFORE '+'

/* The list of a session's traces, in a hidden file of the session's directory: entries "\nPATH//",
 * appended when a trace gets its first packet. Entries that begin with '/' are no paths: the last
 * one of the first two shows whether the listed traces were written to their end. In the list of an
 * archive, the entry "/.NAME" is before the traces that one writer moved to it. */
#define TRACELIST_FILE ".traces"
#define TRACELIST_END "//" /* no path contains it */
#define TRACELIST_OPEN "/open"	 /* before each path: its session is being recorded */
#define TRACELIST_ENDED "/ended" /* the session has ended, and all of it was written */
#define TRACELIST_CLOSED "/closed/" /* before a path: nothing will be added to that trace */
#define TRACELIST_PATH_MAX 1024

/* In the directory of a session's archives: numbers of those that a clear has removed, entries
 * "\nNUMBER//". Events that are missing in their places are no loss. */
#define CLEAREDLIST_FILE ".gaps"
#define CLEAREDLIST_NAME "cleared-" /* before the number, in the name of such an archive */

/* Begin of the name of a directory beside a session's traces, or in a snapshot, with the events
 * that another session remembers: they are older than the session, no turn moves them, and viewers
 * of a live session, which may have read later ones, get none of them. */
#define BESIDE_PREFIX "remembered-"
/* The directory at a relay with the snapshots of a session that records there: of it, all this is
 * true, too. */
#define BESIDE_SNAPSHOTS "snapshots"

#endif
