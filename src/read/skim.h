/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * skim.h - counts the events of a view for a summary. No event is merged: all of a packet are taken
 * at once, when the merge of all events would have taken its last one, so that damage is reported
 * in the same order. Used by one thread, like the view.
 */
#ifndef READ_SKIM_H
#define READ_SKIM_H

#include <stdbool.h>

struct view;
struct view_select;

/** Whether this selection can be counted so. */
bool skim_can_be(const struct view *view, const struct view_select *select);
/** As view_scan(). */
int skim_scan(struct view *view, const struct view_select *select);

#endif
