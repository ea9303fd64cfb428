/* SPDX-License-Identifier: GPL-2.0-only */
/* expiry.h - certificates of this host or relay that expire soon. */
#ifndef CTL_EXPIRY_H
#define CTL_EXPIRY_H

/** Call @report with a sentence about the caller's certificate, if it expires within 30 days.
 *  ltt-keys, which is run, reads it. */
void expiry_check(void (*report)(void *data, const char *sentence), void *data);

#endif
