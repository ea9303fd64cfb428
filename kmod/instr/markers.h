/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * markers.h - the registry of markers of other modules (ltt_marker.h), and its door for ltt.ko,
 * which records them.
 */
#ifndef KMOD_INSTR_MARKERS_H
#define KMOD_INSTR_MARKERS_H

#include <linux/stdarg.h>

#include <linux/container_of.h>
#include <linux/string.h>

#include "ltt_marker.h"
#include "marker_format.h"

struct seq_file;

/** Return: NULL: the tracepoint is not a marker. */
static inline struct ltt_marker *marker_of(struct tracepoint *tp)
{
	return str_has_prefix(tp->name, LTT_MARKER_PREFIX) ?
		       container_of(tp, struct ltt_marker, tp) : NULL;
}

static inline const char *marker_name_of(const struct ltt_marker *marker)
{
	return marker->tp.name + strlen(LTT_MARKER_PREFIX);
}

/**
 * struct marker_facts - all markers of one name, those that are there and those to come. It stays
 * until ltt_instr.ko is unloaded.
 * @recorded: number of hooks, see ltt_marker_record().
 * @own: the recorder's.
 */
struct marker_facts {
	const char *name, *format;
	struct marker_format parsed;
	u32 recorded;
	void *own;
};

/**
 * struct marker_recorder
 * @add: there is a new name. Return: 0 or -errno.
 * @comes, @goes: the first marker of the name, the last one. These three are called beneath the
 * lock of the registry.
 * @record: a marker with hooks is hit; preemption is off, in any context.
 */
struct marker_recorder {
	int (*add)(struct marker_facts *facts);
	void (*comes)(struct marker_facts *facts);
	void (*goes)(struct marker_facts *facts);
	void (*record)(const struct marker_facts *facts, va_list *values);
};

/** Record markers from now on. There is one recorder at a time. Return: 0 or -errno of @add. */
int ltt_markers_record(const struct marker_recorder *to);
/** On return it is called no more. */
void ltt_markers_record_end(void);
/** Add @change to the number of hooks of a name: 1 or -1. Return: 0; -errno: the probe of its
 *  tracepoint can't be connected, nothing has changed. */
int ltt_marker_record(struct marker_facts *facts, int change);

/** Find the markers of modules, those that are loaded and those to come. Return: 0 or -errno. */
int instr_markers_init(void);
/** Disarms all markers; no probe may be registered any more. */
void instr_markers_fini(void);
/** A line for each name that has a marker. */
void markers_show_names(struct seq_file *to);
/** A line for each probe that is armed: source, name, how often, by which function. */
void markers_show(struct seq_file *to);

#endif
