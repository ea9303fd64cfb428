/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * triggers.h - the saved triggers, in one file of the daemon's state. It is written when a trigger
 * is added or removed, and soon after one has fired, for the counts. Owned by the daemon; runs on
 * its loop.
 */
#ifndef SESSIOND_STATE_TRIGGERS_H
#define SESSIOND_STATE_TRIGGERS_H

#include "sessiond/sessiond.h"

#define STATE_TRIGGERS_FILE "triggers"

void state_triggers_init(struct sessiond *sd);
void state_triggers_fini(struct sessiond *sd);
/** Save all triggers now. Return: 0 or negative errno. */
int state_save_triggers(struct sessiond *sd) MUST_CHECK;
void state_save_triggers_later(struct sessiond *sd);
/** Restore the triggers of an earlier daemon; those that are damaged are reported. */
void state_load_triggers(struct sessiond *sd);

#endif
