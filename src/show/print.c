/* SPDX-License-Identifier: GPL-2.0-only */
#include "print.h"

#include <errno.h>
#include <time.h>

#include "base/mem.h"
#include "columns.h"
#include "longest.h"
#include "read/view_priv.h"
#include "team.h"

static void print_new_second(struct printer *printer, time_t s, const char *format, bool gmt)
{
	char *text = printer->second_text;
	size_t size = sizeof(printer->second_text);
	struct tm tm;
	size_t len = 0;

	if (gmt ? gmtime_r(&s, &tm) : localtime_r(&s, &tm))
		len = strftime(text, size, format, &tm);
	if (!len)
		len = (size_t)snprintf(text, size, "%lld", (long long)s);
	printer->second_len = (uint32_t)len;
	printer->seconds_len = 0;
	if (s > 0)
		printer->seconds_len = (uint32_t)(pen_put_u64(printer->seconds, (uint64_t)s) -
						  printer->seconds);
}

void print_other_tick(struct printer *p, int64_t ns, const char *format, bool gmt)
{
	uint64_t behind = (uint64_t)ns - (uint64_t)p->second_ns;
	char nanos[9];

	if (!p->second_len || behind >= 1000000000) {
		behind = nanos_of(ns);
		print_new_second(p, seconds_of(ns), format, gmt);
		p->second_ns = ns - (int64_t)behind;
	}
	pen_put_nanos(nanos, (uint32_t)behind);
	memcpy(p->tick_text, p->second_text, p->second_len);
	p->tick_text[p->second_len] = '.';
	memcpy(p->tick_text + p->second_len + 1, nanos, 4);
	p->tick_len = p->second_len + 5;
	p->tick_ns = ns - (int64_t)(behind % PRINT_TICK_NS);
}

void print_packet_once(struct packet *packet, const struct source *source,
		       void (*head)(struct pen *pen, const struct source *source),
		       void (*write)(struct pen *pen, const struct packet *packet))
{
	struct pen pen;

	if (packet->shown)
		return;
	pen_init(&pen, NULL);
	if (head)
		head(&pen, source);
	packet->shown_source = pen.used;
	write(&pen, packet);
	packet->shown_len = pen.used;
	packet->shown = xalloc(pen.used + PACKET_SHOWN_MORE);
	memcpy(packet->shown, pen.buf, pen.used);
	pen_fini(&pen);
}

/* Of a guest and its host, too. */
static bool has_several_hosts(const struct view *view)
{
	const char *first = NULL;

	for (size_t i = 0; i < view->nr_sources && !view->live; i++) {
		const char *host = trace_class_env(view->sources[i]->tc, "hostname");

		host = host ? host : "";
		if (view->sources[i]->guest || (first && strcmp(first, host) != 0))
			return true;
		first = host;
	}
	return false;
}

static print_fn *print_of(const struct view_style *style)
{
	return style->table		    ? print_columns :
	       style->format == VIEW_JSON   ? print_json :
	       style->brief && style->tasks ? print_brief :
					      print_text;
}

static print_packet_fn *print_packet_of(const struct view_style *style)
{
	return style->table		  ? print_columns_packet :
	       style->format == VIEW_JSON ? print_json_packet :
					    print_text_packet;
}

/* Find or decode the values of the event that was read last. Return: as event_decode(). */
static int print_read(struct view *view, const struct view_select *select, struct event *event,
		      const uint8_t **bases)
{
	const struct mold *mold = event->ec->mold;
	int r = mold && mold->is_placed ? event_locate(view, mold->skipped, bases) :
					  EVENT_UNPLANNED;

	if (r == 1)
		event->bases = bases;
	return r == EVENT_UNPLANNED ? event_decode(view, select, event) : r;
}

static int print_all(struct view *view, const struct view_select *select, struct printer *printer)
{
	print_fn *print = print_of(&printer->style);
	struct view_select brief = *select;
	const uint8_t *bases[PLAN_BASES];
	struct event event;
	int r;

	if (team_can_print(view, select, &printer->style))
		return team_print(view, select, printer, print, print_packet_of(&printer->style));
	brief.brief = !select->pairs && !printer->style.names;
	while ((r = event_next(view, &brief, &event)) > 0) {
		r = brief.brief ? print_read(view, select, &event, bases) : 1;
		if (r < 0)
			return r;
		if (r > 0)
			print(printer, &event);
		if (printer->pen.error)
			return printer->pen.error;
	}
	return r;
}

/* No line follows another one in time. */
static int print_longest(struct view *view, const struct view_select *select,
			 struct printer *printer)
{
	struct longest *longest = longest_new(printer->style.longest);
	print_fn *print = print_of(&printer->style);
	struct pen out = printer->pen;
	struct event event;
	int r;

	pen_init(&printer->pen, NULL);
	while ((r = event_next(view, select, &event)) > 0) {
		if (!event.took || !longest_wants(longest, event.took->ns))
			continue;
		printer->any = false;
		print(printer, &event);
		longest_take(longest, event.took->ns, &printer->pen);
	}
	pen_fini(&printer->pen);
	printer->pen = out;
	if (printer->style.table)
		columns_begin(printer->style.table, &printer->pen);
	longest_write(longest, &printer->pen);
	longest_free(longest);
	return r;
}

/* An error stays in the pen. */
static void print_idle(void *priv)
{
	struct printer *printer = priv;

	if (pen_flush(&printer->pen) == 0 && fflush(printer->pen.file) != 0)
		printer->pen.error = -errno;
}

int view_print(struct view *view, const struct view_select *select, const struct view_style *style,
	       FILE *out)
{
	static const struct view_select everything;
	struct printer printer = { 0 };
	int r, flushed;

	if (style)
		printer.style = *style;
	printer.several_hosts = has_several_hosts(view);
	printer.is_live = view->live;
	pen_init(&printer.pen, out);
	pen_init(&printer.task, NULL);
	view->idle = print_idle;
	view->idle_priv = &printer;
	r = (printer.style.longest ? print_longest : print_all)(view, select ? select : &everything,
								&printer);
	if (!r && printer.style.table)
		columns_begin(printer.style.table, &printer.pen);
	flushed = pen_flush(&printer.pen);
	pen_fini(&printer.pen);
	pen_fini(&printer.task);
	mold_free(printer.molds);
	memo_fini(&printer.memo);
	view->idle = NULL;
	return r ? r : flushed;
}
