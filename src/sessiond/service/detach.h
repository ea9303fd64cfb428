/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * detach.h - moves the daemon to the background. The parent process waits until the daemon
 * serves, or fails, and then exits with the status that it receives from the daemon.
 */
#ifndef SESSIOND_SERVICE_DETACH_H
#define SESSIOND_SERVICE_DETACH_H

/** In the parent this does not return. Return: descriptor for detach_ready(), or
 *  negative errno. */
int detach(void);
/** Startup failed: send the parent its exit status. No effect with a negative @fd. */
void detach_failed(int fd, int status);
/** Startup succeeded: let the parent exit. */
void detach_ready(int fd);

#endif
