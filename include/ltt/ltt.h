/* SPDX-License-Identifier: MIT */
/* ltt/ltt.h - includes all public headers of libltt. */
#ifndef LTT_LTT_H
#define LTT_LTT_H

#include <ltt/channel.h>
#include <ltt/context.h>
#include <ltt/log.h>
#include <ltt/marker.h>
#include <ltt/probe.h>
#include <ltt/provider.h>
#include <ltt/statedump.h>
#include <ltt/trace.h>
#include <ltt/tracepoint.h>

#endif
