/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * source.h - one trace: a directory with `metadata` and stream files. Belongs
 * to a view.
 */
#ifndef READ_SOURCE_H
#define READ_SOURCE_H

#include "read/feed/feed.h"
#include "read/clock/guest.h"
#include "find.h"
#include "metadata.h"
#include "report.h"
#include "read/decode/type.h"

/**
 * struct source
 * @label: path below the directory that was opened, for display.
 * @number: of this trace in its view.
 * @host: prefix of printed events: host, program and process.
 * @guest: NULL: its times are those of its own clock.
 * @lossy_until_ns: end of the latest packet read so far in which, or before which, events are
 *      missing.
 * @until_ns: end of the latest packet read or passed so far; INT64_MIN: none has one.
 * @live: NULL: it does not grow. @from_relay: it is in no directory here.
 * @live_session, @live_id, @metadata_id: the ids of its session, of itself and of its metadata at
 * the relay.
 * @text: metadata as received so far, @text_len bytes. @metadata_size: of the file that was read.
 */
struct source {
	struct live *live;
	bool from_relay;
	uint64_t live_session;
	uint64_t live_id;
	uint64_t metadata_id;
	char *text;
	size_t text_len;
	uint64_t metadata_size;
	struct reporter *reporter;
	char *label;
	char *host;
	uint32_t number;
	int64_t lossy_until_ns;
	int64_t until_ns;
	int dir_fd;
	struct guest_trace *guest;
	struct arena arena;
	struct ctf_trace_class *tc;
	struct metadata_remarks remarks;
	struct ctf_clock_change *clock_changes; /* of all of its clocks; in the arena */
	bool list_incomplete; /* it is in no list of traces, or has no valid list of its streams;
			       * see verify.c */
	struct feed **feeds;
	uint32_t nr_feeds;
	struct tally *tallies;
	struct tally **tail;
};

#define SOURCE_FORMS 8u

/** struct source_form - the metadata of a trace; others that differ from it in their UUID and
 *  environment alone share its classes. @tc: in the arena of its source. @uuid_at: offset of the
 *  UUID in the text. */
struct source_form {
	char *text;
	size_t len, uuid_at;
	const struct ctf_trace_class *tc;
};

/** struct source_forms - of the traces of a view that share classes, the last ones that were read.
 *  @nr: of all. */
struct source_forms {
	struct source_form at[SOURCE_FORMS];
	size_t nr;
};

void source_forms_fini(struct source_forms *forms);

/**
 * source_open() - open a trace. The sizes of the files are read before the metadata: as events are
 * declared before they are written, the metadata declares all events within these sizes.
 * @dir_fd: owned by the source, also on failure. @files: those that may be streams.
 * @forms: NULL: its classes are its own.
 * Return: 0; -EPROTO: its metadata can't be read (reported); other negative errno.
 */
int source_open(int dir_fd, const char *label, const struct find_names *files,
		struct source_forms *forms, struct reporter *reporter,
		struct source **ret_source) MUST_CHECK;
struct source *source_free(struct source *source);

/** The stream of this name in a trace that does not grow; NULL: it had none. */
struct feed *source_feed(const struct source *source, const char *name);

/** A live trace, without metadata and streams yet. @path: as the relay names it. */
struct source *source_new_live(struct live *live, uint64_t id, const char *path,
			       struct reporter *reporter);
/** A trace in a directory that grows, without streams. @dir_fd: owned by the source, also on
 *  failure. Return: as source_open(). */
int source_open_growing(struct live *live, int dir_fd, const char *label, struct reporter *reporter,
			struct source **ret_source) MUST_CHECK;
/** Read its metadata again if that has grown. Return: 0 or negative errno. */
int source_read_growth(struct source *source) MUST_CHECK;
/** A stream of it, of which the first @size bytes are written. */
struct feed *source_add_growing_feed(struct source *source, const char *name, uint64_t size);
struct feed *source_add_live_feed(struct source *source, const char *name, uint64_t id);
/** @source->text has grown: packets are read by it from now on. Return: 0 or -ENOMEM. */
int source_take_text(struct source *source) MUST_CHECK;

/** Convert times to the clock of the relay that stored the trace; call it before reading events.
 *  Return: 0; negative errno: the difference is unknown. */
int source_to_relay_clock(struct source *source) MUST_CHECK;

/** Apply the segments of the metadata to its clocks, once more after these were moved.
 *  @offset_ns: by which they were. */
void source_change_clocks(struct source *source, int64_t offset_ns);

/** The clock of a packet; NULL: its stream has none. */
static inline const struct ctf_clock *source_clock(const struct source *source,
						   const struct packet *packet)
{
	return source->guest ? guest_trace_clock(source->guest, packet) : packet->sc->clock;
}

/** Set the feed's tally to that of its current packet's stream. */
void source_tally(struct source *source, struct feed *feed);

/** Whether packets begin with a magic number, by which they can be found. */
bool source_has_magic(const struct source *source);

#endif
