/* SPDX-License-Identifier: GPL-2.0-only */
/* profile.h - reads one profile of ~/.aws/credentials or ~/.aws/config. The text is untrusted. */
#ifndef S3_PROFILE_H
#define S3_PROFILE_H

#include "base/buf.h"

#define PROFILE_MAX_BYTES (1u << 20) /* of a file */

/** struct profile - NULL: not set. @others: a kind of credentials that is not supported. */
struct profile {
	char *key, *secret, *token, *region, *endpoint, *ca_file;
	const char *others;
};

/** Add the settings of [@name] or [profile @name]; those that are set stay. */
void profile_read(struct profile *profile, const char *text, const char *name);
void profile_fini(struct profile *profile);

#endif
