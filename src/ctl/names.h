/* SPDX-License-Identifier: GPL-2.0-only */
/* names.h - comma-separated lists of names, as operands of verbs. */
#ifndef CTL_NAMES_H
#define CTL_NAMES_H

#include <stddef.h>

struct names {
	char **names;
	size_t nr;
};

/**
 * names_split() - split at each comma that no backslash precedes. A `\,` becomes
 * a comma, other backslashes stay. Empty names are kept: the caller rejects them.
 */
void names_split(const char *list, struct names *ret);
void names_fini(struct names *names);

/** Append a copy. */
void names_add(struct names *names, const char *name);

/** Replace each name of a system call by the names of its two events, entry and exit. */
void names_of_calls(struct names *names);

#endif
