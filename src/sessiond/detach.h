/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * detach.h - going to the background, with a parent that waits until the daemon
 * serves (or says that it can't) and exits with what it was told.
 */
#ifndef SESSIOND_DETACH_H
#define SESSIOND_DETACH_H

#include <stdbool.h>

/** In the parent this does not return. Return: descriptor for detach_ready(), or
 *  negative errno. */
int detach(void);
/** We can't serve: the parent's exit status. Nothing with a negative @fd. */
void detach_failed(int fd, int status);
/** We serve: let the parent go. @quiet: leave the standard descriptors, too. */
void detach_ready(int fd, bool quiet);

#endif
