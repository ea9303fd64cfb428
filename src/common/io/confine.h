/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * confine.h - drops the privileges that a daemon does not need: capabilities, the gaining of new
 * privileges, system calls. Called once by the daemon's main thread, after the steps that need
 * more privileges than its work, and before it creates other threads. If the kernel rejects a
 * restriction, one line reports it, and the daemon continues.
 */
#ifndef IO_CONFINE_H
#define IO_CONFINE_H

#include <stdint.h>

#include "base/macros.h"

/** The kind of daemon. A session daemon is allowed the system calls of the keeper and the consumer,
 *  too, as filters are inherited and these are its children. */
enum confine_role {
	CONFINE_KEEPER = 1,
	CONFINE_CONSUMER = 2,
	CONFINE_SESSION = 4,
	CONFINE_RELAY = 8,
	CONFINE_ARCHIVE = 16, /* ltt-archive, which a relay has started */
};

#define CONFINE_CAP(number) (1ull << (number))

struct confine {
	enum confine_role role;
	uint64_t permitted; /* CONFINE_CAP() bits of capabilities that are kept */
	uint64_t effective; /* those of them that stay in force without being raised again */
};

/** Drop all other privileges of the process. */
void confine(const struct confine *to);

/** Open a file with root's right to all files, if confine() has left that capability permitted; it
 *  is dropped again. @how: O_RDONLY, O_RDWR or O_PATH. Return: a descriptor or -errno. */
int confine_open(const char *path, int how) MUST_CHECK;

/** Call @run with these capabilities in effect, as far as confine() has left them permitted; they
 *  are dropped again. Return: that of @run. */
int confine_with(uint64_t needed, int (*run)(void *data), void *data);

/** inotify_add_watch() with that right. Return: the watch or -errno. */
int confine_watch(int notify, const char *folder, uint32_t events) MUST_CHECK;

#endif
