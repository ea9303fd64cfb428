// SPDX-License-Identifier: GPL-2.0-only
/* Last of the section, see begin.c. */
#include "event.h"

extern struct event *events_end[];
struct event *events_end[0] __section("ltt_events");
