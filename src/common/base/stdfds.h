/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stdfds.h - standard descriptors of a program that was started without some of them. */
#ifndef BASE_STDFDS_H
#define BASE_STDFDS_H

/**
 * stdfds_open() - open /dev/null for each of the descriptors 0 to 2 that is closed ("2>&-").
 * Otherwise the next file or socket gets that number, and messages for the user are written into
 * it. Programs that are executed later do not inherit these. Called first in main(), by one thread.
 */
void stdfds_open(void);

#endif
