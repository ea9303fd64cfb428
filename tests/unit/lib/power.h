/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * power.h - a loss of power at any moment: the consumer's changes of files are logged
 * (dso/writelog.c, preloaded), and disks are made as they may be afterwards. Works in the
 * current directory: log, out (the output), disk.
 */
#ifndef TESTS_POWER_H
#define TESTS_POWER_H

#include <stdbool.h>
#include <stdint.h>

/** Begin a log: daemons that are started have it, until LD_PRELOAD is unset. */
void power_begin(void);
/** This process has synced @fd. */
void power_synced(int fd);
/** From here on so many events have to be on every disk. */
void power_mark(uint64_t events);
/** Has everything that was written been synced by now? */
bool power_is_all_synced(void);
/** Events in a trace, which must be sound. */
uint64_t power_events(const char *path);

struct power_sum {
	uint64_t calls, disks;
	uint64_t most;	 /* events in the end */
	uint64_t synced; /* of these, those that had to be there */
};

/**
 * power_check() - after each logged call, check @images disks: the first has all calls,
 * the second the synced ones only, and the others any of the sectors that were not synced.
 */
struct power_sum power_check(unsigned int images);

#endif
