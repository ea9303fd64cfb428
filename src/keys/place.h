/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * place.h - directories of keys: one of a certificate authority, and in it one for each host.
 * Files are created and replaced atomically: a file is complete when it has its name. Used by
 * ltt-keys' only thread.
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

/** Open the directory @name below @at_fd (AT_FDCWD: the working directory). @make: create it if it
 *  does not exist, with mode 0700. Return: descriptor; or -1, with @err set. */
int place_open(int at_fd, const char *name, bool make, struct err *err) MUST_CHECK;
/** Write @text to @name. Return: 0 or the code in @err. */
int place_write(int dir_fd, const char *name, const gnutls_datum_t *text, bool secret,
		enum place_how how, struct err *err) MUST_CHECK;
/** Read the file @name. @ret: freed by the caller. Return: as above; a missing file is an error. */
int place_read(int dir_fd, const char *name, bool secret, char **ret, struct err *err) MUST_CHECK;

#endif
