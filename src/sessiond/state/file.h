/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file.h - a file of the daemon's state: one message of state.def, written to a new file that
 * is renamed over the old one, so that it is never incomplete. Its header has a checksum of the
 * whole message. A file of classes is a series of lists, each behind its length and checksum, to
 * which others are appended; the message of its session has the size that is valid. Runs on the
 * daemon's loop.
 */
#ifndef SESSIOND_STATE_FILE_H
#define SESSIOND_STATE_FILE_H

#include "base/macros.h"
#include "proto/codec.h"

#define STATE_FILE_MAX (512u << 20)
#define STATE_CLASSES_OVERHEAD 8u /* bytes of a list in a file of classes */

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
/** Append a list to a file of classes, whose size is then @offset, the length of the list, and
 *  STATE_CLASSES_OVERHEAD. Bytes behind @offset are overwritten. Return: 0 or negative errno. */
int state_classes_append(const char *dir, const char *name, uint64_t offset,
			 const struct list *list) MUST_CHECK;
/** Read the first @bytes of a file of classes. @ret_data: owns the bytes of @ret. Return: 0,
 *  STATE_DAMAGED, or negative errno. */
int state_classes_read(const char *dir, const char *name, uint64_t bytes, uint8_t **ret_data,
		       struct list *ret) MUST_CHECK;
void state_file_fini(struct state_file *file);

#endif
