/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * notify.h - tell the service manager that started this daemon (sd_notify(3)) when it
 * serves, what goes on, that its loop still turns, when it ends. The protocol is small,
 * stable and meant to be spoken without libsystemd. Owned by the program; runs on its
 * loop. Without a manager nothing happens.
 */
#ifndef IO_NOTIFY_H
#define IO_NOTIFY_H

#include <stdbool.h>

#include "base/macros.h"
#include "loop.h"

struct notify {
	int fd; /* connected; -1: there is no manager */
	bool failed;
	char *status;		    /* as it was told last */
	uint64_t watchdog_us;	    /* how often the manager wants to hear of us; 0: it does not */
	struct loop_timer watchdog; /* WATCHDOG_USEC */
};

/** Take what the environment says; what we start does not hear of it. */
void notify_init(struct notify *notify);
void notify_fini(struct notify *notify);

/** One or several lines, as in sd_notify(3). A failure is logged, once. */
void notify_send(struct notify *notify, const char *lines);
/** With a descriptor, which stays the caller's. */
void notify_send_fd(struct notify *notify, const char *lines, int fd);
/** STATUS=, if it is another than before. */
void notify_status(struct notify *notify, const char *fmt, ...) PRINTF(2, 3);
/** READY=1; from here on the manager hears as often as it wants that @loop turns, */
void notify_ready(struct notify *notify, struct loop *loop);
/** and from here on no more: the loop may be freed. */
void notify_unwatch(struct notify *notify);

#endif
