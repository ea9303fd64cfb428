/* SPDX-License-Identifier: GPL-2.0-only */
/* clock.h - the trace clock of ltt_probe.h. It is chosen when the module is loaded, by its
 * parameter `clock` or by the CPU, and stays. */
#ifndef KMOD_INSTR_CLOCK_H
#define KMOD_INSTR_CLOCK_H

/** Return: 0; -EINVAL: no such clock. */
int instr_clock_init(void);

#endif
