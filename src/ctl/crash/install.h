/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * install.h - ltt-crash in core_pattern: the program that the kernel starts for each core, in front
 * of the handler or file that the pattern had before. The pattern is the machine's, not a
 * container's.
 */
#ifndef CTL_CRASH_INSTALL_H
#define CTL_CRASH_INSTALL_H

#include "ctl/ctl.h"
#include "settings.h"

/** @wanted: limits; 0: as they are; its patterns are not used. Fills ctl->record as
 *  crash_status(). */
enum status crash_install(struct ctl *ctl, const struct crash_settings *wanted);
enum status crash_uninstall(struct ctl *ctl);
/** Fills ctl->record: whether it is installed, the patterns, the limits. */
enum status crash_status(struct ctl *ctl);
void crash_install_text(FILE *out, struct json_object *record);

#endif
