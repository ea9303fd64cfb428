/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * streamlist.h - a trace's list of its streams, a hidden file beside them: so that the deletion
 * of a stream together with its index is noticed. Entries are appended: "\nBYTES NAME/", where
 * BYTES is a size that the stream's file had (it never shrinks). A torn entry lacks its end and
 * does not count. Where old files make room for new ones an entry stands for all of a stream,
 * with 0 bytes and '*' for the number of a file.
 */
#ifndef TRACE_STREAMLIST_H
#define TRACE_STREAMLIST_H

#define STREAMLIST_FILE ".streams"
#define STREAMLIST_BEGIN '\n'
#define STREAMLIST_END '/' /* in no name */
#define STREAMLIST_ALL '*'

/* Of the traces of a session, a hidden file at its top: "\nPATH//", appended when a trace gets
 * its first packet. */
#define TRACELIST_FILE ".traces"
#define TRACELIST_END "//" /* in no path */
#define TRACELIST_PATH_MAX 1024

#endif
