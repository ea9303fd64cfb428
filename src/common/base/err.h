/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * err.h - the reason of a failure: an error code for programs and a sentence for users.
 *
 * The sentence is made where the facts are known, and it names the remedy. Functions whose
 * failures are reported to the user take a `struct err *` as last argument and return its code;
 * all others return negative errno.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "macros.h"

/** Error codes are part of the protocols: only append. */
enum err_code {
	ERR_NONE = 0,
	ERR_INTERNAL = 1,    /* a bug, or an errno without a better code */
	ERR_BAD_MESSAGE = 2, /* a message could not be decoded */
	ERR_UNKNOWN_COMMAND = 3,
	ERR_DENIED = 4,	 /* permission denied */
	ERR_INVALID = 5, /* invalid argument */
	ERR_NO_SESSION = 6,
	ERR_SESSION_EXISTS = 7,
	ERR_NO_CHANNEL = 8,
	ERR_CHANNEL_EXISTS = 9,
	ERR_NO_EVENT = 10,
	ERR_EVENT_EXISTS = 11,
	ERR_STATE = 12, /* e.g. already started */
	ERR_NO_MEMORY = 13,
	ERR_OUTPUT = 14, /* directory or disk */
	ERR_NO_DAEMON = 15,
	ERR_UNSUPPORTED = 16,
	ERR_CONSUMER = 17, /* the consumer has ended, or rejected the request */
	ERR_BUSY = 18,
	ERR_LIMIT = 19,	      /* a quota is used up */
	ERR_NO_ANSWER = 20,   /* a daemon exists, but does not answer */
	ERR_INTERRUPTED = 21, /* the caller was interrupted */
};

struct err {
	enum err_code code;
	char text[400];
};

/** Set code and sentence, unless they are set already. Return: the code. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...) PRINTF(3, 4);
/** The same, with ": strerror(errno_value)" appended to the sentence. */
int err_errno(struct err *err, enum err_code code, int errno_value, const char *fmt, ...)
	PRINTF(4, 5);
/** ERR_NO_MEMORY, for libraries. Return: the code. */
int err_memory(struct err *err);

#endif
