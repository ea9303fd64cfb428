/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * notify.h - reports to the service manager that started this daemon (sd_notify(3)): ready,
 * status, watchdog, stopping. The protocol is small and stable, and is meant to be implemented
 * without libsystemd. Owned by the program; runs on its loop. Without a manager nothing happens.
 */
#ifndef IO_NOTIFY_H
#define IO_NOTIFY_H

#include <stdbool.h>

#include "base/macros.h"
#include "loop.h"

struct notify {
	int fd; /* connected; -1: there is no manager */
	bool failed;
	char *status;		    /* the last one that was sent */
	uint64_t watchdog_us;	    /* watchdog period; 0: none */
	struct loop_timer watchdog; /* WATCHDOG_USEC */
};

/** Read the environment variables, and remove them for child processes. */
void notify_init(struct notify *notify);
void notify_fini(struct notify *notify);

/** One or several lines, as in sd_notify(3). A failure is logged, once. */
void notify_send(struct notify *notify, const char *lines);
/** With a descriptor, which stays the caller's. */
void notify_send_fd(struct notify *notify, const char *lines, int fd);
/** STATUS=, if it has changed. */
void notify_status(struct notify *notify, const char *fmt, ...) PRINTF(2, 3);
/** READY=1; from here on the watchdog is notified while @loop runs, */
void notify_ready(struct notify *notify, struct loop *loop);
/** stop the watchdog notifications: the loop may be freed. */
void notify_unwatch(struct notify *notify);

#endif
