/* SPDX-License-Identifier: GPL-2.0-only */
#include "excerpt.h"

#include <string.h>

#include "base/mem.h"
#include "read/clock/clock.h"
#include "read/source.h"
#include "trace/packet.h"

bool excerpt_is_all(const struct excerpt *excerpt)
{
	return !excerpt->begins && !excerpt->has_begin && !excerpt->has_end;
}

struct source *excerpt_clocks(const void *metadata, size_t len)
{
	struct reporter unused = { 0 };
	struct source *source = source_new_live(NULL, 0, "", &unused);

	source->text = xalloc(len + 1);
	source->text_len = len;
	memcpy(source->text, metadata, len);
	if (source_take_text(source) < 0 || !source->tc->streams)
		return source_free(source);
	source->reporter = NULL;
	return source;
}

/* By a clock that is set back, packets are not in the order of their times. */
static bool excerpt_clock_is_steady(const struct ctf_clock *clock)
{
	for (size_t i = 0; i < clock->nr_changes; i++)
		if (clock->changes[i].floor_ns == INT64_MIN)
			return false;
	return true;
}

/* NULL: it can't tell. */
static const struct ctf_clock *excerpt_clock(const struct source *clocks, uint32_t stream_class)
{
	const struct ctf_stream_class *sc =
		clocks ? trace_class_stream(clocks->tc, stream_class) : NULL;

	return sc && sc->clock && excerpt_clock_is_steady(sc->clock) ? sc->clock : NULL;
}

static bool has_events(const struct msg_seg_part *part)
{
	return part->bytes > (part->last - part->first + 1) * sizeof(struct packet_header);
}

void excerpt_select(const struct excerpt *excerpt, const struct source *clocks,
		    const struct fetch_part *parts, uint32_t nr, bool ended, uint32_t *ret_from,
		    uint32_t *ret_to)
{
	const struct ctf_clock *clock = excerpt_clock(clocks, parts->is->stream_class);
	uint32_t from = 0, to;

	*ret_from = 0;
	*ret_to = nr;
	if (!excerpt->begins && !clock)
		return;
	while (from < nr && excerpt->has_begin &&
	       clock_ns(clock, parts[from].is->end) < excerpt->begin_ns)
		from++;
	for (to = from; to < nr; to++) {
		bool behind = excerpt->begins ||
			      (excerpt->has_end &&
			       clock_ns(clock, parts[to].is->begin) > excerpt->end_ns);

		if (behind && has_events(parts[to].is)) {
			to++;
			break;
		}
	}
	/* of a session that goes on, readers state until when it is known */
	*ret_from = from == nr && !ended ? nr - 1 : from;
	*ret_to = to;
}
