/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user.h - places in programs, which the module reaches by uprobes.
 */
#ifndef DOMAIN_KERNEL_USER_H
#define DOMAIN_KERNEL_USER_H

#include "fetch.h"
#include "probe.h"

/** kernel_probe_send() for places in a program. -ESTALE: the file was replaced. */
int kernel_user_send(const struct kmod *kmod, int module, uint32_t id,
		     const struct kernel_place *place, struct err *err) MUST_CHECK;
/** Whether the place is the return of a function. */
bool kernel_user_returns(const struct kernel_place *place);
/** The values that are recorded at the first place, and so at all places. Return: their number,
 *  at most LTT_KMOD_ARGS_MAX; or negative, with @err set. */
int kernel_user_fetches(const struct kernel_place *place, struct kernel_fetch *ret,
			struct err *err) MUST_CHECK;

#endif
