/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * presets.h - channels that other modules have registered (ltt_channel.h). Nothing is recorded
 * into them as such: the session daemon reads them, and creates channels like them.
 */
#ifndef KMOD_PRESETS_H
#define KMOD_PRESETS_H

#include "ltt_kmod.h"

/** Fill in the one at @preset->index. Return: 0; -ENOENT: there are no more. */
int preset_describe(struct ltt_kmod_preset *preset);

#endif
