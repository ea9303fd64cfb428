/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "feed.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "read/clock/clock.h"
#include "ahead.h"
#include "priv.h"
#include "read/live/live.h"
#include "read/decode/plan.h"
#include "read/source.h"
#include "read/verify.h"

#define PEEK_BYTES 4096u
#define PEEK_EVENT 512u /* bytes: most are read with the head of the packet */
#define PEEK_PACKETS 8
/* Damaged packets are searched for others behind them as long as this many times
 * the file's data has not been read: a hostile file can't make us go on forever. */
#define RESCANS 8u

struct feed *feed_new(struct source *source, const char *name, uint64_t size)
{
	struct feed *feed = xalloc(sizeof(*feed));

	feed->source = source;
	feed->name = xstrdup(name);
	feed->window.limit = size;
	source->reporter->bytes += size;
	feed->cut_at = UINT64_MAX;
	feed->marks_most = MARKS_LEAST;
	return feed;
}

static void feed_close(struct feed *f)
{
	uint64_t limit = f->window.limit;

	ahead_close(f);
	window_fini(&f->window);
	packet_fini(&f->packet);
	f->window.limit = limit;
	free(TAKE(f->reader.slots));
	free(TAKE(f->marks));
	f->size_marks = f->nr_marks = f->mark = 0;
	f->in_packet = false;
}

struct feed *feed_free(struct feed *feed)
{
	if (!feed)
		return NULL;
	feed_close(feed);
	free(feed->name);
	free(feed);
	return NULL;
}

/* No FIFO or device is ever waited for, and no link followed. */
static int feed_open_file(struct feed *f, struct stat *ret_stat)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

	if (!f->window.file) {
		int fd = openat(f->source->dir_fd, f->name, flags);

		if (fd < 0)
			return -errno;
		f->window.file = window_file_new(fd);
	}
	if (fstat(window_fd(&f->window), ret_stat) < 0 || !S_ISREG(ret_stat->st_mode))
		return -EINVAL;
	return 0;
}

uint64_t feed_dense(struct feed *f)
{
	struct stat st;
	uint64_t size;

	if (feed_open_file(f, &st) < 0)
		return 0;
	size = MIN(f->window.limit, (uint64_t)st.st_size);
	return window_is_sparse(size, (uint64_t)st.st_blocks) ? 0 : size;
}

static int feed_open(struct feed *f, size_t preferred)
{
	struct stat st;
	int r = feed_open_file(f, &st);

	if (r < 0)
		return r;
	f->window.limit = MIN(f->window.limit, (uint64_t)st.st_size);
	f->window.preferred = preferred;
	f->rescan_left = RESCANS * window_measure(&f->window, (uint64_t)st.st_blocks);
	f->reader.slots = xalloc((f->source->tc->nr_slots + 1) * sizeof(*f->reader.slots));
	f->open = true;
	return 0;
}

/* A clear removes files while they are read. */
static void report_unreadable(struct feed *f, int error)
{
	if (error == -ENOENT)
		report(f->source->reporter,
		       "%s/%s was removed, perhaps by a clear, after the trace was opened; read it "
		       "again",
		       f->source->label, f->name);
	else
		report(f->source->reporter, "%s/%s can't be read: %s", f->source->label, f->name,
		       strerror(-error));
}

/* The time of the first event, which may be long after its packet began. It isn't checked, as that
 * takes the whole packet; but a damaged one is left out, and then nothing is before its end. */
static int peek_event(struct feed *f)
{
	int64_t begin = f->ns, end = clock_ns(f->clock, f->packet.end);
	int r;

	f->reader.clock = f->packet.begin;
	r = feed_fill(f, f->packet.head_bits, PEEK_EVENT);
	r = r ? r : feed_header(f, f->packet.head_bits);
	if (r == READ_OK)
		f->ns = MAX(begin, MIN(clock_ns(f->clock, f->reader.clock), end));
	return MIN(r, 0);
}

/* Past packets without events. */
static int peek_packets(struct feed *f)
{
	uint64_t offset = 0;
	int r = 0;

	for (unsigned i = 0; i < PEEK_PACKETS && offset < f->window.limit; i++) {
		r = feed_head(f, offset);
		if (!i)
			f->sc = r == PACKET_OK ? f->packet.sc : NULL;
		if (r != PACKET_OK || !packet_has(&f->packet, ROLE_BEGIN))
			break;
		f->ns = clock_ns(f->clock, f->packet.begin);
		if (!packet_has(&f->packet, ROLE_END) || f->packet.size > f->window.limit - offset)
			break;
		if (f->packet.content_bits > f->packet.head_bits)
			return peek_event(f);
		offset += f->packet.size;
	}
	return MIN(r, 0);
}

static int feed_peek_file(struct feed *f)
{
	int r = feed_open(f, PEEK_BYTES);

	f->ns = INT64_MIN;
	f->sc = NULL;
	if (!r)
		r = peek_packets(f);
	feed_close(f);
	f->open = false;
	if (r < 0 && r != -ENOMEM) {
		report_unreadable(f, r);
		return 1;
	}
	return r < 0 ? r : !f->window.limit;
}

/* Return: an outcome of seek_index(); 0: also if the index is of no use. */
static int feed_search(struct feed *f, const struct ctf_clock *clock, int64_t begin_ns)
{
	struct source *s = f->source;
	const struct seek seek = { s->dir_fd, f->name, f->window.limit, s->tc, clock, begin_ns };
	const struct ctf_stream_class *sc;
	int r = f->window.limit ? seek_index(&seek, &f->entry) : 0;

	if (r <= 0)
		return r == -ENOMEM ? r : 0;
	sc = trace_class_stream(s->tc, f->entry.stream_id);
	if (!sc || sc->broken) {
		f->entry.size = 0;
		return 0;
	}
	f->sc = sc;
	clock = clock ?: sc->clock;
	if (r == SEEK_BEHIND)
		s->until_ns = MAX(s->until_ns, clock_ns(clock, f->entry.end));
	else
		f->ns = f->entry.begin ? clock_ns(clock, f->entry.begin) : INT64_MIN;
	return r;
}

/* The clocks of a guest are known by its packets. */
int feed_peek(struct feed *f, const int64_t *begin_ns)
{
	int r = begin_ns && !f->source->guest ? feed_search(f, NULL, *begin_ns) : 0;

	if (r)
		return r < 0 ? r : r == SEEK_BEHIND;
	return feed_peek_file(f);
}

/* Go to the packet of the index, if that is right. */
static void feed_seek(struct feed *f)
{
	const struct seek_entry *entry = &f->entry;

	if (!entry->size)
		return;
	if (feed_head(f, entry->offset) == PACKET_OK && f->packet.begin == entry->begin &&
	    f->packet.end == entry->end && f->packet.size == entry->size)
		f->next_packet = entry->offset;
	else
		report(f->source->reporter, "%s/%s: its index is wrong and is not used",
		       f->source->label, f->name);
}

static int feed_begin(struct feed *f, const int64_t *begin_ns, size_t preferred)
{
	int r = begin_ns && f->sc && !f->entry.size ? feed_search(f, f->clock, *begin_ns) : 0;

	if (r < 0)
		return r;
	if (r == SEEK_BEHIND) {
		f->open = true;
		f->next_packet = f->window.limit;
		return 0;
	}
	if (!f->entry.size)
		r = feed_open(f, preferred);
	else /* all of its first packet at once */
		r = feed_open(f, MIN(preferred, MAX(f->entry.size, PEEK_BYTES)));
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		report_unreadable(f, r);
		f->open = true;
		f->window.limit = 0;
		return 0;
	}
	source_tally(f->source, f);
	feed_seek(f);
	f->window.preferred = preferred;
	return 0;
}

/* The file changed since the packet was checked. */
static void give_up_packet(struct feed *f)
{
	report(f->source->reporter, "%s/%s: the rest of the packet at byte %llu is left out: %s",
	       f->source->label, f->name, (unsigned long long)f->packet.offset, f->why);
	f->in_packet = false;
}

void feed_report_backwards(struct feed *f)
{
	f->reported_backwards = true;
	report(f->source->reporter, "%s/%s: its timestamps go backwards", f->source->label,
	       f->name);
}

/* The next event of the present packet. Return: 1, 0: there is none. */
static int feed_next_in_packet(struct feed *f)
{
	int r = f->mark == f->nr_marks ? feed_mark_more(f) : READ_OK;

	if (r == READ_DAMAGED)
		give_up_packet(f);
	return r ? MIN(r, 0) : feed_next_marked(f);
}

void feed_receive(struct feed *f, uint8_t *bytes, size_t len)
{
	f->next_packet = f->search_from = f->window.limit;
	window_receive(&f->window, bytes, len);
	f->rescan_left = RESCANS * len;
	f->reader.slots =
		xrealloc(f->reader.slots, (f->source->tc->nr_slots + 1) * sizeof(*f->reader.slots));
	f->tally->sum.bytes += len;
}

void feed_grow(struct feed *f, uint64_t size)
{
	uint64_t more = size - f->window.limit;

	f->window.limit = size;
	f->rescan_left += RESCANS * more;
	f->window.holes_left += more;
	f->source->reporter->bytes += more;
	f->tally->sum.bytes += more;
	f->reader.slots =
		xrealloc(f->reader.slots, (f->source->tc->nr_slots + 1) * sizeof(*f->reader.slots));
}

static int feed_await(struct feed *f)
{
	int r;

	f->ns = MAX(f->ns, f->until_ns);
	r = f->source->live->ops->next(f);
	if (r == LIVE_LATER)
		f->ns = MAX(f->ns, f->until_ns);
	return r;
}

int feed_next(struct feed *f, const int64_t *begin_ns, size_t preferred)
{
	int r = f->open ? 0 : feed_begin(f, begin_ns, preferred);

	while (!r) {
		if (f->in_packet && !f->skimmed)
			r = feed_next_in_packet(f);
		f->in_packet = r == 1;
		if (r)
			return r;
		r = feed_find(f, begin_ns);
		f->in_packet = r == 1;
		f->skimmed = r == 1 && f->skim && f->skim->take(f->skim, f);
		if (f->skimmed)
			return r;
		if (!r && f->source->live) {
			r = feed_await(f);
			if (r == LIVE_LATER)
				return r;
		}
		if (!r)
			break;
		r = MIN(r, 0);
	}
	feed_close(f);
	return r;
}

int feed_verify(struct feed *f, size_t preferred, struct verify_index *index)
{
	int r = feed_begin(f, NULL, preferred);

	f->strict = true;
	while (!r && (r = feed_find(f, NULL)) > 0) {
		verify_index_packet(index, f);
		r = 0;
	}
	if (r >= 0)
		verify_index_end(index, f);
	feed_close(f);
	return r;
}

/* The packet's types may refer to the event's header. */
static int feed_decode_header(struct feed *f)
{
	return f->packet.sc->header_is_referred ? feed_header(f, f->payload_at) : READ_OK;
}

static int feed_decoded(struct feed *f, uint64_t at, int result)
{
	f->payload_at = at;
	if (result == READ_DAMAGED) {
		give_up_packet(f);
		return 0;
	}
	return result == READ_UNPLANNED ? FEED_UNPLANNED : result < 0 ? result : 1;
}

int feed_decode(struct feed *f, struct values *values, bool has_fields,
		struct feed_scopes *ret_scopes)
{
	uint64_t at = f->payload_at;
	int r = feed_decode_header(f);

	r = r ? r : feed_payload(f, f->payload_at, values, has_fields, ret_scopes);
	return feed_decoded(f, at, r);
}

int feed_pick(struct feed *f, const struct plan_pick *pick, struct value *values)
{
	uint64_t at = f->payload_at;
	int r;

	f->reader.pos = at;
	if (!f->packet.sc->header_is_referred &&
	    (plan_take_flat(&f->reader, pick, values) ||
	     plan_take_fixed(&f->reader, pick, at, values)))
		return 1;
	r = feed_decode_header(f);
	r = r ? r : feed_payload_some(f, f->payload_at, pick, values);
	return feed_decoded(f, at, r);
}

int feed_locate(struct feed *f, const struct plan_pick *skipped, const uint8_t **bases)
{
	uint64_t at = f->payload_at;

	if (f->packet.sc->header_is_referred)
		return FEED_UNPLANNED;
	f->reader.pos = at;
	if (at >> 3 >= f->reader.base && plan_locate(&f->reader, skipped, bases) == READ_OK)
		return 1;
	return feed_decoded(f, at, feed_payload_locate(f, at, skipped, bases));
}

const uint8_t *feed_pick_bytes(const struct feed *f, const struct plan_pick *pick, size_t *ret_len)
{
	return f->packet.sc->header_is_referred ?
		       NULL :
		       plan_fixed_bytes(&f->reader, pick, f->payload_at, ret_len);
}
