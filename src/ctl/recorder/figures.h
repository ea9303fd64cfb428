/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * figures.h - how far back the buffers of a session for snapshots reach at the present rate, and
 * the processor time of the session daemon and its consumers: measured during a period.
 */
#ifndef RECORDER_FIGURES_H
#define RECORDER_FIGURES_H

#include "ctl/ctl.h"

/**
 * figures_measure() - measure for @period_ns.
 * @ret: gets `period_ns`, `daemons_ns`, `memory` and `channels`; lttctl-recorder(1) has their
 *	meaning.
 * Return: 0 or the code in ctl->err.
 */
int figures_measure(struct ctl *ctl, const char *session, uint64_t period_ns,
		    struct json_object *ret) MUST_CHECK;

#endif
