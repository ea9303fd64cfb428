/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flight.h - lttctl record --flight: a program is recorded into buffers that keep its last events,
 * and these are saved only if it fails, or a process crashes that it has started.
 */
#ifndef CTL_RECORD_FLIGHT_H
#define CTL_RECORD_FLIGHT_H

#include <stdio.h>

#include <ltt/control.h>

#include "ctl/ctl.h"
#include "run.h"

#define FLIGHT_KEPT 16u

/**
 * struct flight - the crashes of processes that the program has started.
 * @run: with the crashes. @seen: those of them that were taken; @probed: the unsure ones, the next
 * of which are taken at @probe_ns.
 * @kept: the last ones that were saved; number N of @nr is in N modulo FLIGHT_KEPT.
 */
struct flight {
	struct ctl *ctl;
	const char *session;
	struct run *run;
	size_t seen;
	size_t probed;
	uint64_t probe_ns;
	struct flight_crash {
		struct fault fault;
		struct json_object *snapshot;
		uint64_t at_ns; /* since the start of the program */
		bool stored;	/* lttctl crash lists it */
	} kept[FLIGHT_KEPT];
	size_t nr;
	unsigned int crashed;
};

/** Set the sizes of buffers of @text bytes for all CPUs together. Return: 0 or the code in @err. */
int flight_take_size(const char *text, struct ltt_ctl_channel_options *ret, struct err *err);
/** The program of a run as an object, for the record and the facts about a crash. */
struct json_object *flight_program(const struct ctl *ctl, const struct run *run);
/** Save the events of the session's buffers, as the program has failed. Return: the snapshot; NULL:
 *  a warning has the reason. */
struct json_object *flight_save_program(struct flight *flight);
/** Save the events for the next process that crashed, if there is one; @priv: struct flight. The
 *  snapshots before the last ones are removed. Return: as struct run's crashed(). */
int flight_save_crash(void *priv);
/** No more crashes follow: take and list the rest. Return: their number, whether the kernel reports
 *  all, and those that are kept, as lttctl crash has them, the newest first. */
struct json_object *flight_end(struct flight *flight);
void flight_fini(struct flight *flight);
/** The last events of a snapshot, as lines of text: of the thread that crashed if that is known and
 *  has any, else of all threads. @crash: with "pid" and "tid"; may be NULL. */
struct json_object *flight_last(const char *directory, struct json_object *crash);
/** Print them. */
void flight_show(FILE *out, struct json_object *last, struct json_object *crash);
/** Print the processes that crashed. @crashes: from flight_end(). */
void flight_show_crashes(FILE *out, struct json_object *crashes);

#endif
