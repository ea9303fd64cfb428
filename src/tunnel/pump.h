/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pump.h - bytes both ways between a relay and somebody here, until either hangs up. Runs in
 * ltt-tunnel's only thread.
 */
#ifndef TUNNEL_PUMP_H
#define TUNNEL_PUMP_H

#include "io/chan.h"

/** @relay, @here: both are up, and stay the caller's. */
void pump(struct chan *relay, struct chan *here);

#endif
