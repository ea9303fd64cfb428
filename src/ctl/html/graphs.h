/* SPDX-License-Identifier: GPL-2.0-only */
/* graphs.h - the flame graphs of a page (analyse/flame.h), as JSON for its script. */
#ifndef CTL_HTML_GRAPHS_H
#define CTL_HTML_GRAPHS_H

struct flame;

/**
 * graphs_text() - after flame_end(): an array of all kinds that it has, allocated:
 * {of, unit, total, left_out, frames: [name], nodes: [[depth, frame, total, self]]}; callees are
 * behind their caller, the largest first. Frames of small values are left out where all are too
 * many.
 */
char *graphs_text(struct flame *flame);

#endif
