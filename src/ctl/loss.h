/* SPDX-License-Identifier: GPL-2.0-only */
/* loss.h - the number of lost events, the cause, and the option that prevents it. */
#ifndef CTL_LOSS_H
#define CTL_LOSS_H

#include "verb.h"

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
/** Format conflicts of markers, a warning each. */
void loss_conflicts(struct ctl *ctl, struct json_object *owner);
/** Whether the kernel module rejects it. Otherwise an application can't count it. */
/** Whether it is to be recorded, or counted. */
bool loss_is_of_record(struct json_object *refusal);
bool loss_is_of_kernel(struct json_object *refusal);
/** An item of an answer: a refusal is added to the array `refusals` of @owner, a conflict
 *  to `conflicts`. */
int loss_take_item(void *owner, unsigned int type, struct decoder *dec);
/** Warn of these. Return: STATUS_WARNING where there are any. */
enum status loss_refusals(struct ctl *ctl, struct json_object *owner);

#endif
