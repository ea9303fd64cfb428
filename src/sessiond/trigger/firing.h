/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * firing.h - the condition of a trigger holds: the firing is counted, and the
 * actions run that are due. Owned by the daemon; runs on its loop.
 *
 * Each firing is decided when firing_happened() returns: it is delivered, or suppressed. Actions
 * that take time end later; watchers receive a notification of that.
 */
#ifndef SESSIOND_TRIGGER_FIRING_H
#define SESSIOND_TRIGGER_FIRING_H

#include "sessiond/core/trigger.h"
#include "sessiond/sessiond.h"

/** @nr firings; @firing: facts of the last one; NULL: its captures are not known. */
void firing_happened(struct sessiond *sd, struct trigger *trigger, const struct firing *firing,
		     uint64_t nr);
/** A firing that the daemon itself has decided: saved before its actions run, as suppressed, so
 *  that a successor does not decide it once more. */
void firing_decided(struct sessiond *sd, struct trigger *trigger, const struct firing *firing);
/** @nr firings that an earlier daemon had begun to handle: they are suppressed. */
void firing_interrupted(struct sessiond *sd, struct trigger *trigger, uint64_t nr);

#endif
