/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quota.h - the quotas of users and their use, fetched for
 * `lttctl quota` and the doctor.
 */
#ifndef CTL_SESSION_QUOTA_H
#define CTL_SESSION_QUOTA_H

#include "ctl/ctl.h"

/** An array of objects: user, guest, name, used, limit (0: none), refused. Return: 0 or a code. */
int quota_fetch(struct ctl *ctl, struct json_object **ret, struct err *err) MUST_CHECK;

#endif
