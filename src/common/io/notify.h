/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * notify.h - reports to the service manager that started this daemon (sd_notify(3)): ready,
 * status, watchdog, stopping. The protocol is implemented here, without libsystemd, as its
 * specification permits. Owned by the program; runs on its loop. Without a manager, all functions
 * do nothing.
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

/** Send one or several lines, as in sd_notify(3). Only the first failure is logged. */
void notify_send(struct notify *notify, const char *lines);
/** Send lines and a descriptor, which stays the caller's. */
void notify_send_fd(struct notify *notify, const char *lines, int fd);
/** Send STATUS=, if the text has changed. */
void notify_status(struct notify *notify, const char *fmt, ...) PRINTF(2, 3);
/** Send READY=1, and notify the watchdog while @loop runs. */
void notify_ready(struct notify *notify, struct loop *loop);
/** Stop notifying the watchdog. Call it before the loop is freed. */
void notify_unwatch(struct notify *notify);

#endif
