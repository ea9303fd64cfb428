/* SPDX-License-Identifier: GPL-2.0-only */
/* state_priv.h - internals of the daemon's state: state.c writes it, state_load.c reads it. */
#ifndef SESSIOND_STATE_PRIV_H
#define SESSIOND_STATE_PRIV_H

#include "state.h"
#include "state_file.h"

#define STATE_DAEMON_FILE "daemon"
#define STATE_DAEMON_COPY "daemon.copy" /* written after it: one of them is whole */

/** This boot's id; "": unknown. */
void state_read_boot(char *ret, size_t len);

#endif
