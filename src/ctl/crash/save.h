/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * save.h - lttctl crash --save: save the buffers of the sessions of this user that keep the last
 * events of programs. ltt-crash runs it when one of these has crashed, and gives the facts on
 * standard input.
 */
#ifndef CTL_CRASH_SAVE_H
#define CTL_CRASH_SAVE_H

#include "ctl/ctl.h"

/** Fills ctl->record: the directories of the snapshots. */
enum status crash_save(struct ctl *ctl);

#endif
