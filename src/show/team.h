/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * team.h - events are decoded and formatted by several threads. The caller's thread merges the
 * streams, whose packets the others check before it gets to them (ahead.h); batches of events are
 * formatted by any thread, also by the caller's, and written in their order by the one that has
 * formatted the first of them. Events of classes without a literal text (mold.h) are printed by the
 * caller's thread alone, behind all before them.
 */
#ifndef SHOW_TEAM_H
#define SHOW_TEAM_H

#include "print.h"

struct view;

typedef void print_fn(struct printer *printer, const struct event *event);
typedef void print_packet_fn(struct packet *packet, const struct source *source);

/** Whether the events of a view can be printed in this style by a team. */
bool team_can_print(const struct view *view, const struct view_select *select,
		    const struct view_style *style);

/** team_print() - the selected events. @print: one, @packet: the text of its packet's context.
 *  Return: 0, negative errno, the printer's error included. */
int team_print(struct view *view, const struct view_select *select, struct printer *printer,
	       print_fn *print, print_packet_fn *packet);

#endif
