/* SPDX-License-Identifier: GPL-2.0-only */
/* Totals of a trace as text and as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>

#include "base/mem.h"
#include "pen.h"
#include "read/view_priv.h"
#include "screen.h"

/* --- as text -------------------------------------------------------------- */

#define MAX_NAMES_SHOWN 20

static void put_count(struct pen *pen, uint64_t n, const char *one, const char *many)
{
	pen_u64(pen, n);
	pen_char(pen, ' ');
	pen_text(pen, n == 1 ? one : many);
}

/* 1.5 MiB */
static void put_size(struct pen *pen, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	char text[48];
	double v = bytes;
	int unit = 0;

	for (; v >= 1024 && unit < 6; unit++)
		v /= 1024;
	snprintf(text, sizeof(text), unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
	pen_text(pen, text);
}

static void put_rate(struct pen *pen, const struct view_summary *s)
{
	double seconds = (s->last_ns - s->first_ns) / 1e9;
	char text[80];

	if (seconds <= 0)
		return;
	snprintf(text, sizeof(text), " in %.6g s (%.0f a second)", seconds, s->events / seconds);
	pen_text(pen, text);
}

static void put_losses(struct pen *pen, const struct view_summary *s)
{
	const char *comma = " (";

	pen_text(pen, "lost:    ");
	if (s->lost || !s->lost_buffers)
		put_count(pen, s->lost, "event", "events");
	else
		pen_text(pen, "an unknown number of events");
	for (int i = 0; i < VIEW_NR_LOST; i++) {
		if (!s->lost_by[i])
			continue;
		pen_text(pen, comma);
		pen_text(pen, view_lost_name(i));
		pen_text(pen, ": ");
		pen_u64(pen, s->lost_by[i]);
		comma = ", ";
	}
	pen_text(pen, s->lost ? ")" : "");
	if (s->lost_buffers) {
		pen_text(pen, s->lost ? ", or more: " : ": ");
		put_count(pen, s->lost_buffers, "buffer was", "buffers were");
		pen_text(pen, " lost with what was in it");
	}
	pen_char(pen, '\n');
}

/* Events of files that made room for others; a loss before is none of the events that are there. */
static void put_before(struct pen *pen, const struct view_summary *s)
{
	if (!s->before && !s->lost_before)
		return;
	pen_text(pen, "before:  ");
	put_count(pen, s->before, "older event was", "older events were");
	pen_text(pen, " discarded for newer ones");
	if (s->lost_before) {
		pen_text(pen, "; ");
		put_count(pen, s->lost_before, "was", "were");
		pen_text(pen, " lost before the end of the oldest packet");
	}
	pen_char(pen, '\n');
}

static void put_lossy_streams(struct pen *pen, const struct view_summary *s)
{
	for (size_t i = 0; i < s->nr_streams; i++) {
		const struct view_stream *stream = &s->streams[i];
		uint64_t lost = 0;

		for (int k = 0; k < VIEW_NR_LOST; k++)
			lost += stream->lost[k];
		if (!lost && !stream->damaged_packets && !stream->lost_packets)
			continue;
		pen_text(pen, "  ");
		pen_name(pen, stream->trace);
		pen_char(pen, '/');
		pen_name(pen, stream->name);
		pen_text(pen, ": ");
		put_count(pen, lost, "event", "events");
		pen_text(pen, " lost, ");
		put_count(pen, stream->lost_packets, "packet", "packets");
		pen_text(pen, " missing, ");
		put_count(pen, stream->damaged_packets, "packet", "packets");
		pen_text(pen, " damaged\n");
	}
}

static void put_damage(struct pen *pen, const struct view_summary *s)
{
	if (!s->problems && !s->damaged_packets && !s->skipped_bytes)
		return;
	pen_text(pen, "damage:  ");
	put_count(pen, s->damaged_packets, "packet", "packets");
	pen_text(pen, ", ");
	put_size(pen, s->skipped_bytes);
	pen_text(pen, " left out; ");
	put_count(pen, s->problems, "problem", "problems");
	pen_text(pen, " met\n");
}

/* "about 6,400 (1 of 64 recorded)" */
static void put_sampling(struct pen *pen, const struct view_name *name)
{
	char text[64];

	if (!name->sampled)
		return;
	if (name->about) {
		pen_text(pen, "  about ");
		pen_u64(pen, name->about);
	}
	snprintf(text, sizeof(text), " (1 of %" PRIu32 " recorded)", name->one_in);
	if (name->about && name->one_in) {
		pen_text(pen, text);
		return;
	}
	pen_text(pen, name->about ? " (sampled" : "  (sampled");
	pen_text(pen, *name->sampled ? ": " : " at several rates");
	pen_name(pen, name->sampled);
	pen_char(pen, ')');
}

static void put_not_sampled(struct pen *pen, const struct view_summary *s)
{
	if (!s->not_sampled)
		return;
	pen_text(pen, "sampled: ");
	put_count(pen, s->not_sampled, "event was", "events were");
	pen_text(pen, " left out by the sampling of rules\n");
}

#define NAME_LEAST 16u

/* @columns: of the terminal; 0: none. */
static void put_names(struct pen *pen, const struct view_summary *s, unsigned int columns)
{
	unsigned int most = columns ? MAX(columns, NAME_LEAST + 14) - 14 : UINT_MAX;

	for (size_t i = 0; i < MIN(s->nr_names, (size_t)MAX_NAMES_SHOWN); i++) {
		char *name AUTO_FREE = screen_cut(s->names[i].name, most);
		char number[32];

		snprintf(number, sizeof(number), "%12" PRIu64 "  ", s->names[i].events);
		pen_text(pen, number);
		pen_name(pen, name);
		put_sampling(pen, &s->names[i]);
		pen_char(pen, '\n');
	}
	if (s->nr_names > MAX_NAMES_SHOWN) {
		pen_text(pen, "              and ");
		put_count(pen, s->nr_names - MAX_NAMES_SHOWN, "more name\n", "more names\n");
	}
}

static void put_conflicts(struct pen *pen, const struct view_summary *s)
{
	for (size_t i = 0; i < s->nr_conflicts; i++) {
		const struct view_conflict *c = &s->conflicts[i];

		pen_text(pen, "marker:  ");
		pen_name(pen, c->name);
		pen_text(pen, " of format ");
		pen_quoted(pen, (const uint8_t *)c->refused, strlen(c->refused));
		pen_text(pen, " was not recorded, only that of format ");
		pen_quoted(pen, (const uint8_t *)c->armed, strlen(c->armed));
		pen_char(pen, '\n');
	}
}

static void summary_text(struct pen *pen, const struct view_summary *s, unsigned int columns)
{
	pen_text(pen, "events:  ");
	pen_u64(pen, s->events);
	put_rate(pen, s);
	if (s->hidden) {
		pen_text(pen, "; and ");
		pen_u64(pen, s->hidden);
		pen_text(pen, " of state dumps");
	}
	pen_char(pen, '\n');
	put_losses(pen, s);
	put_not_sampled(pen, s);
	put_before(pen, s);
	put_lossy_streams(pen, s);
	put_damage(pen, s);
	put_conflicts(pen, s);
	pen_text(pen, "size:    ");
	put_size(pen, s->bytes);
	pen_text(pen, " in ");
	put_count(pen, s->packets, "packet, ", "packets, ");
	put_count(pen, s->nr_streams, "stream, ", "streams, ");
	put_count(pen, s->nr_traces, "trace\n", "traces\n");
	put_names(pen, s, columns);
}

/* --- as JSON -------------------------------------------------------------- */

static void view_summary_put_string(struct pen *pen, const char *s)
{
	pen_json(pen, (const uint8_t *)s, strlen(s));
}

static void view_summary_put_number(struct pen *pen, const char *key, uint64_t v)
{
	pen_text(pen, ",\"");
	pen_text(pen, key);
	pen_text(pen, "\":");
	pen_json_u64(pen, v);
}

/* As `verify` and `report` have them. */
static void put_lost_members(struct pen *pen, const uint64_t *lost)
{
	uint64_t sum = 0;

	for (int i = 0; i < VIEW_NR_LOST; i++)
		sum += lost[i];
	view_summary_put_number(pen, "lost", sum);
	pen_text(pen, ",\"lost_by_cause\":{");
	for (int i = 0; i < VIEW_NR_LOST; i++) {
		view_summary_put_string(pen, view_lost_key(i));
		pen_char(pen, ':');
		pen_json_u64(pen, lost[i]);
		pen_char(pen, i + 1 < VIEW_NR_LOST ? ',' : '}');
	}
}

static void put_stream_object(struct pen *pen, const struct view_stream *stream)
{
	pen_text(pen, "{\"trace\":");
	view_summary_put_string(pen, stream->trace);
	pen_text(pen, ",\"name\":");
	view_summary_put_string(pen, stream->name);
	view_summary_put_number(pen, "events", stream->events);
	view_summary_put_number(pen, "packets", stream->packets);
	view_summary_put_number(pen, "bytes", stream->bytes);
	view_summary_put_number(pen, "damaged_packets", stream->damaged_packets);
	view_summary_put_number(pen, "damaged_events", stream->damaged_events);
	view_summary_put_number(pen, "lost_packets", stream->lost_packets);
	view_summary_put_number(pen, "given_up", stream->before);
	view_summary_put_number(pen, "lost_before", stream->lost_before);
	put_lost_members(pen, stream->lost);
	pen_char(pen, '}');
}

static void put_sampling_members(struct pen *pen, const struct view_name *name)
{
	if (!name->sampled)
		return;
	pen_text(pen, ",\"sampled\":");
	view_summary_put_string(pen, name->sampled);
	if (name->about)
		view_summary_put_number(pen, "about", name->about);
}

static void put_name_array(struct pen *pen, const struct view_summary *s)
{
	pen_text(pen, ",\"names\":[");
	for (size_t i = 0; i < s->nr_names; i++) {
		pen_text(pen, i ? ",{\"name\":" : "{\"name\":");
		view_summary_put_string(pen, s->names[i].name);
		view_summary_put_number(pen, "events", s->names[i].events);
		put_sampling_members(pen, &s->names[i]);
		pen_char(pen, '}');
	}
	pen_char(pen, ']');
}

static void put_conflict_array(struct pen *pen, const struct view_summary *s)
{
	pen_text(pen, ",\"conflicts\":[");
	for (size_t i = 0; i < s->nr_conflicts; i++) {
		const struct view_conflict *c = &s->conflicts[i];

		pen_text(pen, i ? ",{\"name\":" : "{\"name\":");
		view_summary_put_string(pen, c->name);
		pen_text(pen, ",\"armed\":");
		view_summary_put_string(pen, c->armed);
		pen_text(pen, ",\"refused\":");
		view_summary_put_string(pen, c->refused);
		view_summary_put_number(pen, "pid", c->pid);
		pen_char(pen, '}');
	}
	pen_char(pen, ']');
}

static void summary_json(struct pen *pen, const struct view_summary *s, int status)
{
	pen_text(pen, "{\"verb\":\"view\",\"status\":");
	pen_json_i64(pen, status);
	pen_text(pen, ",\"success\":true,\"result\":{\"events\":");
	pen_json_u64(pen, s->events);
	pen_text(pen, ",\"first_ns\":");
	pen_json_time(pen, s->first_ns);
	pen_text(pen, ",\"last_ns\":");
	pen_json_time(pen, s->last_ns);
	view_summary_put_number(pen, "state_dump", s->hidden);
	put_lost_members(pen, s->lost_by);
	view_summary_put_number(pen, "given_up", s->before);
	view_summary_put_number(pen, "lost_before", s->lost_before);
	view_summary_put_number(pen, "lost_buffers", s->lost_buffers);
	view_summary_put_number(pen, "not_sampled", s->not_sampled);
	view_summary_put_number(pen, "lost_packets", s->lost_packets);
	view_summary_put_number(pen, "damaged_packets", s->damaged_packets);
	view_summary_put_number(pen, "damaged_events", s->damaged_events);
	view_summary_put_number(pen, "skipped_bytes", s->skipped_bytes);
	view_summary_put_number(pen, "problems", s->problems);
	view_summary_put_number(pen, "bytes", s->bytes);
	view_summary_put_number(pen, "packets", s->packets);
	view_summary_put_number(pen, "traces", s->nr_traces);
	put_conflict_array(pen, s);
	put_name_array(pen, s);
	pen_text(pen, ",\"streams\":[");
	for (size_t i = 0; i < s->nr_streams; i++) {
		pen_text(pen, i ? "," : "");
		put_stream_object(pen, &s->streams[i]);
	}
	pen_text(pen, "]}}\n");
}

int view_summary_print(const struct view_summary *summary, const struct view_style *style,
		       FILE *out)
{
	struct pen pen;
	int r;

	pen_init(&pen, out);
	if (style && style->format == VIEW_JSON)
		summary_json(&pen, summary, style->status);
	else
		summary_text(&pen, summary, style ? style->columns : 0);
	r = pen_flush(&pen);
	pen_fini(&pen);
	return r;
}
