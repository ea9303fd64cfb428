/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - archives the directory of one session: reads which parts the archive has, then
 * puts segments with all that is new, again and again. Used by one thread at a time.
 */
#ifndef ARCHIVE_SESSION_H
#define ARCHIVE_SESSION_H

#include "catalog.h"

/** Where sessions go to. */
struct archive {
	struct bucket *bucket;
	uint64_t segment_bytes; /* size at which a segment is put */
};

#define ARCHIVE_SEGMENT_BYTES (8u << 20)

struct archive_session;

/** Open the session in directory @path; @host, @name: as which it is archived; both are copied.
 *  Return: 0 or the code in @err. */
int archive_session_open(const char *path, const char *host, const char *name,
			 struct archive_session **ret, struct err *err) MUST_CHECK;
struct archive_session *archive_session_close(struct archive_session *session);

/** What the last call has done. */
struct archive_counts {
	uint64_t segments, bytes;
};

/** Put all that is new. @ended: no data follows. After a failure nothing is lost: the next call
 *  goes on. Return: 0 or the code in @err. */
int archive_session_put(struct archive_session *session, const struct archive *archive, bool ended,
			struct archive_counts *ret, struct err *err) MUST_CHECK;
/** Bytes that are new; 0 as well if it is not known. */
uint64_t archive_session_waiting(struct archive_session *session);
/** What the archive has; NULL: that is not known. */
const struct catalog *archive_session_catalog(const struct archive_session *session);
/** HOST/SESSION/ID/, of its objects. */
const char *archive_session_prefix(const struct archive_session *session);
/** Whether the session's directory says that it has ended. */
bool archive_session_has_ended(const struct archive_session *session);

#endif
