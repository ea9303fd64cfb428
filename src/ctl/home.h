/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * home.h - state that is kept between the commands of a user, in HOME/.lttrc: the current
 * session, and the path of the last trace. The file is text, a `key=value` a line; unknown lines
 * are kept; it is replaced as a whole.
 */
#ifndef CTL_HOME_H
#define CTL_HOME_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

enum home_key {
	HOME_SESSION,  /* name of the current session */
	HOME_TRACE,    /* absolute path of the last trace */
	HOME_UNTRACED, /* name of a later session, which wrote no trace */
	HOME_COST_PROGRAM, /* ns that an event of a program takes on this machine */
	HOME_COST_KERNEL,  /* the same of the kernel */
};

/** Return: allocated value, or NULL where there is none. */
char *home_get(enum home_key key);
/** @value NULL: remove it. Return: 0 or the code in @err. */
int home_set(enum home_key key, const char *value, struct err *err) MUST_CHECK;

struct home_entry {
	enum home_key key;
	const char *value; /* NULL: remove it */
};
/** home_change() - several of them: the file is replaced once, and not if it stays the same. */
int home_change(const struct home_entry *entries, size_t nr, struct err *err) MUST_CHECK;
/**
 * home_open() - a file in the home directory. HOME may be another user's, as `sudo -E` keeps it: no
 * link of that user is followed, and a file of that user is not opened.
 * @flags: of open(2). @mode: of a file that O_CREAT makes.
 * Return: the descriptor, or negative errno: ELOOP: a link; EPERM: neither ours nor root's.
 */
int home_open(const char *name, int flags, mode_t mode);

#endif
