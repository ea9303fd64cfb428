/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mend.h - what a relay that died has left unfinished: ends of files that are no whole
 * packet are cut off, packets without an index entry get one. Done by main() before
 * anybody is served; a sender that comes back finds the same.
 */
#ifndef RELAYD_MEND_H
#define RELAYD_MEND_H

#include <stdint.h>

/** Mend all traces below @dir_fd. Return: bytes that were cut off. */
uint64_t mend_all(int dir_fd);

#endif
