/* SPDX-License-Identifier: GPL-2.0-only */
/* loss.h - the number of lost events, the cause, and the option that prevents it. */
#ifndef CTL_RECORD_LOSS_H
#define CTL_RECORD_LOSS_H

#include "ctl/ctl.h"

/** A sentence about lost events and the option that prevents the loss; allocated. @verb: the verb
 *  of lttctl that sets the sizes of buffers. @cause: a member of lost_by_cause. NULL: no such
 *  cause. */
char *loss_sentence(const char *verb, const char *cause, uint64_t n);
/** Warn of buffers (@nr) that were lost with an unknown number of events. @name: their session
 *  or trace.
 *  Return: STATUS_LOST where there are any. */
enum status loss_unknown(struct ctl *ctl, const char *name, uint64_t nr);
/** The same, of a session. */
enum status loss_unknown_in(struct ctl *ctl, const char *session, struct json_object *totals);
/** Print a warning for each cause. Return: STATUS_LOST if anything was lost. */
enum status loss_report(struct ctl *ctl, const char *session, struct json_object *totals);
/** Report losses of `stop` and `destroy` (@totals: NULL: none to report), and the reason why
 *  some data could not be written (@problem: "": it was). Return: as loss_report(). */
enum status loss_conclude(struct ctl *ctl, const char *session, struct json_object *totals,
			  const char *problem);
/** Print a warning for each marker that is not recorded because of its format. */
void loss_conflicts(struct ctl *ctl, struct json_object *owner);
/** Whether the refused event was to be recorded; else it was to be counted. */
bool loss_is_of_record(struct json_object *refusal);
/** Whether the kernel module rejects the event; else an application can't count it. */
bool loss_is_of_kernel(struct json_object *refusal);
/** Add the refusals and conflicts of the last call of the library to the arrays of these names of
 *  @owner. */
void loss_take_outcome(struct ctl *ctl, struct json_object *owner);
/** Print a warning for each event that can't be recorded or counted. Return: STATUS_WARNING if
 *  there are any. */
enum status loss_refusals(struct ctl *ctl, struct json_object *owner);

#endif
