// SPDX-License-Identifier: GPL-2.0-only
/* provider.c - the provider's functions of every.h, in the program or a library. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "every.h"
