/* SPDX-License-Identifier: GPL-2.0-only */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/dir.h"
#include "base/mem.h"
#include "harvest.h"
#include "io/walk.h"
#include "listing.h"
#include "store/chunk.h"
#include "trace/crc32c.h"
#include "trace/metapacket.h"

#define ID_FILE ".session" /* of a relay's session: its id */
#define MAX_DEPTH 12
#define INDEX "by-hour" /* objects by which the sessions of an hour are found */

struct archive_session {
	int fd;
	char *path, *prefix;
	struct segment_session is; /* its strings are owned */
	bool is_known;
	struct catalog catalog;
	char *hour; /* of the last object of the index that was put; owned */
};

/** One call of archive_session_put(). */
struct putting {
	struct archive_session *session;
	const struct archive *archive;
	struct archive_counts *counts;
};

/* --- its id -------------------------------------------------------------------------- */

/* The UUID of a trace; of one with plain metadata, four checksums. Return: whether it is one. */
static bool id_of_trace(int fd, uint8_t ret[SEGMENT_ID_BYTES])
{
	AUTO_FD int metadata = chunk_read_file(fd, "metadata");
	uint8_t bytes[4096];
	struct metapacket head;
	ssize_t n = metadata < 0 ? -1 : pread(metadata, bytes, sizeof(bytes), 0);

	if (n <= 0)
		return false;
	if (metapacket_parse(bytes, MIN((size_t)n, METAPACKET_PEEK_BYTES), &head) &&
	    head.has_uuid) {
		memcpy(ret, head.uuid, SEGMENT_ID_BYTES);
		return true;
	}
	for (uint32_t i = 0; i < SEGMENT_ID_BYTES / 4; i++) {
		uint32_t sum = crc32c(i, bytes, (size_t)n);

		memcpy(ret + (size_t)4 * i, &sum, sizeof(sum));
	}
	return true;
}

/* The id of the first trace, by path. */
static bool id_below(int fd, int depth, uint8_t ret[SEGMENT_ID_BYTES])
{
	struct dirent **entries;
	bool found = id_of_trace(fd, ret);
	int nr = found || depth > MAX_DEPTH ? 0 : scandirat(fd, ".", &entries, NULL, alphasort);

	for (int i = 0; i < nr; i++) {
		AUTO_FD int below = found || entries[i]->d_name[0] == '.' ?
					    -1 :
					    chunk_open_dir(fd, entries[i]->d_name);

		found = found || (below >= 0 && id_below(below, depth + 1, ret));
		free(entries[i]);
	}
	if (nr > 0)
		free(entries);
	return found;
}

static bool find_id(int fd, uint8_t ret[SEGMENT_ID_BYTES])
{
	AUTO_FD int file = chunk_read_file(fd, ID_FILE);

	if (file >= 0 && pread(file, ret, SEGMENT_ID_BYTES, 0) == SEGMENT_ID_BYTES)
		return true;
	return id_below(fd, 0, ret);
}

/* --- segments ------------------------------------------------------------------------ */

/* An empty object HOUR/HOST/SESSION/ID, of the hour in UTC in which data was put. */
static int put_hour(struct archive_session *s, const struct archive *archive, struct err *err)
{
	char hour[16];
	time_t now = time(NULL);
	struct tm tm;

	strftime(hour, sizeof(hour), "%Y%m%d%H", gmtime_r(&now, &tm));
	if (!s->hour || strcmp(s->hour, hour) != 0) {
		AUTO_FREE char *name = xasprintf(INDEX "/%s/%s", hour, s->prefix);

		name[strlen(name) - 1] = '\0'; /* its '/' */
		if (bucket_put(archive->bucket, name, "", 0, err))
			return err->code;
		free(s->hour);
		s->hour = xstrdup(hour);
	}
	return 0;
}

static int put_segment(struct harvest *h, bool ended, struct err *err)
{
	struct putting *putting = h->data;
	struct archive_session *s = putting->session;
	AUTO_FREE char *name = NULL;
	const void *bytes;
	uint32_t checksum;
	size_t len;

	if (harvest_metadata(h, err))
		return err->code;
	if (segment_is_empty(h->segment) && !ended)
		return 0;
	checksum = segment_finish(h->segment, &s->is, s->catalog.number, ended, &bytes, &len);
	name = listing_segment(s->prefix, s->catalog.number, checksum);
	/* the index first: it may name a session without segments, but none is missing in it */
	if (put_hour(s, putting->archive, err) ||
	    bucket_put(putting->archive->bucket, name, bytes, len, err))
		return err->code;
	putting->counts->segments++;
	putting->counts->bytes += len;
	s->catalog.number++;
	s->catalog.ended = ended;
	segment_reset(h->segment);
	return 0;
}

static int segment_is_full(struct harvest *h, struct err *err)
{
	return put_segment(h, false, err);
}

static int put_new(struct archive_session *s, struct harvest *h, bool ended, struct err *err)
{
	if (harvest_session(h, s->fd, err))
		return err->code;
	if (segment_is_empty(h->segment) && ended == s->catalog.ended)
		return 0;
	return put_segment(h, ended, err);
}

int archive_session_put(struct archive_session *s, const struct archive *archive, bool ended,
			struct archive_counts *ret, struct err *err)
{
	struct putting putting = { s, archive, ret };
	struct harvest h = { .catalog = &s->catalog,
			     .most = archive->segment_bytes,
			     .full = segment_is_full,
			     .data = &putting,
			     .metadata_fd = -1 };

	*ret = (struct archive_counts){ 0 };
	if (!s->is_known && catalog_read(&s->catalog, archive->bucket, s->prefix, err)) {
		catalog_fini(&s->catalog);
		return err->code;
	}
	s->is_known = true;
	h.segment = segment_new();
	if (put_new(s, &h, ended, err)) {
		/* it is not known which of its parts the archive has */
		catalog_fini(&s->catalog);
		s->is_known = false;
	}
	segment_free(h.segment);
	return err->code;
}

uint64_t archive_session_waiting(struct archive_session *s)
{
	struct catalog none = { 0 };
	uint64_t bytes;

	if (s->is_known)
		return harvest_measure(&s->catalog, s->fd);
	bytes = harvest_measure(&none, s->fd);
	catalog_fini(&none);
	return bytes;
}

const struct catalog *archive_session_catalog(const struct archive_session *s)
{
	return s->is_known ? &s->catalog : NULL;
}

const char *archive_session_prefix(const struct archive_session *s)
{
	return s->prefix;
}

bool archive_session_has_ended(const struct archive_session *s)
{
	return harvest_has_ended(s->fd);
}

/* --- life ---------------------------------------------------------------------------- */

int archive_session_open(const char *path, const char *host, const char *name,
			 struct archive_session **ret, struct err *err)
{
	uint8_t id[SEGMENT_ID_BYTES];
	struct archive_session *s;
	AUTO_FD int fd = -1;

	if (walk_dir(path, 0, &fd, NULL, err))
		return err->code;
	if (!find_id(fd, id))
		return err_set(err, ERR_INVALID,
			       "%s has no trace yet: name the directory of a session, or one with "
			       "sessions",
			       path);
	s = xalloc(sizeof(*s));
	s->fd = TAKE_FD(fd);
	s->path = xstrdup(path);
	s->is.host = xstrdup(host);
	s->is.name = xstrdup(name);
	memcpy(s->is.id, id, sizeof(id));
	s->prefix = listing_prefix(&s->is);
	*ret = s;
	return 0;
}

struct archive_session *archive_session_close(struct archive_session *s)
{
	if (!s)
		return NULL;
	catalog_fini(&s->catalog);
	close_fd(s->fd);
	free((char *)s->is.host);
	free((char *)s->is.name);
	free(s->prefix);
	free(s->path);
	free(s->hour);
	free(s);
	return NULL;
}
