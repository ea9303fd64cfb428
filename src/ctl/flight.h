/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flight.h - lttctl record --flight: a program is recorded into buffers that keep its last events,
 * and these are saved only if it fails.
 */
#ifndef CTL_FLIGHT_H
#define CTL_FLIGHT_H

#include <stdio.h>

#include <ltt/control.h>

#include "ctl.h"

/** Set the sizes of buffers of @text bytes for all CPUs together. Return: 0 or the code in @err. */
int flight_take_size(const char *text, struct ltt_ctl_channel_options *ret, struct err *err);
/** Save the events of the session's buffers. Return: the snapshot; NULL: a warning has the
 *  reason. */
struct json_object *flight_save(struct ctl *ctl, const char *session);
/** The last events of a snapshot, as lines of text: of the thread that crashed if that is known and
 *  has any, else of all threads. @crash: with "pid" and "tid"; may be NULL. */
struct json_object *flight_last(const char *directory, struct json_object *crash);
/** Print them. */
void flight_show(FILE *out, struct json_object *last, struct json_object *crash);

#endif
