/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * home.h - state that is kept between the commands of a user, in HOME/.lttrc: the current
 * session, and the path of the last trace. The file is text, a `key=value` a line; unknown lines
 * are kept; it is replaced as a whole.
 */
#ifndef CTL_HOME_H
#define CTL_HOME_H

#include "base/err.h"

enum home_key {
	HOME_SESSION,  /* name of the current session */
	HOME_TRACE,    /* absolute path of the last trace */
	HOME_UNTRACED, /* name of a later session, which wrote no trace */
};

/** Return: allocated value, or NULL where there is none. */
char *home_get(enum home_key key);
/** @value NULL: remove it. Return: 0 or the code in @err. */
int home_set(enum home_key key, const char *value, struct err *err) MUST_CHECK;
/** Path of the file, allocated; NULL without a home. */
char *home_file(void);

#endif
