/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * samples.h - the events sample:cpu_sample_HZhz: where each CPU is, with its stacks, so many times
 * in a second of work; an idle CPU has none. By the kernel's timers for perf, so also without
 * counters of the processor.
 */
#ifndef KMOD_SAMPLES_H
#define KMOD_SAMPLES_H

/** Adds the events to the registry. Return: 0 or -ENOMEM. */
int samples_init(void);

#endif
