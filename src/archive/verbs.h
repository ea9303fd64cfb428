/* SPDX-License-Identifier: GPL-2.0-only */
/* verbs.h - the uses of ltt-archive. Each returns an exit status, and prints its results. */
#ifndef ARCHIVE_VERBS_H
#define ARCHIVE_VERBS_H

#include "excerpt.h"
#include "session.h"

/** Archive the sessions in and below these directories. @parquet: their events as Parquet, too. */
int verb_put(const char *url, const struct archive *archive, bool parquet,
	     const char *const *dirs);
/** Fetch the sessions below @url, of their packets the excerpt, to directory @dir. @lines: print
 *  JSON, a line for each. */
int verb_fetch(const char *url, const char *dir, const struct excerpt *excerpt, bool lines);
/** Print the sessions of which data was archived in the last @hours. */
int verb_list(const char *url, unsigned int hours);

#endif
