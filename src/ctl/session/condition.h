/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * condition.h - conditions of triggers as text, in the language that lttctl-on(1) describes:
 *
 *	EVENT                          an event
 *	BEGIN..END [by FIELD] > TIME   a pair that takes longer
 *	EVENT silent for TIME          no event
 *	EVENT > N/s                    more events in a second
 *	pNN of EVENT.FIELD > VALUE     a quantile of a histogram
 *	losses [> N]                   lost events
 *	buffer CHANNEL > N%            a buffer that fills; < N%: that empties
 *	size > SIZE                    written bytes
 *	rotation begins, rotation ends
 *	program NAME ends by SIGNAL,.. a program that a signal ends; by any
 */
#ifndef CTL_SESSION_CONDITION_H
#define CTL_SESSION_CONDITION_H

#include <stdbool.h>

#include <json-c/json.h>
#include <ltt/control.h>

#include "base/err.h"
#include "base/macros.h"

/** Read a condition. @ret_memory: of the texts in @ret; to be freed. Return: 0 or the code in
 *  @err. */
int condition_parse(const char *text, struct ltt_ctl_trigger_options *ret, char **ret_memory,
		    struct err *err) MUST_CHECK;
/** The condition of a trigger (of json_trigger()) in this language. Return: allocated. */
char *condition_text(struct json_object *trigger);
/** Whether the condition is about a session. */
bool condition_has_session(enum ltt_ctl_condition condition);
/** Read a greatest number in a period: 3/h, 10/min, 1/90s. Return: 0 or the code in @err. */
int condition_parse_limit(const char *text, uint64_t *ret_nr, uint64_t *ret_us,
			  struct err *err) MUST_CHECK;

#endif
