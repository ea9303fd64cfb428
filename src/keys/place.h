/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * place.h - the folder of an authority, and in it one for each machine: files are made, never
 * overwritten, and complete when they have their names. Used by ltt-keys' only thread.
 */
#ifndef KEYS_PLACE_H
#define KEYS_PLACE_H

#include <gnutls/gnutls.h>
#include <stdbool.h>

#include "base/err.h"

#define PLACE_CA_KEY "ca.key"

enum place_how {
	PLACE_NEW,     /* fail if it exists */
	PLACE_REPLACE, /* replace an existing one */
};

/** Make the folder @name below @at_fd (AT_FDCWD: here), for its owner only, or open the one
 *  that is there. Return: descriptor; or -1, with @err set. */
int place_open(int at_fd, const char *name, bool make, struct err *err) MUST_CHECK;
/** Write @text to @name. Return: 0 or the code in @err. */
int place_write(int dir_fd, const char *name, const gnutls_datum_t *text, bool secret,
		enum place_how how, struct err *err) MUST_CHECK;
/** Read it; freed by the caller. Return: as above; a missing file is an error. */
int place_read(int dir_fd, const char *name, bool secret, char **ret, struct err *err) MUST_CHECK;

#endif
