/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * boot.h - the recorder after a boot: its session among the files that a session daemon loads when
 * it starts, and a unit of systemd that starts the daemon.
 */
#ifndef RECORDER_BOOT_H
#define RECORDER_BOOT_H

#include "ctl/ctl.h"

/** Whether the recorder begins again with a session daemon that starts. */
bool boot_is_set(void);
/**
 * boot_set() - save the session @session, and enable the unit.
 * @ret_unit: whether the unit is enabled; else a note has the reason.
 * Return: 0 or the code in ctl->err: it is not saved.
 */
int boot_set(struct ctl *ctl, const char *session, bool *ret_unit) MUST_CHECK;
/** Undo that. Return: whether there was anything to undo; failures are warnings. */
bool boot_unset(struct ctl *ctl);

#endif
