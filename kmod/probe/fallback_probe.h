/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fallback_probe.h - counters of perf for each event that is recorded by fallback.h; their
 * samples are copied into the ring.
 */
#ifndef KMOD_FALLBACK_PROBE_H
#define KMOD_FALLBACK_PROBE_H

#include "event.h"

extern const struct event_kind fallback_kind;

#endif
