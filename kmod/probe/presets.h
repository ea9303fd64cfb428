/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * presets.h - presets: descriptions of channels that other modules have registered
 * (ltt_channel.h). A preset has no buffers; the session daemon reads it, and creates a channel
 * with its attributes.
 */
#ifndef KMOD_PRESETS_H
#define KMOD_PRESETS_H

#include "ltt_kmod.h"

/** Fill in the preset number @preset->index. Return: 0; -ENOENT: there are no more. */
int preset_describe(struct ltt_kmod_preset *preset);

#endif
