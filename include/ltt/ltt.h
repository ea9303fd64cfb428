/* SPDX-License-Identifier: MIT */
/* ltt/ltt.h - everything that libltt offers to programs. */
#ifndef LTT_LTT_H
#define LTT_LTT_H

#include <ltt/log.h>
#include <ltt/marker.h>
#include <ltt/probe.h>
#include <ltt/statedump.h>
#include <ltt/tracepoint.h>

#endif
