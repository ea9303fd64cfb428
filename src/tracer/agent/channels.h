/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * channels.h - the channels that libraries of the process have registered (ltt/channel.h), for the
 * daemons. Changed by any thread, read by the helper. No other lock is taken while its own is held.
 */
#ifndef TRACER_AGENT_CHANNELS_H
#define TRACER_AGENT_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

struct encoder;

/** The number of changes so far. */
uint32_t agent_channels_generation(void);
/** Encode all channels as they are now. Return: the generation. */
uint32_t agent_channels_encode(struct encoder *enc);

/* fork handlers */
void agent_channels_lock(void);
void agent_channels_unlock(void);

#endif
