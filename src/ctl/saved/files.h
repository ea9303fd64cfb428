/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * files.h - files of saved sessions: SESSION.ltt, in the user's or the system's directory, or where
 * the user names one. Files of LTTng, *.lttng, are read as well.
 */
#ifndef SAVED_FILES_H
#define SAVED_FILES_H

#include <stdbool.h>

#include "base/err.h"
#include "ctl/names.h"

#define FILES_SUFFIX ".ltt"

/** The directory of the user's files, allocated; NULL: the reason is in @err. */
char *files_own_dir(struct err *err) MUST_CHECK;

/**
 * files_find() - the files from which @session, or all sessions, are loaded.
 * @path: a file or a directory; "-": standard input; NULL: the user's directory, then the
 *	system's.
 * @session: NULL: all. A file of its name is the only one then.
 * Return: 0, also if there is none, or the code in @err.
 */
int files_find(const char *path, const char *session, struct names *ret,
	       struct err *err) MUST_CHECK;

/**
 * files_open_trusted() - all files in a directory that no other user but root can change.
 *
 * The directory is no link, and the one that is checked is the one that is read.
 * Return: a descriptor of the directory, for files_read(); negative: the code is in @err.
 */
int files_open_trusted(const char *dir, struct names *ret, struct err *err) MUST_CHECK;

/**
 * files_read() - the content of a file, or of standard input ("-"), up to XML_MAX_BYTES.
 * @trusted_dir: of files_open_trusted(): @path is a file in it, which must be as the directory; -1:
 *	any file.
 * Return: 0 and the content (allocated), or the code in @err.
 */
int files_read(int trusted_dir, const char *path, char **ret, size_t *ret_len,
	       struct err *err) MUST_CHECK;

/**
 * files_write() - write the file of a session: as a whole, or not at all. The directory is created
 * if it is missing.
 * @replace: a file of that name is replaced; else it is an error.
 * Return: 0 and the path in *ret_path (allocated), or the code in @err.
 */
int files_write(const char *dir, const char *session, const char *text, bool replace,
		char **ret_path, struct err *err) MUST_CHECK;

#endif
