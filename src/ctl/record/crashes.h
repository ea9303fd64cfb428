/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * crashes.h - the snapshots of programs that failed under lttctl record --flight, or that ltt-crash
 * has saved. Each has a file crash.json with the facts about its program; HOME/.ltt-crashes has the
 * directory of each in a line, the last one at the end, for the user alone.
 */
#ifndef CTL_RECORD_CRASHES_H
#define CTL_RECORD_CRASHES_H

#include "ctl/ctl.h"

/** Store the facts about a snapshot, and remember it. Failures are warnings. @program: as in the
 *  result of record. @machine: facts of ltt-crash (ctl/crash/save.c); NULL: of record --flight. */
void crashes_save(struct ctl *ctl, struct json_object *snapshot, struct json_object *program,
		  struct json_object *machine);
/** The facts about a snapshot with its directory, as in crashes_list(). */
struct json_object *crashes_record(struct json_object *snapshot, struct json_object *program,
				   struct json_object *machine);
/** The snapshots that are still there, oldest first: an array of crashes. */
struct json_object *crashes_list(void);
/** The last crash of that name, else of that program, else the one in a directory or in its
 *  subdirectories. Return: NULL: ctl->err is set. */
struct json_object *crashes_find(struct ctl *ctl, const char *word);

#endif
