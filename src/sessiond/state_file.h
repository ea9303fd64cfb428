/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state_file.h - a file of the daemon's state: one message of state.def, written to a new file that
 * is renamed over the old one, so that it is never incomplete. Its header has a checksum of the
 * whole message, in fields that older versions ignore; files of older versions have none, and are
 * accepted. Runs on the daemon's loop.
 */
#ifndef SESSIOND_STATE_FILE_H
#define SESSIOND_STATE_FILE_H

#include "base/macros.h"
#include "proto/codec.h"

#define STATE_FILE_MAX (512u << 20)

enum { STATE_DAMAGED = 1 }; /* the file is damaged */

struct state_file {
	uint8_t *data;
	struct decoder dec; /* decodes the fields after the header */
};

/** @enc: header and message. @dir: made if it is missing. Return: 0 or negative errno. */
int state_file_write(const char *dir, const char *name, const struct encoder *enc) MUST_CHECK;
/** Return: 0; STATE_DAMAGED, @ret may still be partly decodable; or
 *  negative errno: it can't be read. */
int state_file_read(const char *dir, const char *name, uint16_t type,
		    struct state_file *ret) MUST_CHECK;
void state_file_fini(struct state_file *file);

#endif
