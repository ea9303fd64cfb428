/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * markers.h - the registry of markers of other modules (ltt_marker.h), which makes events of them.
 */
#ifndef KMOD_MARKERS_H
#define KMOD_MARKERS_H

/** Frees the per-name data; no marker or probe may be registered any more. */
void markers_fini(void);

struct seq_file;

/** A line for each probe that is armed: source, name, how often, by which function. */
void markers_show(struct seq_file *to);

#endif
