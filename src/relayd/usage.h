/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage.h - what is stored of a host below a relay's directory, as the disk says. Runs on the
 * relay's loop, so it looks at a bounded number of files.
 */
#ifndef RELAYD_USAGE_H
#define RELAYD_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct usage {
	uint64_t bytes; /* of all files */
	uint64_t files; /* and directories */
};

/** The files of @host; of a user of this machine (".uidUID") under all names that it uses.
 *  @by_session: as in relay.h. Return: false: it is more than that. */
bool usage_of(int out_fd, bool by_session, const char *host, struct usage *ret);

/** YYYYmmdd-HHMMSS. Return: what is behind it; NULL: it is none. */
const char *usage_skip_stamp(const char *text);

#endif
