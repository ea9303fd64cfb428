/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * problems.h - all that is wrong in an XML document, so that the user learns it at once.
 * A problem is a sentence that begins with file, line and element.
 */
#ifndef XML_PROBLEMS_H
#define XML_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

#define PROBLEMS_MAX 20 /* sentences; others are counted */

/** struct problems - @file: in the sentences. @invalid: problems other than that something is not
 *  supported. */
struct problems {
	const char *file;
	char *texts[PROBLEMS_MAX];
	size_t nr, omitted, invalid;
};

/** An element can't be read. Return: false. @element: NULL: the file as a whole. */
bool problems_add(struct problems *problems, unsigned int line, const char *element,
		  const char *fmt, ...) PRINTF(4, 5);
/** The same for features that other versions or programs have and this one lacks. */
bool problems_unsupported(struct problems *problems, unsigned int line, const char *element,
			  const char *fmt, ...) PRINTF(4, 5);
void problems_fini(struct problems *problems);

#endif
