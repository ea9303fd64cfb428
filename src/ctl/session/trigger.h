/* SPDX-License-Identifier: GPL-2.0-only */
/* trigger.h - common to the verbs about triggers: their objects, and adding one. */
#ifndef CTL_SESSION_TRIGGER_H
#define CTL_SESSION_TRIGGER_H

#include <ltt/control.h>
#include <sys/types.h>

#include "ctl/ctl.h"

struct json_object *json_trigger(const struct ltt_ctl_trigger *trigger);
/** The triggers that the caller may see, an array in *ret. Return: 0 or the code in @err. */
int trigger_fetch(struct ctl *ctl, struct json_object **ret, struct err *err) MUST_CHECK;
/** Return: NULL: the kind is unknown. */
struct json_object *json_notification(const struct ltt_ctl_notification *n);

/** Add the trigger: fills ctl->record. */
enum status trigger_create(struct ctl *ctl, const struct ltt_ctl_trigger_options *options);
/** Read "every:N" or "once-after:N". Return: 0 or the code in @err. */
int trigger_take_policy(const char *text, struct ltt_ctl_action *action,
			struct err *err) MUST_CHECK;
/** Another owner than the caller. Return: -1: there is no such user, whose group is needed. */
int trigger_take_owner(uid_t uid, struct ltt_ctl_trigger_options *options) MUST_CHECK;
extern const char trigger_form[]; /* of the record */

#endif
