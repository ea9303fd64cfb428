// SPDX-License-Identifier: GPL-2.0-only
/* First of the section that the probes' descriptors lie in; Kbuild's order decides. scripts/build
 * takes the command that compiles this file for prelude.h, which is why that is included. */
#include "prelude.h"
#include "event.h"

extern struct event *events_begin[];
struct event *events_begin[0] __section("ltt_events");
